/* shared.h: memory that the application and its DSP processes share besides buffers and queues.
 *
 * WIRE_HELLO brings two descriptors: the process's counters, and the state of all processes. */
#ifndef HEXSIM_SHARED_H
#define HEXSIM_SHARED_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#include "soc.h"

/* One resource of a physical DSP that its processes take turns with: VTCM, HMX. */
struct shared_resource {
    _Atomic uint32_t owner;   /* 0: free; else session + 1. Futex word. */
    _Atomic uint32_t waiters; /* processes that want it. Futex word. */
};

struct shared_domain {
    struct shared_resource vtcm;
    struct shared_resource hmx;
};
static_assert(sizeof(struct shared_domain) == 16, "shared memory");

/* All of an application's processes. */
struct shared_state {
    struct shared_domain domain[SOC_MAX_DOMAINS];
    _Atomic uint64_t written; /* times that some process wrote lines of shared buffers to memory: coherency check */
};
static_assert(sizeof(struct shared_state) == 40, "shared memory");

/* What is counted. Only what equal inputs determine: nothing that depends on how threads are scheduled. */
#define SHARED_COUNTERS(X)                                                                                             \
    X(packets)               /* dspqueue packets read by the DSP */                                                    \
    X(packet_buffer_bytes)   /* buffers of those packets and of their answers, for which cache flags were given */     \
    X(invoked_bytes)         /* inline argument bytes of invocations, both ways */                                     \
    X(shared_argument_bytes) /* arguments of invocations passed by descriptor */                                       \
    X(host_maps)             /* fastrpc_mmap */                                                                        \
    X(host_map_bytes)                                                                                                  \
    X(host_unmaps)                                                                                                     \
    X(dsp_maps) /* HAP_mmap and its kin */                                                                             \
    X(dsp_map_bytes)                                                                                                   \
    X(dsp_unmaps)                                                                                                      \
    X(dma_descriptors)                                                                                                 \
    X(dma_bytes_to_vtcm)   /* from outside VTCM */                                                                     \
    X(dma_bytes_from_vtcm) /* to outside VTCM */                                                                       \
    X(dma_bytes_other)                                                                                                 \
    X(cache_clean_all) /* qurt_mem_cache_clean: the whole data cache */                                                \
    X(cache_clean_invalidate_all)                                                                                      \
    X(cache_clean_ranges) /* the same with a range, by operation */                                                    \
    X(cache_clean_range_bytes)                                                                                         \
    X(cache_invalidate_ranges)                                                                                         \
    X(cache_invalidate_range_bytes)                                                                                    \
    X(cache_clean_invalidate_ranges)                                                                                   \
    X(cache_clean_invalidate_range_bytes)                                                                              \
    X(cache_clean_lines)      /* dccleana: lines of 128 bytes. The same line and operation by the same thread at */    \
    X(cache_invalidate_lines) /* dcinva        once again (polling) counts once. */                                    \
    X(cache_clean_invalidate_lines) /* dccleaninva */                                                                  \
    X(direct_load_bytes)            /* of shared buffers, without DMA; zero unless the library reports accesses */     \
    X(direct_store_bytes)                                                                                              \
    X(hvx_instructions) /* intrinsics that kernels have executed */                                                    \
    X(hmx_multiplies)   /* HMX instructions by kind */                                                                 \
    X(hmx_multiplied_tiles)                                                                                            \
    X(hmx_stores)                                                                                                      \
    X(hmx_other)

enum shared_counter {
#define SHARED_ENUM(name) SHARED_##name,
    SHARED_COUNTERS(SHARED_ENUM)
#undef SHARED_ENUM
        SHARED_N_COUNTERS
};

#define SHARED_METHODS 32

struct shared_counters {
    _Atomic uint64_t counter[SHARED_N_COUNTERS];
    _Atomic uint64_t invokes[SHARED_METHODS]; /* by method */
};
static_assert(sizeof(struct shared_counters) == 8 * (SHARED_N_COUNTERS + SHARED_METHODS), "shared memory");

#endif
