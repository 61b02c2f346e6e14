/* qurt_hvx.h: the vector units. */
#ifndef QURT_HVX_H
#define QURT_HVX_H

typedef enum {
    QURT_HVX_MODE_64B  = 0,
    QURT_HVX_MODE_128B = 1,
} qurt_hvx_mode_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Number of vector units: bits 15-8 those of 128 bytes, bits 7-0 those of 64 bytes. */
int qurt_hvx_get_units(void);

/* Take and give back a vector unit for the calling thread. Without a lock the first vector instruction takes one. */
int qurt_hvx_lock(qurt_hvx_mode_t mode);
int qurt_hvx_unlock(void);

#ifdef __cplusplus
}
#endif

#endif /* QURT_HVX_H */
