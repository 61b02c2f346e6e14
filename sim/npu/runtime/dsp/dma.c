/* dma: user DMA, one engine for each thread. HEXSIM_DMA chooses when transfers are carried out: `link`, the earliest
 * moment, when they are linked; `poll`, the latest, when somebody polls: one transfer for each dmpoll, all of them for
 * dmwait, in the order of their links; `unordered`, as late, but the newest first, for all that do not have the order
 * bit. Code that is right passes all three.
 *
 * Descriptor, as the DSP library lays it out on this machine: the link to the next one takes 8 bytes, all else is the
 * hardware's. Bits of word 1: 25-24 size (0: one row, 1: two-dimensional), 28 destination bypass, 29 source bypass, 30
 * order, 31 done. Two-dimensional types: 0 has 16-bit fields (v73), 9 has 24-bit fields, 10 has 40-bit addresses (v81).
 */
#include "hexsim_asm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dsp.h"

struct descriptor {
    void * next;
    _Atomic uint32_t word1;
    uint32_t source, destination, type;
    uint32_t word5, word6, word7;
};

#define DONE 0x80000000u
#define ENGINE_IDLE 0u
#define ENGINE_RUNNING 1u

struct engine {
    pthread_mutex_t lock;
    struct transfer * pending; /* ring */
    size_t first, n, room;
    bool abandoned; /* its thread has ended */
    struct engine * next;
};

