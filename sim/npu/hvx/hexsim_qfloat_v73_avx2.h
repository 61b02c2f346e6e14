/* hexsim_qfloat_v73_avx2.h: the vector forms of hexsim_qfloat_v73.h, four lanes at a time in double precision.
 *
 * A product of two significands has 50 bits and is exact. A sum is exact when the operands are near each other; when
 * they are not, only the side matters on which the smaller one lies, and it is made large enough not to be lost. */
#ifndef HEXSIM_QFLOAT_V73_AVX2_H
#define HEXSIM_QFLOAT_V73_AVX2_H

#include "hexsim_qfloat_v73.h"

#if HEXSIM_AVX2

/* Four numbers: values, and the exponents that their formats give them. */
typedef struct {
    __m256d value;
    __m128i exponent;
} hexsim_q4;

/* 2^n, -1022 <= n <= 1023 */
HEXSIM_INLINE __m256d hexsim_pow2x4(__m128i n) {
    const __m256i biased = _mm256_cvtepi32_epi64(_mm_add_epi32(n, _mm_set1_epi32(1023)));
    return _mm256_castsi256_pd(_mm256_slli_epi64(biased, 52));
}

HEXSIM_INLINE hexsim_q4 hexsim_q4_make(__m128i significand, __m128i exponent, int fraction) {
    const __m256d scale = hexsim_pow2x4(_mm_sub_epi32(exponent, _mm_set1_epi32(fraction)));
    return (hexsim_q4) {_mm256_mul_pd(_mm256_cvtepi32_pd(significand), scale), exponent};
}

HEXSIM_INLINE hexsim_q4 hexsim_q4_qf32(__m128i x) {
    return hexsim_q4_make(_mm_or_si128(_mm_srai_epi32(x, 7), _mm_set1_epi32(1)),
                          _mm_sub_epi32(_mm_and_si128(x, _mm_set1_epi32(0xff)), _mm_set1_epi32(127)), 23);
}

/* x is sign-extended to 32 bits here and below */
HEXSIM_INLINE hexsim_q4 hexsim_q4_qf16(__m128i x) {
    return hexsim_q4_make(_mm_or_si128(_mm_srai_epi32(x, 4), _mm_set1_epi32(1)),
                          _mm_sub_epi32(_mm_and_si128(x, _mm_set1_epi32(0x1f)), _mm_set1_epi32(15)), 10);
}

HEXSIM_INLINE hexsim_q4 hexsim_q4_ieee(__m128i x, int fraction, int exponent_mask, int bias) {
    const __m128i one = _mm_set1_epi32(1), sign = _mm_srai_epi32(x, 31);
    const __m128i e    = _mm_and_si128(_mm_srli_epi32(x, fraction), _mm_set1_epi32(exponent_mask));
    const __m128i some = _mm_cmpgt_epi32(e, _mm_setzero_si128());
    const __m128i m    = _mm_or_si128(_mm_and_si128(x, _mm_set1_epi32((1 << fraction) - 1)),
                                      _mm_and_si128(some, _mm_set1_epi32(1 << fraction)));
    return hexsim_q4_make(_mm_sub_epi32(_mm_xor_si128(m, sign), sign),
                          _mm_sub_epi32(_mm_max_epi32(e, one), _mm_set1_epi32(bias)), fraction);
}

HEXSIM_INLINE hexsim_q4 hexsim_q4_sf(__m128i x) {
    return hexsim_q4_ieee(x, 23, 0xff, 127);
}

HEXSIM_INLINE hexsim_q4 hexsim_q4_hf(__m128i x) {
    return hexsim_q4_ieee(x, 10, 0x1f, 15);
}

/* The mask of a comparison of doubles, for 32-bit lanes. */
HEXSIM_INLINE __m128i hexsim_mask4(__m256d m) {
    const __m256 s = _mm256_castpd_ps(m);
    return _mm_castps_si128(_mm_shuffle_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1), 0x88));
}

HEXSIM_INLINE __m256d hexsim_abs4(__m256d x) {
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}

