/* hexsim_arith.h: integer arithmetic, shifts and multiplication.
 * Formulas: V73 HVX Programmer's Reference Manual, instruction descriptions, and QEMU's ext.idef. */
#ifndef HEXSIM_ARITH_H
#define HEXSIM_ARITH_H

#include "hexsim_lanes.h"

/* ---- addition, subtraction; modulo 2^n unless :sat ---- */

#define HEXSIM_BINARY(name, n, type, lane, op)                                                                         \
    HEXSIM_LANE_VV(name, n, d.lane[i] = u.lane[i] op v.lane[i])                                                        \
    HEXSIM_INLINE HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) {                                                      \
        return (HVX_Vector) ((type) Vu op(type) Vv);                                                                   \
    }

/* Vd.w[i] = Vu.w[i] + Vv.w[i] */
HEXSIM_BINARY(Q6_Vw_vadd_VwVw, 32, hexsim_vuw, uw, +)
/* Vd.w[i] = Vu.w[i] - Vv.w[i] */
HEXSIM_BINARY(Q6_Vw_vsub_VwVw, 32, hexsim_vuw, uw, -)
/* Vd.h[i] = Vu.h[i] + Vv.h[i] */
HEXSIM_BINARY(Q6_Vh_vadd_VhVh, 64, hexsim_vuh, uh, +)
/* Vd.h[i] = Vu.h[i] - Vv.h[i] */
HEXSIM_BINARY(Q6_Vh_vsub_VhVh, 64, hexsim_vuh, uh, -)
/* Vd.b[i] = Vu.b[i] - Vv.b[i] */
HEXSIM_BINARY(Q6_Vb_vsub_VbVb, 128, hexsim_vub, ub, -)

/* Vd.h[i] = sat16(Vu.h[i] + Vv.h[i]) */
HEXSIM_LANE_VV(Q6_Vh_vadd_VhVh_sat, 64, d.h[i] = hexsim_sat_h((int64_t) u.h[i] + v.h[i]))
HEXSIM_INLINE HVX_Vector Q6_Vh_vadd_VhVh_sat(HVX_Vector Vu, HVX_Vector Vv) {
    return (HVX_Vector) __builtin_elementwise_add_sat((hexsim_vh) Vu, (hexsim_vh) Vv);
}

#define HEXSIM_SELECT(name, n, type, lane, op, builtin)                                                                \
    HEXSIM_LANE_VV(name, n, d.lane[i] = u.lane[i] op v.lane[i] ? u.lane[i] : v.lane[i])                                \
    HEXSIM_INLINE HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) {                                                      \
        return (HVX_Vector) builtin((type) Vu, (type) Vv);                                                             \
    }

/* Vd.w[i] = max(Vu.w[i], Vv.w[i]) */
HEXSIM_SELECT(Q6_Vw_vmax_VwVw, 32, hexsim_vw, w, >, __builtin_elementwise_max)
/* Vd.h[i] = max(Vu.h[i], Vv.h[i]) */
HEXSIM_SELECT(Q6_Vh_vmax_VhVh, 64, hexsim_vh, h, >, __builtin_elementwise_max)
/* Vd.h[i] = min(Vu.h[i], Vv.h[i]) */
HEXSIM_SELECT(Q6_Vh_vmin_VhVh, 64, hexsim_vh, h, <, __builtin_elementwise_min)

/* ---- shifts by a scalar: its low bits count ---- */

/* The vector form of a shift. r is uniform: one count for all lanes is a single instruction on x86. */
#if HEXSIM_AVX2
#define HEXSIM_SHIFT(name, type, op, mask, intrinsic)                                                                  \
    HEXSIM_INLINE HVX_Vector name(HVX_Vector Vu, int32_t Rt) {                                                         \
        hexsim_lanes u      = {.v = Vu};                                                                               \
        const __m128i count = _mm_cvtsi32_si128(Rt & (mask));                                                          \
        for (int i = 0; i < 4; i++) {                                                                                  \
            u.m[i] = intrinsic(u.m[i], count);                                                                         \
        }                                                                                                              \
        return u.v;                                                                                                    \
    }
