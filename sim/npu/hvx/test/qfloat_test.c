/* qf32 and qf16, of the architecture compiled for. Unary operations on 16 bits: all patterns. */
#include "check.h"

#include <math.h>

static void both(hexsim_lanes u, hexsim_lanes v) {
    CHECK_VV(Q6_Vqf32_vadd_VsfVsf, u, v);
    CHECK_VV(Q6_Vqf32_vadd_Vqf32Vsf, u, v);
    CHECK_VV(Q6_Vqf32_vadd_Vqf32Vqf32, u, v);
    CHECK_VV(Q6_Vqf32_vsub_VsfVsf, u, v);
    CHECK_VV(Q6_Vqf32_vsub_Vqf32Vsf, u, v);
    CHECK_VV(Q6_Vqf32_vsub_Vqf32Vqf32, u, v);
    CHECK_VV(Q6_Vqf32_vmpy_VsfVsf, u, v);
    CHECK_VV(Q6_Vqf32_vmpy_Vqf32Vqf32, u, v);
    CHECK_V(Q6_Vsf_equals_Vqf32, u);
    HVX_VectorPair p = Q6_W_vcombine_VV(u.v, v.v);
    HVX_Vector got = Q6_Vhf_equals_Wqf32(p), want = Q6_Vhf_equals_Wqf32_lane(p);
    check_same("Q6_Vhf_equals_Wqf32", &got, &want, 128, &v, &u, 0);
#if __HVX_ARCH__ >= 81
    CHECK_V(Q6_Vqf32_equals_Vsf, u);
#endif
}

static void halves(hexsim_lanes u, hexsim_lanes v) {
    CHECK_VV(Q6_Vqf16_vadd_Vqf16Vhf, u, v);
    CHECK_VV(Q6_Vqf16_vsub_VhfVhf, u, v);
    CHECK_VV(Q6_Vqf16_vmpy_VhfVhf, u, v);
    CHECK_VV(Q6_Vqf16_vmpy_Vqf16Vqf16, u, v);
    CHECK_W_VV(Q6_Wqf32_vmpy_VhfVhf, u, v);
}

static float sf_product(float a, float b) {
    hexsim_lanes u = {.v = Q6_V_vsplat_R((int32_t) hexsim_sf_bits(a))};
    hexsim_lanes v = {.v = Q6_V_vsplat_R((int32_t) hexsim_sf_bits(b))};
    hexsim_lanes d = {.v = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vmpy_VsfVsf(u.v, v.v))};
    return d.sf[3];
}

static float sf_sum(float a, float b) {
    hexsim_lanes u = {.v = Q6_V_vsplat_R((int32_t) hexsim_sf_bits(a))};
    hexsim_lanes v = {.v = Q6_V_vsplat_R((int32_t) hexsim_sf_bits(b))};
    hexsim_lanes d = {.v = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vadd_VsfVsf(u.v, v.v))};
    return d.sf[3];
}

/* Against double precision, which holds sums and products of singles near each other exactly: an error of at most
 * 2^-23 of the result's power of two (2^-22 when the exponent had to be raised). */
static void errors_are_small(void) {
    for (int i = 0; i < 20000; i++) {
        const float a = (float) ((double) (int64_t) check_random() * 0x1p-60), b = (float) (1 + (i % 1000) * 0.37);
        check_true("product", fabs(sf_product(a, b) - (double) a * b) <= 0x1p-21 * fabs((double) a * b));
        check_true("sum", fabs(sf_sum(a, b) - ((double) a + b)) <= 0x1p-21 * (fabs((double) a) + b));
    }
    check_true("zero stays zero", sf_sum(0, 0) == 0 && sf_product(0, 3) == 0);
    check_true("an infinity stays one", isinf(sf_sum(INFINITY, 1)));
}

