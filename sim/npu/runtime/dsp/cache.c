/* cache: maintenance of the DSP's data cache. Memory is coherent here by nature; what maintenance means shows only
 * under the coherency check, and in the counters. */
#include "hexsim_runtime.h"
#include "qurt.h"

#include <string.h>

#include "check.h"
#include "dsp.h"

static void line(const void * addr, bool clean, bool invalidate) {
    uint64_t number       = (uintptr_t)addr / LINE_BYTES;
    struct dsp_thread * t = thread_self();
    if (number != t->last_line) {
        t->last_line = number;
        DSP_COUNT(cache_lines, 1);
        DSP_COUNT(cache_line_bytes, LINE_BYTES);
    }
    if (checks.any) {
        if (checks.window) {
            check_window_access((uintptr_t)addr, 1, false, "cache maintenance");
        }
        if (checks.coherency) {
            coherency_range((uintptr_t)addr & ~(uintptr_t)(LINE_BYTES - 1), LINE_BYTES, clean, invalidate);
        }
    }
}

void hexsim_dccleana(const void * addr) {
    line(addr, true, false);
}

void hexsim_dcinva(const void * addr) {
    line(addr, false, true);
}

void hexsim_dccleaninva(const void * addr) {
    line(addr, true, true);
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
    bool clean = true, invalidate = true;
    switch (op) {
    case QURT_MEM_CACHE_FLUSH_ALL:
    case QURT_MEM_CACHE_FLUSH_INVALIDATE_ALL:
        DSP_COUNT(cache_all, 1);
        if (checks.coherency) {
            coherency_all(true, op == QURT_MEM_CACHE_FLUSH_INVALIDATE_ALL);
        }
        return QURT_EOK;
    case QURT_MEM_CACHE_FLUSH:
        invalidate = false;
        break;
    case QURT_MEM_CACHE_INVALIDATE:
        clean = false;
        break;
    case QURT_MEM_CACHE_FLUSH_INVALIDATE:
        break;
    default:
        return QURT_EVAL;
    }
    DSP_COUNT(cache_ranges, 1);
    DSP_COUNT(cache_range_bytes, size);
    if (checks.window && size) {
        check_window_access(addr, size, false, "cache maintenance");
    }
    if (checks.coherency && size) {
        coherency_range(addr, size, clean, invalidate);
    }
    return QURT_EOK;
}
