/* hexsim_float.h: arithmetic, comparison and conversion of IEEE single (sf) and half (hf).
 *
 * Every operation rounds once, to nearest even, with subnormals. A NaN result is 0x7fffffff (0x7fff). Comparison, max
 * and min order NaNs by their sign: a positive NaN is above +Inf, a negative one below -Inf. Rules: V73 and V79 HVX
 * Programmer's Reference Manuals; QEMU's target/hexagon/mmvec/hvx_ieee_fp.c. Two NaNs of one sign are ordered by their
 * bits here, by quiet and signalling there. */
#ifndef HEXSIM_FLOAT_H
#define HEXSIM_FLOAT_H

#include "hexsim_lanes.h"
#include "hexsim_permute.h"

/* ---- conversions of single lanes ---- */

HEXSIM_INLINE uint32_t hexsim_sf_bits(float x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    return b;
}

HEXSIM_INLINE float hexsim_sf(uint32_t b) {
    float x;
    memcpy(&x, &b, 4);
    return x;
}

HEXSIM_INLINE uint16_t hexsim_hf_bits(_Float16 x) {
    uint16_t b;
    memcpy(&b, &x, 2);
    return b;
}

/* A NaN becomes the default NaN. */
HEXSIM_INLINE float hexsim_sf_result(float x) {
    return x != x ? hexsim_sf(0x7fffffff) : x;
}

/* To half, nearest even; NaN becomes the default NaN. */
HEXSIM_INLINE uint16_t hexsim_hf_result(float x) {
    return x != x ? 0x7fff : hexsim_hf_bits((_Float16) x);
}

/* Bits as a number whose integer order is the order of values: sign and magnitude to two's complement, -0 equal to 0.
 */
HEXSIM_INLINE int32_t hexsim_order(int32_t bits, int32_t magnitude) {
    return bits < 0 ? -(bits & magnitude) : bits;
}

/* ---- whole vectors, shared by vector forms ---- */

HEXSIM_INLINE HVX_Vector hexsim_sf_results(hexsim_vsf x) {
    const HVX_Vector nan = (HVX_Vector) (x != x);
    return ((HVX_Vector) x & ~nan) | (nan & 0x7fffffff);
}

#if HEXSIM_AVX2
/* 16 halves: the even ones (0, 2, ...) and the odd ones as 8 singles each. */
HEXSIM_INLINE void hexsim_widen16(__m256i h, __m256 * even, __m256 * odd) {
    const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9, 12,
                                           13, 2, 3, 6, 7, 10, 11, 14, 15);
    h                   = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(h, order), 0xd8);
    *even               = _mm256_cvtph_ps(_mm256_castsi256_si128(h));
    *odd                = _mm256_cvtph_ps(_mm256_extracti128_si256(h, 1));
}

/* 8 singles to halves, NaN to the default NaN (f16c keeps payloads: only then is there more to do). */
HEXSIM_INLINE __m128i hexsim_narrow8(__m256 x) {
    const __m256 nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
    if (__builtin_expect(!_mm256_testz_ps(nan, nan), 0)) {
        x = _mm256_blendv_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)), nan);
    }
    return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* 8 even and 8 odd singles to 16 halves. */
HEXSIM_INLINE __m256i hexsim_narrow16(__m256 even, __m256 odd) {
    const __m128i e = hexsim_narrow8(even), o = hexsim_narrow8(odd);
    return _mm256_set_m128i(_mm_unpackhi_epi16(e, o), _mm_unpacklo_epi16(e, o));
}
#endif

/* ---- sf arithmetic ---- */

#define HEXSIM_SF_BINARY(name, op)                                                                                     \
    HEXSIM_LANE_VV(name, 32, d.sf[i] = hexsim_sf_result(u.sf[i] op v.sf[i]))                                           \
    HEXSIM_INLINE HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) {                                                      \
        return hexsim_sf_results((hexsim_vsf) Vu op(hexsim_vsf) Vv);                                                   \
    }