/* hexsim_qround: see there for the rule. */
HEXSIM_INLINE __m128i hexsim_q4_round(hexsim_qformat f, __m128i exponent, __m256d v) {
    const int exponent_bits = f.fraction == 23 ? 8 : 5;
    const __m128i mask = _mm_set1_epi32((1 << f.fraction) - 1), e_max = _mm_set1_epi32(f.e_max);
    const __m128i e_min = _mm_set1_epi32(f.e_min), one = _mm_set1_epi32(1);
    const __m256d zero = _mm256_setzero_pd(), minus = _mm256_set1_pd(-0.0);
    const __m128i sign     = hexsim_mask4(_mm256_cmp_pd(v, zero, _CMP_LT_OQ));
    const __m256d limit    = hexsim_pow2x4(_mm_add_epi32(exponent, one));
    const __m128i overflow = hexsim_mask4(_mm256_andnot_pd(_mm256_cmp_pd(v, _mm256_xor_pd(limit, minus), _CMP_EQ_OQ),
                                                           _mm256_cmp_pd(hexsim_abs4(v), limit, _CMP_GE_OQ)));
    /* masks are 0 or -1: subtracting one adds 1 */
    const __m128i raise  = _mm_or_si128(overflow, _mm_cmpeq_epi32(exponent, _mm_sub_epi32(e_min, one)));
    const __m128i raised = _mm_sub_epi32(exponent, raise);
    const __m256d t      = _mm256_mul_pd(v, hexsim_pow2x4(_mm_sub_epi32(_mm_set1_epi32(f.fraction - 2), raised)));
    const __m256d floor = _mm256_floor_pd(t), low = _mm256_sub_pd(t, floor);
    const __m128i inside = _mm_andnot_si128(_mm_cmpgt_epi32(e_min, exponent), _mm_cmpgt_epi32(e_max, exponent));
    const __m128i middle = _mm_andnot_si128(raise, inside);
    const __m128i low1   = hexsim_mask4(_mm256_cmp_pd(low, _mm256_set1_pd(1.5 / 4), _CMP_LE_OQ));
    const __m128i low2   = hexsim_mask4(_mm256_cmp_pd(low, _mm256_set1_pd(2.5 / 4), _CMP_LE_OQ));
    const __m128i low_h  = hexsim_mask4(_mm256_cmp_pd(low, _mm256_set1_pd(2.0 / 4), _CMP_LE_OQ));
    const __m128i tiny   = hexsim_mask4(_mm256_cmp_pd(hexsim_abs4(t), _mm256_set1_pd(1.0), _CMP_LT_OQ));
    const __m128i half   = _mm_andnot_si128(tiny, _mm_and_si128(middle, _mm_andnot_si128(low1, low2)));
    /* 3, less 2 for the first step, less 1 for the half one */
    const __m128i first = _mm_blendv_epi8(low_h, low1, middle);
    __m128i n           = _mm_add_epi32(_mm_slli_epi32(_mm256_cvttpd_epi32(floor), 2), _mm_set1_epi32(3));
    n                   = _mm_add_epi32(n, _mm_add_epi32(_mm_add_epi32(first, first), half));
    n                   = _mm_blendv_epi8(n, _mm_or_si128(sign, one), tiny);

    const __m128i magnitude = _mm_abs_epi32(n);
    __m128i s               = _mm_blendv_epi8(_mm_srli_epi32(magnitude, 1), _mm_srli_epi32(magnitude, 2), half);
    s                       = _mm_xor_si128(s, sign);
    __m128i e               = _mm_sub_epi32(raised, half);

    const __m128i below = _mm_cmpgt_epi32(_mm_sub_epi32(e_min, one), exponent); /* at most e_min - 2 */
    s                   = _mm_blendv_epi8(s, sign, below);
    e                   = _mm_blendv_epi8(e, e_min, below);
    const __m128i above =
        _mm_or_si128(_mm_cmpgt_epi32(exponent, e_max), _mm_and_si128(overflow, _mm_cmpeq_epi32(exponent, e_max)));
    s = _mm_blendv_epi8(s, _mm_xor_si128(sign, _mm_set1_epi32(-1)), above);
    e = _mm_blendv_epi8(e, e_max, above);

    e               = _mm_and_si128(_mm_add_epi32(e, _mm_set1_epi32(f.bias)), _mm_set1_epi32((1 << exponent_bits) - 1));
    s               = _mm_or_si128(_mm_and_si128(s, mask), _mm_and_si128(sign, _mm_set1_epi32(1 << f.fraction)));
    const __m128i d = _mm_or_si128(_mm_slli_epi32(s, exponent_bits), e);
    return _mm_andnot_si128(hexsim_mask4(_mm256_cmp_pd(v, zero, _CMP_EQ_OQ)), d);
}

