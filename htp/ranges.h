/* ranges.h: sorted, disjoint address ranges [start, end) in a fixed array. */
#ifndef GGML_HTP_RANGES_H
#define GGML_HTP_RANGES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MAX_RANGES = 256 };

struct range {
    uint32_t start, end;
};

struct ranges {
    uint32_t n;
    bool full; /* something did not fit */
    struct range range[MAX_RANGES];
};

/* Index of the first range that ends at or after an address. */
static inline uint32_t ranges_at(const struct ranges * r, uint32_t address) {
    uint32_t low = 0, high = r->n;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (r->range[mid].end < address) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

/* Add a range; it merges with those that it touches. */
static inline void ranges_add(struct ranges * r, uint32_t start, uint32_t end) {
    uint32_t i = ranges_at(r, start), j = i;
    for (; j < r->n && r->range[j].start <= end; j++) {
        start = r->range[j].start < start ? r->range[j].start : start;
        end   = r->range[j].end > end ? r->range[j].end : end;
    }
    if (j == i && r->n == MAX_RANGES) {
        r->full = true;
        return;
    }
    memmove(&r->range[i + 1], &r->range[j], (r->n - j) * sizeof(struct range));
    r->n        = r->n - (j - i) + 1;
    r->range[i] = (struct range){start, end};
}

static inline void ranges_clear(struct ranges * r) {
    r->n    = 0;
    r->full = false;
}

#endif
