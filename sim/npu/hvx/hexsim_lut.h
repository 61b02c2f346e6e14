/* hexsim_lut.h: table lookups and piecewise polynomials.
 * Formulas: V73 HVX Programmer's Reference Manual, "Vector lookup table" and "Multiply and accumulate" and QEMU's
 * ext.idef (V6_vlutvwh, V6_vlutvvb, V6_vlut4, V6_vmpauhuhsat, V6_vmpsuhuhsat). */
#ifndef HEXSIM_LUT_H
#define HEXSIM_LUT_H

#include "hexsim_lanes.h"

/* match = Rt & 15, odd = Rt >> 1 & 1: the table is the half `odd` of the words of Vv.
 * x = Vu.uh[i].ub[0]: Vdd.v[0].h[i] = x >> 4 == match ? Vv.w[x % 32].h[odd] : 0; Vdd.v[1] likewise from ub[1] */
HEXSIM_LANE_FN HVX_VectorPair Q6_Wh_vlut16_VbVhR_lane(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    hexsim_lanes u = {.v = Vu}, v = {.v = Vv};
    hexsim_pair d;
    const int match = Rt & 15, odd = Rt >> 1 & 1;
    for (int i = 0; i < 64; i++) {
        for (int k = 0; k < 2; k++) {
            const int x  = u.ub[2 * i + k];
            d.l[k].uh[i] = x >> 4 == match ? v.uh[2 * (x % 32) + odd] : 0;
        }
    }
    return d.p;
}

/* match = #u3, odd = #u3 >> 1 & 1: x = Vu.ub[i]: Vd.b[i] = x >> 5 == match ? Vv.h[x % 64].b[odd] : 0 */
HEXSIM_LANE_FN HVX_Vector Q6_Vb_vlut32_VbVbI_lane(HVX_Vector Vu, HVX_Vector Vv, int32_t Iu3) {
    hexsim_lanes u = {.v = Vu}, v = {.v = Vv}, d;
    const int match = Iu3 & 7, odd = Iu3 >> 1 & 1;
    for (int i = 0; i < 128; i++) {
        const int x = u.ub[i];
        d.ub[i]     = x >> 5 == match ? v.ub[2 * (x % 64) + odd] : 0;
    }
    return d.v;
}

#if HEXSIM_AVX2
/* The table of one match: 16 halves, as 16 low and 16 high bytes for pshufb. */
HEXSIM_INLINE HVX_VectorPair Q6_Wh_vlut16_VbVhR(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    const hexsim_lanes u = {.v = Vu}, v = {.v = Vv};
    hexsim_pair d;
    const int match = Rt & 15, odd = Rt >> 1 & 1, first = match * 16 % 32;
    uint8_t lo[16], hi[16];
    for (int i = 0; i < 16; i++) {
        const uint16_t t = v.uh[2 * (first + i) + odd];
        lo[i]            = (uint8_t) t;
        hi[i]            = (uint8_t) (t >> 8);
    }
    const __m256i tl    = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) lo));
    const __m256i th    = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) hi));
    const __m256i group = _mm256_set1_epi8((char) (match << 4));
    const __m256i even  = _mm256_set1_epi16(0x00ff);
    for (int i = 0; i < 4; i++) {
        /* xor leaves 0..15 for a match; others get the top bit, which pshufb turns into 0. */
        const __m256i x   = _mm256_xor_si256(u.m[i], group);
        const __m256i out = _mm256_cmpeq_epi8(_mm256_max_epu8(x, _mm256_set1_epi8(16)), x);
        const __m256i at  = _mm256_or_si256(x, out);
        const __m256i l = _mm256_shuffle_epi8(tl, at), h = _mm256_shuffle_epi8(th, at);
        d.m[i]     = _mm256_or_si256(_mm256_and_si256(l, even), _mm256_slli_epi16(h, 8));
        d.m[4 + i] = _mm256_or_si256(_mm256_srli_epi16(l, 8), _mm256_andnot_si256(even, h));
    }
    return d.p;
}
HEXSIM_INLINE HVX_Vector Q6_Vb_vlut32_VbVbI(HVX_Vector Vu, HVX_Vector Vv, int32_t Iu3) {
    const hexsim_lanes u = {.v = Vu}, v = {.v = Vv};
    hexsim_lanes d;
    const int match = Iu3 & 7, odd = Iu3 >> 1 & 1, first = match * 32 % 64;
    uint8_t table[32];
    for (int i = 0; i < 32; i++) {
        table[i] = v.ub[2 * (first + i) + odd];
    }
    const __m256i tl    = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) table));
    const __m256i th    = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) (table + 16)));
    const __m256i group = _mm256_set1_epi8((char) (match << 5));
    for (int i = 0; i < 4; i++) {
        const __m256i x   = _mm256_xor_si256(u.m[i], group);
        const __m256i out = _mm256_cmpeq_epi8(_mm256_max_epu8(x, _mm256_set1_epi8(32)), x);
        const __m256i at  = _mm256_or_si256(x, out);
        const __m256i big = _mm256_cmpgt_epi8(x, _mm256_set1_epi8(15));
        d.m[i]            = _mm256_blendv_epi8(_mm256_shuffle_epi8(tl, at), _mm256_shuffle_epi8(th, at), big);
    }
    return d.v;
}
#else
HEXSIM_LANE_FN HVX_VectorPair Q6_Wh_vlut16_VbVhR(HVX_Vector Vu, HVX_Vector Vv, int32_t Rt) {
    return Q6_Wh_vlut16_VbVhR_lane(Vu, Vv, Rt);
}
HEXSIM_LANE_FN HVX_Vector Q6_Vb_vlut32_VbVbI(HVX_Vector Vu, HVX_Vector Vv, int32_t Iu3) {
    return Q6_Vb_vlut32_VbVbI_lane(Vu, Vv, Iu3);
}
#endif

