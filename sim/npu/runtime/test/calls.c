/* calls: what a FastRPC variant relies on: calls beside each other, their threads, mappings, cache maintenance. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_mem.h"
#include "hexsim_asm.h"
#include "hexsim_runtime.h"
#include "qurt.h"
#include "scenarios.h"

#define FILE_BASE 20000

/* Return only when value callers are in here at once. */
static struct test_result meet(const struct test_run * r) {
    static atomic_uint arrived;
    unsigned all = (atomic_fetch_add(&arrived, 1) / r->value + 1) * r->value;
    while (atomic_load(&arrived) < all) {
        qurt_sleep(50);
    }
    DONE(0);
}

static void copy_by_dma(void * block) {
    uint8_t * a           = block;
    struct descriptor * d = descriptor(a, a + 512, 512);
    hexsim_dmstart(d);
    wait_for(d);
}

/* A thread of its own that copies and ends. */
static struct test_result dma_in_thread(void) {
    uint8_t * a = memalign(128, 1024);
    qurt_thread_t t;
    qurt_thread_attr_t attr;
    FAIL_UNLESS(a);
    memset(a, 3, 512);
    qurt_thread_attr_init(&attr);
    qurt_thread_attr_set_stack_size(&attr, 8192);
    FAIL_UNLESS(qurt_thread_create(&t, &attr, copy_by_dma, a) == QURT_EOK);
    FAIL_UNLESS(qurt_thread_join(t, NULL) == QURT_EOK && a[1023] == 3);
    free(a);
    DONE(0);
}

static struct test_result own_stack(const struct test_run * r) {
    volatile uint8_t * frame = __builtin_alloca(r->value);
    for (size_t i = r->value; i-- > 0;) {
        frame[i] = 1;
    }
    DONE(frame[0]);
}

static atomic_int counted;

static void add_and_stay(void * n) {
    hexsim_hvx_instructions += (uintptr_t)n;
    atomic_store(&counted, 1);
    while (atomic_load(&counted)) {
        qurt_sleep(1000);
    }
}

static void add_and_end(void * n) {
    hexsim_hvx_instructions += (uintptr_t)n;
}

/* HVX instructions: value in this thread, twice as many in one that ends, four times as many in one that stays. */
static struct test_result instructions(const struct test_run * r) {
    qurt_thread_t t;
    qurt_thread_attr_t attr;
    qurt_thread_attr_init(&attr);
    qurt_thread_attr_set_stack_size(&attr, 8192);
    hexsim_hvx_instructions += r->value;
    FAIL_UNLESS(qurt_thread_create(&t, &attr, add_and_end, (void *)(uintptr_t)(2 * r->value)) == QURT_EOK);
    FAIL_UNLESS(qurt_thread_join(t, NULL) == QURT_EOK);
    FAIL_UNLESS(qurt_thread_create(&t, &attr, add_and_stay, (void *)(uintptr_t)(4 * r->value)) == QURT_EOK);
    while (!atomic_load(&counted)) {
        qurt_sleep(50);
    }
    DONE(0);
}

/* Every way to map the buffer of the run gives the same bytes, and is counted for itself. */
static struct test_result map_family(const struct test_run * r) {
    const int rw = HAP_PROT_READ | HAP_PROT_WRITE;
    uint8_t * p  = HAP_mmap(NULL, (int)r->bytes, rw, 0, r->fd, 0);
    uint8_t * q  = HAP_mmap2(NULL, r->bytes, rw | HAP_MEM_CACHE_WRITEBACK, 0, r->fd, 0);
    void * got   = NULL;
    uint64 paddr = 0;
    FAIL_UNLESS(p != (void *)-1 && p == q && BELOW_4GIB(p));
    FAIL_UNLESS(HAP_mmap_get(r->fd, &got, &paddr) == 0 && got == p && paddr != 0);
    HAP_mem_req_payload_t m = {.request_id = HAP_MEM_MAP};
    m.mmap.len              = r->bytes;
    m.mmap.prot             = rw;
    m.mmap.flags            = HAP_MEM_FLAGS_DSP_MAP;
    m.mmap.fd               = r->fd;
    FAIL_UNLESS(HAP_mem_request(&m) == 0 && m.mmap.dsp_va == (uintptr_t)p);
    uint32_t s = sum(p, r->bytes);
    /* what can not be */
    FAIL_UNLESS(HAP_mmap2(NULL, r->bytes + 65536u, rw, 0, r->fd, 0) == (void *)-1);
    FAIL_UNLESS(HAP_mmap2(NULL, 0, rw, 0, r->fd, 0) == (void *)-1 && HAP_mmap(NULL, -1, rw, 0, r->fd, 0) == (void *)-1);
    FAIL_UNLESS(HAP_mmap2(p, r->bytes, rw, 0, r->fd, 0) == (void *)-1);
    FAIL_UNLESS(HAP_mmap2(NULL, r->bytes, rw, 0, r->fd, 4096) == (void *)-1);
    FAIL_UNLESS(HAP_mmap_get(r->fd + 1000, &got, NULL) == (int)AEE_ENOSUCHMAP);
    m.mmap.fd = r->fd + 1000;
    FAIL_UNLESS(HAP_mem_request(&m) == (int)AEE_EMMAP && HAP_mem_request(NULL) == (int)AEE_EBADPARM);
    m.mmap.fd    = r->fd; /* within the window, so not beyond it */
    m.mmap.flags = HAP_MEM_FLAGS_EXTENDED_MAP;
    FAIL_UNLESS(HAP_mem_request(&m) == (int)AEE_EMMAP);
    m.request_id = HAP_MEM_LOG_BLOCKS;
    FAIL_UNLESS(HAP_mem_request(&m) == (int)AEE_EUNSUPPORTED);
    /* four mappings, four ways to give them back */
    m               = (HAP_mem_req_payload_t){.request_id = HAP_MEM_UNMAP};
    m.munmap.dsp_va = (uintptr_t)p;
    m.munmap.len    = r->bytes;
    FAIL_UNLESS(HAP_mem_request(&m) == 0 && HAP_mmap_put(r->fd) == 0);
    FAIL_UNLESS(HAP_munmap(p, (int)r->bytes) == 0 && sum(p, r->bytes) == s);
    FAIL_UNLESS(HAP_munmap2(p, r->bytes) == 0);
    FAIL_UNLESS(HAP_munmap2(p, r->bytes) == (int)AEE_ENOSUCHMAP && HAP_mem_request(&m) == (int)AEE_ENOSUCHMAP);
    FAIL_UNLESS(HAP_mmap_put(r->fd) == (int)AEE_ENOSUCHMAP);
    DONE(s);
}

