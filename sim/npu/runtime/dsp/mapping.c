/* mapping: the application's buffers, by their descriptor's number there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "HAP_mem.h"
#include "check.h"
#include "dsp.h"

struct buffer {
    int app_fd, fd;
    uint64_t bytes;
    bool extended;
    bool announced; /* between fastrpc_mmap and fastrpc_munmap */
    bool own;       /* one of refs is the application's */
    unsigned refs;  /* mappings that are in use: the application's own, HAP_mmap, invocations */
    void * va;
    struct buffer * next;
};

static struct {
    pthread_mutex_t lock;
    struct buffer * list;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct buffer * by_fd(int app_fd) {
    for (struct buffer * b = app_fd >= 0 ? all.list : NULL; b; b = b->next) {
        if (b->app_fd == app_fd) {
            return b;
        }
    }
    return NULL;
}

/* The number of a buffer that is no longer announced but still mapped, once another buffer has its number. */
#define RETIRED (-1)

static bool same_memory(const struct buffer * b, int fd) {
    struct stat mine, other;
    return !fstat(b->fd, &mine) && !fstat(fd, &other) && mine.st_dev == other.st_dev && mine.st_ino == other.st_ino;
}

static bool attach(struct buffer * b) {
    if (b->refs++) {
        return true;
    }
    char name[32];
    snprintf(name, sizeof name, "buffer fd %d", b->app_fd);
    if (b->extended) {
        b->va = window_map_extended(b->bytes, b->fd, b->app_fd);
    } else if (checks.coherency) {
        b->va = coherency_map(b->fd, b->bytes, b->app_fd, name);
    } else {
        b->va = window_map(b->bytes, b->fd, REGION_BUFFER, b->app_fd, name);
    }
    if (!b->va) {
        b->refs--;
        return false;
    }
    DSP_COUNT(dsp_maps, 1);
    DSP_COUNT(dsp_map_bytes, b->bytes);
    return true;
}

static void forget_if_unused(struct buffer * b) {
    if (b->refs || b->announced) {
        return;
    }
    for (struct buffer ** p = &all.list; *p; p = &(*p)->next) {
        if (*p == b) {
            *p = b->next;
            break;
        }
    }
    close(b->fd);
    free(b);
}

static void detach(struct buffer * b) {
    if (--b->refs == 0) {
        DSP_COUNT(dsp_unmaps, 1);
        if (checks.coherency && !b->extended) {
            coherency_unmap(b->va);
        }
        window_unmap(b->va);
        b->va = NULL;
    }
    forget_if_unused(b);
}

static struct buffer * new_buffer(int app_fd, int fd, uint64_t bytes, bool extended) {
    off_t size        = lseek(fd, 0, SEEK_END);
    struct buffer * b = NULL;
    if (bytes > 0 && size >= 0 && bytes <= (uint64_t)size) { /* a short file would turn accesses into SIGBUS */
        b = calloc(1, sizeof *b);
    }
    if (b) {
        *b       = (struct buffer){.app_fd = app_fd, .fd = fd, .bytes = bytes, .extended = extended, .next = all.list};
        all.list = b;
    }
    return b;
}

int mapping_add(const struct wire_map * map, int fd, uint64_t * dsp_va) {
    int status = 0;
    *dsp_va    = 0;
    pthread_mutex_lock(&all.lock);
    struct buffer * b = by_fd(map->app_fd);
    if (b && !b->announced && !same_memory(b, fd)) {
        b->app_fd = RETIRED; /* the library still has a mapping of what had this number before */
        b         = NULL;
    }
    if (b && b->announced) {
        status = AEE_EMAPALREADYPRESENT - AEE_EOFFSET;
    } else if (map->extended && skel_arch() && skel_arch() < 81 && dsp.soc->arch < 81) {
        status = AEE_EUNSUPPORTED - AEE_EOFFSET;
    } else if (b && same_memory(b, fd)) {
        b->announced = true; /* withdrawn and announced again while the library kept its mapping */
    } else if (!(b = new_buffer(map->app_fd, fd, map->bytes, map->extended))) {
        status = AEE_EBADSIZE - AEE_EOFFSET;
    } else {
        fd           = -1;
        b->announced = true;
        b->own       = map->when == WIRE_MAP_NOW && attach(b);
        if (map->when == WIRE_MAP_NOW && !b->own) {
            b->announced = false;
            forget_if_unused(b);
            status = AEE_EFAILED - AEE_EOFFSET; /* as the phone tells it: error 0x1 */
        }
    }
    if (!status && map->when == WIRE_MAP_NOW) {
        *dsp_va = (uintptr_t)b->va;
    }
    pthread_mutex_unlock(&all.lock);
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

int mapping_remove(int app_fd) {
    int status = 0;
    pthread_mutex_lock(&all.lock);
    struct buffer * b = by_fd(app_fd);
    if (!b || !b->announced) {
        status = AEE_ENOSUCHMAP - AEE_EOFFSET;
    } else {
        b->announced = false;
        if (b->own || (b->va && b->refs == 1)) { /* the application's own, or one that the library forgot */
            b->own = false;
            detach(b);
        } else {
            forget_if_unused(b);
        }
    }
    pthread_mutex_unlock(&all.lock);
    return status;
}

void * mapping_address(int app_fd, uint64_t offset, uint64_t bytes) {
    void * p = NULL;
    pthread_mutex_lock(&all.lock);
    struct buffer * b = by_fd(app_fd);
    if (b && b->va && offset <= b->bytes && bytes <= b->bytes - offset) {
        p = (uint8_t *)b->va + offset;
    }
    pthread_mutex_unlock(&all.lock);
    return p;
}

void * mapping_borrow(int app_fd, int fd, uint64_t buffer_bytes, uint64_t offset, uint64_t bytes) {
    void * p = NULL;
    pthread_mutex_lock(&all.lock);
    struct buffer * b = by_fd(app_fd);
    int own;
    if (!b && (own = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0 && !(b = new_buffer(app_fd, own, buffer_bytes, false))) {
        close(own);
    }
    if (b && !b->extended && offset <= b->bytes && bytes <= b->bytes - offset && attach(b)) {
        p = (uint8_t *)b->va + offset;
    } else if (b) {
        forget_if_unused(b);
    }
    pthread_mutex_unlock(&all.lock);
    return p;
}

void mapping_release(int app_fd) {
    pthread_mutex_lock(&all.lock);
    struct buffer * b = by_fd(app_fd);
    if (b && b->refs) {
        detach(b);
    }
    pthread_mutex_unlock(&all.lock);
}

/* ---- HAP_mem.h ---- */

static void * hap_map(uint64_t bytes, int fd, bool extended) {
    void * p = NULL;
    pthread_mutex_lock(&all.lock);
    struct buffer * b = by_fd(fd);
    if (!b) {
        farf_line("ERROR", "HAP_mmap: fd %d was never announced by fastrpc_mmap", fd);
    } else if (bytes > b->bytes) {
        farf_line("ERROR", "HAP_mmap: fd %d: %llu bytes wanted of %llu", fd, (unsigned long long)bytes,
                  (unsigned long long)b->bytes);
    } else if (extended != b->extended) {
        farf_line("ERROR", "HAP_mmap: fd %d was announced %s the 32-bit window", fd, b->extended ? "beyond" : "within");
    } else if (!attach(b)) {
        farf_line("ERROR", "HAP_mmap: fd %d: no room for %llu bytes in the 32-bit window", fd,
                  (unsigned long long)b->bytes);
    } else {
        p = b->va;
    }
    pthread_mutex_unlock(&all.lock);
    return p;
}

/* One of the library's mappings; the application's is not its to undo. */
static int give_back(struct buffer * b) {
    if (b->refs <= b->own) {
        return AEE_ENOSUCHMAP;
    }
    detach(b);
    return 0;
}

static int hap_unmap(uintptr_t va) {
    int status = AEE_ENOSUCHMAP;
    pthread_mutex_lock(&all.lock);
    for (struct buffer * b = all.list; b; b = b->next) {
        if (b->va && (uintptr_t)b->va == va) {
            status = give_back(b);
            break;
        }
    }
    pthread_mutex_unlock(&all.lock);
    return status;
}

void * HAP_mmap2(void * addr, size_t len, int prot, int flags, int fd, long offset) {
    (void)prot;
    (void)flags;
    void * p = addr || offset || !len ? NULL : hap_map(len, fd, false);
    return p ? p : (void *)-1;
}

void * HAP_mmap(void * addr, int len, int prot, int flags, int fd, long offset) {
    return len <= 0 ? (void *)-1 : HAP_mmap2(addr, (size_t)len, prot, flags, fd, offset);
}

int HAP_munmap2(void * addr, size_t len) {
    (void)len;
    return hap_unmap((uintptr_t)addr);
}

int HAP_munmap(void * addr, int len) {
    return HAP_munmap2(addr, (size_t)len);
}

int HAP_mmap_get(int fd, void ** vaddr, uint64 * paddr) {
    void * p = hap_map(1, fd, false);
    if (!p) {
        return AEE_ENOSUCHMAP;
    }
    if (vaddr) {
        *vaddr = p;
    }
    if (paddr) {
        *paddr = (uint64)(uintptr_t)p;
    }
    return 0;
}

int HAP_mmap_put(int fd) {
    pthread_mutex_lock(&all.lock);
    struct buffer * b = by_fd(fd);
    int status        = b ? give_back(b) : AEE_ENOSUCHMAP;
    pthread_mutex_unlock(&all.lock);
    return status;
}

int HAP_mem_request(HAP_mem_req_payload_t * r) {
    if (!r) {
        return AEE_EBADPARM;
    }
    if (r->request_id == HAP_MEM_MAP) {
        bool extended  = r->mmap.flags == HAP_MEM_FLAGS_EXTENDED_MAP;
        void * p       = r->mmap.addr || !r->mmap.len ? NULL : hap_map(r->mmap.len, r->mmap.fd, extended);
        r->mmap.dsp_va = (uintptr_t)p;
        return p ? 0 : AEE_EMMAP;
    }
    if (r->request_id == HAP_MEM_UNMAP) {
        return hap_unmap((uintptr_t)r->munmap.dsp_va);
    }
    return AEE_EUNSUPPORTED;
}
