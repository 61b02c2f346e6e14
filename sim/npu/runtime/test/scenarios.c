/* scenarios: things done on the DSP, right ones and wrong ones. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_compute_res.h"
#include "HAP_mem.h"
#include "HAP_perf.h"
#include "hexsim_asm.h"
#include "hexsim_runtime.h"
#include "qurt.h"
#include "scenarios.h"

#define FILE_BASE 10000

/* ---- processor, heap, threads ---- */

/* Quotients are stored before they are looked at: a compiler may answer "is the quotient zero" without a division. */
static struct test_result divide_by_zero(const struct test_run * r) {
    volatile int zero          = (int)r->value;
    volatile unsigned table[2] = {r->value, 3};
    volatile long lzero        = r->value;
    volatile short n16 = 7, z16 = (short)r->value;
    volatile long q[] = {17 / zero, -17 / zero, (long)(17u / table[r->value]), 17l / lzero, n16 / z16, 17 % zero};
    for (unsigned i = 0; i < 6; i++) {
        FAIL_UNLESS(q[i] == 0);
    }
    volatile unsigned three = 9 / table[1];
    FAIL_UNLESS(three == 3);
    DONE(0);
}

static struct test_result heap(void) {
    void * p[200];
    for (int i = 0; i < 200; i++) {
        size_t n = (size_t)i * 397 + 1;
        p[i]     = i % 3 ? malloc(n) : memalign(256, n);
        FAIL_UNLESS(p[i] && BELOW_4GIB(p[i]) && (i % 3 || (uintptr_t)p[i] % 256 == 0));
        memset(p[i], i, n);
    }
    for (int i = 0; i < 200; i++) {
        FAIL_UNLESS(((uint8_t *)p[i])[(size_t)i * 397] == (uint8_t)i);
        p[i] = realloc(p[i], 100000);
        FAIL_UNLESS(p[i] && ((uint8_t *)p[i])[0] == (uint8_t)i);
    }
    for (int i = 0; i < 200; i++) {
        free(p[i]);
    }
    uint8_t * z = calloc(1000, 3);
    for (int i = 0; i < 3000; i++) {
        FAIL_UNLESS(z[i] == 0);
    }
    free(z);
    DONE(0);
}

static atomic_int turn;
static atomic_int low_stacks;

static void worker(void * argument) {
    atomic_fetch_add(&low_stacks, BELOW_4GIB(__builtin_frame_address(0)));
    /* One look for both: with a second one it could fall asleep at its own turn, which nobody ends. */
    for (int now = atomic_load(&turn); now != (int)(intptr_t)argument; now = atomic_load(&turn)) {
        qurt_futex_wait(&turn, now);
    }
    atomic_fetch_add(&turn, 1);
    qurt_futex_wake(&turn, 16);
}

static struct test_result threads(void) {
    qurt_thread_t t[8];
    static char stack[8][4096];
    atomic_store(&turn, 0);
    atomic_store(&low_stacks, 0);
    for (int i = 0; i < 8; i++) {
        qurt_thread_attr_t attr;
        qurt_thread_attr_init(&attr);
        qurt_thread_attr_set_stack_addr(&attr, stack[i]);
        qurt_thread_attr_set_stack_size(&attr, sizeof stack[i]);
        qurt_thread_attr_set_priority(&attr, (unsigned short)(100 + i));
        qurt_thread_attr_set_name(&attr, "a-name-too-long-for-qurt");
        FAIL_UNLESS(qurt_thread_create(&t[i], &attr, worker, (void *)(intptr_t)(7 - i)) == QURT_EOK);
        FAIL_UNLESS(t[i] != 0 && qurt_thread_get_priority(t[i]) == 100 + i);
    }
    for (int i = 0; i < 8; i++) {
        FAIL_UNLESS(qurt_thread_join(t[i], NULL) == QURT_EOK);
    }
    FAIL_UNLESS(atomic_load(&turn) == 8 && atomic_load(&low_stacks) == 8);
    FAIL_UNLESS(qurt_thread_join(t[0], NULL) != QURT_EOK && qurt_thread_get_id() != 0);
    DONE(0);
}

static struct test_result clocks(void) {
    uint64 a = HAP_perf_get_qtimer_count(), c = hexsim_upcycle();
    qurt_sleep(2000);
    uint64 us = HAP_perf_qtimer_count_to_us(HAP_perf_get_qtimer_count() - a);
    FAIL_UNLESS(us >= 2000 && hexsim_upcycle() > c);
    qurt_arch_version_t v;
    FAIL_UNLESS(qurt_sysenv_get_arch_version(&v) == QURT_EOK);
    DONE(v.arch_version);
}

/* ---- buffers ---- */

uint8_t * map(const struct test_run * r) {
    void * p = HAP_mmap2(NULL, r->bytes, HAP_PROT_READ | HAP_PROT_WRITE, 0, r->fd, 0);
    return p == (void *)-1 ? NULL : p;
}