/* Rtt.h[k], k = the top two bits of x */
HEXSIM_INLINE uint16_t hexsim_quarter(int64_t Rtt, uint16_t x) {
    return (uint16_t) ((uint64_t) Rtt >> (16 * (x >> 14)));
}

/* Vd.h[i] = Rtt.h[Vu.uh[i] >> 14] */
HEXSIM_LANE_FN HVX_Vector Q6_Vh_vlut4_VuhPh_lane(HVX_Vector Vu, int64_t Rtt) {
    hexsim_lanes u = {.v = Vu};
    for (int i = 0; i < 64; i++) {
        u.uh[i] = hexsim_quarter(Rtt, u.uh[i]);
    }
    return u.v;
}

/* Vx.h[i] = sat16((Vx.h[i] * Vu.uh[i] + (Rtt.uh[Vu.uh[i] >> 14] << 15)) >> 16) */
HEXSIM_LANE_FN HVX_Vector Q6_Vh_vmpa_VhVhVuhPuh_sat_lane(HVX_Vector Vx, HVX_Vector Vu, int64_t Rtt) {
    hexsim_lanes x = {.v = Vx}, u = {.v = Vu};
    for (int i = 0; i < 64; i++) {
        const int64_t term = (int64_t) hexsim_quarter(Rtt, u.uh[i]) << 15;
        x.h[i]             = hexsim_sat_h(((int64_t) x.h[i] * u.uh[i] + term) >> 16);
    }
    return x.v;
}

/* Vx.h[i] = sat16((Vx.h[i] * Vu.uh[i] - (Rtt.uh[Vu.uh[i] >> 14] << 15)) >> 16) */
HEXSIM_LANE_FN HVX_Vector Q6_Vh_vmps_VhVhVuhPuh_sat_lane(HVX_Vector Vx, HVX_Vector Vu, int64_t Rtt) {
    hexsim_lanes x = {.v = Vx}, u = {.v = Vu};
    for (int i = 0; i < 64; i++) {
        const int64_t term = (int64_t) hexsim_quarter(Rtt, u.uh[i]) << 15;
        x.h[i]             = hexsim_sat_h(((int64_t) x.h[i] * u.uh[i] - term) >> 16);
    }
    return x.v;
}

HEXSIM_LANE_FN HVX_Vector Q6_Vh_vlut4_VuhPh(HVX_Vector Vu, int64_t Rtt) {
    return Q6_Vh_vlut4_VuhPh_lane(Vu, Rtt);
}
HEXSIM_LANE_FN HVX_Vector Q6_Vh_vmpa_VhVhVuhPuh_sat(HVX_Vector Vx, HVX_Vector Vu, int64_t Rtt) {
    return Q6_Vh_vmpa_VhVhVuhPuh_sat_lane(Vx, Vu, Rtt);
}
HEXSIM_LANE_FN HVX_Vector Q6_Vh_vmps_VhVhVuhPuh_sat(HVX_Vector Vx, HVX_Vector Vu, int64_t Rtt) {
    return Q6_Vh_vmps_VhVhVuhPuh_sat_lane(Vx, Vu, Rtt);
}

#endif /* HEXSIM_LUT_H */