/* Vd.sf[i] = Vu.sf[i] + Vv.sf[i] */
HEXSIM_SF_BINARY(Q6_Vsf_vadd_VsfVsf, +)
/* Vd.sf[i] = Vu.sf[i] - Vv.sf[i] */
HEXSIM_SF_BINARY(Q6_Vsf_vsub_VsfVsf, -)
/* Vd.sf[i] = Vu.sf[i] * Vv.sf[i] */
HEXSIM_SF_BINARY(Q6_Vsf_vmpy_VsfVsf, *)

/* Vd.sf[i] = -Vu.sf[i]: the sign bit is inverted, of a NaN too */
HEXSIM_LANE_V(Q6_Vsf_vfneg_Vsf, 32, d.uw[i] = u.uw[i] ^ 0x80000000u)
HEXSIM_INLINE HVX_Vector Q6_Vsf_vfneg_Vsf(HVX_Vector Vu) {
    return Vu ^ (int32_t) 0x80000000u;
}

/* ---- order ---- */

/* -0 below 0: of the two, max is 0 and min is -0 */
HEXSIM_INLINE hexsim_vw hexsim_sf_strict(HVX_Vector x) {
    return (hexsim_vw) x ^ (((hexsim_vw) x >> 31) & 0x7fffffff);
}
HEXSIM_INLINE hexsim_vh hexsim_hf_strict(HVX_Vector x) {
    return (hexsim_vh) x ^ (((hexsim_vh) x >> 15) & 0x7fff);
}

/* k(x) = x < 0 ? ~magnitude : magnitude: Vd.sf[i] = k(Vu.w[i]) > k(Vv.w[i]) ? Vu.sf[i] : Vv.sf[i] */
HEXSIM_LANE_VV(Q6_Vsf_vmax_VsfVsf, 32, const int32_t ku = u.w[i] < 0 ? u.w[i] ^ 0x7fffffff : u.w[i];
               const int32_t kv = v.w[i] < 0 ? v.w[i] ^ 0x7fffffff : v.w[i]; d.w[i] = ku > kv ? u.w[i] : v.w[i])
HEXSIM_INLINE HVX_Vector Q6_Vsf_vmax_VsfVsf(HVX_Vector Vu, HVX_Vector Vv) {
    return (HVX_Vector) hexsim_sf_strict(
        (HVX_Vector) __builtin_elementwise_max(hexsim_sf_strict(Vu), hexsim_sf_strict(Vv)));
}

/* Vd.sf[i] = k(Vu.w[i]) < k(Vv.w[i]) ? Vu.sf[i] : Vv.sf[i] */
HEXSIM_LANE_VV(Q6_Vsf_vmin_VsfVsf, 32, const int32_t ku = u.w[i] < 0 ? u.w[i] ^ 0x7fffffff : u.w[i];
               const int32_t kv = v.w[i] < 0 ? v.w[i] ^ 0x7fffffff : v.w[i]; d.w[i] = ku < kv ? u.w[i] : v.w[i])
HEXSIM_INLINE HVX_Vector Q6_Vsf_vmin_VsfVsf(HVX_Vector Vu, HVX_Vector Vv) {
    return (HVX_Vector) hexsim_sf_strict(
        (HVX_Vector) __builtin_elementwise_min(hexsim_sf_strict(Vu), hexsim_sf_strict(Vv)));
}

/* Vd.hf[i] = k(Vu.h[i]) > k(Vv.h[i]) ? Vu.hf[i] : Vv.hf[i] */
HEXSIM_LANE_VV(Q6_Vhf_vmax_VhfVhf, 64, const int ku = u.h[i] < 0 ? u.h[i] ^ 0x7fff : u.h[i];
               const int kv = v.h[i] < 0 ? v.h[i] ^ 0x7fff : v.h[i]; d.h[i] = ku > kv ? u.h[i] : v.h[i])
HEXSIM_INLINE HVX_Vector Q6_Vhf_vmax_VhfVhf(HVX_Vector Vu, HVX_Vector Vv) {
    return (HVX_Vector) hexsim_hf_strict(
        (HVX_Vector) __builtin_elementwise_max(hexsim_hf_strict(Vu), hexsim_hf_strict(Vv)));
}

