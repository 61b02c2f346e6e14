/* ranges.h: sorted, disjoint address ranges [start, end) in a fixed array.
 *
 * A set may lose ranges when the array is full: what it tells of an address is then that it does not hold it. */
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

/* Replace the ranges [i, j) by n others, at most two. When there is no room for both, the second is lost. */
static inline void ranges_replace(struct ranges * r, uint32_t i, uint32_t j, const struct range * with, uint32_t n) {
    while (r->n - (j - i) + n > MAX_RANGES) {
        n--;
    }
    memmove(&r->range[i + n], &r->range[j], (r->n - j) * sizeof(struct range));
    memcpy(&r->range[i], with, n * sizeof(struct range));
    r->n = r->n - (j - i) + n;
}

/* Add a range; it merges with those that it touches. */
static inline void ranges_add(struct ranges * r, struct range a) {
    if (a.start >= a.end) {
        return;
    }
    uint32_t i = ranges_at(r, a.start), j = i;
    for (; j < r->n && r->range[j].start <= a.end; j++) {
        a.start = r->range[j].start < a.start ? r->range[j].start : a.start;
        a.end   = r->range[j].end > a.end ? r->range[j].end : a.end;
    }
    ranges_replace(r, i, j, &a, 1);
}

/* Take a range away. */
static inline void ranges_remove(struct ranges * r, struct range a) {
    uint32_t i = ranges_at(r, a.start), j = i, n = 0;
    struct range rest[2];
    for (; j < r->n && r->range[j].start < a.end; j++) {
        if (r->range[j].start < a.start) {
            rest[n++] = (struct range){r->range[j].start, a.start};
        }
        if (r->range[j].end > a.end) {
            rest[n++] = (struct range){a.end, r->range[j].end};
        }
    }
    ranges_replace(r, i, j, rest, n);
}

/* How far from an address on everything is in the set: the address itself, when it is not. */
static inline uint32_t ranges_reach(const struct ranges * r, uint32_t address) {
    uint32_t i = ranges_at(r, address + 1);
    return i < r->n && r->range[i].start <= address ? r->range[i].end : address;
}

#endif
