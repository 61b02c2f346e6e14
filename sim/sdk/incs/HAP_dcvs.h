/* HAP_dcvs.h: helpers that fill power requests. */
#ifndef HAP_DCVS_H
#define HAP_DCVS_H

#include "HAP_power.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keep the bus corners of a HAP_power_set_DCVS_v3 request even when the device is warm (from v79 on). 0 on success. */
int HAP_set_dcvs_v3_protected_bus_corners(HAP_power_request_t * request, unsigned int protect);

#ifdef __cplusplus
}
#endif

#endif /* HAP_DCVS_H */
