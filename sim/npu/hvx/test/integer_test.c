/* Integer arithmetic, logic, predicates, tables. Unary operations on halves and bytes: all values. Binary ones on
 * bytes: all pairs; on halves: every value against a random one, both ways; words: random. */
#include "check.h"

static void all_pairs_of_bytes(void) {
    for (int a = 0; a < 256; a++) {
        for (int half = 0; half < 2; half++) {
            hexsim_lanes u, v;
            for (int i = 0; i < 128; i++) {
                u.ub[i] = (uint8_t) a;
                v.ub[i] = (uint8_t) (128 * half + i);
            }
            CHECK_VV(Q6_Vb_vsub_VbVb, u, v);
            CHECK_CMP(Q6_Q_vcmp_eq_VbVb, u, v);
            CHECK_VV(Q6_Vw_vrmpy_VbVb, u, v);
        }
    }
}

static void halves(hexsim_lanes u, hexsim_lanes v) {
    CHECK_VV(Q6_Vh_vadd_VhVh, u, v);
    CHECK_VV(Q6_Vh_vsub_VhVh, u, v);
    CHECK_VV(Q6_Vh_vadd_VhVh_sat, u, v);
    CHECK_VV(Q6_Vh_vmax_VhVh, u, v);
    CHECK_VV(Q6_Vh_vmin_VhVh, u, v);
    CHECK_VV(Q6_Vh_vasl_VhVh, u, v);
    CHECK_VV(Q6_Vb_vpack_VhVh_sat, u, v);
    CHECK_CMP(Q6_Q_vcmp_eq_VhVh, u, v);
    CHECK_CMP(Q6_Q_vcmp_gt_VhVh, u, v);
}

static void words(hexsim_lanes u, hexsim_lanes v, hexsim_lanes x, int32_t r) {
    CHECK_VV(Q6_Vw_vadd_VwVw, u, v);
    CHECK_VV(Q6_Vw_vsub_VwVw, u, v);
    CHECK_VV(Q6_Vw_vmax_VwVw, u, v);
    CHECK_VV(Q6_Vw_vasr_VwVw, u, v);
    CHECK_VV(Q6_V_vand_VV, u, v);
    CHECK_VV(Q6_V_vor_VV, u, v);
    CHECK_VV(Q6_V_vxor_VV, u, v);
    CHECK_V(Q6_V_vnot_V, u);
    CHECK_VV(Q6_Vh_vround_VwVw_sat, u, v);
    CHECK_CMP(Q6_Q_vcmp_eq_VwVw, u, v);
    CHECK_CMP(Q6_Q_vcmp_gt_VwVw, u, v);
    CHECK_XVV(Q6_Vw_vrmpyacc_VwVbVb, x, u, v);
    CHECK_VR(Q6_Vw_vasl_VwR, u, r);
    CHECK_VR(Q6_Vw_vasr_VwR, u, r);
    CHECK_VR(Q6_Vuw_vlsr_VuwR, u, r);
    CHECK_VR(Q6_Vh_vasl_VhR, u, r);
    CHECK_VR(Q6_Vh_vasr_VhR, u, r);
    CHECK_VR(Q6_Vuh_vlsr_VuhR, u, r);
    CHECK_VR(Q6_Vub_vlsr_VubR, u, r);
    CHECK_XVR(Q6_Vw_vaslacc_VwVwR, x, u, r);
    CHECK_XVR(Q6_Vh_vaslacc_VhVhR, x, u, r);
}

