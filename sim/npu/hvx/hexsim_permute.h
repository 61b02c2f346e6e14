/* hexsim_permute.h: permutation: pairs, alignment and rotation, shuffle and deal networks, delta network, unpacking.
 * Formulas: V73 HVX Programmer's Reference Manual, "HVX/PERMUTE-resource" and "HVX/PERMUTE-SHIFT-resource". */
#ifndef HEXSIM_PERMUTE_H
#define HEXSIM_PERMUTE_H

#include <string.h>

#include "hexsim_lanes.h"

/* ---- pairs ---- */

/* Vdd.v[0] = Vv; Vdd.v[1] = Vu */
HEXSIM_INLINE HVX_VectorPair Q6_W_vcombine_VV(HVX_Vector Vu, HVX_Vector Vv) {
    hexsim_pair d;
    d.v[0] = Vv;
    d.v[1] = Vu;
    return d.p;
}

/* Vd = Vss.v[0] */
HEXSIM_INLINE HVX_Vector Q6_V_lo_W(HVX_VectorPair Vss) {
    hexsim_pair s = {.p = Vss};
    return s.v[0];
}

/* Vd = Vss.v[1] */
HEXSIM_INLINE HVX_Vector Q6_V_hi_W(HVX_VectorPair Vss) {
    hexsim_pair s = {.p = Vss};
    return s.v[1];
}

/* ---- alignment and rotation ---- */

/* 128 bytes of {Vu:Vv} (Vv lower) from byte at on, 0 <= at <= 128 */
HEXSIM_INLINE HVX_Vector hexsim_window(HVX_Vector Vu, HVX_Vector Vv, uint32_t at) {
    hexsim_pair s;
    HVX_Vector d;
    s.v[0] = Vv;
    s.v[1] = Vu;
    memcpy(&d, s.ub + at, sizeof d);
    return d;
}

/* n = Rt & 127; Vd.ub[i] = i + n < 128 ? Vv.ub[i + n] : Vu.ub[i + n - 128] */
HEXSIM_LANE_FN HVX_Vector Q6_V_valign_VVR_lane(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    hexsim_lanes u = {.v = Vu}, v = {.v = Vv}, d = {.v = Vu};
    const int n = Rt & 127;
    for (int i = 0; i < 128; i++) {
        d.ub[i] = i + n < 128 ? v.ub[i + n] : u.ub[i + n - 128];
    }
    return d.v;
}
HEXSIM_INLINE HVX_Vector Q6_V_valign_VVR(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    return hexsim_window(Vu, Vv, (uint32_t) Rt & 127);
}

/* n = Rt & 127; Vd.ub[i] = i < n ? Vv.ub[128 - n + i] : Vu.ub[i - n] */
HEXSIM_LANE_FN HVX_Vector Q6_V_vlalign_VVR_lane(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    hexsim_lanes u = {.v = Vu}, v = {.v = Vv}, d = {.v = Vu};
    const int n = Rt & 127;
    for (int i = 0; i < 128; i++) {
        d.ub[i] = i < n ? v.ub[128 - n + i] : u.ub[i - n];
    }
    return d.v;
}
HEXSIM_INLINE HVX_Vector Q6_V_vlalign_VVR(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    return hexsim_window(Vu, Vv, 128 - ((uint32_t) Rt & 127));
}

/* Vd.ub[i] = Vu.ub[(i + Rt) & 127] */
HEXSIM_LANE_VR(Q6_V_vror_VR, 128, d.ub[i] = u.ub[((uint32_t) i + (uint32_t) r) & 127])
HEXSIM_INLINE HVX_Vector Q6_V_vror_VR(HVX_Vector Vu, int32_t Rt) {
    const uint32_t n = (uint32_t) Rt & 127;
    if (__builtin_constant_p(n)) {
        /* Whole 32-bit words: a shuffle that stays in registers. */
        switch (n) {
#define HEXSIM_ROTATE_CASE(bytes)                                                                                      \
    case bytes:                                                                                                        \
        return __builtin_shufflevector(Vu, Vu, (bytes) / 4 + 0, (bytes) / 4 + 1, (bytes) / 4 + 2, (bytes) / 4 + 3,     \
                                       (bytes) / 4 + 4, (bytes) / 4 + 5, (bytes) / 4 + 6, (bytes) / 4 + 7,             \
                                       (bytes) / 4 + 8, (bytes) / 4 + 9, (bytes) / 4 + 10, (bytes) / 4 + 11,           \
                                       (bytes) / 4 + 12, (bytes) / 4 + 13, (bytes) / 4 + 14, (bytes) / 4 + 15,         \
                                       (bytes) / 4 + 16, (bytes) / 4 + 17, (bytes) / 4 + 18, (bytes) / 4 + 19,         \
                                       (bytes) / 4 + 20, (bytes) / 4 + 21, (bytes) / 4 + 22, (bytes) / 4 + 23,         \
                                       (bytes) / 4 + 24, (bytes) / 4 + 25, (bytes) / 4 + 26, (bytes) / 4 + 27,         \
                                       (bytes) / 4 + 28, (bytes) / 4 + 29, (bytes) / 4 + 30, (bytes) / 4 + 31)
            HEXSIM_ROTATE_CASE(4);
            HEXSIM_ROTATE_CASE(8);
            HEXSIM_ROTATE_CASE(16);
            HEXSIM_ROTATE_CASE(32);
            HEXSIM_ROTATE_CASE(64);
            HEXSIM_ROTATE_CASE(96);
#undef HEXSIM_ROTATE_CASE
        }
    }
    return hexsim_window(Vu, Vu, n);
}

