/* methods.h: what the test library on the DSP does, by method and scenario. */
#ifndef HEXSIM_TEST_METHODS_H
#define HEXSIM_TEST_METHODS_H

#include <stdint.h>

enum {
    TEST_ECHO  = 2,
    TEST_START = 3,
    TEST_STOP  = 4,
    TEST_RUN   = 5,
    TEST_SUMS  = 6, /* n inputs, n outputs: each output filled with the largest byte of its input */
    TEST_FAIL  = 7, /* an input of 4 bytes: what to answer */
};

struct test_start {
    uint64_t queue_id;
};

/* TEST_RUN: an input of this, an output of test_result. */
struct test_run {
    uint32_t scenario;
    int32_t fd; /* of a buffer announced beforehand, or -1 */
    uint32_t bytes;
    uint32_t value;
};

struct test_result {
    int32_t status; /* 0 when the scenario found what it should */
    uint32_t value;
};

// clang-format off
#define TEST_SCENARIOS(X)                                                                                        \
    X(DIVIDE_BY_ZERO) X(HEAP) X(THREADS) X(CLOCKS)                                                               \
    X(DMA_1D) X(DMA_2D) X(DMA_EXTENDED)                                                                          \
    X(MAP) X(MAP_UNKNOWN) X(MAP_FAMILY) X(MAP_KEEP) X(MAP_FILL) X(CACHE_OPERATIONS)                              \
    X(VTCM) X(VTCM_CLEAN) X(VTCM_USE_AFTER_RELEASE) X(VTCM_PAST_END) X(VTCM_HOLD) X(VTCM_TAKE)                   \
    X(NULL_POINTER) X(ABORT)                                                                                     \
    X(MEET) X(PRIORITY) X(DMA_IN_THREAD) X(OWN_STACK) X(INSTRUCTIONS) X(ACCESS)                                  \
    X(DMA_CLEAN) X(DMA_NEVER_WAITED) X(DMA_SOURCE_WRITTEN) X(DMA_DESTINATION_WRITTEN) X(DMA_OVERLAP)             \
    X(DMA_EARLY_READ) X(DMA_CHAIN)                                                                               \
    X(DMA_SOURCE_IN_FLIGHT) X(DMA_DESTINATION_IN_FLIGHT) X(DMA_DESCRIPTOR_REUSED)                                \
    X(HMX_READS_IN_FLIGHT) X(HMX_WRITES_IN_FLIGHT) X(HMX_OVERWRITES_SOURCE) X(SPREAD)                            \
    X(COHERENT_SUM) X(STALE_SUM) X(FILL_CLEAN) X(FILL_NOT_CLEAN) X(FILL_DISCARD) X(DMA_READ_DIRTY)               \
    X(DMA_WRITE_DIRTY) X(SHARED_LINE) X(PEER_WRITES) X(PEER_READS)                                               \
    X(WINDOW_CLEAN) X(WINDOW_UNMAPPED) X(WINDOW_PAST_END) X(WINDOW_HIGH)                                         \
    X(STACK_CLEAN) X(STACK_DEEP)
// clang-format on

enum test_scenario {
#define TEST_ENUM(name) RUN_##name,
    TEST_SCENARIOS(TEST_ENUM)
#undef TEST_ENUM
};

/* Messages of the queue. */
enum { PACKET_ADD = 1, PACKET_CRASH = 2, PACKET_SILENT = 3 };

struct test_packet {
    uint32_t kind, value;
};

#endif
