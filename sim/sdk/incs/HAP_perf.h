/* HAP_perf.h: clocks. */
#ifndef HAP_PERF_H
#define HAP_PERF_H

#include <stdint.h>

#include "AEEStdDef.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The system timer, 19.2 MHz on every SoC. */
uint64 HAP_perf_get_qtimer_count(void);

/* Processor cycles since the start. */
uint64 HAP_perf_get_pcycles(void);

/* Microseconds of the system timer. */
uint64 HAP_perf_get_time_us(void);

/* Ticks of the system timer in microseconds: 19.2 ticks are one. */
static inline uint64 HAP_perf_qtimer_count_to_us(uint64 count) {
    return count * 10 / 192;
}

#ifdef __cplusplus
}
#endif

#endif /* HAP_PERF_H */
