/* hexsim_asm.h: the functions that stand for Hexagon inline assembly, for those who implement them.
 *
 * hexagon-clang rewrites each assembly statement of a DSP source into calls of these and declares them by itself
 * (ASM.md lists the statements); no source names them. Addresses are those of the simulated DSP: they fit in 32 bits.
 * The DSP process exports the functions, libraries leave them undefined. */
#ifndef HEXSIM_ASM_H
#define HEXSIM_ASM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- synchronisation ---- */

/* syncht: all earlier memory accesses of this hardware thread are complete before any later one. */
void hexsim_syncht(void);

/* pause(#cycles): let the other hardware threads run. */
void hexsim_pause(uint32_t cycles);

/* release(Rs):at: earlier accesses are visible to all threads before the lock or descriptor at addr is. */
void hexsim_release_at(const void * addr);

/* ---- counters ---- */

/* Rdd = c15:14 (UPCYCLE): processor cycles, counted also while the thread sleeps. */
uint64_t hexsim_upcycle(void);

/* Rdd = c19:18 (PKTCOUNT): packets that this thread has committed. */
uint64_t hexsim_pktcount(void);

/* Rd = upmucntN: performance counter 0 to 7, as qurt_pmu_get returns it. */
uint32_t hexsim_upmucnt(uint32_t counter);

/* ---- user DMA, one engine for each hardware thread ---- */

/* dmstart(Rs): start the idle engine at the descriptor. */
void hexsim_dmstart(void * descriptor);

/* dmlink(Rs, Rt): append the descriptor next to the list whose last descriptor is tail, and start the engine there when
 * it is idle. */
void hexsim_dmlink(void * tail, void * next);

/* Rd = dmpoll: state of the engine without waiting. Bits 1-0: 0 idle, 1 running, 2 error; above them the descriptor. */
uint32_t hexsim_dmpoll(void);

/* Rd = dmwait: wait until the engine is idle or has failed; then as dmpoll. */
uint32_t hexsim_dmwait(void);

/* ---- HMX, one accumulator of 32 x 32 for each thread that holds the unit ---- */

/* mxclracc.hf: accumulator = 0. */
void hexsim_hmx_clracc_hf(void);

/* bias = mxmem2(Rs): load scale and bias, 32 pairs of words (256 bytes) at addr. */
void hexsim_hmx_set_bias(const void * addr);

/* { activation.hf = mxmem(Rs, Rt); weight.hf = mxmem(Ru, Rv) }: accumulator += activation tile x weight tile, fp16
 * tiles of 2048 bytes. The ranges are the registers as given: last byte offset covered. */
void hexsim_hmx_mpy_hf(const void * activation, uint32_t activation_range, const void * weight, uint32_t weight_range);

/* { activation.hf = mxmem(Rs, Rt):deep; weight.hf = mxmem(Ru, Rv) }: the same over all tiles of the range, (range + 1)
 * / 2048 of them one after the other in both operands. */
void hexsim_hmx_mpy_deep_hf(const void * activation, uint32_t activation_range, const void * weight,
                            uint32_t weight_range);

/* mxmem(Rs, Rt):after.hf = acc: store the scaled and biased accumulator as an fp16 tile of 2048 bytes, and clear the
 * accumulator. */
void hexsim_hmx_store_after_hf(void * out, uint32_t control);

#ifdef __cplusplus
}
#endif

#endif /* HEXSIM_ASM_H */
