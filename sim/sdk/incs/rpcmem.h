/* rpcmem.h: buffers that the application shares with a DSP. */
#ifndef RPCMEM_H
#define RPCMEM_H

#include <stddef.h>
#include <stdint.h>

#define RPCMEM_HEAP_ID_SYSTEM 25 /* ordinary memory behind the DSP's SMMU */

#define RPCMEM_FLAG_UNCACHED      0
#define RPCMEM_FLAG_CACHED        1
#define RPCMEM_DEFAULT_FLAGS      RPCMEM_FLAG_CACHED
#define RPCMEM_TRY_MAP_STATIC     0x04000000 /* map into every session at its start */

#ifdef __cplusplus
extern "C" {
#endif

/* Needed only by applications linked with the static rpcmem library; counted. */
void rpcmem_init(void);
void rpcmem_deinit(void);

/* Allocate size bytes, page-aligned and zeroed. NULL on failure. rpcmem_alloc ends at 2 GiB - 1. */
void * rpcmem_alloc(int heapid, uint32_t flags, int size);
void * rpcmem_alloc2(int heapid, uint32_t flags, size_t size);

/* Free a buffer; NULL is allowed. */
void rpcmem_free(void * buf);

/* Descriptor of the buffer that starts at buf, -1 when it is not of rpcmem. */
int rpcmem_to_fd(void * buf);

#ifdef __cplusplus
}
#endif

#endif /* RPCMEM_H */