uint32_t sum(const uint8_t * p, uint32_t n) {
    uint32_t s = 0;
    for (uint32_t i = 0; i < n; i++) {
        s += p[i];
    }
    return s;
}

void clean(const uint8_t * p, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i += 128) {
        hexsim_dccleaninva(p + i);
    }
}

static struct test_result map_twice(const struct test_run * r) {
    uint8_t * p = map(r);
    FAIL_UNLESS(p && BELOW_4GIB(p) && map(r) == p);
    uint32_t s = sum(p, r->bytes);
    FAIL_UNLESS(HAP_munmap2(p, r->bytes) == 0 && HAP_munmap2(p, r->bytes) == 0);
    FAIL_UNLESS(HAP_munmap2(p, r->bytes) == (int)AEE_ENOSUCHMAP);
    DONE(s);
}

/* ---- VTCM ---- */

unsigned vtcm_context, vtcm_bytes;
uint8_t * vtcm;
atomic_int vtcm_asked_to_release;

static int release(unsigned id, void * client) {
    (void)client;
    atomic_store(&vtcm_asked_to_release, (int)id);
    return 0;
}

struct test_result vtcm_take(void) {
    if (!vtcm_context) {
        compute_res_attr_t attr;
        HAP_compute_res_query_VTCM(0, &vtcm_bytes, NULL, NULL, NULL);
        HAP_compute_res_attr_init(&attr);
        HAP_compute_res_attr_set_cache_mode(&attr, 1);
        HAP_compute_res_attr_set_vtcm_param_v2(&attr, vtcm_bytes, vtcm_bytes, vtcm_bytes);
        HAP_compute_res_attr_set_release_callback(&attr, release, NULL);
        HAP_compute_res_attr_set_hmx_param(&attr, 1);
        vtcm_context = HAP_compute_res_acquire(&attr, 100000);
        FAIL_UNLESS(vtcm_context && HAP_compute_res_attr_get_vtcm_ptr_v2(&attr, (void **)&vtcm, &vtcm_bytes) == 0);
        FAIL_UNLESS(BELOW_4GIB(vtcm) && BELOW_4GIB(vtcm + vtcm_bytes));
    }
    FAIL_UNLESS(HAP_compute_res_acquire_cached(vtcm_context, 5000000) == 0);
    DONE(0);
}

static struct test_result vtcm_all(void) {
    struct test_result t = vtcm_take();
    FAIL_UNLESS(t.status == 0);
    memset(vtcm, 1, vtcm_bytes);
    FAIL_UNLESS(HAP_compute_res_acquire_cached(vtcm_context, 1000) != 0); /* held already */
    FAIL_UNLESS(HAP_compute_res_hmx_lock(vtcm_context) == 0 && HAP_compute_res_hmx_unlock(vtcm_context) == 0);
    FAIL_UNLESS(HAP_compute_res_release_cached(vtcm_context) == 0 && HAP_compute_res_release_cached(vtcm_context) != 0);
    FAIL_UNLESS(HAP_compute_res_release(vtcm_context) == 0 && HAP_compute_res_release(vtcm_context) != 0);
    vtcm_context = 0;
    DONE(vtcm_bytes);
}

/* Hold VTCM until somebody else wants it. */
static void holder(void * unused) {
    (void)unused;
    while (!atomic_load(&vtcm_asked_to_release)) {
        qurt_sleep(100);
    }
    HAP_compute_res_release_cached(vtcm_context);
}

static struct test_result vtcm_hold(void) {
    struct test_result t = vtcm_take();
    FAIL_UNLESS(t.status == 0);
    qurt_thread_t thread;
    qurt_thread_attr_t attr;
    qurt_thread_attr_init(&attr);
    qurt_thread_attr_set_stack_size(&attr, 8192);
    FAIL_UNLESS(qurt_thread_create(&thread, &attr, holder, NULL) == QURT_EOK);
    DONE(0);
}

/* ---- DMA ---- */

struct descriptor * descriptor(const volatile void * from, const volatile void * to, uint32_t bytes) {
    static struct descriptor d[16];
    static unsigned next;
    struct descriptor * p = &d[next++ % 16];
    *p                    = (struct descriptor){NULL, bytes | 3u << 28, low(from), low(to), 0, 0, 0, 0};
    return p;
}

void wait_for(const struct descriptor * d) {
    while (!(d->word1 >> 31)) {
        hexsim_dmpoll();
    }
}

static struct test_result dma_1d(void) {
    uint8_t * a = memalign(128, 8192);
    for (int i = 0; i < 4096; i++) {
        a[i] = (uint8_t)(i * 7);
    }
    struct descriptor *d = descriptor(a, a + 4096, 1000), *e = descriptor(a + 1000, a + 5096, 3096);
    hexsim_dmstart(d);
    hexsim_dmlink(d, e);
    wait_for(e);
    FAIL_UNLESS(d->word1 >> 31 && !memcmp(a, a + 4096, 4096));
    FAIL_UNLESS((hexsim_dmwait() & 3) == 0);
    free(a);
    DONE(0);
}