/* Qd.w[i] = Vu.sf[i] > Vv.sf[i], NaNs by sign; 0 and -0 are equal */
HEXSIM_LANE_CMP(Q6_Q_vcmp_gt_VsfVsf, 32, hexsim_order(u.w[i], 0x7fffffff) > hexsim_order(v.w[i], 0x7fffffff))
HEXSIM_INLINE HVX_VectorPred Q6_Q_vcmp_gt_VsfVsf(HVX_Vector Vu, HVX_Vector Vv) {
    const hexsim_vw su = (hexsim_vw) Vu >> 31, sv = (hexsim_vw) Vv >> 31;
    return (HVX_VectorPred) (((((hexsim_vw) Vu & 0x7fffffff) ^ su) - su) > ((((hexsim_vw) Vv & 0x7fffffff) ^ sv) - sv));
}

/* Qd.h[i] = Vu.hf[i] > Vv.hf[i], NaNs by sign; 0 and -0 are equal */
HEXSIM_LANE_CMP(Q6_Q_vcmp_gt_VhfVhf, 64, hexsim_order(u.h[i], 0x7fff) > hexsim_order(v.h[i], 0x7fff))
HEXSIM_INLINE HVX_VectorPred Q6_Q_vcmp_gt_VhfVhf(HVX_Vector Vu, HVX_Vector Vv) {
    const hexsim_vh su = (hexsim_vh) Vu >> 15, sv = (hexsim_vh) Vv >> 15;
    return (HVX_VectorPred) (((((hexsim_vh) Vu & 0x7fff) ^ su) - su) > ((((hexsim_vh) Vv & 0x7fff) ^ sv) - sv));
}

/* ---- hf arithmetic: the exact result of two halves, rounded to single first, rounds to the same half ---- */

#if HEXSIM_AVX2
#define HEXSIM_HF_VECTOR(name, intrinsic)                                                                              \
    HEXSIM_INLINE HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) {                                                      \
        hexsim_lanes u = {.v = Vu}, v = {.v = Vv};                                                                     \
        for (int i = 0; i < 4; i++) {                                                                                  \
            const __m256 l = intrinsic(_mm256_cvtph_ps(_mm256_castsi256_si128(u.m[i])),                                \
                                       _mm256_cvtph_ps(_mm256_castsi256_si128(v.m[i])));                               \
            const __m256 h = intrinsic(_mm256_cvtph_ps(_mm256_extracti128_si256(u.m[i], 1)),                           \
                                       _mm256_cvtph_ps(_mm256_extracti128_si256(v.m[i], 1)));                          \
            u.m[i]         = _mm256_set_m128i(hexsim_narrow8(h), hexsim_narrow8(l));                                   \
        }                                                                                                              \
        return u.v;                                                                                                    \
    }
#else
#define HEXSIM_HF_VECTOR(name, intrinsic) HEXSIM_SAME_VV(name)
#endif
#define HEXSIM_HF_BINARY(name, op, intrinsic)                                                                          \
    HEXSIM_LANE_VV(name, 64, d.uh[i] = hexsim_hf_result((float) u.hf[i] op(float) v.hf[i]))                            \
    HEXSIM_HF_VECTOR(name, intrinsic)

/* Vd.hf[i] = Vu.hf[i] + Vv.hf[i] */
HEXSIM_HF_BINARY(Q6_Vhf_vadd_VhfVhf, +, _mm256_add_ps)
/* Vd.hf[i] = Vu.hf[i] - Vv.hf[i] */
HEXSIM_HF_BINARY(Q6_Vhf_vsub_VhfVhf, -, _mm256_sub_ps)
/* Vd.hf[i] = Vu.hf[i] * Vv.hf[i] */
HEXSIM_HF_BINARY(Q6_Vhf_vmpy_VhfVhf, *, _mm256_mul_ps)

/* ---- widening multiplication: the product of two halves is exact in single ---- */

