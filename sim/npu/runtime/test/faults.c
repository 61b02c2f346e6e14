/* faults: what the checks look for, done wrong on purpose, and done right. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "HAP_compute_res.h"
#include "HAP_mem.h"
#include "HAP_perf.h"
#include "hexsim_asm.h"
#include "hexsim_runtime.h"
#include "qurt.h"
#include "scenarios.h"

#define FILE_BASE 30000

/* ---- DMA ---- */

/* A transfer into VTCM with one thing done wrong, or nothing. */
static struct test_result dma_with(const struct test_run * r) {
    enum test_scenario fault = r->scenario;
    struct test_result t     = vtcm_take();
    FAIL_UNLESS(t.status == 0);
    static uint8_t * a;
    a = a ? a : memalign(128, 4096);
    memset(a, 5, 4096);
    struct descriptor *d = descriptor(a, vtcm + 256, 512),
                      *e = descriptor(a, vtcm + 256 + (fault == RUN_DMA_OVERLAP ? 256 : 512), 512);
    uint32_t early       = 0;
    if (fault ==
        RUN_DMA_CHAIN) { /* write a block back, then load the next into the same place; value 1: in that order */
        memset(vtcm, 8, 512);
        d = descriptor(vtcm, a, 512);
        e = descriptor(a + 1024, vtcm, 512);
        e->word1 |= r->value << 30;
        hexsim_dmstart(d);
        hexsim_dmlink(d, e);
        wait_for(d);
        wait_for(e);
        FAIL_UNLESS(a[0] == a[511] && vtcm[0] == 5);
        HAP_compute_res_release_cached(vtcm_context);
        DONE(a[0]);
    }
    hexsim_dmstart(d);
    if (fault == RUN_DMA_CLEAN || fault == RUN_DMA_OVERLAP) {
        hexsim_dmlink(d, e);
    }
    if (fault == RUN_DMA_SOURCE_WRITTEN) {
        a[100] = 9;
    }
    if (fault == RUN_DMA_DESTINATION_WRITTEN) {
        vtcm[300] = 9;
    }
    if (fault == RUN_DMA_EARLY_READ) {
        early = vtcm[256];
    }
    if (fault != RUN_DMA_NEVER_WAITED) {
        wait_for(d);
        hexsim_dmwait();
        FAIL_UNLESS(vtcm[256] == 5);
    }
    HAP_compute_res_release_cached(vtcm_context);
    DONE(early);
}

/* ---- DMA of two threads, and operands of HMX ---- */

static void link_only(void * d) {
    hexsim_dmstart(d);
}

/* Another thread links a transfer and does not wait for it. */
static int link_elsewhere(struct descriptor * d) {
    qurt_thread_t t;
    qurt_thread_attr_t attr;
    qurt_thread_attr_init(&attr);
    qurt_thread_attr_set_stack_size(&attr, 8192);
    return qurt_thread_create(&t, &attr, link_only, d) || qurt_thread_join(t, NULL);
}

/* Two uses of one place, the second before the first one's transfer is complete (value 1) or after (0). The answer is
 * the line of the second use. */
static struct test_result in_flight(const struct test_run * r) {
    struct test_result t = vtcm_take();
    FAIL_UNLESS(t.status == 0);
    static uint8_t * a;
    a = a ? a : memalign(128, 65536);
    memset(a, 0, 65536);
    memset(vtcm, 0, 65536); /* HMX works on zeros: finite */
    uint8_t * place       = vtcm + 8192;
    bool from             = r->scenario == RUN_DMA_DESTINATION_IN_FLIGHT || r->scenario == RUN_HMX_OVERWRITES_SOURCE;
    struct descriptor * d = from ? descriptor(place, a, 2048) : descriptor(a, place, 2048);
    struct descriptor * e = descriptor(a + 8192, vtcm, 2048);
    uint32_t line         = 0;
    FAIL_UNLESS(link_elsewhere(d) == 0);
    if (r->value == 0) {
        wait_for(d);
    }
    switch (r->scenario) {
    case RUN_DMA_SOURCE_IN_FLIGHT:
        e    = descriptor(place, a + 8192, 2048);
        line = __LINE__ + 1;
        hexsim_dmstart(e);
        break;
    case RUN_DMA_DESTINATION_IN_FLIGHT:
        e    = descriptor(a + 8192, place, 2048);
        line = __LINE__ + 1;
        hexsim_dmstart(e);
        break;
    case RUN_DMA_DESCRIPTOR_REUSED:
        d->word1 &= 0x7fffffff;
        line = __LINE__ + 1;
        hexsim_dmstart(d);
        hexsim_dmstart(e);
        break;
    case RUN_HMX_READS_IN_FLIGHT:
        line = __LINE__ + 1;
        hexsim_hmx_mpy_deep_hf(place, 2047, vtcm, 2047);
        hexsim_hmx_store_after_hf(vtcm + 4096, 0);
        hexsim_dmstart(e);
        break;
    default:
        line = __LINE__ + 1;
        hexsim_hmx_store_after_hf(place, 0);
        hexsim_dmstart(e);
    }
    wait_for(e);
    wait_for(d);
    hexsim_dmwait();
    HAP_compute_res_release_cached(vtcm_context);
    DONE(line);
}