#else
#define HEXSIM_SHIFT(name, type, op, mask, intrinsic)                                                                  \
    HEXSIM_INLINE HVX_Vector name(HVX_Vector Vu, int32_t Rt) {                                                         \
        return (HVX_Vector) ((type) Vu op(Rt & (mask)));                                                               \
    }
#endif

/* Vd.w[i] = Vu.w[i] << (Rt & 31) */
HEXSIM_LANE_VR(Q6_Vw_vasl_VwR, 32, d.uw[i] = u.uw[i] << (r & 31))
HEXSIM_SHIFT(Q6_Vw_vasl_VwR, hexsim_vuw, <<, 31, _mm256_sll_epi32)
/* Vd.w[i] = Vu.w[i] >> (Rt & 31), arithmetic */
HEXSIM_LANE_VR(Q6_Vw_vasr_VwR, 32, d.w[i] = u.w[i] >> (r & 31))
HEXSIM_SHIFT(Q6_Vw_vasr_VwR, hexsim_vw, >>, 31, _mm256_sra_epi32)
/* Vd.uw[i] = Vu.uw[i] >> (Rt & 31), logical */
HEXSIM_LANE_VR(Q6_Vuw_vlsr_VuwR, 32, d.uw[i] = u.uw[i] >> (r & 31))
HEXSIM_SHIFT(Q6_Vuw_vlsr_VuwR, hexsim_vuw, >>, 31, _mm256_srl_epi32)
/* Vd.h[i] = Vu.h[i] << (Rt & 15) */
HEXSIM_LANE_VR(Q6_Vh_vasl_VhR, 64, d.uh[i] = (uint16_t) (u.uh[i] << (r & 15)))
HEXSIM_SHIFT(Q6_Vh_vasl_VhR, hexsim_vuh, <<, 15, _mm256_sll_epi16)
/* Vd.h[i] = Vu.h[i] >> (Rt & 15), arithmetic */
HEXSIM_LANE_VR(Q6_Vh_vasr_VhR, 64, d.h[i] = u.h[i] >> (r & 15))
HEXSIM_SHIFT(Q6_Vh_vasr_VhR, hexsim_vh, >>, 15, _mm256_sra_epi16)
/* Vd.uh[i] = Vu.uh[i] >> (Rt & 15), logical */
HEXSIM_LANE_VR(Q6_Vuh_vlsr_VuhR, 64, d.uh[i] = u.uh[i] >> (r & 15))
HEXSIM_SHIFT(Q6_Vuh_vlsr_VuhR, hexsim_vuh, >>, 15, _mm256_srl_epi16)

/* Vd.ub[i] = Vu.ub[i] >> (Rt & 7), logical */
HEXSIM_LANE_VR(Q6_Vub_vlsr_VubR, 128, d.ub[i] = u.ub[i] >> (r & 7))
HEXSIM_INLINE HVX_Vector Q6_Vub_vlsr_VubR(HVX_Vector Vu, int32_t Rt) {
    return Q6_Vuh_vlsr_VuhR(Vu, Rt & 7) & (HVX_Vector) ((hexsim_vub) {0} + (uint8_t) (0xff >> (Rt & 7)));
}

/* Vx.w[i] += Vu.w[i] << (Rt & 31) */
HEXSIM_LANE_XVR(Q6_Vw_vaslacc_VwVwR, 32, d.uw[i] = x.uw[i] + (u.uw[i] << (r & 31)))
HEXSIM_INLINE HVX_Vector Q6_Vw_vaslacc_VwVwR(HVX_Vector Vx, HVX_Vector Vu, int32_t Rt) {
    return Q6_Vw_vadd_VwVw(Vx, Q6_Vw_vasl_VwR(Vu, Rt));
}

