/* HAP_etm_config.h: instruction trace of the calling DSP process. */
#ifndef HAP_ETM_CONFIG_H
#define HAP_ETM_CONFIG_H

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or AEE_EVERSIONNOTSUPPORT where the device has no trace. */
int HAP_user_etm_enable(void);
int HAP_user_etm_disable(void);

#ifdef __cplusplus
}
#endif

#endif /* HAP_ETM_CONFIG_H */