/* ---- even and odd lanes of one vector ---- */

#define HEXSIM_INTERLEAVE_64                                                                                           \
    0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15,  \
        47, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60,    \
        29, 61, 30, 62, 31, 63
#define HEXSIM_EVEN_64                                                                                                 \
    0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, \
        60, 62
#define HEXSIM_ODD_64                                                                                                  \
    1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, \
        61, 63

/* Vd.h[2i] = Vu.h[i]; Vd.h[2i + 1] = Vu.h[32 + i] */
HEXSIM_LANE_V(Q6_Vh_vshuff_Vh, 32, d.h[2 * i] = u.h[i]; d.h[2 * i + 1] = u.h[32 + i])
HEXSIM_INLINE HVX_Vector Q6_Vh_vshuff_Vh(HVX_Vector Vu) {
    const hexsim_vh u = (hexsim_vh) Vu;
    return (HVX_Vector) __builtin_shufflevector(u, u, HEXSIM_INTERLEAVE_64);
}

/* Vd.h[i] = Vu.h[2i]; Vd.h[32 + i] = Vu.h[2i + 1] */
HEXSIM_LANE_V(Q6_Vh_vdeal_Vh, 32, d.h[i] = u.h[2 * i]; d.h[32 + i] = u.h[2 * i + 1])
HEXSIM_INLINE HVX_Vector Q6_Vh_vdeal_Vh(HVX_Vector Vu) {
    const hexsim_vh u = (hexsim_vh) Vu;
    return (HVX_Vector) __builtin_shufflevector(u, u, HEXSIM_EVEN_64, HEXSIM_ODD_64);
}

/* Vd.b[2i] = Vu.b[i]; Vd.b[2i + 1] = Vu.b[64 + i] */
HEXSIM_LANE_V(Q6_Vb_vshuff_Vb, 64, d.b[2 * i] = u.b[i]; d.b[2 * i + 1] = u.b[64 + i])
#if HEXSIM_AVX2
/* The bytes (or wider units) of a and b by turns, a first: 64 bytes. */
#define HEXSIM_ZIP(unpacklo, unpackhi, a, b, lo, hi)                                                                   \
    do {                                                                                                               \
        const __m256i zl = unpacklo(a, b), zh = unpackhi(a, b);                                                        \
        lo = _mm256_permute2x128_si256(zl, zh, 0x20);                                                                  \
        hi = _mm256_permute2x128_si256(zl, zh, 0x31);                                                                  \
    } while (0)
HEXSIM_INLINE HVX_Vector Q6_Vb_vshuff_Vb(HVX_Vector Vu) {
    hexsim_lanes u = {.v = Vu}, d;
    HEXSIM_ZIP(_mm256_unpacklo_epi8, _mm256_unpackhi_epi8, u.m[0], u.m[2], d.m[0], d.m[1]);
    HEXSIM_ZIP(_mm256_unpacklo_epi8, _mm256_unpackhi_epi8, u.m[1], u.m[3], d.m[2], d.m[3]);
    return d.v;
}
#else
HEXSIM_SAME_V(Q6_Vb_vshuff_Vb)
#endif

/* Vd.h[2i] = Vv.h[2i + 1]; Vd.h[2i + 1] = Vu.h[2i + 1] */
HEXSIM_LANE_VV(Q6_Vh_vshuffo_VhVh, 32, d.h[2 * i] = v.h[2 * i + 1]; d.h[2 * i + 1] = u.h[2 * i + 1])
HEXSIM_INLINE HVX_Vector Q6_Vh_vshuffo_VhVh(HVX_Vector Vu, HVX_Vector Vv) {
    return (HVX_Vector) (((hexsim_vuw) Vv >> 16) | ((hexsim_vuw) Vu & 0xffff0000u));
}

