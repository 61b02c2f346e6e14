/* segment.c: the host's memory in the DSP's window.
 *
 * A segment is mapped as a whole when the first of its buffers is used and stays mapped when the last one is not used
 * any more, because the next one is likely to come soon; it is given up when the window has no room for something else
 * or the host takes it away. Buffers outside the pool are passed through and remembered, so that a stop unmaps what
 * main.c's table, which ends with it, still holds. */
#include <AEEStdErr.h>
#include <HAP_farf.h>
#include <HAP_mem.h>
#include <string.h>

#define GGML_COMMON_DECL_C
#include "ggml-common.h"
#include "htp-ops.h"

#include "dsp-ctx.h"

#define FAILED ((void *)-1)

static void * driver_map(uint32_t fd, size_t bytes) {
#if __HVX_ARCH__ > 73
    void * p = HAP_mmap2(NULL, bytes, HAP_PROT_READ | HAP_PROT_WRITE, 0, (int)fd, 0);
#else
    void * p = bytes > INT32_MAX ? FAILED : HAP_mmap(NULL, (int)bytes, HAP_PROT_READ | HAP_PROT_WRITE, 0, (int)fd, 0);
#endif
    return p ? p : FAILED;
}

static int driver_unmap(void * address, size_t bytes) {
#if __HVX_ARCH__ > 73
    return HAP_munmap2(address, bytes);
#else
    return HAP_munmap(address, (int)bytes);
#endif
}

static void drop(struct segment * s) {
    if (s->base && driver_unmap(s->base, s->bytes)) {
        FARF(ERROR, "fastrpc: segment of fd %u does not unmap", s->fd);
    }
    s->base = NULL;
    s->refs = 0;
}

/* Give up what no buffer uses; tell whether there was anything. */
static bool reclaim(struct segments * s) {
    bool any = false;
    for (uint32_t i = 0; i < WIRE_MAX_SEGMENTS; i++) {
        if (s->segment[i].base && !s->segment[i].refs) {
            drop(&s->segment[i]);
            any = true;
        }
    }
    return any;
}

static void * map_or_reclaim(struct segments * s, uint32_t fd, size_t bytes) {
    void * p = driver_map(fd, bytes);
    if (p == FAILED && reclaim(s)) {
        p = driver_map(fd, bytes);
    }
    return p;
}

AEEResult segments_update(struct segments * s, const htp_iface_segment * table, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (table[i].index >= WIRE_MAX_SEGMENTS || !table[i].bytes || table[i].bytes > UINT32_MAX) {
            FARF(ERROR, "fastrpc: segment %u of %llu bytes is none", table[i].index,
                 (unsigned long long)table[i].bytes);
            return AEE_EBADPARM;
        }
        struct segment * m = &s->segment[table[i].index];
        if (m->base && (m->fd != table[i].fd || m->bytes != table[i].bytes)) {
            FARF(ERROR, "fastrpc: segment %u was fd %u and is fd %u without a release", table[i].index, m->fd,
                 table[i].fd);
            return AEE_EBADSTATE;
        }
        m->fd    = table[i].fd;
        m->bytes = table[i].bytes;
    }
    return AEE_SUCCESS;
}

static void * map_pooled(struct segments * s, uint32_t fd, size_t bytes) {
    uint32_t i    = wire_segment(fd);
    uint64_t from = wire_offset(fd);
    if (i >= WIRE_MAX_SEGMENTS || from + bytes > s->segment[i].bytes) {
        FARF(ERROR, "fastrpc: buffer 0x%x of %zu bytes lies in no segment", fd, bytes);
        return FAILED;
    }
    struct segment * m = &s->segment[i];
    if (!m->base) {
        void * p = map_or_reclaim(s, m->fd, m->bytes);
        if (p == FAILED) {
            FARF(ERROR, "fastrpc: segment %u of %llu bytes does not map", i, (unsigned long long)m->bytes);
            return FAILED;
        }
        m->base = p;
    }
    m->refs++;
    return m->base + from;
}

static void * pass_through(struct segments * s, uint32_t fd, size_t bytes) {
    for (int i = 0; i < MAX_PASSED; i++) {
        if (!s->passed[i].base) {
            void * p = map_or_reclaim(s, fd, bytes);
            if (p != FAILED) {
                s->passed[i].base  = p;
                s->passed[i].bytes = bytes;
            }
            return p;
        }
    }
    return FAILED;
}

void * segments_map(struct segments * s, uint32_t fd, size_t bytes) {
    return wire_is_pooled(fd) ? map_pooled(s, fd, bytes) : pass_through(s, fd, bytes);
}

int segments_unmap(struct segments * s, void * address, size_t bytes) {
    for (int i = 0; i < MAX_PASSED; i++) {
        if (s->passed[i].base == address && address) {
            s->passed[i].base = NULL;
            return driver_unmap(address, bytes);
        }
    }
    for (uint32_t i = 0; i < WIRE_MAX_SEGMENTS; i++) {
        struct segment * m = &s->segment[i];
        if (m->base && (uintptr_t)address - (uintptr_t)m->base < m->bytes) {
            m->refs -= m->refs > 0;
            return AEE_SUCCESS;
        }
    }
    return AEE_ENOSUCHMAP; /* main.c also unmaps entries of its table that never were mapped */
}

AEEResult segments_release(struct segments * s, uint32_t index) {
    if (index >= WIRE_MAX_SEGMENTS) {
        return AEE_EBADPARM;
    }
    drop(&s->segment[index]);
    return AEE_SUCCESS;
}

void segments_release_all(struct segments * s) {
    for (uint32_t i = 0; i < WIRE_MAX_SEGMENTS; i++) {
        drop(&s->segment[i]);
    }
    for (int i = 0; i < MAX_PASSED; i++) {
        if (s->passed[i].base) {
            driver_unmap(s->passed[i].base, s->passed[i].bytes);
            s->passed[i].base = NULL;
        }
    }
}