/* Vdd.v[0].sf[i] = Vu.hf[2i] * Vv.hf[2i]; Vdd.v[1].sf[i] = Vu.hf[2i + 1] * Vv.hf[2i + 1] */
HEXSIM_LANE_FN HVX_VectorPair Q6_Wsf_vmpy_VhfVhf_lane(HVX_Vector Vu, HVX_Vector Vv) {
    hexsim_lanes u = {.v = Vu}, v = {.v = Vv};
    hexsim_pair d;
    for (int i = 0; i < 32; i++) {
        for (int k = 0; k < 2; k++) {
            d.l[k].sf[i] = hexsim_sf_result((float) u.hf[2 * i + k] * (float) v.hf[2 * i + k]);
        }
    }
    return d.p;
}

/* Vxx.v[k].sf[i] += Vu.hf[2i + k] * Vv.hf[2i + k] */
HEXSIM_LANE_FN HVX_VectorPair Q6_Wsf_vmpyacc_WsfVhfVhf_lane(HVX_VectorPair Vxx, HVX_Vector Vu, HVX_Vector Vv) {
    hexsim_lanes u = {.v = Vu}, v = {.v = Vv};
    hexsim_pair x = {.p = Vxx};
    for (int i = 0; i < 32; i++) {
        for (int k = 0; k < 2; k++) {
            const float product = (float) u.hf[2 * i + k] * (float) v.hf[2 * i + k];
            x.l[k].sf[i]        = hexsim_sf_result(x.l[k].sf[i] + product);
        }
    }
    return x.p;
}

#if HEXSIM_AVX2
/* The products, with whatever NaN the machine makes. */
HEXSIM_INLINE HVX_VectorPair hexsim_hf_products(HVX_Vector Vu, HVX_Vector Vv) {
    const hexsim_lanes u = {.v = Vu}, v = {.v = Vv};
    hexsim_pair d;
    for (int i = 0; i < 4; i++) {
        __m256 ue, uo, ve, vo;
        hexsim_widen16(u.m[i], &ue, &uo);
        hexsim_widen16(v.m[i], &ve, &vo);
        d.l[0].mf[i] = _mm256_mul_ps(ue, ve);
        d.l[1].mf[i] = _mm256_mul_ps(uo, vo);
    }
    return d.p;
}
HEXSIM_INLINE HVX_VectorPair Q6_Wsf_vmpy_VhfVhf(HVX_Vector Vu, HVX_Vector Vv) {
    hexsim_pair d = {.p = hexsim_hf_products(Vu, Vv)};
    d.v[0]        = hexsim_sf_results((hexsim_vsf) d.v[0]);
    d.v[1]        = hexsim_sf_results((hexsim_vsf) d.v[1]);
    return d.p;
}
HEXSIM_INLINE HVX_VectorPair Q6_Wsf_vmpyacc_WsfVhfVhf(HVX_VectorPair Vxx, HVX_Vector Vu, HVX_Vector Vv) {
    hexsim_pair d = {.p = hexsim_hf_products(Vu, Vv)}, x = {.p = Vxx};
    x.v[0] = hexsim_sf_results((hexsim_vsf) x.v[0] + (hexsim_vsf) d.v[0]);
    x.v[1] = hexsim_sf_results((hexsim_vsf) x.v[1] + (hexsim_vsf) d.v[1]);
    return x.p;
}
#else
HEXSIM_LANE_FN HVX_VectorPair Q6_Wsf_vmpy_VhfVhf(HVX_Vector Vu, HVX_Vector Vv) {
    return Q6_Wsf_vmpy_VhfVhf_lane(Vu, Vv);
}
HEXSIM_LANE_FN HVX_VectorPair Q6_Wsf_vmpyacc_WsfVhfVhf(HVX_VectorPair Vxx, HVX_Vector Vu, HVX_Vector Vv) {
    return Q6_Wsf_vmpyacc_WsfVhfVhf_lane(Vxx, Vu, Vv);
}
#endif

/* ---- conversions ---- */

/* Vd.sf[i] = Vu.w[i] */
HEXSIM_LANE_V(Q6_Vsf_equals_Vw, 32, d.sf[i] = (float) u.w[i])
HEXSIM_INLINE HVX_Vector Q6_Vsf_equals_Vw(HVX_Vector Vu) {
    return (HVX_Vector) __builtin_convertvector((hexsim_vw) Vu, hexsim_vsf);
}