/* Vx.h[i] += Vu.h[i] << (Rt & 15) */
HEXSIM_LANE_XVR(Q6_Vh_vaslacc_VhVhR, 64, d.uh[i] = (uint16_t) (x.uh[i] + (u.uh[i] << (r & 15))))
HEXSIM_INLINE HVX_Vector Q6_Vh_vaslacc_VhVhR(HVX_Vector Vx, HVX_Vector Vu, int32_t Rt) {
    return Q6_Vh_vadd_VhVh(Vx, Q6_Vh_vasl_VhR(Vu, Rt));
}

/* ---- shifts by a vector: a signed count, one bit wider than the lane needs; negative shifts the other way ---- */

/* s = sxt5(Vv.h[i]); Vd.h[i] = s < 0 ? Vu.h[i] >> -s : Vu.h[i] << s, with sign extension to 32 bits on the right */
HEXSIM_LANE_VV(Q6_Vh_vasl_VhVh, 64, const int s = hexsim_sxt(v.h[i], 5);
               d.h[i] = (int16_t) (s < 0 ? u.h[i] >> -s : (int32_t) ((uint32_t) u.h[i] << s)))
HEXSIM_SAME_VV(Q6_Vh_vasl_VhVh)

/* s = sxt6(Vv.w[i]); Vd.w[i] = s < 0 ? Vu.w[i] << -s : Vu.w[i] >> s, computed in 64 bits */
HEXSIM_LANE_VV(Q6_Vw_vasr_VwVw, 32, const int s = hexsim_sxt(v.w[i], 6);
               d.w[i] = (int32_t) (s < 0 ? (int64_t) ((uint64_t) (int64_t) u.w[i] << -s) : (int64_t) u.w[i] >> s))
#if HEXSIM_AVX2
HEXSIM_INLINE HVX_Vector Q6_Vw_vasr_VwVw(HVX_Vector Vu, HVX_Vector Vv) {
    hexsim_lanes u = {.v = Vu}, v = {.v = Vv};
    const __m256i zero = _mm256_setzero_si256();
    for (int i = 0; i < 4; i++) {
        const __m256i s     = _mm256_srai_epi32(_mm256_slli_epi32(v.m[i], 26), 26);
        const __m256i right = _mm256_srav_epi32(u.m[i], s); /* counts of 32 and more: the sign */
        const __m256i left  = _mm256_sllv_epi32(u.m[i], _mm256_sub_epi32(zero, s)); /* 32 and more: zero */
        u.m[i]              = _mm256_blendv_epi8(right, left, _mm256_cmpgt_epi32(zero, s));
    }
    return u.v;
}
#else
HEXSIM_SAME_VV(Q6_Vw_vasr_VwVw)
#endif

/* ---- bits ---- */

/* Vd.uh[i] = count of leading zeros of Vu.uh[i], 16 for 0 */
HEXSIM_LANE_V(Q6_Vuh_vcl0_Vuh, 64, d.uh[i] = (uint16_t) (u.uh[i] ? __builtin_clz(u.uh[i]) - 16 : 16))
HEXSIM_SAME_V(Q6_Vuh_vcl0_Vuh)

/* ---- rounding, packing with saturation ---- */

/* Vd.h[2i] = sat16((Vv.w[i] + 0x8000) >> 16); Vd.h[2i + 1] = sat16((Vu.w[i] + 0x8000) >> 16) */
HEXSIM_LANE_VV(Q6_Vh_vround_VwVw_sat, 32, d.h[2 * i] = hexsim_sat_h(((int64_t) v.w[i] + 0x8000) >> 16);
               d.h[2 * i + 1] = hexsim_sat_h(((int64_t) u.w[i] + 0x8000) >> 16))
HEXSIM_INLINE HVX_Vector Q6_Vh_vround_VwVw_sat(HVX_Vector Vu, HVX_Vector Vv) {
    const hexsim_vw half = (hexsim_vw) {0} + 0x8000;
    hexsim_vuw hi        = (hexsim_vuw) __builtin_elementwise_add_sat((hexsim_vw) Vu, half);
    hexsim_vuw lo        = (hexsim_vuw) __builtin_elementwise_add_sat((hexsim_vw) Vv, half);
    return (HVX_Vector) ((lo >> 16) | (hi & 0xffff0000u));
}

