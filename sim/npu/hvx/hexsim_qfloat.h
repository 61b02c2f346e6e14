/* hexsim_qfloat.h: the intrinsics of qf32 and qf16. The formats are those of the architecture compiled for:
 * hexsim_qfloat_v73.h for v73 and v75, hexsim_qfloat_v79.h for v79 and v81. */
#ifndef HEXSIM_QFLOAT_H
#define HEXSIM_QFLOAT_H

#include "hexsim_float.h"

#if __HVX_ARCH__ < 79
#include "hexsim_qfloat_v73.h"
#include "hexsim_qfloat_v73_avx2.h"

/* A lane of an operand, by its type. */
#define HEXSIM_Q_qf32(x, i) hexsim_from_qf32(x.uw[i])
#define HEXSIM_Q_sf(x, i) hexsim_from_sf(x.uw[i])
#define HEXSIM_Q_qf16(x, i) hexsim_from_qf16(x.uh[i])
#define HEXSIM_Q_hf(x, i) hexsim_from_hf(x.uh[i])

#define HEXSIM_QF32_LANES(name, tu, tv, op, vop)                                                                       \
    HEXSIM_LANE_VV(name, 32, d.uw[i] = HEXSIM_QF32_##op(HEXSIM_Q_##tu(u, i), HEXSIM_Q_##tv(v, i)))                     \
    HEXSIM_QF32_VECTOR(name, tu, tv, op)
#define HEXSIM_QF16_LANES(name, tu, tv, op, vop)                                                                       \
    HEXSIM_LANE_VV(name, 64, d.uh[i] = (uint16_t) HEXSIM_QF16_##op(HEXSIM_Q_##tu(u, i), HEXSIM_Q_##tv(v, i)))          \
    HEXSIM_QF16_VECTOR(name, tu, tv, op)
#define HEXSIM_QF32_add(a, b) hexsim_qadd(HEXSIM_QF32, a, b)
#define HEXSIM_QF32_sub(a, b) hexsim_qadd(HEXSIM_QF32, a, hexsim_qneg(b))
#define HEXSIM_QF32_mpy(a, b) hexsim_qmpy(HEXSIM_QF32, HEXSIM_QF32, a, b)
#define HEXSIM_QF16_add(a, b) hexsim_qadd(HEXSIM_QF16, a, b)
#define HEXSIM_QF16_sub(a, b) hexsim_qadd(HEXSIM_QF16, a, hexsim_qneg(b))
#define HEXSIM_QF16_mpy(a, b) hexsim_qmpy(HEXSIM_QF16, HEXSIM_QF16, a, b)

#else
#include "hexsim_qfloat_v79.h"

#define HEXSIM_Q_qf16(x, i) hexsim_sf_of_qf16(x.uh[i])
#define HEXSIM_Q_hf(x, i) ((float) x.hf[i])
#define HEXSIM_QV_qf16(x) hexsim_vhf_of_qf16(x)
#define HEXSIM_QV_hf(x) (x)

#define HEXSIM_QF32_LANES(name, tu, tv, op, vop)                                                                       \
    HEXSIM_LANE_VV(name, 32, d.sf[i] = hexsim_sf_result(u.sf[i] vop v.sf[i]))                                          \
    HEXSIM_INLINE HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) {                                                      \
        return hexsim_sf_results((hexsim_vsf) Vu vop(hexsim_vsf) Vv);                                                  \
    }
#define HEXSIM_QF16_LANES(name, tu, tv, op, vop)                                                                       \
    HEXSIM_LANE_VV(name, 64, d.uh[i] = hexsim_qf16_result(HEXSIM_Q_##tu(u, i) vop HEXSIM_Q_##tv(v, i)))                \
    HEXSIM_INLINE HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) {                                                      \
        return hexsim_qf16_of_vhf(Q6_Vhf_v##op##_VhfVhf(HEXSIM_QV_##tu(Vu), HEXSIM_QV_##tv(Vv)));                      \
    }
#endif

/* ---- qf32: Vd.qf32[i] = Vu[i] op Vv[i], the operands single or qf32 as the name says ---- */

HEXSIM_QF32_LANES(Q6_Vqf32_vadd_VsfVsf, sf, sf, add, +)
HEXSIM_QF32_LANES(Q6_Vqf32_vadd_Vqf32Vsf, qf32, sf, add, +)
HEXSIM_QF32_LANES(Q6_Vqf32_vadd_Vqf32Vqf32, qf32, qf32, add, +)
HEXSIM_QF32_LANES(Q6_Vqf32_vsub_VsfVsf, sf, sf, sub, -)
HEXSIM_QF32_LANES(Q6_Vqf32_vsub_Vqf32Vsf, qf32, sf, sub, -)
HEXSIM_QF32_LANES(Q6_Vqf32_vsub_Vqf32Vqf32, qf32, qf32, sub, -)
HEXSIM_QF32_LANES(Q6_Vqf32_vmpy_VsfVsf, sf, sf, mpy, *)
HEXSIM_QF32_LANES(Q6_Vqf32_vmpy_Vqf32Vqf32, qf32, qf32, mpy, *)

/* ---- qf16: Vd.qf16[i] = Vu[i] op Vv[i], the operands half or qf16 as the name says ---- */

HEXSIM_QF16_LANES(Q6_Vqf16_vadd_Vqf16Vhf, qf16, hf, add, +)
HEXSIM_QF16_LANES(Q6_Vqf16_vsub_VhfVhf, hf, hf, sub, -)
HEXSIM_QF16_LANES(Q6_Vqf16_vmpy_VhfVhf, hf, hf, mpy, *)
HEXSIM_QF16_LANES(Q6_Vqf16_vmpy_Vqf16Vqf16, qf16, qf16, mpy, *)

/* ---- widening product and conversions ---- */

#if __HVX_ARCH__ < 79

/* Vdd.v[k].qf32[i] = Vu.hf[2i + k] * Vv.hf[2i + k] */
HEXSIM_LANE_FN HVX_VectorPair Q6_Wqf32_vmpy_VhfVhf_lane(HVX_Vector Vu, HVX_Vector Vv) {
    hexsim_lanes u = {.v = Vu}, v = {.v = Vv};
    hexsim_pair d;
    for (int i = 0; i < 64; i++) {
        d.l[i & 1].uw[i >> 1] = hexsim_qmpy(HEXSIM_QF32, HEXSIM_QF16, hexsim_from_hf(u.uh[i]), hexsim_from_hf(v.uh[i]));
    }
    return d.p;
}

/* Vd.sf[i] = Vu.qf32[i] */
HEXSIM_LANE_V(Q6_Vsf_equals_Vqf32, 32, d.sf[i] = hexsim_sf_of_qf32(u.uw[i]))

/* Vd.hf[2i] = Vuu.v[0].qf32[i]; Vd.hf[2i + 1] = Vuu.v[1].qf32[i] */
HEXSIM_LANE_FN HVX_Vector Q6_Vhf_equals_Wqf32_lane(HVX_VectorPair Vuu) {
    hexsim_pair u = {.p = Vuu};
    hexsim_lanes d;
    for (int i = 0; i < 64; i++) {
        d.uh[i] = hexsim_hf_of_qf32(u.l[i & 1].uw[i >> 1]);
    }
    return d.v;
}

/* Vd.hf[i] = Vu.qf16[i] */
HEXSIM_LANE_V(Q6_Vhf_equals_Vqf16, 64, d.uh[i] = hexsim_hf_of_qf16(u.uh[i]))

#if HEXSIM_AVX2
HEXSIM_INLINE HVX_VectorPair Q6_Wqf32_vmpy_VhfVhf(HVX_Vector Vu, HVX_Vector Vv) {
    return hexsim_wqf32_vmpy_vhf(Vu, Vv);
}
HEXSIM_INLINE HVX_Vector Q6_Vsf_equals_Vqf32(HVX_Vector Vu) {
    return hexsim_vsf_of_vqf32(Vu);
}
HEXSIM_INLINE HVX_Vector Q6_Vhf_equals_Wqf32(HVX_VectorPair Vuu) {
    return hexsim_vhf_of_wqf32(Vuu);
}
HEXSIM_INLINE HVX_Vector Q6_Vhf_equals_Vqf16(HVX_Vector Vu) {
    return hexsim_vhf_of_vqf16_v73(Vu);
}
#else
HEXSIM_LANE_FN HVX_VectorPair Q6_Wqf32_vmpy_VhfVhf(HVX_Vector Vu, HVX_Vector Vv) {
    return Q6_Wqf32_vmpy_VhfVhf_lane(Vu, Vv);
}
HEXSIM_SAME_V(Q6_Vsf_equals_Vqf32)
HEXSIM_LANE_FN HVX_Vector Q6_Vhf_equals_Wqf32(HVX_VectorPair Vuu) {
    return Q6_Vhf_equals_Wqf32_lane(Vuu);
}
HEXSIM_SAME_V(Q6_Vhf_equals_Vqf16)
#endif

#else /* v79 and later */

/* Vdd.v[k].qf32[i] = Vu.hf[2i + k] * Vv.hf[2i + k] */
HEXSIM_LANE_FN HVX_VectorPair Q6_Wqf32_vmpy_VhfVhf_lane(HVX_Vector Vu, HVX_Vector Vv) {
    return Q6_Wsf_vmpy_VhfVhf_lane(Vu, Vv);
}
HEXSIM_INLINE HVX_VectorPair Q6_Wqf32_vmpy_VhfVhf(HVX_Vector Vu, HVX_Vector Vv) {
    return Q6_Wsf_vmpy_VhfVhf(Vu, Vv);
}

/* Vd.sf[i] = Vu.qf32[i] */
HEXSIM_LANE_V(Q6_Vsf_equals_Vqf32, 32, d.sf[i] = hexsim_sf_result(u.sf[i]))
HEXSIM_INLINE HVX_Vector Q6_Vsf_equals_Vqf32(HVX_Vector Vu) {
    return hexsim_sf_results((hexsim_vsf) Vu);
}

/* Vd.hf[2i] = Vuu.v[0].qf32[i]; Vd.hf[2i + 1] = Vuu.v[1].qf32[i] */
HEXSIM_LANE_FN HVX_Vector Q6_Vhf_equals_Wqf32_lane(HVX_VectorPair Vuu) {
    hexsim_pair u = {.p = Vuu};
    return Q6_Vhf_vcvt_VsfVsf_lane(u.v[0], u.v[1]);
}
HEXSIM_INLINE HVX_Vector Q6_Vhf_equals_Wqf32(HVX_VectorPair Vuu) {
    hexsim_pair u = {.p = Vuu};
    return Q6_Vhf_vcvt_VsfVsf(u.v[0], u.v[1]);
}

/* Vd.hf[i] = Vu.qf16[i] */
HEXSIM_LANE_V(Q6_Vhf_equals_Vqf16, 64, d.uh[i] = hexsim_hf_of_qf16(u.uh[i]))
HEXSIM_INLINE HVX_Vector Q6_Vhf_equals_Vqf16(HVX_Vector Vu) {
    return hexsim_vhf_of_qf16(Vu);
}

#endif

#if __HVX_ARCH__ >= 81
/* Vd.qf32[i] = Vu.sf[i] */
HEXSIM_LANE_V(Q6_Vqf32_equals_Vsf, 32, d.sf[i] = hexsim_sf_result(u.sf[i]))
HEXSIM_INLINE HVX_Vector Q6_Vqf32_equals_Vsf(HVX_Vector Vu) {
    return hexsim_sf_results((hexsim_vsf) Vu);
}
#endif

#endif /* HEXSIM_QFLOAT_H */
