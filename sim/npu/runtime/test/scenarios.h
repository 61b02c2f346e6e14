/* scenarios.h: what the files of the test library share. */
#ifndef HEXSIM_TEST_SCENARIOS_H
#define HEXSIM_TEST_SCENARIOS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "methods.h"

#define NOT_MINE (-2) /* status of calls_run for a scenario of another file */

/* Run a scenario: scenarios.c those of the DSP's services, calls.c those about calls, faults.c those for the checks. */
struct test_result scenario_run(const struct test_run * run);
struct test_result calls_run(const struct test_run * run);
struct test_result faults_run(const struct test_run * run);

/* A failed scenario's status: the line, and 10000 for scenarios.c, 20000 for calls.c, 30000 for faults.c. */
#define FAIL_UNLESS(condition)                                                                                         \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            return (struct test_result){FILE_BASE + __LINE__, 0};                                                      \
        }                                                                                                              \
    } while (0)
#define DONE(v)                                                                                                        \
    return (struct test_result) {                                                                                      \
        0, (uint32_t)(v)                                                                                               \
    }

#define BELOW_4GIB(p) ((uintptr_t)(p) >> 32 == 0)

struct descriptor {
    void * next;
    volatile uint32_t word1;
    uint32_t source, destination, type, word5, word6, word7;
};

static inline uint32_t low(const volatile void * p) {
    return (uint32_t)(uintptr_t)p;
}

/* The buffer of a run, mapped; NULL when it can not be. */
uint8_t * map(const struct test_run * r);
uint32_t sum(const uint8_t * p, uint32_t n);
void clean(const uint8_t * p, uint32_t bytes);

/* VTCM: acquired, with its place below. */
struct test_result vtcm_take(void);
extern unsigned vtcm_context, vtcm_bytes;
extern uint8_t * vtcm;
extern atomic_int vtcm_asked_to_release;

/* One of 16 descriptors in turn, of one row, with bypass on both sides. */
struct descriptor * descriptor(const volatile void * from, const volatile void * to, uint32_t bytes);
void wait_for(const struct descriptor * d);

#endif