/* Vd.b[i] = sat8(Vv.h[i]); Vd.b[64 + i] = sat8(Vu.h[i]) */
HEXSIM_LANE_VV(Q6_Vb_vpack_VhVh_sat, 64, d.b[i] = hexsim_sat_b(v.h[i]); d.b[64 + i] = hexsim_sat_b(u.h[i]))
#if HEXSIM_AVX2
HEXSIM_INLINE HVX_Vector Q6_Vb_vpack_VhVh_sat(HVX_Vector Vu, HVX_Vector Vv) {
    hexsim_lanes u = {.v = Vu}, v = {.v = Vv}, d;
    d.m[0] = _mm256_permute4x64_epi64(_mm256_packs_epi16(v.m[0], v.m[1]), 0xd8);
    d.m[1] = _mm256_permute4x64_epi64(_mm256_packs_epi16(v.m[2], v.m[3]), 0xd8);
    d.m[2] = _mm256_permute4x64_epi64(_mm256_packs_epi16(u.m[0], u.m[1]), 0xd8);
    d.m[3] = _mm256_permute4x64_epi64(_mm256_packs_epi16(u.m[2], u.m[3]), 0xd8);
    return d.v;
}
#else
HEXSIM_SAME_VV(Q6_Vb_vpack_VhVh_sat)
#endif

/* ---- multiplication ---- */

/* Vx.w[i] += sum over k = 0..3 of Vu.b[4i + k] * Vv.b[4i + k], modulo 2^32 */
HEXSIM_LANE_XVV(
    Q6_Vw_vrmpyacc_VwVbVb, 32, uint32_t sum = x.uw[i];
    for (int k = 0; k < 4; k++) { sum += (uint32_t) (u.b[4 * i + k] * v.b[4 * i + k]); } d.uw[i] = sum)
#if HEXSIM_AVX2
/* Even and odd bytes apart: a product of two signed bytes fits in 16 bits, and pmaddwd adds two exactly. */
HEXSIM_INLINE __m256i hexsim_dot4(__m256i a, __m256i b) {
    const __m256i ae = _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8), ao = _mm256_srai_epi16(a, 8);
    const __m256i be = _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8), bo = _mm256_srai_epi16(b, 8);
    return _mm256_add_epi32(_mm256_madd_epi16(ae, be), _mm256_madd_epi16(ao, bo));
}
HEXSIM_INLINE HVX_Vector Q6_Vw_vrmpyacc_VwVbVb(HVX_Vector Vx, HVX_Vector Vu, HVX_Vector Vv) {
    hexsim_lanes x = {.v = Vx}, u = {.v = Vu}, v = {.v = Vv};
    for (int i = 0; i < 4; i++) {
        x.m[i] = _mm256_add_epi32(x.m[i], hexsim_dot4(u.m[i], v.m[i]));
    }
    return x.v;
}
#else
HEXSIM_LANE_FN HVX_Vector Q6_Vw_vrmpyacc_VwVbVb(HVX_Vector Vx, HVX_Vector Vu, HVX_Vector Vv) {
    return Q6_Vw_vrmpyacc_VwVbVb_lane(Vx, Vu, Vv);
}
#endif

/* Vd.w[i] = sum over k = 0..3 of Vu.b[4i + k] * Vv.b[4i + k] */
HEXSIM_LANE_FN HVX_Vector Q6_Vw_vrmpy_VbVb_lane(HVX_Vector Vu, HVX_Vector Vv) {
    return Q6_Vw_vrmpyacc_VwVbVb_lane((HVX_Vector) {0}, Vu, Vv);
}
HEXSIM_INLINE HVX_Vector Q6_Vw_vrmpy_VbVb(HVX_Vector Vu, HVX_Vector Vv) {
    return Q6_Vw_vrmpyacc_VwVbVb((HVX_Vector) {0}, Vu, Vv);
}

#endif /* HEXSIM_ARITH_H */
