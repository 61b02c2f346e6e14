/* rpcmem: buffers shared by descriptor. */
#define _GNU_SOURCE
#include "rpcmem.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host.h"
#include "remote.h"

static struct {
    pthread_mutex_t lock;
    struct host_buffer * list;
    size_t n, room;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool add(struct host_buffer buffer) {
    bool ok = true;
    pthread_mutex_lock(&all.lock);
    if (all.n == all.room) {
        size_t room               = all.room ? 2 * all.room : 64;
        struct host_buffer * list = realloc(all.list, room * sizeof *list);
        ok                        = list != NULL;
        if (ok) {
            all.list = list;
            all.room = room;
        }
    }
    if (ok) {
        all.list[all.n++] = buffer;
    }
    pthread_mutex_unlock(&all.lock);
    return ok;
}

/* Find by containing address, or by descriptor when address is NULL. */
static bool find(const void * address, int fd, struct host_buffer * found) {
    bool ok = false;
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < all.n && !ok; i++) {
        const struct host_buffer * b = &all.list[i];
        size_t o                     = (size_t)((const uint8_t *)address - b->base);
        ok                           = address ? (const uint8_t *)address >= b->base && o < b->bytes : b->fd == fd;
        if (ok) {
            *found = *b;
        }
    }
    pthread_mutex_unlock(&all.lock);
    return ok;
}

bool host_buffer_at(const void * address, struct host_buffer * found) {
    return address && find(address, -1, found);
}

bool host_buffer_of(int fd, struct host_buffer * found) {
    return fd >= 0 && find(NULL, fd, found);
}

static bool take(const void * base, bool owned, struct host_buffer * taken) {
    bool ok = false;
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < all.n && !ok; i++) {
        ok = all.list[i].base == base && all.list[i].owned == owned;
        if (ok) {
            *taken      = all.list[i];
            all.list[i] = all.list[--all.n];
        }
    }
    pthread_mutex_unlock(&all.lock);
    return ok;
}

EXPORT void rpcmem_init(void) {
}

EXPORT void rpcmem_deinit(void) {
}

EXPORT void * rpcmem_alloc2(int heapid, uint32_t flags, size_t size) {
    (void)heapid;
    (void)flags;
    const size_t page = 4096;
    if (size == 0 || size > SIZE_MAX / 2) {
        return NULL;
    }
    struct host_buffer b = {.bytes = (size + page - 1) & ~(page - 1), .owned = true};
    b.fd                 = memfd_create("rpcmem", MFD_CLOEXEC);
    if (b.fd < 0) {
        return NULL;
    }
    void * p = MAP_FAILED;
    if (!ftruncate(b.fd, (off_t)b.bytes)) {
        p = mmap(NULL, b.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, b.fd, 0);
    }
    b.base = p;
    if (p == MAP_FAILED || !add(b)) {
        if (p != MAP_FAILED) {
            munmap(p, b.bytes);
        }
        close(b.fd);
        return NULL;
    }
    return p;
}

EXPORT void * rpcmem_alloc(int heapid, uint32_t flags, int size) {
    return size <= 0 ? NULL : rpcmem_alloc2(heapid, flags, (size_t)size);
}

EXPORT void rpcmem_free(void * buf) {
    struct host_buffer b;
    if (buf && take(buf, true, &b)) {
        munmap(b.base, b.bytes);
        close(b.fd);
    }
}

EXPORT int rpcmem_to_fd(void * buf) {
    struct host_buffer b;
    return host_buffer_at(buf, &b) && b.base == buf ? b.fd : -1;
}

EXPORT void remote_register_buf(void * buf, int size, int fd) {
    struct host_buffer old;
    if (!buf) {
        return;
    }
    take(buf, false, &old);
    if (fd >= 0 && size > 0) {
        add((struct host_buffer){buf, (size_t)size, fd, false});
    }
}