static void predicates(void) {
    for (int r = -300; r < 300; r++) {
        HVX_VectorPred a = Q6_Q_vsetq_R(r), b = Q6_Q_vsetq_R_lane(r);
        check_same("Q6_Q_vsetq_R", &a, &b, 128, NULL, NULL, r);
        a = Q6_Q_vsetq2_R(r);
        b = Q6_Q_vsetq2_R_lane(r);
        check_same("Q6_Q_vsetq2_R", &a, &b, 128, NULL, NULL, r);
    }
    for (int i = 0; i < 200; i++) {
        hexsim_lanes u = check_words(), v = check_words(), w = check_words();
        HVX_VectorPred q = Q6_Q_vcmp_gt_VhVh(u.v, v.v);
        HVX_Vector a = Q6_V_vmux_QVV(q, u.v, w.v), b = Q6_V_vmux_QVV_lane(q, u.v, w.v);
        check_same("Q6_V_vmux_QVV", &a, &b, 128, &u, &w, 0);
        a = Q6_V_vandor_VQR(u.v, q, (int32_t) check_random());
        b = Q6_V_vandor_VQR_lane(u.v, q, 0);
        a = Q6_V_vandor_VQR(u.v, q, 0x01020408);
        b = Q6_V_vandor_VQR_lane(u.v, q, 0x01020408);
        check_same("Q6_V_vandor_VQR", &a, &b, 128, &u, &w, 0);
        HVX_VectorPred x = Q6_Q_vcmp_gtand_QVwVw(q, u.v, w.v), y = q & Q6_Q_vcmp_gt_VwVw_lane(u.v, w.v);
        check_same("Q6_Q_vcmp_gtand_QVwVw", &x, &y, 128, &u, &w, 0);
        HVX_VectorPred zero = {0}, all = Q6_Q_vsetq2_R(0);
        x = Q6_Q_and_QQn(q, all);
        check_same("Q6_Q_and_QQn", &x, &zero, 128, NULL, NULL, 0);
        x = Q6_Q_or_QQn(q, zero);
        check_same("Q6_Q_or_QQn", &x, &all, 128, NULL, NULL, 0);
        x = Q6_Q_or_QQ(q, Q6_Q_not_Q(q));
        check_same("Q6_Q_or_QQ", &x, &all, 128, NULL, NULL, 0);
        x = Q6_Q_and_QQ(q, all);
        check_same("Q6_Q_and_QQ", &x, &q, 128, NULL, NULL, 0);
    }
}

static void tables(void) {
    for (int i = 0; i < 64; i++) {
        hexsim_lanes u = check_all_halves(16 * i), t = check_words();
        for (int r = 0; r < 16; r++) {
            CHECK_W_VVR(Q6_Wh_vlut16_VbVhR, u, t, r);
        }
        for (int r = 0; r < 8; r++) {
            CHECK_VVR(Q6_Vb_vlut32_VbVbI, u, t, r);
        }
    }
    /* Values worked out by hand from the formulas. */
    hexsim_lanes u = {.v = Q6_Vh_vsplat_R(0x4000)}, x = {.v = Q6_Vh_vsplat_R(0x2000)}, d;
    d.v = Q6_Vh_vlut4_VuhPh(u.v, 0x4444333322221111);
    check_true("vlut4 takes the half that the top bits name", d.uh[5] == 0x2222);
    d.v = Q6_Vh_vmpa_VhVhVuhPuh_sat(x.v, u.v, 0x10000000); /* (0x2000 * 0x4000 + (0x1000 << 15)) >> 16 */
    check_true("vmpa", d.h[0] == 0x1000);
    d.v = Q6_Vh_vmps_VhVhVuhPuh_sat(x.v, u.v, 0x10000000);
    check_true("vmps", d.h[0] == 0);
    d.v = Q6_Vh_vmps_VhVhVuhPuh_sat(Q6_Vh_vsplat_R(-32768), Q6_Vh_vsplat_R(0xffff), (int64_t) 0xffff000000000000u);
    check_true("vmps saturates", d.h[0] == -32768);
}

void test_integer(void) {
    all_pairs_of_bytes();
    for (int i = 0; i < 1024; i++) {
        hexsim_lanes u = check_all_halves(i);
        CHECK_V(Q6_Vuh_vcl0_Vuh, u);
        for (int k = 0; k < 20; k++) {
            hexsim_lanes v = check_halves();
            halves(u, v);
            halves(v, u);
        }
    }
    for (int i = 0; i < 5000; i++) {
        words(check_words(), check_words(), check_words(), (int32_t) check_random());
    }
    predicates();
    tables();
    hexsim_lanes u = {.v = Q6_V_vsplat_R(-5)}, v = {.v = Q6_V_vsplat_R(-1)}, d;
    d.v = Q6_Vw_vasr_VwVw(u.v, v.v);
    check_true("vasr by -1 shifts left", d.w[0] == -10);
    d.v = Q6_Vw_vasr_VwVw(u.v, Q6_V_vsplat_R(-32));
    check_true("vasr by -32 leaves nothing", d.w[0] == 0);
    check_true("vcl0 of 1", ((hexsim_lanes) {.v = Q6_Vuh_vcl0_Vuh(Q6_Vh_vsplat_R(1))}).uh[0] == 15);
    check_true("combine", Q6_P_combine_RR(-1, 2) == (int64_t) 0xffffffff00000002u);
    check_true("combine of halves", Q6_R_combine_RlRl(0x12345678, 0x1abcd) == 0x5678abcd);
}