/* floor(log2 |x|), -1023 for 0 */
HEXSIM_INLINE __m128i hexsim_log2x4(__m256d x) {
    const __m256i e = _mm256_srli_epi64(_mm256_castpd_si256(hexsim_abs4(x)), 52);
    return _mm_sub_epi32(hexsim_mask4(_mm256_castsi256_pd(e)), _mm_set1_epi32(1023));
}

/* x, but where it is not zero no nearer to zero than least */
HEXSIM_INLINE __m256d hexsim_at_least4(__m256d x, __m256d least) {
    const __m256d minus = _mm256_set1_pd(-0.0);
    const __m256d big   = _mm256_or_pd(_mm256_max_pd(hexsim_abs4(x), least), _mm256_and_pd(minus, x));
    return _mm256_and_pd(big, _mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_NEQ_OQ));
}

HEXSIM_INLINE __m128i hexsim_q4_add(hexsim_qformat f, hexsim_q4 a, hexsim_q4 b) {
    const __m128i a_first  = _mm_cmpgt_epi32(a.exponent, b.exponent);
    const __m128i normal   = _mm_blendv_epi8(hexsim_log2x4(b.value), hexsim_log2x4(a.value), a_first);
    const __m128i other    = _mm_blendv_epi8(a.exponent, b.exponent, a_first);
    const __m128i exponent = _mm_max_epi32(normal, other);
    const __m256d least    = hexsim_pow2x4(_mm_sub_epi32(exponent, _mm_set1_epi32(f.fraction + 20)));
    return hexsim_q4_round(f, exponent,
                           _mm256_add_pd(hexsim_at_least4(a.value, least), hexsim_at_least4(b.value, least)));
}

HEXSIM_INLINE __m128i hexsim_q4_sub(hexsim_qformat f, hexsim_q4 a, hexsim_q4 b) {
    b.value = _mm256_xor_pd(b.value, _mm256_set1_pd(-0.0));
    return hexsim_q4_add(f, a, b);
}

HEXSIM_INLINE __m128i hexsim_q4_mpy(hexsim_qformat f, hexsim_q4 a, hexsim_q4 b) {
    return hexsim_q4_round(f, _mm_add_epi32(a.exponent, b.exponent), _mm256_mul_pd(a.value, b.value));
}

/* Four words of a vector, four halves sign-extended, and back. */
HEXSIM_INLINE __m128i hexsim_words4(const hexsim_lanes * x, int i) {
    return _mm_load_si128((const __m128i *) x + i);
}
HEXSIM_INLINE __m128i hexsim_halves4(const hexsim_lanes * x, int i) {
    return _mm_cvtepi16_epi32(_mm_loadl_epi64((const __m128i *) (x->h + 4 * i)));
}
HEXSIM_INLINE void hexsim_store_halves4(hexsim_lanes * d, int i, __m128i x) {
    const __m128i low = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    _mm_storel_epi64((__m128i *) (d->h + 4 * i), _mm_shuffle_epi8(x, low));
}

