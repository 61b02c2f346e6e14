/* heap: the allocation functions of DSP libraries, below 4 GiB. Small blocks are cut from slabs by size class, large
 * ones are mappings of their own with guards. Libraries are linked with --wrap=malloc and so on, as on the device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsp.h"

#define SLAB_BYTES (1u << 20)
#define SMALLEST 6 /* 64 bytes, header included */
#define LARGEST 15 /* 32 KiB */

struct header {
    uint64_t magic;
    uint64_t bytes; /* asked for */
    void * start;   /* of the block, or of its mapping */
    uint32_t class; /* 0: a mapping */
    uint32_t reserved;
};

#define LIVE 0x6c69766568656170ull
#define FREED 0x6672656568656170ull

struct free_block {
    struct free_block * next;
};

static struct {
    pthread_mutex_t lock;
    struct free_block * free[LARGEST + 1];
    uint8_t * slab;
    size_t left;
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void * cut(unsigned class) {
    size_t bytes = (size_t)1 << class;
    void * p     = heap.free[class];
    if (p) {
        heap.free[class] = ((struct free_block *)p)->next;
        return p;
    }
    if (heap.left < bytes) {
        heap.slab = window_map(SLAB_BYTES, -1, REGION_HEAP, -1, "heap");
        heap.left = heap.slab ? SLAB_BYTES : 0;
        if (!heap.slab) {
            return NULL;
        }
    }
    p = heap.slab;
    heap.slab += bytes;
    heap.left -= bytes;
    return p;
}

void * heap_alloc(size_t align, size_t bytes) {
    if (align < 16) {
        align = 16;
    }
    if ((align & (align - 1)) || bytes > UINT32_MAX || align > UINT32_MAX) {
        return NULL;
    }
    size_t whole   = bytes + align + sizeof(struct header);
    unsigned class = SMALLEST;
    while (class <= LARGEST && ((size_t)1 << class) < whole) {
        class ++;
    }
    void * start;
    if (class > LARGEST) {
        class = 0;
        start = window_map(whole, -1, REGION_HEAP, -1, "heap block");
    } else {
        pthread_mutex_lock(&heap.lock);
        start = cut(class);
        pthread_mutex_unlock(&heap.lock);
    }
    if (!start) {
        return NULL;
    }
    uintptr_t p       = ((uintptr_t)start + sizeof(struct header) + align - 1) & ~(align - 1);
    struct header * h = (struct header *)p - 1;
    *h                = (struct header){LIVE, bytes, start, class, 0};
    return (void *)p;
}

static struct header * header_of(const void * block, const char * what) {
    struct header * h = (struct header *)block - 1;
    if (h->magic != LIVE) {
        farf_line("FATAL", "heap: %s of %p: %s", what, block,
                  h->magic == FREED ? "freed already" : "not a block, or its head is overwritten");
        abort();
    }
    return h;
}

void heap_free(void * block) {
    if (!block) {
        return;
    }
    struct header * h = header_of(block, "free");
    h->magic          = FREED;
    if (!h->class) {
        window_unmap(h->start);
        return;
    }
    unsigned class        = h->class;
    struct free_block * f = h->start;
    pthread_mutex_lock(&heap.lock);
    f->next          = heap.free[class];
    heap.free[class] = f;
    pthread_mutex_unlock(&heap.lock);
}

size_t heap_size(const void * block) {
    return header_of(block, "realloc")->bytes;
}

/* ---- what libraries link to ---- */

void * __wrap_malloc(size_t bytes);
void * __wrap_calloc(size_t n, size_t bytes);
void * __wrap_realloc(void * block, size_t bytes);
void * __wrap_memalign(size_t align, size_t bytes);
void __wrap_free(void * block);

void * __wrap_malloc(size_t bytes) {
    return heap_alloc(16, bytes);
}

void * __wrap_calloc(size_t n, size_t bytes) {
    size_t whole;
    if (__builtin_mul_overflow(n, bytes, &whole)) {
        return NULL;
    }
    void * p = heap_alloc(16, whole);
    if (p) {
        memset(p, 0, whole);
    }
    return p;
}

void * __wrap_realloc(void * block, size_t bytes) {
    void * p = heap_alloc(16, bytes);
    if (p && block) {
        size_t old = heap_size(block);
        memcpy(p, block, old < bytes ? old : bytes);
        heap_free(block);
    }
    return p;
}

void * __wrap_memalign(size_t align, size_t bytes) {
    return heap_alloc(align, bytes);
}

void __wrap_free(void * block) {
    heap_free(block);
}
