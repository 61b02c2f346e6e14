/* hexsim_lanes.h: what the families of intrinsics share: vectors seen as lanes, and the form of a lane loop. */
#ifndef HEXSIM_LANES_H
#define HEXSIM_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "hexagon_types.h"

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && !defined(HEXSIM_LANES_ONLY)
#define HEXSIM_AVX2 1
#include <immintrin.h>
#else
#define HEXSIM_AVX2 0
#endif

#define HEXSIM_INLINE static inline __attribute__((__always_inline__, __unused__))

/* The lane forms are what the vector forms are tested against; they are kept out of line. */
#define HEXSIM_LANE_FN static inline __attribute__((__unused__))

typedef int8_t hexsim_vb __attribute__((__vector_size__(128)));
typedef uint8_t hexsim_vub __attribute__((__vector_size__(128)));
typedef int16_t hexsim_vh __attribute__((__vector_size__(128)));
typedef uint16_t hexsim_vuh __attribute__((__vector_size__(128)));
typedef int32_t hexsim_vw __attribute__((__vector_size__(128)));
typedef uint32_t hexsim_vuw __attribute__((__vector_size__(128)));
typedef float hexsim_vsf __attribute__((__vector_size__(128)));
typedef _Float16 hexsim_vhf __attribute__((__vector_size__(128)));
typedef int16_t hexsim_wh __attribute__((__vector_size__(256)));
typedef uint16_t hexsim_wuh __attribute__((__vector_size__(256)));
typedef uint8_t hexsim_wub __attribute__((__vector_size__(256)));
typedef int32_t hexsim_ww __attribute__((__vector_size__(256)));
typedef float hexsim_wsf __attribute__((__vector_size__(256)));

/* A vector, or a predicate, as an array of lanes. */
typedef union {
    HVX_Vector v;
    HVX_VectorPred q;
    int8_t b[128];
    uint8_t ub[128];
    int16_t h[64];
    uint16_t uh[64];
    int32_t w[32];
    uint32_t uw[32];
    float sf[32];
    _Float16 hf[64];
#if HEXSIM_AVX2
    __m256i m[4];
    __m256 mf[4];
#endif
} hexsim_lanes;

/* A pair: v[0] is the low vector. */
typedef union {
    HVX_VectorPair p;
    HVX_Vector v[2];
    hexsim_lanes l[2];
    uint8_t ub[256];
    int16_t h[128];
    uint16_t uh[128];
    int32_t w[64];
#if HEXSIM_AVX2
    __m256i m[8];
#endif
} hexsim_pair;

_Static_assert(sizeof(hexsim_lanes) == 128 && sizeof(hexsim_pair) == 256, "a vector has 128 bytes");

/* Lane loops. The last argument is the formula of lane i: d is the result, u, v and x are the operands, r the scalar.
 */
#define HEXSIM_LANE_V(name, n, formula)                                                                                \
    HEXSIM_LANE_FN HVX_Vector name##_lane(HVX_Vector Vu) {                                                             \
        hexsim_lanes u = {.v = Vu}, d = {.v = Vu};                                                                     \
        for (int i = 0; i < (n); i++) {                                                                                \
            formula;                                                                                                   \
        }                                                                                                              \
        return d.v;                                                                                                    \
    }
#define HEXSIM_LANE_VV(name, n, formula)                                                                               \
    HEXSIM_LANE_FN HVX_Vector name##_lane(HVX_Vector Vu, HVX_Vector Vv) {                                              \
        hexsim_lanes u = {.v = Vu}, v = {.v = Vv}, d = {.v = Vu};                                                      \
        for (int i = 0; i < (n); i++) {                                                                                \
            formula;                                                                                                   \
        }                                                                                                              \
        return d.v;                                                                                                    \
    }
#define HEXSIM_LANE_VR(name, n, formula)                                                                               \
    HEXSIM_LANE_FN HVX_Vector name##_lane(HVX_Vector Vu, int32_t r) {                                                  \
        hexsim_lanes u = {.v = Vu}, d = {.v = Vu};                                                                     \
        for (int i = 0; i < (n); i++) {                                                                                \
            formula;                                                                                                   \
        }                                                                                                              \
        return d.v;                                                                                                    \
    }
#define HEXSIM_LANE_XVR(name, n, formula)                                                                              \
    HEXSIM_LANE_FN HVX_Vector name##_lane(HVX_Vector Vx, HVX_Vector Vu, int32_t r) {                                   \
        hexsim_lanes x = {.v = Vx}, u = {.v = Vu}, d = {.v = Vx};                                                      \
        for (int i = 0; i < (n); i++) {                                                                                \
            formula;                                                                                                   \
        }                                                                                                              \
        return d.v;                                                                                                    \
    }
#define HEXSIM_LANE_XVV(name, n, formula)                                                                              \
    HEXSIM_LANE_FN HVX_Vector name##_lane(HVX_Vector Vx, HVX_Vector Vu, HVX_Vector Vv) {                               \
        hexsim_lanes x = {.v = Vx}, u = {.v = Vu}, v = {.v = Vv}, d = {.v = Vx};                                       \
        for (int i = 0; i < (n); i++) {                                                                                \
            formula;                                                                                                   \
        }                                                                                                              \
        return d.v;                                                                                                    \
    }
/* A comparison: the formula is the condition of lane i, which sets all bytes of the lane in the predicate. */
#define HEXSIM_LANE_CMP(name, n, condition)                                                                            \
    HEXSIM_LANE_FN HVX_VectorPred name##_lane(HVX_Vector Vu, HVX_Vector Vv) {                                          \
        hexsim_lanes u = {.v = Vu}, v = {.v = Vv}, d = {.v = Vu};                                                      \
        for (int i = 0; i < (n); i++) {                                                                                \
            for (int k = 0; k < 128 / (n); k++) {                                                                      \
                d.ub[i * (128 / (n)) + k] = (condition) ? 0xff : 0x00;                                                 \
            }                                                                                                          \
        }                                                                                                              \
        return d.q;                                                                                                    \
    }
/* The lane form is the only form. */
#define HEXSIM_SAME_V(name)                                                                                            \
    HEXSIM_LANE_FN HVX_Vector name(HVX_Vector Vu) {                                                                    \
        return name##_lane(Vu);                                                                                        \
    }
#define HEXSIM_SAME_VV(name)                                                                                           \
    HEXSIM_LANE_FN HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) {                                                     \
        return name##_lane(Vu, Vv);                                                                                    \
    }

HEXSIM_INLINE int16_t hexsim_sat_h(int64_t x) {
    return x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : (int16_t) x;
}

HEXSIM_INLINE int8_t hexsim_sat_b(int64_t x) {
    return x > INT8_MAX ? INT8_MAX : x < INT8_MIN ? INT8_MIN : (int8_t) x;
}

/* The low n bits of x as a signed number. */
HEXSIM_INLINE int32_t hexsim_sxt(int32_t x, int n) {
    return (int32_t) ((uint32_t) x << (32 - n)) >> (32 - n);
}

#endif /* HEXSIM_LANES_H */