#define HEXSIM_QF32_VECTOR(name, tu, tv, op)                                                                           \
    HEXSIM_LANE_FN HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) {                                                     \
        const hexsim_lanes u = {.v = Vu}, v = {.v = Vv};                                                               \
        hexsim_lanes d;                                                                                                \
        for (int i = 0; i < 8; i++) {                                                                                  \
            const hexsim_q4 a = hexsim_q4_##tu(hexsim_words4(&u, i)), b = hexsim_q4_##tv(hexsim_words4(&v, i));        \
            _mm_store_si128((__m128i *) &d + i, hexsim_q4_##op(HEXSIM_QF32, a, b));                                    \
        }                                                                                                              \
        return d.v;                                                                                                    \
    }
#define HEXSIM_QF16_VECTOR(name, tu, tv, op)                                                                           \
    HEXSIM_LANE_FN HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) {                                                     \
        const hexsim_lanes u = {.v = Vu}, v = {.v = Vv};                                                               \
        hexsim_lanes d;                                                                                                \
        for (int i = 0; i < 16; i++) {                                                                                 \
            const hexsim_q4 a = hexsim_q4_##tu(hexsim_halves4(&u, i)), b = hexsim_q4_##tv(hexsim_halves4(&v, i));      \
            hexsim_store_halves4(&d, i, hexsim_q4_##op(HEXSIM_QF16, a, b));                                            \
        }                                                                                                              \
        return d.v;                                                                                                    \
    }

HEXSIM_LANE_FN HVX_VectorPair hexsim_wqf32_vmpy_vhf(HVX_Vector Vu, HVX_Vector Vv) {
    const hexsim_lanes u = {.v = Vu}, v = {.v = Vv};
    hexsim_pair d;
    for (int i = 0; i < 8; i++) {
        const __m128i x = hexsim_words4(&u, i), y = hexsim_words4(&v, i); /* an even and an odd half in each word */
        const hexsim_q4 ue = hexsim_q4_hf(_mm_srai_epi32(_mm_slli_epi32(x, 16), 16));
        const hexsim_q4 ve = hexsim_q4_hf(_mm_srai_epi32(_mm_slli_epi32(y, 16), 16));
        const hexsim_q4 uo = hexsim_q4_hf(_mm_srai_epi32(x, 16)), vo = hexsim_q4_hf(_mm_srai_epi32(y, 16));
        _mm_store_si128((__m128i *) &d.l[0] + i, hexsim_q4_mpy(HEXSIM_QF32, ue, ve));
        _mm_store_si128((__m128i *) &d.l[1] + i, hexsim_q4_mpy(HEXSIM_QF32, uo, vo));
    }
    return d.p;
}

HEXSIM_LANE_FN HVX_Vector hexsim_vsf_of_vqf32(HVX_Vector Vu) {
    const hexsim_lanes u = {.v = Vu};
    hexsim_lanes d;
    for (int i = 0; i < 8; i++) {
        _mm_store_ps(d.sf + 4 * i, _mm256_cvtpd_ps(hexsim_q4_qf32(hexsim_words4(&u, i)).value));
    }
    return d.v;
}

/* 2^n as singles, -126 <= n <= 127 */
HEXSIM_INLINE __m256 hexsim_pow2x8(__m256i n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

HEXSIM_INLINE __m256 hexsim_narrowable8(__m256i x) {
    const __m256i s = _mm256_or_si256(_mm256_srai_epi32(x, 8), _mm256_set1_epi32(1));
    __m256i e       = _mm256_sub_epi32(_mm256_and_si256(x, _mm256_set1_epi32(0xff)), _mm256_set1_epi32(127 + 22));
    e               = _mm256_max_epi32(_mm256_min_epi32(e, _mm256_set1_epi32(100)), _mm256_set1_epi32(-100));
    return _mm256_mul_ps(_mm256_cvtepi32_ps(s), hexsim_pow2x8(e));
}

HEXSIM_LANE_FN HVX_Vector hexsim_vhf_of_wqf32(HVX_VectorPair Vuu) {
    const hexsim_pair u = {.p = Vuu};
    hexsim_lanes d;
    for (int i = 0; i < 4; i++) {
        d.m[i] = hexsim_narrow16(hexsim_narrowable8(u.l[0].m[i]), hexsim_narrowable8(u.l[1].m[i]));
    }
    return d.v;
}

HEXSIM_INLINE __m128i hexsim_hf_of_qf16x8(__m128i x) {
    const __m256i q = _mm256_cvtepi16_epi32(x);
    const __m256i s = _mm256_or_si256(_mm256_srai_epi32(q, 4), _mm256_set1_epi32(1));
    const __m256i e = _mm256_sub_epi32(_mm256_and_si256(q, _mm256_set1_epi32(0x1f)), _mm256_set1_epi32(15 + 10));
    return hexsim_narrow8(_mm256_mul_ps(_mm256_cvtepi32_ps(s), hexsim_pow2x8(e)));
}

HEXSIM_LANE_FN HVX_Vector hexsim_vhf_of_vqf16_v73(HVX_Vector Vu) {
    hexsim_lanes u = {.v = Vu};
    for (int i = 0; i < 4; i++) {
        u.m[i] = _mm256_set_m128i(hexsim_hf_of_qf16x8(_mm256_extracti128_si256(u.m[i], 1)),
                                  hexsim_hf_of_qf16x8(_mm256_castsi256_si128(u.m[i])));
    }
    return u.v;
}

#else

#define HEXSIM_QF32_VECTOR(name, tu, tv, op) HEXSIM_SAME_VV(name)
#define HEXSIM_QF16_VECTOR(name, tu, tv, op) HEXSIM_SAME_VV(name)

#endif

#endif /* HEXSIM_QFLOAT_V73_AVX2_H */