/* Loads of 784 bytes of a shared buffer and stores of 1040, in all ways; memory of its own does not count. */
static struct test_result direct_access(const struct test_run * r) {
    typedef int32_t vector __attribute__((vector_size(128)));
    uint8_t own[256];
    uint8_t * p = map(r);
    FAIL_UNLESS(p && r->bytes >= 16384);
    memcpy(own, p, sizeof own);
    memset(p + 1024, own[0], 512);
    uint32_t * word = (uint32_t *)(void *)(p + 4096);
    for (int i = 0; i < 100; i++) {
        word[i] += own[i];
    }
    vector * v = (vector *)(void *)(p + 8192);
    v[1]       = v[0];
    FAIL_UNLESS(HAP_munmap2(p, r->bytes) == 0);
    DONE(own[1]);
}

/* Map at value 0, look at value 1, unmap at value 2. */
static struct test_result map_keep(const struct test_run * r) {
    static uint8_t * kept;
    if (r->value == 0) {
        kept = map(r);
        FAIL_UNLESS(kept);
    }
    uint32_t s = sum(kept, r->bytes);
    if (r->value == 2) {
        FAIL_UNLESS(HAP_munmap2(kept, r->bytes) == 0);
    }
    DONE(s);
}

/* Each operation a different number of times, so that counters can be told apart. */
static struct test_result cache_operations(void) {
    uint8_t * a         = memalign(128, 8192);
    const qurt_addr_t p = low(a);
    FAIL_UNLESS(a);
    for (int i = 0; i < 1; i++) {
        FAIL_UNLESS(qurt_mem_cache_clean(p, 100, QURT_MEM_CACHE_FLUSH, QURT_MEM_DCACHE) == QURT_EOK);
    }
    for (int i = 0; i < 2; i++) {
        FAIL_UNLESS(qurt_mem_cache_clean(p, 200, QURT_MEM_CACHE_INVALIDATE, QURT_MEM_DCACHE) == QURT_EOK);
    }
    for (int i = 0; i < 3; i++) {
        FAIL_UNLESS(qurt_mem_cache_clean(p, 300, QURT_MEM_CACHE_FLUSH_INVALIDATE, QURT_MEM_DCACHE) == QURT_EOK);
    }
    for (int i = 0; i < 4; i++) {
        FAIL_UNLESS(qurt_mem_cache_clean(0, 0, QURT_MEM_CACHE_FLUSH_ALL, QURT_MEM_DCACHE) == QURT_EOK);
    }
    for (int i = 0; i < 5; i++) {
        FAIL_UNLESS(qurt_mem_cache_clean(0, 0, QURT_MEM_CACHE_FLUSH_INVALIDATE_ALL, QURT_MEM_DCACHE) == QURT_EOK);
    }
    FAIL_UNLESS(qurt_mem_cache_clean(p, 100, QURT_MEM_CACHE_FLUSH, QURT_MEM_ICACHE) == QURT_EOK);
    FAIL_UNLESS(qurt_mem_cache_clean(p, 100, (qurt_mem_cache_op_t)77, QURT_MEM_DCACHE) == QURT_EVAL);
    for (int i = 0; i < 6; i++) {
        hexsim_dccleana(a + 128 * i);
    }
    for (int i = 0; i < 7; i++) {
        hexsim_dcinva(a + 128 * i);
    }
    for (int i = 0; i < 8; i++) {
        hexsim_dccleaninva(a + 128 * i);
        hexsim_dccleaninva(a + 128 * i + 4); /* the same line again: polling */
    }
    free(a);
    DONE(0);
}

/* Fill the buffer, for the application to see. */
static struct test_result map_fill(const struct test_run * r) {
    uint8_t * p = map(r);
    FAIL_UNLESS(p);
    memset(p, (int)r->value, r->bytes);
    clean(p, r->bytes);
    FAIL_UNLESS(HAP_munmap2(p, r->bytes) == 0);
    DONE(0);
}

struct test_result calls_run(const struct test_run * r) {
    switch (r->scenario) {
    case RUN_MEET:
        return meet(r);
    case RUN_PRIORITY:
        DONE(qurt_thread_get_priority(qurt_thread_get_id()));
    case RUN_DMA_IN_THREAD:
        return dma_in_thread();
    case RUN_INSTRUCTIONS:
        return instructions(r);
    case RUN_ACCESS:
        return direct_access(r);
    case RUN_OWN_STACK:
        return own_stack(r);
    case RUN_MAP_FAMILY:
        return map_family(r);
    case RUN_MAP_FILL:
        return map_fill(r);
    case RUN_MAP_KEEP:
        return map_keep(r);
    case RUN_CACHE_OPERATIONS:
        return cache_operations();
    default:
        return (struct test_result){NOT_MINE, 0};
    }
}
