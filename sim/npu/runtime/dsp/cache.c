/* cache: maintenance of the DSP's data cache. Memory is coherent here by nature; what maintenance means shows only
 * under the coherency check, and in the counters. */
#include "hexsim_runtime.h"
#include "qurt.h"

#include <string.h>

#include "check.h"
#include "dsp.h"

enum operation { CLEAN = 1, INVALIDATE = 2, CLEAN_INVALIDATE = CLEAN | INVALIDATE };

/* Names of the counters of an operation begin with the same word. */
#define COUNT_OPERATION(operation, what, n)                                                                            \
    do {                                                                                                               \
        switch (operation) {                                                                                           \
        case CLEAN:                                                                                                    \
            DSP_COUNT(cache_clean_##what, n);                                                                          \
            break;                                                                                                     \
        case INVALIDATE:                                                                                               \
            DSP_COUNT(cache_invalidate_##what, n);                                                                     \
            break;                                                                                                     \
        case CLEAN_INVALIDATE:                                                                                         \
            DSP_COUNT(cache_clean_invalidate_##what, n);                                                               \
            break;                                                                                                     \
        }                                                                                                              \
    } while (0)

static void line(const void * addr, enum operation operation) {
    uint64_t number       = (uintptr_t)addr / LINE_BYTES * 4 + operation;
    struct dsp_thread * t = thread_self();
    if (number != t->last_line) {
        t->last_line = number;
        COUNT_OPERATION(operation, lines, 1);
    }
    if (checks.any) {
        if (checks.window) {
            check_window_access((uintptr_t)addr, 1, false, "cache maintenance");
        }
        if (checks.coherency) {
            coherency_range((uintptr_t)addr & ~(uintptr_t)(LINE_BYTES - 1), LINE_BYTES, operation & CLEAN,
                            operation & INVALIDATE);
        }
    }
}

void hexsim_dccleana(const void * addr) {
    line(addr, CLEAN);
}

void hexsim_dcinva(const void * addr) {
    line(addr, INVALIDATE);
}

void hexsim_dccleaninva(const void * addr) {
    line(addr, CLEAN_INVALIDATE);
}

void hexsim_dczeroa(void * addr) {
    memset((void *)((uintptr_t)addr & ~(uintptr_t)31), 0, 32);
}

void hexsim_l2fetch(const void * addr, uint64_t control) {
    (void)addr;
    (void)control;
}

void hexsim_dcfetch(const void * addr) {
    (void)addr;
}

int qurt_mem_cache_clean(qurt_addr_t addr, qurt_size_t size, qurt_mem_cache_op_t op, qurt_mem_cache_type_t type) {
    if (type == QURT_MEM_ICACHE) {
        return QURT_EOK;
    }
    if (type != QURT_MEM_DCACHE) {
        return QURT_EVAL;
    }
    thread_self()->last_line = 0;
    enum operation operation = CLEAN_INVALIDATE;
    switch (op) {
    case QURT_MEM_CACHE_FLUSH_ALL:
    case QURT_MEM_CACHE_FLUSH_INVALIDATE_ALL:
        if (op == QURT_MEM_CACHE_FLUSH_ALL) {
            DSP_COUNT(cache_clean_all, 1);
        } else {
            DSP_COUNT(cache_clean_invalidate_all, 1);
        }
        if (checks.coherency) {
            coherency_all(true, op == QURT_MEM_CACHE_FLUSH_INVALIDATE_ALL);
        }
        return QURT_EOK;
    case QURT_MEM_CACHE_FLUSH:
        operation = CLEAN;
        break;
    case QURT_MEM_CACHE_INVALIDATE:
        operation = INVALIDATE;
        break;
    case QURT_MEM_CACHE_FLUSH_INVALIDATE:
        break;
    default:
        return QURT_EVAL;
    }
    COUNT_OPERATION(operation, ranges, 1);
    COUNT_OPERATION(operation, range_bytes, size);
    if (checks.window && size) {
        check_window_access(addr, size, false, "cache maintenance");
    }
    if (checks.coherency && size) {
        coherency_range(addr, size, operation & CLEAN, operation & INVALIDATE);
    }
    return QURT_EOK;
}