/* Rows of 10 bytes, 16 apart, to rows 12 apart; in the 16-bit layout (type 0) and in the 24-bit one (type 9). */
static struct test_result dma_2d(void) {
    uint8_t * a = memalign(128, 1024);
    for (int type = 0; type <= 9; type += 9) {
        for (int i = 0; i < 512; i++) {
            a[i]       = (uint8_t)i;
            a[512 + i] = 0xee;
        }
        struct descriptor * d = descriptor(a, a + 512, 0);
        d->type               = (uint32_t)type;
        d->word1              = 1u << 24 | 3u << 28 | (type ? 12 : 0);
        d->word5              = type ? 10u | 5u << 24 : 10u | 5u << 16;
        d->word6              = type ? 0u | 16u << 8 : 16u | 12u << 16;
        hexsim_dmstart(d);
        wait_for(d);
        for (int row = 0; row < 5; row++) {
            FAIL_UNLESS(!memcmp(a + 16 * row, a + 512 + 12 * row, 10));
            FAIL_UNLESS(a[512 + 12 * row + 10] == 0xee && a[512 + 12 * row + 11] == 0xee);
        }
        FAIL_UNLESS(a[512 + 60] == 0xee);
    }
    free(a);
    DONE(0);
}

static struct test_result dma_extended(const struct test_run * r) {
    HAP_mem_req_payload_t p;
    memset(&p, 0, sizeof p);
    p.request_id = HAP_MEM_MAP;
    p.mmap.len   = r->bytes;
    p.mmap.prot  = HAP_PROT_READ | HAP_MEM_CACHE_NON_SHARED;
    p.mmap.flags = HAP_MEM_FLAGS_EXTENDED_MAP;
    p.mmap.fd    = r->fd;
    FAIL_UNLESS(HAP_mem_request(&p) == 0 && p.mmap.dsp_va >> 32 && !(p.mmap.dsp_va >> 40));
    uint8_t * to          = memalign(128, r->bytes);
    struct descriptor * d = descriptor((void *)(uintptr_t)p.mmap.dsp_va, to, 0);
    d->word1              = 1u << 24 | 3u << 28 | r->bytes;
    d->type               = 10 | (uint32_t)(p.mmap.dsp_va >> 32) << 8;
    d->word5              = r->bytes | 1u << 24;
    d->word6              = r->bytes << 8;
    hexsim_dmstart(d);
    wait_for(d);
    uint32_t s = sum(to, r->bytes);
    free(to);
    p.request_id    = HAP_MEM_UNMAP;
    uint64_t va     = p.mmap.dsp_va;
    p.munmap.dsp_va = va;
    p.munmap.len    = r->bytes;
    FAIL_UNLESS(HAP_mem_request(&p) == 0);
    DONE(s);
}

struct test_result scenario_run(const struct test_run * r) {
    struct test_result t;
    switch (r->scenario) {
    case RUN_DIVIDE_BY_ZERO:
        return divide_by_zero(r);
    case RUN_HEAP:
        return heap();
    case RUN_THREADS:
        return threads();
    case RUN_CLOCKS:
        return clocks();
    case RUN_DMA_1D:
        return dma_1d();
    case RUN_DMA_2D:
        return dma_2d();
    case RUN_DMA_EXTENDED:
        return dma_extended(r);
    case RUN_MAP:
        return map_twice(r);
    case RUN_MAP_UNKNOWN:
        FAIL_UNLESS(map(r) == NULL);
        DONE(0);
    case RUN_VTCM:
        return vtcm_all();
    case RUN_VTCM_HOLD:
        return vtcm_hold();
    case RUN_VTCM_TAKE:
        return vtcm_take();
    case RUN_VTCM_CLEAN:
    case RUN_VTCM_USE_AFTER_RELEASE:
    case RUN_VTCM_PAST_END:
        t = vtcm_take();
        FAIL_UNLESS(t.status == 0);
        uint32_t first = vtcm[0];
        memset(vtcm, 0, vtcm_bytes);
        if (r->scenario == RUN_VTCM_PAST_END) {
            ((volatile uint8_t *)vtcm)[vtcm_bytes + 8] = 1;
        }
        HAP_compute_res_release_cached(vtcm_context);
        if (r->scenario == RUN_VTCM_USE_AFTER_RELEASE) {
            ((volatile uint8_t *)vtcm)[64] = 1;
        }
        DONE(first);
    case RUN_NULL_POINTER:
        *(volatile int *)(uintptr_t)0x18 = 1;
        DONE(0);
    case RUN_ABORT:
        abort();
    default:
        t = calls_run(r);
        return t.status == NOT_MINE ? faults_run(r) : t;
    }
}
