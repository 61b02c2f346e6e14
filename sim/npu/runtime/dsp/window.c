/* window: the DSP's 32-bit address space. Buffers are placed from below, the process's own blocks from above, VTCM at
 * the top; between any two mappings lie unmapped guards. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dsp.h"
#include "env.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WINDOW_END 0x7c000000ull /* the sanitizer's shadow begins at 2 GiB */
#endif
#endif
#ifndef WINDOW_END
#define WINDOW_END 0xf8000000ull
#endif

#define WINDOW_START 0x01000000ull
#define VTCM_BASE WINDOW_END /* 64 MiB at most */
#define EXTENDED_START 0x0200000000ull
#define EXTENDED_END 0x10000000000ull /* 40 bits */
#define GUARD 0x10000ull
#define MAX_REGIONS 4096

static struct {
    pthread_mutex_t lock;
    struct region region[MAX_REGIONS]; /* sorted by base */
    size_t n;
    uintptr_t end;
} w = {
    /* A thread that faults while it holds the lock looks at the regions once more, from its handler. */
    .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
    .end  = WINDOW_END,
};

void window_init(void) {
    int64_t mib = env_number("HEXSIM_WINDOW_MIB", (int64_t)((WINDOW_END - WINDOW_START) >> 20), 8,
                             (int64_t)((WINDOW_END - WINDOW_START) >> 20));
    w.end       = WINDOW_START + ((uintptr_t)mib << 20);
}

static uintptr_t round_up(uintptr_t x) {
    return (x + GUARD - 1) & ~(GUARD - 1);
}

static bool try_at(uintptr_t at, size_t bytes, int fd) {
    int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void * p  = mmap((void *)at, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE | MAP_NORESERVE, fd, 0);
    if (p == MAP_FAILED) {
        return false;
    }
    if (p != (void *)at) { /* a kernel that does not know the flag */
        munmap(p, bytes);
        return false;
    }
    return true;
}

/* Place into the lowest gap of [from, to) that takes it. With the lock held. */
static uintptr_t place_low(uintptr_t from, uintptr_t to, size_t bytes, int fd) {
    uintptr_t at = from;
    for (size_t i = 0; i <= w.n; i++) {
        uintptr_t next = i < w.n ? w.region[i].base : UINTPTR_MAX;
        if (next < from) {
            uintptr_t after = round_up(w.region[i].base + w.region[i].bytes + GUARD);
            at              = after > at ? after : at;
            continue;
        }
        uintptr_t limit = next < to ? next : to;
        while (at + bytes + GUARD <= limit) {
            if (try_at(at, bytes, fd)) {
                return at;
            }
            if (errno != EEXIST) {
                return 0;
            }
            at += 16 * GUARD; /* something foreign lies there */
        }
        if (next >= to) {
            return 0;
        }
        at = round_up(next + w.region[i].bytes + GUARD);
    }
    return 0;
}

/* Place into the highest gap of the window. */
static uintptr_t place_high(size_t bytes, int fd) {
    uintptr_t to = w.end;
    for (size_t i = w.n + 1; i-- > 0;) {
        uintptr_t from = i > 0 ? w.region[i - 1].base + w.region[i - 1].bytes : WINDOW_START;
        if (i > 0 && w.region[i - 1].base >= w.end) {
            continue;
        }
        from = from < WINDOW_START ? WINDOW_START : round_up(from + GUARD);
        while (to >= bytes + GUARD && ((to - bytes - GUARD) & ~(GUARD - 1)) >= from) {
            uintptr_t at = (to - bytes - GUARD) & ~(GUARD - 1);
            if (try_at(at, bytes, fd)) {
                return at;
            }
            if (errno != EEXIST) {
                return 0;
            }
            to -= 16 * GUARD;
        }
        if (i > 0) {
            to = w.region[i - 1].base;
        }
    }
    return 0;
}

