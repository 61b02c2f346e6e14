/* hexsim_cache.h: cache maintenance, which the DSP process does (sim/npu/runtime/include/hexsim_runtime.h has the same
 * declarations). DSP libraries leave these undefined. */
#ifndef HEXSIM_CACHE_H
#define HEXSIM_CACHE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void hexsim_dccleana(const void * addr);    /* write the 128-byte line of addr back when dirty */
void hexsim_dcinva(const void * addr);      /* forget the line, dirty or not */
void hexsim_dccleaninva(const void * addr); /* write back, then forget */
void hexsim_l2fetch(const void * addr, uint64_t control);

#ifdef __cplusplus
}
#endif

#endif /* HEXSIM_CACHE_H */
