/* Permutation moves bytes whatever they hold: with every byte of the operands different, one run shows it all. */
#include "check.h"

void test_permute(void) {
    hexsim_lanes u, v;
    for (int i = 0; i < 128; i++) {
        v.ub[i] = (uint8_t) i;
        u.ub[i] = (uint8_t) (128 + i);
    }
    for (int r = -130; r < 260; r++) {
        CHECK_VVR(Q6_V_valign_VVR, u, v, r);
        CHECK_VVR(Q6_V_vlalign_VVR, u, v, r);
        CHECK_VR(Q6_V_vror_VR, u, r);
        CHECK_W_VVR(Q6_W_vshuff_VVR, u, v, r);
        CHECK_W_VVR(Q6_W_vdeal_VVR, u, v, r);
        hexsim_pair s = {.p = Q6_W_vshuff_VVR(u.v, v.v, r)};
        hexsim_pair d = {.p = Q6_W_vdeal_VVR(s.v[1], s.v[0], r)};
        check_same("deal undoes shuff (low)", &d.v[0], &v, 128, NULL, NULL, r);
        check_same("deal undoes shuff (high)", &d.v[1], &u, 128, NULL, NULL, r);
    }
    /* The rotations that have a form of their own, with constants. */
#define ROTATE(n)                                                                                                      \
    do {                                                                                                               \
        HVX_Vector a = Q6_V_vror_VR(u.v, n), b = Q6_V_vror_VR_lane(u.v, n);                                            \
        check_same("Q6_V_vror_VR, constant", &a, &b, 128, &u, NULL, n);                                                \
    } while (0)
    ROTATE(0);
    ROTATE(1);
    ROTATE(4);
    ROTATE(8);
    ROTATE(16);
    ROTATE(32);
    ROTATE(64);
    ROTATE(96);
    ROTATE(124);
    ROTATE(128);
    CHECK_V(Q6_Vh_vshuff_Vh, u);
    CHECK_V(Q6_Vh_vdeal_Vh, u);
    CHECK_V(Q6_Vb_vshuff_Vb, u);
    CHECK_VV(Q6_Vh_vshuffo_VhVh, u, v);
    for (int i = 0; i < 4; i++) {
        hexsim_lanes all;
        for (int k = 0; k < 128; k++) {
            all.ub[k] = (uint8_t) (64 * i + k);
        }
        CHECK_W_V(Q6_Wh_vunpack_Vb, all);
        CHECK_W_V(Q6_Wuh_vunpack_Vub, all);
    }
    for (int i = 0; i < 1024; i++) {
        hexsim_lanes all = check_all_halves(i);
        CHECK_W_V(Q6_Ww_vunpack_Vh, all);
    }
    for (int i = 0; i < 2000; i++) {
        hexsim_lanes c = check_words();
        CHECK_VV(Q6_V_vdelta_VV, u, c);
    }
    hexsim_pair w = {.p = Q6_W_vcombine_VV(u.v, v.v)};
    check_same("the second operand of vcombine is the low vector", &w.v[0], &v, 128, NULL, NULL, 0);
    HVX_Vector lo = Q6_V_lo_W(w.p), hi = Q6_V_hi_W(w.p);
    check_same("lo", &lo, &v, 128, NULL, NULL, 0);
    check_same("hi", &hi, &u, 128, NULL, NULL, 0);
    w.p = Q6_W_vshuff_VVR(u.v, v.v, -1);
    check_true("vshuff -1 interleaves bytes, the second operand first", w.ub[0] == 0 && w.ub[1] == 128 && w.ub[2] == 1);
    hexsim_lanes d = {.v = Q6_V_valign_VVR(u.v, v.v, 5)};
    check_true("valign takes from the second operand first", d.ub[0] == 5 && d.ub[127] == 132);
}
