/* IEEE single and half. Unary operations on halves: all values; binary ones: every half against random and hard ones.
 */
#include "check.h"

static void singles(hexsim_lanes u, hexsim_lanes v) {
    CHECK_VV(Q6_Vsf_vadd_VsfVsf, u, v);
    CHECK_VV(Q6_Vsf_vsub_VsfVsf, u, v);
    CHECK_VV(Q6_Vsf_vmpy_VsfVsf, u, v);
    CHECK_VV(Q6_Vsf_vmax_VsfVsf, u, v);
    CHECK_VV(Q6_Vsf_vmin_VsfVsf, u, v);
    CHECK_CMP(Q6_Q_vcmp_gt_VsfVsf, u, v);
    CHECK_VV(Q6_Vhf_vcvt_VsfVsf, u, v);
    CHECK_V(Q6_Vsf_vfneg_Vsf, u);
    CHECK_V(Q6_Vsf_equals_Vw, u);
}

static void halves(hexsim_lanes u, hexsim_lanes v, hexsim_lanes x) {
    CHECK_VV(Q6_Vhf_vadd_VhfVhf, u, v);
    CHECK_VV(Q6_Vhf_vsub_VhfVhf, u, v);
    CHECK_VV(Q6_Vhf_vmpy_VhfVhf, u, v);
    CHECK_VV(Q6_Vhf_vmax_VhfVhf, u, v);
    CHECK_CMP(Q6_Q_vcmp_gt_VhfVhf, u, v);
    CHECK_W_VV(Q6_Wsf_vmpy_VhfVhf, u, v);
    HVX_VectorPair acc  = Q6_W_vcombine_VV(x.v, v.v);
    HVX_VectorPair got  = Q6_Wsf_vmpyacc_WsfVhfVhf(acc, u.v, v.v);
    HVX_VectorPair want = Q6_Wsf_vmpyacc_WsfVhfVhf_lane(acc, u.v, v.v);
    check_same("Q6_Wsf_vmpyacc_WsfVhfVhf", &got, &want, 256, &u, &v, 0);
}

static uint32_t add1(uint32_t a, uint32_t b) {
    hexsim_lanes d = {.v = Q6_Vsf_vadd_VsfVsf(Q6_V_vsplat_R((int32_t) a), Q6_V_vsplat_R((int32_t) b))};
    return d.uw[7];
}

static uint32_t max1(uint32_t a, uint32_t b) {
    hexsim_lanes d = {.v = Q6_Vsf_vmax_VsfVsf(Q6_V_vsplat_R((int32_t) a), Q6_V_vsplat_R((int32_t) b))};
    return d.uw[7];
}

static int greater1(uint32_t a, uint32_t b) {
    hexsim_lanes d = {.q = Q6_Q_vcmp_gt_VsfVsf(Q6_V_vsplat_R((int32_t) a), Q6_V_vsplat_R((int32_t) b))};
    return d.uw[7] != 0;
}

static int to_h(uint16_t h) {
    hexsim_lanes d = {.v = Q6_Vh_equals_Vhf(Q6_Vh_vsplat_R(h))};
    return d.h[9];
}

void test_float(void) {
    for (int i = 0; i < 1024; i++) {
        hexsim_lanes u = check_all_halves(i);
        CHECK_V(Q6_Vhf_equals_Vh, u);
        CHECK_V(Q6_Vh_equals_Vhf, u);
        for (int k = 0; k < 20; k++) {
            hexsim_lanes v = check_halves(), x = check_words();
            halves(u, v, x);
            halves(v, u, x);
        }
    }
    for (int i = 0; i < 20000; i++) {
        singles(check_words(), check_words());
    }
    check_true("Inf - Inf is the default NaN", add1(0x7f800000, 0xff800000) == 0x7fffffff);
    check_true("a NaN operand gives the default NaN", add1(0xffc00001, 0x3f800000) == 0x7fffffff);
    check_true("a sum of subnormals is one", add1(1, 1) == 2);
    check_true("max of zeros is the positive one", max1(0x80000000, 0) == 0 && max1(0, 0x80000000) == 0);
    check_true("a positive NaN is above Inf", max1(0x7f800000, 0x7fc00000) == 0x7fc00000);
    check_true("a negative NaN is below -Inf", max1(0xff800000, 0xffc00000) == 0xff800000);
    check_true("0 is not above -0", !greater1(0, 0x80000000));
    check_true("NaN is above a number", greater1(0x7fc00000, 0x7f7fffff) && !greater1(0x3f800000, 0x7fc00000));
    check_true("halves go towards zero", to_h(0x3e00) == 1 && to_h(0xbe00) == -1 && to_h(0x3bff) == 0);
    check_true("and saturate", to_h(0x7bff) == 32767 && to_h(0xfbff) == -32768 && to_h(0xf800) == -32768);
    check_true("NaN by its sign", to_h(0x7e00) == 32767 && to_h(0xfe00) == -32768);
}
