/* hexsim_memory.h: masked stores, gather and scatter.
 * Formulas: V73 HVX Programmer's Reference Manual, "Vector memory instructions", and QEMU's system_ext_mmvec.c.
 *
 * Plain vector loads and stores are pointer accesses in the kernels and can not be seen from here. */
#ifndef HEXSIM_MEMORY_H
#define HEXSIM_MEMORY_H

#include <string.h>

#include "hexsim_lanes.h"

/* The vector that holds the byte at p: the low 7 bits of an address are ignored. */
HEXSIM_INLINE uint8_t * hexsim_vmem_address(void * p) {
    return (uint8_t *) ((uintptr_t) p & ~(uintptr_t) 127);
}

/* p = Rt & ~127: p[i] = Vs.ub[i] where Qv[i]; no other byte is touched */
HEXSIM_LANE_FN void Q6_vmem_QRIV_lane(HVX_VectorPred Qv, HVX_Vector * Rt, HVX_Vector Vs) {
    const hexsim_lanes q = {.q = Qv}, s = {.v = Vs};
    uint8_t * p = hexsim_vmem_address(Rt);
    for (int i = 0; i < 128; i++) {
        if (q.ub[i]) {
            p[i] = s.ub[i];
        }
    }
}

#if HEXSIM_AVX2
/* n < 32 bytes, by the bits of n */
HEXSIM_INLINE void hexsim_copy_run(uint8_t * to, const uint8_t * from, uint32_t n) {
    if (n & 16) {
        memcpy(to, from, 16);
        to += 16;
        from += 16;
    }
    if (n & 8) {
        memcpy(to, from, 8);
        to += 8;
        from += 8;
    }
    if (n & 4) {
        memcpy(to, from, 4);
        to += 4;
        from += 4;
    }
    if (n & 2) {
        memcpy(to, from, 2);
        to += 2;
        from += 2;
    }
    if (n & 1) {
        *to = *from;
    }
}
HEXSIM_LANE_FN void Q6_vmem_QRIV(HVX_VectorPred Qv, HVX_Vector * Rt, HVX_Vector Vs) {
    const hexsim_lanes q = {.q = Qv}, s = {.v = Vs};
    uint8_t * p = hexsim_vmem_address(Rt);
    for (int i = 0; i < 4; i++) {
        uint32_t mask = (uint32_t) _mm256_movemask_epi8(q.m[i]);
        if (mask == UINT32_MAX) {
            _mm256_store_si256((__m256i *) (p + 32 * i), s.m[i]);
            continue;
        }
        while (mask) { /* runs of selected bytes */
            const uint32_t at = (uint32_t) __builtin_ctz(mask), n = (uint32_t) __builtin_ctz(~(mask >> at));
            hexsim_copy_run(p + 32 * i + at, s.ub + 32 * i + at, n);
            mask &= ~(((1u << n) - 1) << at);
        }
    }
}
#else
HEXSIM_LANE_FN void Q6_vmem_QRIV(HVX_VectorPred Qv, HVX_Vector * Rt, HVX_Vector Vs) {
    Q6_vmem_QRIV_lane(Qv, Rt, Vs);
}
#endif

/* p = Rt & ~127: p[i] = Vs.ub[i] where !Qv[i] */
HEXSIM_INLINE void Q6_vmem_QnRIV(HVX_VectorPred Qv, HVX_Vector * Rt, HVX_Vector Vs) {
    Q6_vmem_QRIV(~Qv, Rt, Vs);
}

/* ---- gather and scatter: the region is Rt .. Rt + Mu; an element that is not wholly inside is skipped ---- */

HEXSIM_INLINE int hexsim_inside(uint32_t offset, size_t bytes, size_t Mu) {
    return (size_t) offset + bytes - 1 <= (uint32_t) Mu;
}

/* Rs->w[i] = word at Rt + Vv.uw[i] */
HEXSIM_LANE_FN void Q6_vgather_ARMVw(HVX_Vector * Rs, size_t Rt, size_t Mu, HVX_Vector Vv) {
    const hexsim_lanes at = {.v = Vv};
    hexsim_lanes d        = {.v = *Rs};
    for (int i = 0; i < 32; i++) {
        if (hexsim_inside(at.uw[i], 4, Mu)) {
            memcpy(&d.w[i], (const char *) Rt + at.uw[i], 4);
        }
    }
    *Rs = d.v;
}

/* Rs->h[i] = half at Rt + Vv.uh[i] */
HEXSIM_LANE_FN void Q6_vgather_ARMVh(HVX_Vector * Rs, size_t Rt, size_t Mu, HVX_Vector Vv) {
    const hexsim_lanes at = {.v = Vv};
    hexsim_lanes d        = {.v = *Rs};
    for (int i = 0; i < 64; i++) {
        if (hexsim_inside(at.uh[i], 2, Mu)) {
            memcpy(&d.h[i], (const char *) Rt + at.uh[i], 2);
        }
    }
    *Rs = d.v;
}

/* word at Rt + Vv.uw[i] = Vw.w[i] */
HEXSIM_LANE_FN void Q6_vscatter_RMVwV(size_t Rt, size_t Mu, HVX_Vector Vv, HVX_Vector Vw) {
    const hexsim_lanes at = {.v = Vv}, s = {.v = Vw};
    for (int i = 0; i < 32; i++) {
        if (hexsim_inside(at.uw[i], 4, Mu)) {
            memcpy((char *) Rt + at.uw[i], &s.w[i], 4);
        }
    }
}

/* word at Rt + Vv.uw[i] = Vw.w[i] where Qs; byte k of the word by bit 4i + k of the predicate */
HEXSIM_LANE_FN void Q6_vscatter_QRMVwV(HVX_VectorPred Qs, size_t Rt, size_t Mu, HVX_Vector Vv, HVX_Vector Vw) {
    const hexsim_lanes at = {.v = Vv}, s = {.v = Vw}, q = {.q = Qs};
    for (int i = 0; i < 32; i++) {
        if (!hexsim_inside(at.uw[i], 4, Mu)) {
            continue;
        }
        if (q.uw[i] == UINT32_MAX) {
            memcpy((char *) Rt + at.uw[i], &s.w[i], 4);
            continue;
        }
        for (int k = 0; k < 4; k++) {
            if (q.ub[4 * i + k]) {
                ((uint8_t *) Rt)[at.uw[i] + (uint32_t) k] = s.ub[4 * i + k];
            }
        }
    }
}

/* half at Rt + Vv.uh[i] = Vw.h[i] where Qs; byte k of the half by bit 2i + k of the predicate */
HEXSIM_LANE_FN void Q6_vscatter_QRMVhV(HVX_VectorPred Qs, size_t Rt, size_t Mu, HVX_Vector Vv, HVX_Vector Vw) {
    const hexsim_lanes at = {.v = Vv}, s = {.v = Vw}, q = {.q = Qs};
    for (int i = 0; i < 64; i++) {
        if (!hexsim_inside(at.uh[i], 2, Mu)) {
            continue;
        }
        for (int k = 0; k < 2; k++) {
            if (q.ub[2 * i + k]) {
                ((uint8_t *) Rt)[at.uh[i] + (uint32_t) k] = s.ub[2 * i + k];
            }
        }
    }
}

#endif /* HEXSIM_MEMORY_H */