/* A constant of hvx_vec_exp2_f16: s = 0x284, e = 2, so 644 / 512 * 2^-13, times one. */
static void raw_constant(void) {
    hexsim_lanes one = {.v = Q6_Vh_vsplat_R(0x3c00)}, zero = {.v = Q6_V_vzero()};
    hexsim_lanes one_q = {.v = Q6_Vqf16_vsub_VhfVhf(one.v, zero.v)};
    hexsim_lanes d     = {.v = Q6_Vhf_equals_Vqf16(Q6_Vqf16_vmpy_Vqf16Vqf16(Q6_Vh_vsplat_R(0x5082), one_q.v))};
    const double want  = 644.0 / 512 / 8192;
    check_true("0x5082 is 1.2578 * 2^-13", fabs((double) d.hf[0] - want) <= want * 0x1p-8);
}

#if __HVX_ARCH__ < 79
static uint32_t qf32_add(uint32_t a, uint32_t b) {
    hexsim_lanes d = {.v = Q6_Vqf32_vadd_VsfVsf(Q6_V_vsplat_R((int32_t) a), Q6_V_vsplat_R((int32_t) b))};
    return d.uw[0];
}

/* Patterns worked out from the rule by hand. */
static void patterns(void) {
    /* 1.0: 2^23 units of 2^-23; low = 0, so plus 1: significand 2^22, exponent 127. */
    check_true("1.0", qf32_add(0x3f800000, 0) == 0x4000007f);
    /* 1 + 2^-23: low = 1: exact. */
    check_true("1 + 1 unit", qf32_add(0x3f800001, 0) == 0x4000007f);
    /* 1 + 2^-22: low = 2, written with the next exponent: (2^23 + 2) / 4 = 2^21. */
    check_true("1 + 2 units", qf32_add(0x3f800002, 0) == 0x20000080);
    /* 1 + 3 * 2^-23: low = 3: significand 2^22 + 1. */
    check_true("1 + 3 units", qf32_add(0x3f800003, 0) == 0x4000017f);
    /* -1: multiple of 4 below, plus 1: -(2^23 - 1): significand ~(2^22 - 1). */
    check_true("-1.0", qf32_add(0xbf800000, 0) == (((uint32_t) ~0x3fffff << 8) | 0x7f));
    check_true("1 - 1 is the pattern 0", qf32_add(0x3f800000, 0xbf800000) == 0);
    /* 1.5 + 1.5 = 3 does not fit in exponent 0: raised to 1. low is 0 there. */
    check_true("1.5 + 1.5", qf32_add(0x3fc00000, 0x3fc00000) == 0x60000080);
    check_true("overflow", qf32_add(0x7f800000, 0x7f800000) == 0x7fffffff);
}
#else
static void patterns(void) {
    static uint8_t seen[65536];
    for (int h = 0; h < 65536; h++) {
        hexsim_lanes q = {.v = hexsim_qf16_of_vhf(Q6_Vh_vsplat_R(h))}, back = {.v = Q6_Vhf_equals_Vqf16(q.v)};
        check_true("hf to qf16: the forms agree", q.uh[0] == hexsim_qf16_of_hf((uint16_t) h));
        check_true("hf to qf16 and back", back.uh[0] == (h == 0x8000 ? 0 : h));
        check_true("one pattern for each half", h == 0x8000 || !seen[q.uh[0]]);
        seen[q.uh[0]] = 1;
    }
    /* What the manual says of a normalised pattern holds for all of them. */
    for (int q = 0; q < 65536; q++) {
        const int s = (int16_t) q >> 5, e = q & 31;
        if (e < 31 && !(e == 30 && s == -1024) && ((s >= 512 && s < 1024) || (s < -512 && s >= -1024))) {
            check_true("s / 512 * 2^(e - 15)", hexsim_sf_of_qf16((uint16_t) q) == (float) ldexp(s / 512.0, e - 15));
        }
    }
}
#endif

void test_qfloat(void) {
    for (int i = 0; i < 1024; i++) {
        hexsim_lanes u = check_all_halves(i);
        CHECK_V(Q6_Vhf_equals_Vqf16, u);
        for (int k = 0; k < 10; k++) {
            hexsim_lanes v = check_halves();
            halves(u, v);
            halves(v, u);
        }
    }
    for (int i = 0; i < 10000; i++) {
        both(check_words(), check_words());
    }
    errors_are_small();
    raw_constant();
    patterns();
}
