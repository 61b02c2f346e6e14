/* check.h: what the tests of the HVX emulation share: operands, comparison, and the count of failures. */
#ifndef HEXSIM_TEST_CHECK_H
#define HEXSIM_TEST_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hexagon_protos.h"

extern int check_failures;

/* A seeded generator (xorshift64*): equal on every machine. */
uint64_t check_random(void);
void check_seed(uint64_t seed);

/* Random bits; every few words one that floating point finds hard: zeros, subnormals, limits, infinities, NaNs. */
hexsim_lanes check_words(void);
hexsim_lanes check_halves(void);

/* Every 16-bit value appears once in a vector with number 0 <= i < 1024; every byte pair too. */
hexsim_lanes check_all_halves(int i);

/* Compares two vectors bit by bit and reports the first lane that differs. */
void check_same(const char * name, const void * got, const void * want, size_t bytes, const void * u, const void * v,
                int32_t r);
void check_true(const char * what, int holds);

/* The vector form against the lane form. */
#define CHECK_V(name, u)                                                                                               \
    do {                                                                                                               \
        HVX_Vector got = name((u).v), want = name##_lane((u).v);                                                       \
        check_same(#name, &got, &want, 128, &(u), NULL, 0);                                                            \
    } while (0)
#define CHECK_VV(name, u, w)                                                                                           \
    do {                                                                                                               \
        HVX_Vector got = name((u).v, (w).v), want = name##_lane((u).v, (w).v);                                         \
        check_same(#name, &got, &want, 128, &(u), &(w), 0);                                                            \
    } while (0)
#define CHECK_CMP(name, u, w)                                                                                          \
    do {                                                                                                               \
        HVX_VectorPred got = name((u).v, (w).v), want = name##_lane((u).v, (w).v);                                     \
        check_same(#name, &got, &want, 128, &(u), &(w), 0);                                                            \
    } while (0)
#define CHECK_VR(name, u, r)                                                                                           \
    do {                                                                                                               \
        HVX_Vector got = name((u).v, r), want = name##_lane((u).v, r);                                                 \
        check_same(#name, &got, &want, 128, &(u), NULL, r);                                                            \
    } while (0)
#define CHECK_XVR(name, x, u, r)                                                                                       \
    do {                                                                                                               \
        HVX_Vector got = name((x).v, (u).v, r), want = name##_lane((x).v, (u).v, r);                                   \
        check_same(#name, &got, &want, 128, &(x), &(u), r);                                                            \
    } while (0)
#define CHECK_XVV(name, x, u, w)                                                                                       \
    do {                                                                                                               \
        HVX_Vector got = name((x).v, (u).v, (w).v), want = name##_lane((x).v, (u).v, (w).v);                           \
        check_same(#name, &got, &want, 128, &(u), &(w), 0);                                                            \
    } while (0)
#define CHECK_W_V(name, u)                                                                                             \
    do {                                                                                                               \
        HVX_VectorPair got = name((u).v), want = name##_lane((u).v);                                                   \
        check_same(#name, &got, &want, 256, &(u), NULL, 0);                                                            \
    } while (0)
#define CHECK_W_VV(name, u, w)                                                                                         \
    do {                                                                                                               \
        HVX_VectorPair got = name((u).v, (w).v), want = name##_lane((u).v, (w).v);                                     \
        check_same(#name, &got, &want, 256, &(u), &(w), 0);                                                            \
    } while (0)
#define CHECK_W_VVR(name, u, w, r)                                                                                     \
    do {                                                                                                               \
        HVX_VectorPair got = name((u).v, (w).v, r), want = name##_lane((u).v, (w).v, r);                               \
        check_same(#name, &got, &want, 256, &(u), &(w), r);                                                            \
    } while (0)
#define CHECK_VVR(name, u, w, r)                                                                                       \
    do {                                                                                                               \
        HVX_Vector got = name((u).v, (w).v, r), want = name##_lane((u).v, (w).v, r);                                   \
        check_same(#name, &got, &want, 128, &(u), &(w), r);                                                            \
    } while (0)

/* Each file of tests. */
void test_integer(void);
void test_permute(void);
void test_float(void);
void test_qfloat(void);
void test_memory(void);

#endif /* HEXSIM_TEST_CHECK_H */
