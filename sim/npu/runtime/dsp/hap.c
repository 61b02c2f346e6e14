#define _GNU_SOURCE
/* hap: clocks, power votes, counters of the processor, and what is left of the vendor's API. */
#include <sched.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "AEEStdErr.h"
#include "HAP_compute_res.h"
#include "HAP_dcvs.h"
#include "HAP_etm_config.h"
#include "HAP_perf.h"
#include "HAP_power.h"
#include "check.h"
#include "dsp.h"
#include "hexsim_asm.h"
#include "hexsim_runtime.h"
#include "qurt.h"

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64 HAP_perf_get_qtimer_count(void) {
    return now_ns() * 12 / 625; /* 19.2 MHz */
}

uint64 HAP_perf_get_time_us(void) {
    return now_ns() / 1000;
}

uint64 HAP_perf_get_pcycles(void) {
    return hexsim_upcycle();
}

/* Cycles of this machine's counter: a clock that never stops, which is all that can be promised. */
uint64_t hexsim_upcycle(void) {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return now_ns();
#endif
}

uint64_t hexsim_pktcount(void) {
    return hexsim_upcycle();
}

/* Events are not simulated: every performance counter reads as zero. */
uint32_t hexsim_upmucnt(uint32_t counter) {
    (void)counter;
    return 0;
}

void qurt_pmu_set(int reg, unsigned int value) {
    (void)reg;
    (void)value;
}

unsigned int qurt_pmu_get(int reg) {
    (void)reg;
    return 0;
}

void qurt_pmu_enable(int enable) {
    (void)enable;
}

void hexsim_syncht(void) {
    atomic_thread_fence(memory_order_seq_cst);
}

void hexsim_release_at(const void * addr) {
    (void)addr;
    atomic_thread_fence(memory_order_release);
}

void hexsim_pause(uint32_t cycles) {
    (void)cycles;
    thread_waits();
#if defined(__x86_64__)
    _mm_pause();
#endif
    sched_yield();
}

int HAP_power_set(void * context, HAP_power_request_t * request) {
    (void)context;
    if (!request) {
        return (int)AEE_EBADPARM;
    }
    switch (request->type) {
    case HAP_power_set_HVX:
    case HAP_power_set_apptype:
    case HAP_power_set_DCVS_v3:
    case HAP_power_set_HMX:
        return 0;
    case HAP_power_set_HMX_v2:
        return dsp.soc->arch >= 75 ? 0 : (int)AEE_EUNSUPPORTED;
    }
    return (int)AEE_EUNSUPPORTED;
}

int HAP_set_dcvs_v3_protected_bus_corners(HAP_power_request_t * request, unsigned int protect) {
    (void)protect;
    return request && request->type == HAP_power_set_DCVS_v3 ? 0 : (int)AEE_EBADPARM;
}

int HAP_user_etm_enable(void) {
    return (int)AEE_EVERSIONNOTSUPPORT;
}

int HAP_user_etm_disable(void) {
    return (int)AEE_EVERSIONNOTSUPPORT;
}

int qurt_sysenv_get_max_hw_threads(qurt_sysenv_max_hthreads_t * threads) {
    if (!threads) {
        return QURT_EINVALID;
    }
    threads->max_hthreads = dsp.soc->hw_threads;
    return QURT_EOK;
}

int qurt_sysenv_get_arch_version(qurt_arch_version_t * version) {
    if (!version) {
        return QURT_EINVALID;
    }
    version->arch_version = soc_arch_hex(dsp.soc->arch);
    return QURT_EOK;
}

int qurt_hvx_get_units(void) {
    return (int)(dsp.soc->hvx_units << 8);
}

int qurt_hvx_lock(qurt_hvx_mode_t mode) {
    return mode == QURT_HVX_MODE_128B ? QURT_EOK : QURT_EVAL;
}

int qurt_hvx_unlock(void) {
    return QURT_EOK;
}

/* ---- told by the HMX emulation ---- */

int hexsim_hmx_watched;

void hexsim_hmx_note(enum hexsim_hmx_kind kind, const void * a, const void * b, size_t bytes, uint32_t tiles) {
    switch (kind) {
    case HEXSIM_HMX_MULTIPLY:
        DSP_COUNT(hmx_multiplies, 1);
        DSP_COUNT(hmx_multiplied_tiles, tiles);
        break;
    case HEXSIM_HMX_STORE:
        DSP_COUNT(hmx_stores, 1);
        break;
    case HEXSIM_HMX_OTHER:
        DSP_COUNT(hmx_other, 1);
        break;
    }
    if (checks.dma) {
        check_dma_operand(a, bytes, kind == HEXSIM_HMX_STORE, "HMX");
        check_dma_operand(b, bytes, false, "HMX");
    }
}
