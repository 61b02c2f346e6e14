/* hexsim_logic.h: bitwise operations, predicates, comparisons of integers, selection.
 * Formulas: V73 HVX Programmer's Reference Manual, "HVX/ALU-resource" and "HVX/MPY-resource", and QEMU's
 * target/hexagon/imported/mmvec/ext.idef. */
#ifndef HEXSIM_LOGIC_H
#define HEXSIM_LOGIC_H

#include "hexsim_lanes.h"

/* ---- vectors ---- */

/* Vd = #0 */
HEXSIM_INLINE HVX_Vector Q6_V_vzero(void) {
    return (HVX_Vector) {0};
}

/* Vdd = #0 */
HEXSIM_INLINE HVX_VectorPair Q6_W_vzero(void) {
    return (HVX_VectorPair) {0};
}

/* Vd.uw[i] = Rt */
HEXSIM_INLINE HVX_Vector Q6_V_vsplat_R(int32_t Rt) {
    return (HVX_Vector) {0} + Rt;
}

/* Vd.uh[i] = Rt.h[0] */
HEXSIM_INLINE HVX_Vector Q6_Vh_vsplat_R(int32_t Rt) {
    return (HVX_Vector) ((hexsim_vh) {0} + (int16_t) Rt);
}

/* Vd.ub[i] = Rt.b[0] */
HEXSIM_INLINE HVX_Vector Q6_Vb_vsplat_R(int32_t Rt) {
    return (HVX_Vector) ((hexsim_vb) {0} + (int8_t) Rt);
}

/* Vd.uw[i] = Vu.uw[i] & Vv.uw[i] */
HEXSIM_LANE_VV(Q6_V_vand_VV, 32, d.uw[i] = u.uw[i] & v.uw[i])
HEXSIM_INLINE HVX_Vector Q6_V_vand_VV(HVX_Vector Vu, HVX_Vector Vv) {
    return Vu & Vv;
}

/* Vd.uw[i] = Vu.uw[i] | Vv.uw[i] */
HEXSIM_LANE_VV(Q6_V_vor_VV, 32, d.uw[i] = u.uw[i] | v.uw[i])
HEXSIM_INLINE HVX_Vector Q6_V_vor_VV(HVX_Vector Vu, HVX_Vector Vv) {
    return Vu | Vv;
}

/* Vd.uw[i] = Vu.uw[i] ^ Vv.uw[i] */
HEXSIM_LANE_VV(Q6_V_vxor_VV, 32, d.uw[i] = u.uw[i] ^ v.uw[i])
HEXSIM_INLINE HVX_Vector Q6_V_vxor_VV(HVX_Vector Vu, HVX_Vector Vv) {
    return Vu ^ Vv;
}

/* Vd.uw[i] = ~Vu.uw[i] */
HEXSIM_LANE_V(Q6_V_vnot_V, 32, d.uw[i] = ~u.uw[i])
HEXSIM_INLINE HVX_Vector Q6_V_vnot_V(HVX_Vector Vu) {
    return ~Vu;
}

/* ---- predicates ---- */

/* Qd[i] = i < (Rt & 127) */
HEXSIM_LANE_FN HVX_VectorPred Q6_Q_vsetq_R_lane(int32_t Rt) {
    hexsim_lanes d;
    for (int i = 0; i < 128; i++) {
        d.ub[i] = i < (Rt & 127) ? 0xff : 0x00;
    }
    return d.q;
}

/* Qd[i] = i <= ((Rt - 1) & 127); so that Rt = 0 sets all */
HEXSIM_LANE_FN HVX_VectorPred Q6_Q_vsetq2_R_lane(int32_t Rt) {
    hexsim_lanes d;
    for (int i = 0; i < 128; i++) {
        d.ub[i] = i <= (int) (((uint32_t) Rt - 1) & 127) ? 0xff : 0x00;
    }
    return d.q;
}

/* 0, 1, 2, ... 127 */
HEXSIM_INLINE hexsim_vub hexsim_iota(void) {
    return (hexsim_vub) {0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15,  16,  17,  18,
                         19,  20,  21,  22,  23,  24,  25,  26,  27,  28,  29,  30,  31,  32,  33,  34,  35,  36,  37,
                         38,  39,  40,  41,  42,  43,  44,  45,  46,  47,  48,  49,  50,  51,  52,  53,  54,  55,  56,
                         57,  58,  59,  60,  61,  62,  63,  64,  65,  66,  67,  68,  69,  70,  71,  72,  73,  74,  75,
                         76,  77,  78,  79,  80,  81,  82,  83,  84,  85,  86,  87,  88,  89,  90,  91,  92,  93,  94,
                         95,  96,  97,  98,  99,  100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113,
                         114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127};
}

HEXSIM_INLINE HVX_VectorPred Q6_Q_vsetq_R(int32_t Rt) {
    return (HVX_VectorPred) ((hexsim_vb) hexsim_iota() < (hexsim_vb) {0} + (int8_t) (Rt & 127));
}

HEXSIM_INLINE HVX_VectorPred Q6_Q_vsetq2_R(int32_t Rt) {
    return (HVX_VectorPred) ((hexsim_vb) hexsim_iota() <= (hexsim_vb) {0} + (int8_t) (((uint32_t) Rt - 1) & 127));
}