/* Vd.hf[2i] = Vu.sf[i]; Vd.hf[2i + 1] = Vv.sf[i]: the first operand in the even halves (README.md, "vcvt") */
HEXSIM_LANE_VV(Q6_Vhf_vcvt_VsfVsf, 32, d.uh[2 * i] = hexsim_hf_result(u.sf[i]);
               d.uh[2 * i + 1] = hexsim_hf_result(v.sf[i]))
#if HEXSIM_AVX2
HEXSIM_INLINE HVX_Vector Q6_Vhf_vcvt_VsfVsf(HVX_Vector Vu, HVX_Vector Vv) {
    const hexsim_lanes u = {.v = Vu}, v = {.v = Vv};
    hexsim_lanes d;
    for (int i = 0; i < 4; i++) {
        d.m[i] = hexsim_narrow16(u.mf[i], v.mf[i]);
    }
    return d.v;
}
#else
HEXSIM_SAME_VV(Q6_Vhf_vcvt_VsfVsf)
#endif

/* Vd.hf[i] = Vu.h[i] */
HEXSIM_LANE_V(Q6_Vhf_equals_Vh, 64, d.uh[i] = hexsim_hf_result((float) u.h[i]))
#if HEXSIM_AVX2
HEXSIM_INLINE HVX_Vector Q6_Vhf_equals_Vh(HVX_Vector Vu) {
    hexsim_lanes u = {.v = Vu};
    for (int i = 0; i < 4; i++) {
        const __m256i l = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(u.m[i]));
        const __m256i h = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(u.m[i], 1));
        u.m[i]          = _mm256_set_m128i(_mm256_cvtps_ph(_mm256_cvtepi32_ps(h), _MM_FROUND_TO_NEAREST_INT),
                                           _mm256_cvtps_ph(_mm256_cvtepi32_ps(l), _MM_FROUND_TO_NEAREST_INT));
    }
    return u.v;
}
#else
HEXSIM_SAME_V(Q6_Vhf_equals_Vh)
#endif

/* Vd.h[i] = sat16(Vu.hf[i] rounded towards zero); a NaN gives the limit of its sign */
HEXSIM_INLINE int16_t hexsim_h_of_hf(uint16_t bits, _Float16 x) {
    if (x != x) {
        return bits >> 15 ? INT16_MIN : INT16_MAX;
    }
    return x >= 32768.0f ? INT16_MAX : x < -32768.0f ? INT16_MIN : (int16_t) (float) x;
}
HEXSIM_LANE_V(Q6_Vh_equals_Vhf, 64, d.h[i] = hexsim_h_of_hf(u.uh[i], u.hf[i]))
#if HEXSIM_AVX2
HEXSIM_INLINE __m256i hexsim_w_of_hf8(__m128i h) {
    /* A NaN becomes an infinity of its sign; clamped, all fit in 32 bits. */
    const __m128i magnitude = _mm_min_epi16(_mm_and_si128(h, _mm_set1_epi16(0x7fff)), _mm_set1_epi16(0x7c00));
    const __m128i bits      = _mm_or_si128(magnitude, _mm_andnot_si128(_mm_set1_epi16(0x7fff), h));
    const __m256 x          = _mm256_cvtph_ps(bits);
    return _mm256_cvttps_epi32(_mm256_max_ps(_mm256_min_ps(x, _mm256_set1_ps(65536.0f)), _mm256_set1_ps(-65536.0f)));
}
HEXSIM_INLINE HVX_Vector Q6_Vh_equals_Vhf(HVX_Vector Vu) {
    hexsim_lanes u = {.v = Vu};
    for (int i = 0; i < 4; i++) {
        u.m[i] = _mm256_permute4x64_epi64(_mm256_packs_epi32(hexsim_w_of_hf8(_mm256_castsi256_si128(u.m[i])),
                                                             hexsim_w_of_hf8(_mm256_extracti128_si256(u.m[i], 1))),
                                          0xd8);
    }
    return u.v;
}
#else
HEXSIM_SAME_V(Q6_Vh_equals_Vhf)
#endif

#endif /* HEXSIM_FLOAT_H */
