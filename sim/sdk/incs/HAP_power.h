/* HAP_power.h: votes for clocks and power of the DSP, HVX and HMX. */
#ifndef HAP_POWER_H
#define HAP_POWER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "AEEStdDef.h"
#include "AEEStdErr.h"

/* What a request is about; names the member of HAP_power_request_t. */
typedef enum {
    HAP_power_set_HVX     = 2,
    HAP_power_set_apptype = 3,
    HAP_power_set_DCVS_v3 = 12,
    HAP_power_set_HMX     = 13,
    HAP_power_set_HMX_v2  = 14, /* from v75 on */
} HAP_Power_request_type;

#define HAP_POWER_SET_HMX_V2_DEFINED

typedef enum {
    HAP_POWER_UNKNOWN_CLIENT_CLASS = 0,
    HAP_POWER_AUDIO_CLIENT_CLASS   = 1,
    HAP_POWER_VOICE_CLIENT_CLASS   = 2,
    HAP_POWER_COMPUTE_CLIENT_CLASS = 4,
} HAP_power_app_type_payload;

/* Voltage corners of core and bus. */
typedef enum {
    HAP_DCVS_VCORNER_DISABLE = 0,
    HAP_DCVS_VCORNER_MAX     = 255,
} HAP_dcvs_voltage_corner_t;

/* Voltage corners of the newer requests. */
typedef enum {
    HAP_DCVS_EXP_VCORNER_DISABLE = 0,
    HAP_DCVS_EXP_VCORNER_MAX     = 0xFFFF,
} HAP_dcvs_exp_voltage_corner_t;

typedef enum {
    HAP_CLK_PERF_HIGH = 0, /* highest clock at a voltage */
    HAP_CLK_PERF_LOW  = 1, /* lowest clock at a voltage */
} HAP_clk_perf_mode_t;

typedef enum {
    HAP_DCVS_V2_POWER_SAVER_MODE = 1,
    HAP_DCVS_V2_PERFORMANCE_MODE = 0x10,
} HAP_power_dcvs_v2_payload_option;

typedef struct {
    HAP_dcvs_voltage_corner_t target_corner;
    HAP_dcvs_voltage_corner_t min_corner;
    HAP_dcvs_voltage_corner_t max_corner;
    uint32                    param1;
    uint32                    param2;
    uint32                    param3;
} HAP_core_params_t;

typedef HAP_core_params_t HAP_bus_params_t;

typedef struct {
    uint32 param1;
    uint32 param2;
    uint32 param3;
    uint32 param4;
    uint32 param5;
    uint32 param6;
} HAP_dcvs_v3_params_t;

/* Each set_ member says whether what follows it counts. */
typedef struct {
    boolean                          set_dcvs_enable;
    boolean                          dcvs_enable; /* the system may scale clocks by itself */
    HAP_power_dcvs_v2_payload_option dcvs_option;
    boolean                          set_latency;
    uint32                           latency; /* microseconds */
    boolean                          set_core_params;
    HAP_core_params_t                core_params;
    boolean                          set_bus_params;
    HAP_bus_params_t                 bus_params;
    boolean                          set_dcvs_v3_params;
    HAP_dcvs_v3_params_t             dcvs_v3_params;
    boolean                          set_sleep_disable;
    uint8                            sleep_disable; /* bit mask of low-power modes to stay out of */
} HAP_power_dcvs_v3_payload;

typedef struct {
    boolean power_up;
} HAP_power_hvx_payload;

typedef HAP_power_hvx_payload HAP_power_hmx_payload;

typedef struct {
    boolean                       set_power;
    boolean                       power_up;
    boolean                       set_clock;
    boolean                       pick_default;
    HAP_dcvs_exp_voltage_corner_t target_corner;
    HAP_dcvs_exp_voltage_corner_t min_corner;
    HAP_dcvs_exp_voltage_corner_t max_corner;
    HAP_clk_perf_mode_t           perf_mode;
    uint32                        freq_mhz;
    uint32                        floor_freq_mhz;
    uint32                        param1;
    uint32                        param2;
    uint32                        param3;
} HAP_power_hmx_payload_v2;

typedef struct {
    HAP_Power_request_type type;
    union {
        HAP_power_app_type_payload apptype;
        HAP_power_dcvs_v3_payload  dcvs_v3;
        HAP_power_hvx_payload      hvx;
        HAP_power_hmx_payload      hmx;
        HAP_power_hmx_payload_v2   hmx_v2;
    };
} HAP_power_request_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Vote. context tells the clients of a process apart. 0 on success. */
int HAP_power_set(void * context, HAP_power_request_t * request);

#ifdef __cplusplus
}
#endif

#endif /* HAP_POWER_H */
