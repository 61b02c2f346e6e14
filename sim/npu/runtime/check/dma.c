/* dma: what may not happen between the link of a transfer and its completion.
 *
 * While a transfer is in flight its destination in VTCM holds a pattern, so that a reader who does not wait reads
 * rubbish; that the pattern, and the source, are still there at the end shows that nobody wrote either. Overlap with
 * other transfers in flight and with operands of HMX is found by address. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define POISON 0xfe
#define MAX_FLYING 8192

static struct {
    pthread_mutex_t lock;
    struct transfer flying[MAX_FLYING];
    size_t n;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool in_vtcm(uint64_t address, uint64_t bytes) {
    uintptr_t base;
    size_t size;
    return vtcm_range(&base, &size) && address - base < size && bytes <= size - (address - base);
}

static uint64_t extent(uint32_t row, uint32_t rows, uint32_t stride) {
    return rows ? (uint64_t)(rows - 1) * stride + row : 0;
}

static uint64_t from_extent(const struct transfer * t) {
    return extent(t->row_bytes, t->rows, t->from_stride);
}

static uint64_t to_extent(const struct transfer * t) {
    return extent(t->row_bytes, t->rows, t->to_stride);
}

static uint64_t sum(const struct transfer * t) {
    uint64_t h = 0xcbf29ce484222325ull;
    for (uint32_t i = 0; i < t->rows; i++) {
        const uint8_t * p = (const uint8_t *)(uintptr_t)(t->from + (uint64_t)i * t->from_stride);
        p                 = checks.coherency && t->from_bypass ? coherency_memory((uintptr_t)p) : p;
        for (uint32_t k = 0; k < t->row_bytes; k++) {
            h = (h ^ p[k]) * 0x100000001b3ull;
        }
    }
    return h;
}

/* Do [a, rows x stride) and [b, ...) share a byte? Rows of equal stride are told apart, else the extents decide. */
static bool overlap(uint64_t a, uint32_t a_row, uint32_t a_rows, uint32_t a_stride, uint64_t b, uint32_t b_row,
                    uint32_t b_rows, uint32_t b_stride) {
    uint64_t a_end = a + extent(a_row, a_rows, a_stride), b_end = b + extent(b_row, b_rows, b_stride);
    if (a >= b_end || b >= a_end) {
        return false;
    }
    if (a_rows > 1 && b_rows > 1 && a_stride == b_stride && a_stride >= a_row && a_stride >= b_row) {
        uint64_t shift = (b > a ? b - a : a_stride - (a - b) % a_stride) % a_stride;
        return shift < a_row || shift + b_row > a_stride;
    }
    if (a_rows > 1 && b_rows == 1 && a_stride >= a_row) {
        uint64_t shift = b > a ? (b - a) % a_stride : 0;
        return b < a || shift < a_row || shift + b_row > a_stride;
    }
    if (b_rows > 1 && a_rows == 1) {
        return overlap(b, b_row, b_rows, b_stride, a, a_row, a_rows, a_stride);
    }
    return true;
}

/* Between transfers of one engine such an overlap is right only if the engine keeps their order, which the order bit of
 * the second descriptor asks for: without that bit a finding of its own kind, with it none. */
static const char * kind_of(const struct transfer * t, const struct transfer * f, const char * kind) {
    return t->engine == f->engine ? "relies-on-order" : kind;
}

static void compare(const struct transfer * t, const struct transfer * f) {
    if (t->descriptor == f->descriptor) {
        check_report("dma", "descriptor-reused", (uintptr_t)t->descriptor, 32,
                     "a descriptor is linked again while its transfer is in flight");
    }
    if (t->ordered && t->engine == f->engine) {
        return;
    }
    if (overlap(t->to, t->row_bytes, t->rows, t->to_stride, f->to, f->row_bytes, f->rows, f->to_stride)) {
        check_report("dma", "overlapping-destinations", t->to, to_extent(t),
                     "two transfers in flight write the same bytes: their order is not defined");
    }
    if (overlap(t->from, t->row_bytes, t->rows, t->from_stride, f->to, f->row_bytes, f->rows, f->to_stride)) {
        check_report("dma", kind_of(t, f, "source-in-flight"), t->from, from_extent(t),
                     "a transfer reads what one in flight writes");
    }
    if (overlap(t->to, t->row_bytes, t->rows, t->to_stride, f->from, f->row_bytes, f->rows, f->from_stride)) {
        check_report("dma", kind_of(t, f, "destination-in-flight"), t->to, to_extent(t),
                     "a transfer writes what one in flight reads");
    }
}