/* ---- shuffle and deal networks over two vectors ---- */

/* One stage with distance o: bytes k of Vy and k + o of Vx are exchanged, for all k without bit o. */
HEXSIM_INLINE void hexsim_swap_stage(hexsim_pair * s, int o) {
    for (int k = 0; k < 128; k++) {
        if (!(k & o)) {
            const uint8_t t   = s->l[1].ub[k];
            s->l[1].ub[k]     = s->l[0].ub[k + o];
            s->l[0].ub[k + o] = t;
        }
    }
}

/* for (o = 1; o < 128; o <<= 1) if (Rt & o) swap stage o */
HEXSIM_LANE_FN HVX_VectorPair Q6_W_vshuff_VVR_lane(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    hexsim_pair s;
    s.v[0] = Vv;
    s.v[1] = Vu;
    for (int o = 1; o < 128; o <<= 1) {
        if (Rt & o) {
            hexsim_swap_stage(&s, o);
        }
    }
    return s.p;
}

/* for (o = 64; o > 0; o >>= 1) if (Rt & o) swap stage o */
HEXSIM_LANE_FN HVX_VectorPair Q6_W_vdeal_VVR_lane(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    hexsim_pair s;
    s.v[0] = Vv;
    s.v[1] = Vu;
    for (int o = 64; o > 0; o >>= 1) {
        if (Rt & o) {
            hexsim_swap_stage(&s, o);
        }
    }
    return s.p;
}

/* Rt = -n with n = 1, 2, 4, 8 interleaves (deals) units of n bytes: Vdd.unit[2i] = Vv.unit[i], [2i + 1] = Vu.unit[i].
 */
#if HEXSIM_AVX2
#define HEXSIM_SHUFFLE_ALL(lo, hi)                                                                                     \
    for (int i = 0; i < 4; i++) {                                                                                      \
        HEXSIM_ZIP(lo, hi, v.m[i], u.m[i], d.m[2 * i], d.m[2 * i + 1]);                                                \
    }
HEXSIM_INLINE HVX_VectorPair Q6_W_vshuff_VVR(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    hexsim_lanes u = {.v = Vu}, v = {.v = Vv};
    hexsim_pair d;
    switch (Rt & 127) {
    case -1 & 127:
        HEXSIM_SHUFFLE_ALL(_mm256_unpacklo_epi8, _mm256_unpackhi_epi8);
        return d.p;
    case -2 & 127:
        HEXSIM_SHUFFLE_ALL(_mm256_unpacklo_epi16, _mm256_unpackhi_epi16);
        return d.p;
    case -4 & 127:
        HEXSIM_SHUFFLE_ALL(_mm256_unpacklo_epi32, _mm256_unpackhi_epi32);
        return d.p;
    case -8 & 127:
        HEXSIM_SHUFFLE_ALL(_mm256_unpacklo_epi64, _mm256_unpackhi_epi64);
        return d.p;
    case 0:
        d.v[0] = Vv;
        d.v[1] = Vu;
        return d.p;
    default:
        return Q6_W_vshuff_VVR_lane(Vu, Vv, Rt);
    }
}
/* Within each 128-bit half, even units then odd units; then the halves put in order. */
HEXSIM_INLINE void hexsim_deal(hexsim_pair s, hexsim_pair * d, __m256i order) {
    for (int i = 0; i < 8; i++) {
        s.m[i] = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(s.m[i], order), 0xd8);
    }
    for (int i = 0; i < 4; i++) {
        d->m[i]     = _mm256_permute2x128_si256(s.m[2 * i], s.m[2 * i + 1], 0x20);
        d->m[4 + i] = _mm256_permute2x128_si256(s.m[2 * i], s.m[2 * i + 1], 0x31);
    }
}
HEXSIM_INLINE HVX_VectorPair Q6_W_vdeal_VVR(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    hexsim_pair s, d;
    s.v[0] = Vv;
    s.v[1] = Vu;
    switch (Rt & 127) {
    case -1 & 127:
        hexsim_deal(s, &d,
                    _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15, 0, 2, 4, 6, 8, 10, 12, 14, 1,
                                     3, 5, 7, 9, 11, 13, 15));
        return d.p;
    case -2 & 127:
        hexsim_deal(s, &d,
                    _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9, 12, 13, 2,
                                     3, 6, 7, 10, 11, 14, 15));
        return d.p;
    case -4 & 127:
        hexsim_deal(s, &d,
                    _mm256_setr_epi8(0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15, 0, 1, 2, 3, 8, 9, 10, 11, 4,
                                     5, 6, 7, 12, 13, 14, 15));
        return d.p;
    default:
        return Q6_W_vdeal_VVR_lane(Vu, Vv, Rt);
    }
}
#else
HEXSIM_LANE_FN HVX_VectorPair Q6_W_vshuff_VVR(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    return Q6_W_vshuff_VVR_lane(Vu, Vv, Rt);
}
HEXSIM_LANE_FN HVX_VectorPair Q6_W_vdeal_VVR(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    return Q6_W_vdeal_VVR_lane(Vu, Vv, Rt);
}
#endif

