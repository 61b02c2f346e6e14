/* HAP_mem.h: mapping of the application's shared buffers into a DSP process. */
#ifndef HAP_MEM_H
#define HAP_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "AEEStdDef.h"
#include "AEEStdErr.h"

/* Permissions, with one cache policy or-ed to them (write-back when none is given). */
#define HAP_PROT_NONE  0x00
#define HAP_PROT_READ  0x01
#define HAP_PROT_WRITE 0x02
#define HAP_PROT_EXEC  0x04

#define HAP_MEM_CACHE_WRITEBACK    0x10
#define HAP_MEM_CACHE_NON_SHARED   0x20 /* uncached */
#define HAP_MEM_CACHE_WRITETHROUGH 0x40

/* Buffer flags of HAP_mem_request. */
#define HAP_MEM_FLAGS_SKIP_DSP_MAP 0
#define HAP_MEM_FLAGS_DSP_MAP      1
#define HAP_MEM_FLAGS_EXTENDED_MAP 2 /* outside the 32-bit window: for DMA only; v81 */

typedef enum {
    HAP_MEM_LOG_BLOCKS = 1,
    HAP_MEM_SET_MARKER = 2,
    HAP_MEM_MAP        = 3, /* member mmap */
    HAP_MEM_UNMAP      = 4, /* member munmap */
    HAP_RESERVE_VA     = 5,
    HAP_UNRESERVE_VA   = 6,
} HAP_mem_req_t;

typedef struct {
    uint64_t addr;  /* in: wanted address, 0 for any */
    uint64_t len;   /* in: bytes */
    int      prot;  /* in: permissions and cache policy */
    int      flags; /* in: HAP_MEM_FLAGS_* */
    int      fd;    /* in */
    uint64_t dsp_pa;
    uint64_t dsp_va; /* out: the DSP's address */
} HAP_mem_map_t;

typedef struct {
    uint64_t dsp_va; /* in */
    uint64_t len;    /* in: bytes */
} HAP_mem_unmap_t;

typedef struct {
    HAP_mem_req_t request_id;
    union {
        HAP_mem_map_t   mmap;
        HAP_mem_unmap_t munmap;
    };
} HAP_mem_req_payload_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Map a buffer that the application announced with fastrpc_mmap (FASTRPC_MAP_FD_DELAYED), counted by descriptor. addr
 * must be NULL. Returns the address, or (void *) -1. HAP_mmap ends at 2 GiB - 1. */
void * HAP_mmap(void * addr, int len, int prot, int flags, int fd, long offset);
void * HAP_mmap2(void * addr, size_t len, int prot, int flags, int fd, long offset);

/* Undo one mapping. 0, or AEE_ENOSUCHMAP. */
int HAP_munmap(void * addr, int len);
int HAP_munmap2(void * addr, size_t len);

/* Address of a buffer mapped with FASTRPC_MAP_FD, counted; put gives it back. */
int HAP_mmap_get(int fd, void ** vaddr, uint64 * paddr);
int HAP_mmap_put(int fd);

/* The requests of HAP_mem_req_t. 0, or a code of AEEStdErr.h. */
int HAP_mem_request(HAP_mem_req_payload_t * payload);

#ifdef __cplusplus
}
#endif

#endif /* HAP_MEM_H */
