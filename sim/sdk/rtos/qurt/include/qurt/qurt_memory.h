/* qurt_memory.h: maintenance of the caches. */
#ifndef QURT_MEMORY_H
#define QURT_MEMORY_H

#include "qurt_types.h"

typedef enum {
    QURT_MEM_CACHE_FLUSH                = 0, /* write dirty lines of the range back */
    QURT_MEM_CACHE_INVALIDATE           = 1, /* forget the lines of the range */
    QURT_MEM_CACHE_FLUSH_INVALIDATE     = 2,
    QURT_MEM_CACHE_FLUSH_ALL            = 3, /* the whole cache; range ignored */
    QURT_MEM_CACHE_FLUSH_INVALIDATE_ALL = 4,
} qurt_mem_cache_op_t;

typedef enum {
    QURT_MEM_ICACHE = 0,
    QURT_MEM_DCACHE = 1,
} qurt_mem_cache_type_t;

#ifdef __cplusplus
extern "C" {
#endif

int qurt_mem_cache_clean(qurt_addr_t addr, qurt_size_t size, qurt_mem_cache_op_t op, qurt_mem_cache_type_t type);

#ifdef __cplusplus
}
#endif

#endif /* QURT_MEMORY_H */
