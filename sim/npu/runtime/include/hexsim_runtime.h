/* hexsim_runtime.h: what the DSP process exports to the HVX and HMX emulation and to instrumented DSP code, besides
 * the vendor's API and hexsim_asm.h. DSP libraries leave these undefined; the process resolves them at load. */
#ifndef HEXSIM_RUNTIME_H
#define HEXSIM_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cache maintenance: the 128-byte line that holds addr ---- */

void hexsim_dccleana(const void * addr);    /* dccleana: write the line back when dirty */
void hexsim_dcinva(const void * addr);      /* dcinva: forget the line, dirty or not */
void hexsim_dccleaninva(const void * addr); /* dccleaninva: write back, then forget */
void hexsim_dczeroa(void * addr);           /* dczeroa: 32 bytes of zero, without a fetch */

/* l2fetch, dcfetch: hints. control as in the instruction's register pair. */
void hexsim_l2fetch(const void * addr, uint64_t control);
void hexsim_dcfetch(const void * addr);

/* ---- HVX: instructions that this thread has executed (hexsim_count.h) ---- */

extern __thread uint64_t hexsim_hvx_instructions;

/* ---- HMX: told by the emulation, before it works on the operands ---- */

enum hexsim_hmx_kind {
    HEXSIM_HMX_MULTIPLY = 0, /* operands: activation and weight, bytes of each */
    HEXSIM_HMX_STORE    = 1, /* operand: out */
    HEXSIM_HMX_OTHER    = 2, /* clear, bias */
};

/* Non-zero when hexsim_hmx_note wants to be called: counters or checks are on. Test it before calling. */
extern int hexsim_hmx_watched;

/* a and b: operand addresses, or NULL; bytes of each. tiles: tiles multiplied, or stored. */
void hexsim_hmx_note(enum hexsim_hmx_kind kind, const void * a, const void * b, size_t bytes, uint32_t tiles);

#ifdef __cplusplus
}
#endif

#endif /* HEXSIM_RUNTIME_H */