static void insert(uintptr_t base, size_t bytes, enum region_kind kind, int app_fd, const char * name) {
    size_t i = w.n++;
    for (; i > 0 && w.region[i - 1].base > base; i--) {
        w.region[i] = w.region[i - 1];
    }
    w.region[i] = (struct region){base, bytes, kind, app_fd, ""};
    snprintf(w.region[i].name, sizeof w.region[i].name, "%s", name);
}

static void * map(size_t bytes, int fd, enum region_kind kind, int app_fd, const char * name, uintptr_t from,
                  uintptr_t to) {
    bytes        = (bytes + 4095) & ~(size_t)4095;
    uintptr_t at = 0;
    pthread_mutex_lock(&w.lock);
    if (bytes && bytes < EXTENDED_END && w.n < MAX_REGIONS) {
        at = from ? place_low(from, to, bytes, fd) : place_high(bytes, fd);
        if (at) {
            insert(at, bytes, kind, app_fd, name);
            if (kind == REGION_BUFFER) {
                access_pages(at, bytes, true);
            }
        }
    }
    pthread_mutex_unlock(&w.lock);
    return (void *)at;
}

void * window_map(size_t bytes, int fd, enum region_kind kind, int app_fd, const char * name) {
    uintptr_t from = kind == REGION_BUFFER ? WINDOW_START : 0;
    return map(bytes, fd, kind, app_fd, name, from, w.end);
}

void * window_map_extended(size_t bytes, int fd, int app_fd) {
    return map(bytes, fd, REGION_BUFFER, app_fd, "extended buffer", EXTENDED_START, EXTENDED_END);
}

void * window_map_vtcm(size_t bytes) {
    return map(bytes, -1, REGION_VTCM, -1, "VTCM", VTCM_BASE, VTCM_BASE + (64u << 20) + GUARD);
}

void window_unmap(void * base) {
    pthread_mutex_lock(&w.lock);
    for (size_t i = 0; i < w.n; i++) {
        if (w.region[i].base == (uintptr_t)base) {
            if (w.region[i].kind == REGION_BUFFER) {
                access_pages(w.region[i].base, w.region[i].bytes, false);
            }
            munmap(base, w.region[i].bytes);
            memmove(&w.region[i], &w.region[i + 1], (w.n - i - 1) * sizeof w.region[0]);
            w.n--;
            break;
        }
    }
    pthread_mutex_unlock(&w.lock);
}

bool window_find(uintptr_t address, bool near, struct region * found) {
    bool ok        = false;
    uintptr_t best = 16 * GUARD; /* farther than that, a neighbour explains nothing */
    pthread_mutex_lock(&w.lock);
    for (size_t i = 0; i < w.n; i++) {
        const struct region * r = &w.region[i];
        uintptr_t away          = address < r->base              ? r->base - address
                                  : address - r->base < r->bytes ? 0
                                                                 : address - r->base - r->bytes + 1;
        if (away == 0 || (near && away < best)) {
            *found = *r;
            best   = away;
            ok     = true;
            if (away == 0) {
                break;
            }
        }
    }
    pthread_mutex_unlock(&w.lock);
    return ok;
}

void window_describe(uintptr_t a, char * text, size_t room) {
    struct region r;
    uintptr_t whole;
    if (window_find(a, false, &r)) {
        snprintf(text, room, "%s +0x%zx of 0x%zx", r.name, (size_t)(a - r.base), r.bytes);
    } else if (a < 0x10000) {
        snprintf(text, room, "null pointer +0x%zx", (size_t)a);
    } else if (a <= UINT32_MAX && skel_holds_low((uint32_t)a, &whole)) {
        snprintf(text, room, "address 0x%zx of the library, cut to 32 bits", (size_t)whole);
    } else if (window_find(a, true, &r)) {
        bool before = a < r.base;
        snprintf(text, room, "0x%zx bytes %s %s", (size_t)(before ? r.base - a : a - r.base - r.bytes),
                 before ? "before" : "after the end of", r.name);
    } else {
        snprintf(text, room, "nothing is mapped there%s", a > UINT32_MAX ? ", and it lies beyond 4 GiB" : "");
    }
}
