/* check.h: the checkers, switched by HEXSIM_CHECK=coherency,dma,vtcm,sharing,window,stack (or all). Each costs nothing
 * when off: one test of a flag. Reports go to HEXSIM_REPORT as JSON lines, and to stderr when that is not set. */
#ifndef HEXSIM_CHECK_H
#define HEXSIM_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dsp.h"

extern struct checks {
    bool any, coherency, dma, vtcm, sharing, window, stack;
} checks;

void check_init(void);

/* One finding of one kind at one place of the library is told once, with the number of repetitions at the end. */
void check_report(const char * check, const char * kind, uintptr_t address, size_t bytes, const char * format, ...)
    __attribute__((format(printf, 5, 6)));
void check_report_end(void);

/* The next report of this thread is about what the library's instruction at pc did, not about the call under way. */
void check_blame(uintptr_t pc);

/* pc when it lies in a library of the DSP, else where the library called what pc is in. */
uintptr_t check_library_pc(uintptr_t pc);

/* Where the library is at work. */
struct check_where {
    char op[96];       /* the op: the outermost function op_..., of this thread or of the one it works for */
    char at[160];      /* "libx.so+0x71c4" */
    char source[96];   /* file and line there; empty when not known */
    char frames[1536]; /* JSON array of "function file:line", innermost first */
};
/* False outside any library. Fills where->at only, at first; the rest is dear. */
bool check_where_at(struct check_where * where, uintptr_t * pc);
void check_where_rest(struct check_where * where, uintptr_t pc);
void check_where_init(void);

/* ---- vtcm ---- */

void check_vtcm_acquired(uintptr_t base, size_t bytes);
void check_vtcm_released(uintptr_t base, size_t bytes);
/* A fault at address: true when it was reported and the access may be repeated. */
bool check_vtcm_fault(uintptr_t address, bool write);

/* ---- dma ---- */

/* One transfer: rows of row_bytes at strides. */
struct transfer {
    void * descriptor;
    const void * engine; /* the thread's; its transfers run one after the other */
    uint64_t from, to;
    uint32_t row_bytes, rows, from_stride, to_stride;
    bool from_bypass, to_bypass;
    bool ordered;      /* not before those linked earlier are complete */
    uint64_t from_sum; /* of the source's bytes when linked: check */
    bool poisoned;     /* the destination holds the check's pattern */
    bool known;        /* seen by check_dma_linked */
};

void check_dma_linked(struct transfer * t);
void check_dma_before(struct transfer * t); /* about to be carried out */
void check_dma_after(struct transfer * t);
void check_dma_dropped(const struct transfer * t); /* nobody waited for it */
void check_dma_operand(const void * a, size_t bytes, bool write, const char * what);

/* ---- coherency ---- */

void * coherency_map(int fd, uint64_t bytes, int app_fd, const char * name);
void coherency_unmap(void * base);
/* Maintenance of [address, +bytes) or of everything. */
void coherency_range(uintptr_t address, size_t bytes, bool clean, bool invalidate);
void coherency_all(bool clean, bool invalidate);
/* Memory behind the cache, for DMA with bypass; address itself when it is no shared buffer. */
uint8_t * coherency_memory(uintptr_t address);
void coherency_dma_read(uintptr_t address, size_t bytes);
void coherency_dma_written(uintptr_t address, size_t bytes);
void coherency_fetch(uintptr_t address, size_t bytes); /* what a simulated unit will read or write */
bool coherency_fault(uintptr_t address, bool write, void * context);
bool coherency_trap(void * context);
/* The application has had its turn, or will have it. */
void coherency_enter(void);
void coherency_leave(void);

/* ---- window ---- */

void check_window_access(uint64_t address, size_t bytes, bool extended_allowed, const char * what);

/* ---- stack ---- */

/* Bytes of stack beyond the usual that the check wants for a thread that asked for so many. */
size_t check_stack_room(size_t asked);
void check_stack_begins(struct dsp_thread * t); /* in the thread itself */
/* True when it was reported and the access may be repeated. */
bool check_stack_fault(uintptr_t address);

#endif