/* ---- an op that is spread over threads ---- */

static atomic_int spread_line;

__attribute__((noinline)) static void spread_worker(void * unused) {
    (void)unused;
    atomic_store(&spread_line, __LINE__ + 1);
    hexsim_dccleaninva((void *)(uintptr_t)0x9000); /* not mapped */
}

int op_spread(void);

/* The worker does wrong what the op, waiting here, is to answer for. */
__attribute__((noinline)) int op_spread(void) {
    qurt_thread_t t;
    qurt_thread_attr_t attr;
    qurt_thread_attr_init(&attr);
    qurt_thread_attr_set_stack_size(&attr, 8192);
    int e = qurt_thread_create(&t, &attr, spread_worker, NULL);
    e     = e ? e : qurt_thread_join(t, NULL);
    return e;
}

/* ---- coherency ---- */

static struct test_result coherent(const struct test_run * r) {
    static uint8_t * p;
    p = p ? p : map(r);
    FAIL_UNLESS(p);
    uint32_t s = 0;
    static uint8_t * spad;
    switch (r->scenario) {
    case RUN_COHERENT_SUM: /* forget what an earlier call has read */
        clean(p, r->bytes);
        s = sum(p, r->bytes);
        break;
    case RUN_STALE_SUM:
        s = sum(p, r->bytes);
        break;
    case RUN_FILL_CLEAN:
        memset(p, (int)r->value, r->bytes);
        clean(p, r->bytes);
        break;
    case RUN_FILL_NOT_CLEAN:
        memset(p, (int)r->value, r->bytes);
        clean(p, r->bytes - 128);
        break;
    case RUN_FILL_DISCARD:
        memset(p, (int)r->value, r->bytes);
        clean(p, r->bytes - 128);
        hexsim_dcinva(p + r->bytes - 128);
        break;
    case RUN_DMA_READ_DIRTY: {
        spad = spad ? spad : memalign(128, r->bytes);
        memset(p, (int)r->value, r->bytes);
        struct descriptor * d = descriptor(p, spad, r->bytes);
        hexsim_dmstart(d);
        wait_for(d);
        s = sum(spad, r->bytes);
        clean(p, r->bytes);
        break;
    }
    case RUN_DMA_WRITE_DIRTY: { /* value 1: into a line that the cache holds dirty */
        spad = spad ? spad : memalign(128, r->bytes);
        memset(spad, 7, r->bytes);
        memset(p, 3, r->bytes);
        if (r->value == 0) {
            clean(p, r->bytes);
        }
        struct descriptor * d = descriptor(spad, p, r->bytes);
        hexsim_dmstart(d);
        wait_for(d);
        clean(p, r->bytes);
        s = sum(p, r->bytes);
        clean(p, r->bytes);
        break;
    }
    case RUN_SHARED_LINE: { /* value 0: touch the line; 1: write our byte of it back */
        if (r->value == 0) {
            p[0]++;
            return (struct test_result){0, 0};
        }
        clean(p, 128);
        break;
    }
    default:
        return (struct test_result){__LINE__, 0};
    }
    DONE(s);
}

/* Two DSPs and one buffer: its lines 0 and 2 are fences; lines 32 and 33 share a page. The reader touches line 32, with
 * value 1 line 33 instead, and raises its fence; the writer waits for that, writes line 33, and raises its own; the
 * reader waits for that and reads line 33. */

#define FENCE_SECONDS 60

static void raise_fence(uint8_t * fence, uint32_t value) {
    *(volatile uint32_t *)fence = value;
    clean(fence, 128);
}