static bool readable(uint64_t address, uint64_t bytes) {
    struct region r;
    return window_find(address, false, &r) && bytes <= r.bytes - (address - r.base);
}

void check_dma_linked(struct transfer * t) {
    if (!t->rows || !t->row_bytes || !readable(t->from, from_extent(t)) || !readable(t->to, to_extent(t))) {
        return; /* the window check tells it, or the fault */
    }
    pthread_mutex_lock(&all.lock);
    bool feeds = false; /* the destination is still to be read by an earlier transfer: no pattern there */
    for (size_t i = 0; i < all.n; i++) {
        const struct transfer * f = &all.flying[i];
        compare(t, f);
        feeds = feeds ||
                overlap(t->to, t->row_bytes, t->rows, t->to_stride, f->from, f->row_bytes, f->rows, f->from_stride);
    }
    t->known    = all.n < MAX_FLYING;
    t->from_sum = sum(t);
    t->poisoned = !feeds && in_vtcm(t->to, to_extent(t)) &&
                  !overlap(t->to, t->row_bytes, t->rows, t->to_stride, t->from, t->row_bytes, t->rows, t->from_stride);
    for (uint32_t i = 0; t->poisoned && i < t->rows; i++) {
        memset((void *)(uintptr_t)(t->to + (uint64_t)i * t->to_stride), POISON, t->row_bytes);
    }
    if (t->known) {
        all.flying[all.n++] = *t;
    }
    pthread_mutex_unlock(&all.lock);
}

void check_dma_before(struct transfer * t) {
    if (!t->known) {
        return;
    }
    if (sum(t) != t->from_sum) {
        check_report("dma", "source-written", t->from, from_extent(t),
                     "the source of a transfer was written between its link and its completion");
    }
    for (uint32_t i = 0; t->poisoned && i < t->rows; i++) {
        const uint8_t * p = (const uint8_t *)(uintptr_t)(t->to + (uint64_t)i * t->to_stride);
        for (uint32_t k = 0; k < t->row_bytes; k++) {
            if (p[k] != POISON) {
                check_report("dma", "destination-written", (uintptr_t)p + k, 1,
                             "the destination of a transfer was written between its link and its completion");
                return;
            }
        }
    }
}

void check_dma_after(struct transfer * t) {
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; t->known && i < all.n; i++) {
        if (all.flying[i].descriptor == t->descriptor && all.flying[i].to == t->to) {
            memmove(&all.flying[i], &all.flying[i + 1], (all.n - i - 1) * sizeof all.flying[0]);
            all.n--;
            break;
        }
    }
    pthread_mutex_unlock(&all.lock);
}

void check_dma_dropped(const struct transfer * t) {
    check_report("dma", "never-waited-for", t->to, to_extent(t),
                 "the application is answered while a transfer is still in flight");
}

void check_dma_operand(const void * a, size_t bytes, bool write, const char * what) {
    if (!a || !bytes) {
        return;
    }
    uint64_t address = (uint32_t)(uintptr_t)a;
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < all.n; i++) {
        const struct transfer * f = &all.flying[i];
        if (overlap(f->to, f->row_bytes, f->rows, f->to_stride, address, (uint32_t)bytes, 1, 0)) {
            check_report("dma", write ? "written-in-flight" : "read-in-flight", address, bytes,
                         "%s %s the destination of a transfer in flight", what, write ? "writes" : "reads");
        } else if (write && overlap(f->from, f->row_bytes, f->rows, f->from_stride, address, (uint32_t)bytes, 1, 0)) {
            check_report("dma", "source-overwritten", address, bytes, "%s writes the source of a transfer in flight",
                         what);
        }
    }
    pthread_mutex_unlock(&all.lock);
}
