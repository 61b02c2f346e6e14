/* hexsim_scalar.h: scalar intrinsics. Formulas: V73 Programmer's Reference Manual 80-N2040-53, chapter 11. */
#ifndef HEXSIM_SCALAR_H
#define HEXSIM_SCALAR_H

#include "hexsim_cache.h"
#include "hexsim_lanes.h"

/* Rdd = combine(Rs, Rt): Rs in the high word, Rt in the low word */
HEXSIM_INLINE int64_t Q6_P_combine_RR(int32_t Rs, int32_t Rt) {
    return (int64_t) ((uint64_t) (uint32_t) Rs << 32 | (uint32_t) Rt);
}

/* Rd = combine(Rt.l, Rs.l): low half of Rt in the high half, low half of Rs in the low half */
HEXSIM_INLINE int32_t Q6_R_combine_RlRl(int32_t Rt, int32_t Rs) {
    return (int32_t) ((uint32_t) Rt << 16 | ((uint32_t) Rs & 0xffff));
}

/* dccleaninva(Rs) */
HEXSIM_INLINE void Q6_dccleaninva_A(const void * Rs) {
    hexsim_dccleaninva(Rs);
}

/* dccleana(Rs) */
HEXSIM_INLINE void Q6_dccleana_A(const void * Rs) {
    hexsim_dccleana(Rs);
}

/* dcinva(Rs) */
HEXSIM_INLINE void Q6_dcinva_A(const void * Rs) {
    hexsim_dcinva(Rs);
}

/* l2fetch(Rs, Rtt): a hint */
HEXSIM_INLINE void Q6_l2fetch_AP(const void * Rs, int64_t Rtt) {
    hexsim_l2fetch(Rs, (uint64_t) Rtt);
}

#endif /* HEXSIM_SCALAR_H */