static struct {
    pthread_mutex_t lock;
    struct engine * list;
    pthread_once_t once;
    bool at_link, newest_first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void choose(void) {
    const char * mode = getenv("HEXSIM_DMA");
    all.at_link       = mode && !strcmp(mode, "link");
    all.newest_first  = mode && !strcmp(mode, "unordered");
    if (mode && *mode && !all.at_link && !all.newest_first && strcmp(mode, "poll")) {
        fprintf(stderr, "hexsim: HEXSIM_DMA=%s is none of link, poll, unordered; using poll\n", mode);
    }
}

static _Thread_local struct engine * mine;

/* An idle engine whose thread has ended; NULL when there is none. */
static struct engine * take_over(void) {
    pthread_mutex_lock(&all.lock);
    struct engine * e = all.list;
    for (; e; e = e->next) {
        pthread_mutex_lock(&e->lock);
        bool idle = e->abandoned && e->n == 0;
        pthread_mutex_unlock(&e->lock);
        if (idle) {
            e->abandoned = false;
            break;
        }
    }
    pthread_mutex_unlock(&all.lock);
    return e;
}

static struct engine * engine(void) {
    if (!mine) {
        pthread_once(&all.once, choose);
        mine = take_over();
        if (!mine) {
            mine = calloc(1, sizeof *mine);
            if (!mine) {
                abort();
            }
            pthread_mutex_init(&mine->lock, NULL);
            pthread_mutex_lock(&all.lock);
            mine->next = all.list; /* engines stay: a transfer may outlive its thread */
            all.list   = mine;
            pthread_mutex_unlock(&all.lock);
        }
    }
    return mine;
}

void dma_thread_end(void) {
    if (mine) {
        pthread_mutex_lock(&all.lock);
        mine->abandoned = true;
        pthread_mutex_unlock(&all.lock);
        mine = NULL;
    }
}

static struct transfer decode(struct descriptor * d) {
    uint32_t w1       = atomic_load(&d->word1);
    struct transfer t = {.descriptor  = d,
                         .from        = d->source,
                         .to          = d->destination,
                         .rows        = 1,
                         .from_bypass = w1 >> 29 & 1,
                         .to_bypass   = w1 >> 28 & 1,
                         .ordered     = w1 >> 30 & 1};
    if ((w1 >> 24 & 3) == 0) {
        t.row_bytes = w1 & 0xffffff;
        return t;
    }
    uint32_t type = d->type & 0xff;
    if (type == 0) {
        t.row_bytes   = d->word5 & 0xffff;
        t.rows        = d->word5 >> 16;
        t.from_stride = d->word6 & 0xffff;
        t.to_stride   = d->word6 >> 16;
        return t;
    }
    if (type != 9 && type != 10) {
        farf_line("FATAL", "dma: descriptor %p has type %u; known are 0, 9 and 10", (void *)d, type);
        abort();
    }
    t.row_bytes   = d->word5 & 0xffffff;
    t.rows        = d->word5 >> 24 | (d->word6 & 0xff) << 8;
    t.from_stride = d->word6 >> 8;
    t.to_stride   = w1 & 0xffffff;
    if (type == 10) {
        t.from |= (uint64_t)(d->type >> 8 & 0xff) << 32;
        t.to |= (uint64_t)(d->type >> 16 & 0xff) << 32;
    }
    return t;
}

static bool in_vtcm(uint64_t address) {
    uintptr_t base;
    size_t bytes;
    return vtcm_range(&base, &bytes) && address - base < bytes;
}

static void count(const struct transfer * t) {
    uint64_t bytes = (uint64_t)t->row_bytes * t->rows;
    bool from = in_vtcm(t->from), to = in_vtcm(t->to);
    DSP_COUNT(dma_descriptors, 1);
    if (from == to) {
        DSP_COUNT(dma_bytes_other, bytes);
    } else if (to) {
        DSP_COUNT(dma_bytes_to_vtcm, bytes);
    } else {
        DSP_COUNT(dma_bytes_from_vtcm, bytes);
    }
}

static void copy_coherent(const struct transfer * t) {
    for (uint32_t i = 0; i < t->rows; i++) {
        uintptr_t from = t->from + (uint64_t)i * t->from_stride, to = t->to + (uint64_t)i * t->to_stride;
        if (t->from_bypass) {
            coherency_dma_read(from, t->row_bytes);
        } else {
            coherency_fetch(from, t->row_bytes);
        }
        if (!t->to_bypass) {
            coherency_fetch(to, t->row_bytes);
        }
        memmove(t->to_bypass ? coherency_memory(to) : (uint8_t *)to,
                t->from_bypass ? coherency_memory(from) : (uint8_t *)from, t->row_bytes);
        if (t->to_bypass) {
            coherency_dma_written(to, t->row_bytes);
        }
    }
}

static void carry_out(struct transfer * t) {
    struct descriptor * d = t->descriptor;
    count(t);
    if (checks.dma) {
        check_dma_before(t);
    }
    if (checks.coherency) {
        copy_coherent(t);
    } else {
        for (uint32_t i = 0; i < t->rows; i++) {
            memmove((void *)(t->to + (uint64_t)i * t->to_stride), (void *)(t->from + (uint64_t)i * t->from_stride),
                    t->row_bytes);
        }
    }
    if (checks.dma) {
        check_dma_after(t);
    }
    atomic_fetch_or(&d->word1, DONE);
}

/* With the engine's lock held. */
static void append(struct engine * e, const struct transfer * t) {
    if (e->n == e->room) {
        size_t room               = e->room ? 2 * e->room : 256;
        struct transfer * pending = malloc(room * sizeof *pending);
        if (!pending) {
            abort();
        }
        for (size_t i = 0; i < e->n; i++) {
            pending[i] = e->pending[(e->first + i) % e->room];
        }
        free(e->pending);
        e->pending = pending;
        e->first   = 0;
        e->room    = room;
    }
    e->pending[(e->first + e->n++) % e->room] = *t;
}

static struct transfer * pending(struct engine * e, size_t i) {
    return &e->pending[(e->first + i) % e->room];
}

/* Take the transfer that is carried out next. With the lock held, and one there. */
static struct transfer next_one(struct engine * e) {
    size_t i = all.newest_first ? e->n - 1 : 0;
    while (i > 0 && pending(e, i)->ordered) {
        i--;
    }
    struct transfer t = *pending(e, i);
    for (; i > 0; i--) {
        *pending(e, i) = *pending(e, i - 1);
    }
    e->first = (e->first + 1) % e->room;
    e->n--;
    return t;
}

static bool one(struct engine * e) {
    struct transfer t;
    pthread_mutex_lock(&e->lock);
    bool any = e->n > 0;
    if (any) {
        t = next_one(e);
        carry_out(&t);
    }
    pthread_mutex_unlock(&e->lock);
    return any;
}

static void link_one(struct descriptor * d) {
    struct engine * e = engine();
    struct transfer t = decode(d);
    t.engine          = e;
    if (checks.window) {
        size_t from = t.rows ? (size_t)(t.rows - 1) * t.from_stride + t.row_bytes : 0;
        size_t to   = t.rows ? (size_t)(t.rows - 1) * t.to_stride + t.row_bytes : 0;
        check_window_access(t.from, from, true, "DMA source");
        check_window_access(t.to, to, true, "DMA destination");
    }
    if (checks.dma) {
        check_dma_linked(&t);
    }
    pthread_mutex_lock(&e->lock);
    append(e, &t);
    pthread_mutex_unlock(&e->lock);
    if (all.at_link) {
        one(e);
    }
}

void hexsim_dmstart(void * descriptor) {
    for (struct descriptor * d = descriptor; d; d = d->next) {
        link_one(d);
    }
}

void hexsim_dmlink(void * tail, void * next) {
    struct descriptor * d = tail;
    if (d && d != next) {
        d->next = next;
    }
    hexsim_dmstart(next);
}

uint32_t hexsim_dmpoll(void) {
    struct engine * e = engine();
    if (!one(e)) {
        /* Somebody waits for a transfer that another thread linked: its engine would be done by now. */
        pthread_mutex_lock(&all.lock);
        struct engine * other = all.list;
        pthread_mutex_unlock(&all.lock);
        while (other && !one(other)) {
            other = other->next;
        }
    }
    pthread_mutex_lock(&e->lock);
    uint32_t state = e->n ? ENGINE_RUNNING : ENGINE_IDLE;
    pthread_mutex_unlock(&e->lock);
    return state;
}

uint32_t hexsim_dmwait(void) {
    while (one(engine())) {
    }
    return ENGINE_IDLE;
}

unsigned dma_drain(void) {
    unsigned n = 0;
    pthread_mutex_lock(&all.lock);
    struct engine * e = all.list;
    pthread_mutex_unlock(&all.lock);
    for (; e; e = e->next) {
        if (checks.dma) {
            pthread_mutex_lock(&e->lock);
            for (size_t i = 0; i < e->n; i++) {
                check_dma_dropped(&e->pending[(e->first + i) % e->room]);
            }
            pthread_mutex_unlock(&e->lock);
        }
        while (one(e)) {
            n++;
        }
    }
    return n;
}
