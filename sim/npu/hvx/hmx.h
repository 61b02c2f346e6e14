/* hmx.h: the plain forms of hmx.c, for the tests. The instructions are declared in hexsim_asm.h. */
#ifndef HEXSIM_HMX_H
#define HEXSIM_HMX_H

#include <stdint.h>

/* accumulator += activation tiles x weight tiles, element by element */
void hexsim_hmx_multiply_plain(const void * activation, const void * weight, uint32_t tiles);

/* out = accumulator * scale as a tile; accumulator = 0 */
void hexsim_hmx_store_plain(void * out);

#endif /* HEXSIM_HMX_H */