static int wait_for_fence(const uint8_t * fence, uint32_t value) {
    for (uint64 end = HAP_perf_get_time_us() + FENCE_SECONDS * 1000000ull; HAP_perf_get_time_us() < end;) {
        hexsim_dccleaninva(fence);
        if (*(const volatile uint32_t *)fence == value) {
            return 1;
        }
        qurt_sleep(100);
    }
    return 0;
}

static struct test_result peer_writes(const struct test_run * r) {
    uint8_t * p = map(r);
    FAIL_UNLESS(p);
    FAIL_UNLESS(wait_for_fence(p + 2 * 128, r->value + 1));
    memset(p + 33 * 128, 9, 128);
    clean(p + 33 * 128, 128);
    raise_fence(p, r->value + 1);
    FAIL_UNLESS(HAP_munmap2(p, r->bytes) == 0);
    DONE(0);
}

static struct test_result peer_reads(const struct test_run * r) {
    uint8_t * p = map(r);
    FAIL_UNLESS(p);
    uint32_t first = ((volatile uint8_t *)p)[(r->value == 1 ? 33 : 32) * 128]; /* the touch that fetches the page */
    raise_fence(p + 2 * 128, r->value + 1);
    FAIL_UNLESS(wait_for_fence(p, r->value + 1));
    uint32_t s = first + ((volatile uint8_t *)p)[33 * 128];
    FAIL_UNLESS(HAP_munmap2(p, r->bytes) == 0);
    DONE(s);
}

/* ---- window and stack ---- */

static struct test_result window_with(const struct test_run * r) {
    static uint8_t * a;
    a = a ? a : memalign(128, 1u << 16);
    switch (r->scenario) {
    case RUN_WINDOW_CLEAN:
        clean(a, 1u << 16);
        break;
    case RUN_WINDOW_UNMAPPED:
        hexsim_dccleaninva((void *)(uintptr_t)0x8000);
        break;
    case RUN_WINDOW_PAST_END:
        qurt_mem_cache_clean(low(a), 1u << 28, QURT_MEM_CACHE_FLUSH, QURT_MEM_DCACHE);
        break;
    default:
        hexsim_dccleaninva(&vtcm_context); /* a static of this library: above 4 GiB */
    }
    DONE(0);
}

static void use_stack(void * argument) {
    size_t n                 = (size_t)(uintptr_t)argument;
    volatile uint8_t * frame = __builtin_alloca(n);
    for (size_t i = 0; i < n; i++) {
        frame[i] = 1;
    }
}

static struct test_result stack_with(size_t bytes) {
    qurt_thread_t thread;
    qurt_thread_attr_t attr;
    qurt_thread_attr_init(&attr);
    qurt_thread_attr_set_name(&attr, "stack-user");
    qurt_thread_attr_set_stack_size(&attr, 16384);
    FAIL_UNLESS(qurt_thread_create(&thread, &attr, use_stack, (void *)(uintptr_t)bytes) == QURT_EOK);
    FAIL_UNLESS(qurt_thread_join(thread, NULL) == QURT_EOK);
    DONE(0);
}

struct test_result faults_run(const struct test_run * r) {
    switch (r->scenario) {
    case RUN_DMA_CLEAN:
    case RUN_DMA_NEVER_WAITED:
    case RUN_DMA_SOURCE_WRITTEN:
    case RUN_DMA_DESTINATION_WRITTEN:
    case RUN_DMA_OVERLAP:
    case RUN_DMA_EARLY_READ:
    case RUN_DMA_CHAIN:
        return dma_with(r);
    case RUN_DMA_SOURCE_IN_FLIGHT:
    case RUN_DMA_DESTINATION_IN_FLIGHT:
    case RUN_DMA_DESCRIPTOR_REUSED:
    case RUN_HMX_READS_IN_FLIGHT:
    case RUN_HMX_WRITES_IN_FLIGHT:
    case RUN_HMX_OVERWRITES_SOURCE:
        return in_flight(r);
    case RUN_PEER_WRITES:
        return peer_writes(r);
    case RUN_PEER_READS:
        return peer_reads(r);
    case RUN_SPREAD:
        FAIL_UNLESS(op_spread() == 0);
        DONE(atomic_load(&spread_line));
    case RUN_WINDOW_CLEAN:
    case RUN_WINDOW_UNMAPPED:
    case RUN_WINDOW_PAST_END:
    case RUN_WINDOW_HIGH:
        return window_with(r);
    case RUN_STACK_CLEAN:
        return stack_with(16384);
    case RUN_STACK_DEEP:
        return stack_with(150 * 1024);
    default:
        return coherent(r);
    }
}