/* Delta network: for (o = 64; o > 0; o >>= 1) Vd.ub[k] = Vv.ub[k] & o ? Vu.ub[k ^ o] : Vu.ub[k], stage after stage */
HEXSIM_LANE_FN HVX_Vector Q6_V_vdelta_VV_lane(HVX_Vector Vu, HVX_Vector Vv) {
    hexsim_lanes u = {.v = Vu}, v = {.v = Vv}, d = {.v = Vu};
    for (int o = 64; o > 0; o >>= 1) {
        for (int k = 0; k < 128; k++) {
            d.ub[k] = v.ub[k] & o ? u.ub[k ^ o] : u.ub[k];
        }
        u = d;
    }
    return u.v;
}
#if HEXSIM_AVX2
HEXSIM_INLINE __m256i hexsim_delta_pick(__m256i here, __m256i there, __m256i control, int o) {
    const __m256i bit = _mm256_set1_epi8((char) o);
    return _mm256_blendv_epi8(here, there, _mm256_cmpeq_epi8(_mm256_and_si256(control, bit), bit));
}
HEXSIM_INLINE HVX_Vector Q6_V_vdelta_VV(HVX_Vector Vu, HVX_Vector Vv) {
    const hexsim_lanes c = {.v = Vv};
    hexsim_lanes u       = {.v = Vu}, d;
    for (int i = 0; i < 4; i++) {
        d.m[i] = hexsim_delta_pick(u.m[i], u.m[i ^ 2], c.m[i], 64);
    }
    for (int i = 0; i < 4; i++) {
        u.m[i] = hexsim_delta_pick(d.m[i], d.m[i ^ 1], c.m[i], 32);
    }
    for (int i = 0; i < 4; i++) {
        __m256i x = u.m[i];
        x         = hexsim_delta_pick(x, _mm256_permute2x128_si256(x, x, 1), c.m[i], 16);
        x         = hexsim_delta_pick(x, _mm256_shuffle_epi32(x, 0x4e), c.m[i], 8);
        x         = hexsim_delta_pick(x, _mm256_shuffle_epi32(x, 0xb1), c.m[i], 4);
        x      = hexsim_delta_pick(x, _mm256_or_si256(_mm256_slli_epi32(x, 16), _mm256_srli_epi32(x, 16)), c.m[i], 2);
        x      = hexsim_delta_pick(x, _mm256_or_si256(_mm256_slli_epi16(x, 8), _mm256_srli_epi16(x, 8)), c.m[i], 1);
        u.m[i] = x;
    }
    return u.v;
}
#else
HEXSIM_SAME_VV(Q6_V_vdelta_VV)
#endif

/* ---- unpacking: lane i of the pair is lane i of the vector, wider ---- */

#define HEXSIM_UNPACK(name, n, to, from, type, wide)                                                                   \
    HEXSIM_LANE_FN HVX_VectorPair name##_lane(HVX_Vector Vu) {                                                         \
        hexsim_lanes u = {.v = Vu};                                                                                    \
        hexsim_pair d;                                                                                                 \
        for (int i = 0; i < (n); i++) {                                                                                \
            d.to[i] = u.from[i];                                                                                       \
        }                                                                                                              \
        return d.p;                                                                                                    \
    }                                                                                                                  \
    HEXSIM_INLINE HVX_VectorPair name(HVX_Vector Vu) {                                                                 \
        return (HVX_VectorPair) __builtin_convertvector((type) Vu, wide);                                              \
    }

/* Vdd.h[i] = sign extension of Vu.b[i] */
HEXSIM_UNPACK(Q6_Wh_vunpack_Vb, 128, h, b, hexsim_vb, hexsim_wh)
/* Vdd.uh[i] = zero extension of Vu.ub[i] */
HEXSIM_UNPACK(Q6_Wuh_vunpack_Vub, 128, uh, ub, hexsim_vub, hexsim_wuh)
/* Vdd.w[i] = sign extension of Vu.h[i] */
HEXSIM_UNPACK(Q6_Ww_vunpack_Vh, 64, w, h, hexsim_vh, hexsim_ww)

#endif /* HEXSIM_PERMUTE_H */