/* Qd[i] = Qs[i] & Qt[i] */
HEXSIM_INLINE HVX_VectorPred Q6_Q_and_QQ(HVX_VectorPred Qs, HVX_VectorPred Qt) {
    return Qs & Qt;
}

/* Qd[i] = Qs[i] & !Qt[i] */
HEXSIM_INLINE HVX_VectorPred Q6_Q_and_QQn(HVX_VectorPred Qs, HVX_VectorPred Qt) {
    return Qs & ~Qt;
}

/* Qd[i] = Qs[i] | Qt[i] */
HEXSIM_INLINE HVX_VectorPred Q6_Q_or_QQ(HVX_VectorPred Qs, HVX_VectorPred Qt) {
    return Qs | Qt;
}

/* Qd[i] = Qs[i] | !Qt[i] */
HEXSIM_INLINE HVX_VectorPred Q6_Q_or_QQn(HVX_VectorPred Qs, HVX_VectorPred Qt) {
    return Qs | ~Qt;
}

/* Qd[i] = !Qs[i] */
HEXSIM_INLINE HVX_VectorPred Q6_Q_not_Q(HVX_VectorPred Qs) {
    return ~Qs;
}

/* Vd.ub[i] = Qt[i] ? Vu.ub[i] : Vv.ub[i] */
HEXSIM_LANE_FN HVX_Vector Q6_V_vmux_QVV_lane(HVX_VectorPred Qt, HVX_Vector Vu, HVX_Vector Vv) {
    hexsim_lanes q = {.q = Qt}, u = {.v = Vu}, v = {.v = Vv}, d = {.v = Vu};
    for (int i = 0; i < 128; i++) {
        d.ub[i] = q.ub[i] ? u.ub[i] : v.ub[i];
    }
    return d.v;
}
HEXSIM_INLINE HVX_Vector Q6_V_vmux_QVV(HVX_VectorPred Qt, HVX_Vector Vu, HVX_Vector Vv) {
    HVX_Vector q = (HVX_Vector) Qt;
    return (Vu & q) | (Vv & ~q);
}

/* Vd.ub[i] = Qv[i] ? Vu.ub[i] : 0 */
HEXSIM_INLINE HVX_Vector Q6_V_vand_QV(HVX_VectorPred Qv, HVX_Vector Vu) {
    return (HVX_Vector) Qv & Vu;
}

/* Vx.ub[i] |= Qu[i] ? Rt.ub[i % 4] : 0 */
HEXSIM_LANE_FN HVX_Vector Q6_V_vandor_VQR_lane(HVX_Vector Vx, HVX_VectorPred Qu, int32_t Rt) {
    hexsim_lanes x = {.v = Vx}, q = {.q = Qu};
    for (int i = 0; i < 128; i++) {
        x.ub[i] |= q.ub[i] ? (uint8_t) ((uint32_t) Rt >> (8 * (i % 4))) : 0;
    }
    return x.v;
}
HEXSIM_INLINE HVX_Vector Q6_V_vandor_VQR(HVX_Vector Vx, HVX_VectorPred Qu, int32_t Rt) {
    return Vx | ((HVX_Vector) Qu & ((HVX_Vector) {0} + Rt));
}

/* ---- comparisons of integers: all bytes of lane i are set when it holds ---- */

#define HEXSIM_CMP(name, n, type, lane, op)                                                                            \
    HEXSIM_LANE_CMP(name, n, u.lane[i] op v.lane[i])                                                                   \
    HEXSIM_INLINE HVX_VectorPred name(HVX_Vector Vu, HVX_Vector Vv) {                                                  \
        return (HVX_VectorPred) ((type) Vu op(type) Vv);                                                               \
    }

/* Qd.b[i] = Vu.b[i] == Vv.b[i] */
HEXSIM_CMP(Q6_Q_vcmp_eq_VbVb, 128, hexsim_vb, b, ==)
/* Qd.h[i] = Vu.h[i] == Vv.h[i] */
HEXSIM_CMP(Q6_Q_vcmp_eq_VhVh, 64, hexsim_vh, h, ==)
/* Qd.w[i] = Vu.w[i] == Vv.w[i] */
HEXSIM_CMP(Q6_Q_vcmp_eq_VwVw, 32, hexsim_vw, w, ==)
/* Qd.h[i] = Vu.h[i] > Vv.h[i], signed */
HEXSIM_CMP(Q6_Q_vcmp_gt_VhVh, 64, hexsim_vh, h, >)
/* Qd.w[i] = Vu.w[i] > Vv.w[i], signed */
HEXSIM_CMP(Q6_Q_vcmp_gt_VwVw, 32, hexsim_vw, w, >)

/* Qx.w[i] &= Vu.w[i] > Vv.w[i] */
HEXSIM_INLINE HVX_VectorPred Q6_Q_vcmp_gtand_QVwVw(HVX_VectorPred Qx, HVX_Vector Vu, HVX_Vector Vv) {
    return Qx & Q6_Q_vcmp_gt_VwVw(Vu, Vv);
}

#endif /* HEXSIM_LOGIC_H */
