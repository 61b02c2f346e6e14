/* HAP_compute_res.h: VTCM and HMX, shared between the processes of a DSP.
 *
 * Fill an attribute, acquire it for a context id; with cache mode the context only reserves, and each use is bracketed
 * by acquire_cached and release_cached. A process of higher priority that wants the resource makes the system call the
 * release callback. */
#ifndef HAP_COMPUTE_RES_H
#define HAP_COMPUTE_RES_H

#include <stddef.h>
#include <stdint.h>

/* One kind of VTCM page. */
typedef struct {
    unsigned int page_size; /* bytes */
    unsigned int num_pages;
} compute_res_vtcm_page_entry_t;

typedef struct {
    unsigned int                  page_list_len;
    compute_res_vtcm_page_entry_t page_list[8];
} compute_res_vtcm_page_t;

/* Returns non-zero when the callee could not start the release. context is the id from HAP_compute_res_acquire. */
typedef int (*compute_res_release_callback_t)(unsigned int context, void * client);

/* What is asked for. Use the functions below; the members are not for clients. */
typedef struct {
    uint32_t                       initialised; /* set by HAP_compute_res_attr_init */
    uint8_t                        serialize;
    uint8_t                        cache_mode;
    uint8_t                        hmx;
    uint8_t                        reserved0;
    uint32_t                       vtcm_size;          /* bytes wanted */
    uint32_t                       vtcm_min_page_size; /* bytes */
    uint32_t                       vtcm_min_size;      /* bytes acceptable */
    compute_res_release_callback_t release_callback;
    void *                         release_client;
    void *                         vtcm_ptr;           /* filled by HAP_compute_res_acquire */
    uint32_t                       vtcm_granted;       /* bytes, filled by HAP_compute_res_acquire */
    uint32_t                       reserved1[7];
} compute_res_attr_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Size of VTCM in bytes for an application type (0: default), its pages, and what is free now; any may be NULL. */
int HAP_compute_res_query_VTCM(unsigned int application_id, unsigned int * total_block_size,
                               compute_res_vtcm_page_t * total_block_layout, unsigned int * avail_block_size,
                               compute_res_vtcm_page_t * avail_block_layout);

int HAP_compute_res_attr_init(compute_res_attr_t * attr);

/* 1: no other serialized client runs meanwhile. */
int HAP_compute_res_attr_set_serialize(compute_res_attr_t * attr, unsigned char serialize);

/* 1: the context is used with acquire_cached and release_cached. */
int HAP_compute_res_attr_set_cache_mode(compute_res_attr_t * attr, unsigned char cache_mode);

/* VTCM: bytes wanted, smallest page (0: any), bytes acceptable (0: all that is wanted). */
int HAP_compute_res_attr_set_vtcm_param_v2(compute_res_attr_t * attr, unsigned int vtcm_size,
                                           unsigned int min_page_size, unsigned int min_vtcm_size);

int HAP_compute_res_attr_set_release_callback(compute_res_attr_t * attr, compute_res_release_callback_t callback,
                                              void * client);

/* 1: HMX too; hmx_lock takes it for the calling thread. */
int HAP_compute_res_attr_set_hmx_param(compute_res_attr_t * attr, unsigned char hmx);

/* Context id, 0 on failure or after timeout_us microseconds. */
unsigned int HAP_compute_res_acquire(compute_res_attr_t * attr, unsigned int timeout_us);

/* Address and size of the VTCM acquired with attr. */
int HAP_compute_res_attr_get_vtcm_ptr_v2(compute_res_attr_t * attr, void ** vtcm_ptr, unsigned int * vtcm_size);

int HAP_compute_res_release(unsigned int context);

/* Take and give back what a cache-mode context reserves. The content of VTCM is lost in between. */
int HAP_compute_res_acquire_cached(unsigned int context, unsigned int timeout_us);
int HAP_compute_res_release_cached(unsigned int context);

/* Priority of the context among those that wait, as a thread priority: smaller is higher. */
int HAP_compute_res_update_priority(unsigned int context, int priority);

/* HMX for the calling thread. Its accumulator is undefined after the lock. */
int HAP_compute_res_hmx_lock(unsigned int context);
int HAP_compute_res_hmx_unlock(unsigned int context);

#ifdef __cplusplus
}
#endif

#endif /* HAP_COMPUTE_RES_H */
