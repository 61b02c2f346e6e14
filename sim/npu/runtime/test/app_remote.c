/* What a FastRPC variant needs: arguments of all sizes, calls beside each other, several handles, thread parameters,
 * mappings, and nothing left behind. */
#define _GNU_SOURCE
#include "app.h"

#include <dirent.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "dspqueue.h"
#include "rpcmem.h"

/* ---- arguments ---- */

static int echo_status(remote_handle64 h, void * in, size_t in_bytes, void * out, size_t out_bytes) {
    remote_arg a[2];
    a[0].buf = (remote_buf){in, in_bytes};
    a[1].buf = (remote_buf){out, out_bytes};
    return remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(TEST_ECHO, 1, 1), a);
}

static void large_arguments(void) {
    remote_handle64 h = app_open(URI);
    const size_t most = 60u << 20;
    uint8_t *in = calloc(1, 70u << 20), *out = calloc(1, 70u << 20);
    CHECK(in && out);
    for (size_t i = 0; i < most; i += 4099) {
        in[i] = (uint8_t)(i * 31);
    }
    CHECK_EQUAL(echo_status(h, in, most, out, most), 0);
    CHECK(!memcmp(in, out, most));
    /* too large to be copied: an error, and the session lives */
    CHECK_EQUAL(echo_status(h, in, 70u << 20, out, 70u << 20), AEE_ENORPCMEMORY);
    CHECK_EQUAL(echo_status(h, in, 16, out, 70u << 20), AEE_ENORPCMEMORY);
    CHECK_EQUAL(echo_status(h, in, 5000, out, 5000), 0);
    /* shared buffers have no such bound */
    const size_t large = 300u << 20;
    uint8_t * p        = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 2 * large);
    CHECK(p);
    p[0] = 1, p[large - 1] = 2;
    CHECK_EQUAL(echo_status(h, p, large, p + large, large), 0);
    CHECK(p[large] == 1 && p[2 * large - 1] == 2);
    rpcmem_free(p);
    free(in);
    free(out);
}

/* Up to 64 arguments, mixed: private memory, shared buffers, empty ones. */
static void many_arguments(void) {
    remote_handle64 h = app_open(URI);
    uint8_t * shared[20];
    static uint8_t own[64][100];
    remote_arg a[64];
    for (int i = 0; i < 20; i++) {
        shared[i] = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 4096);
        CHECK(shared[i]);
    }
    for (int i = 0; i < 64; i++) {
        uint8_t * p = i % 3 == 0 ? shared[i / 3 % 20] + 128 * (i / 60) : own[i];
        size_t n    = i % 7 == 6 && i != 31 && i != 63 ? 0 : 50;
        memset(p, i < 32 ? i + 1 : 0, 50);
        a[i].buf = (remote_buf){p, n};
    }
    CHECK_EQUAL(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(TEST_SUMS, 32, 32), a), 0);
    for (int i = 0; i < 32; i++) {
        if (a[32 + i].buf.nLen) { /* filled with its input's byte */
            uint8_t want = a[i].buf.nLen ? (uint8_t)(i + 1) : 0;
            CHECK_EQUAL(((uint8_t *)a[32 + i].buf.pv)[49], want);
        }
    }
    CHECK_EQUAL(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(TEST_SUMS, 33, 32), a), AEE_EUNSUPPORTED);
    for (int i = 0; i < 20; i++) {
        rpcmem_free(shared[i]);
    }
}

/* What the library answers reaches the application as it is; failed calls leave outputs alone. */
static void error_codes(void) {
    remote_handle64 h = app_open(URI);
    uint8_t in[8] = {0}, out[16] = {7};
    CHECK_EQUAL(echo_status(h, in, 8, out, 16), 0x8000040e);
    CHECK_EQUAL(out[0], 7);
    const int codes[] = {1, 0x2e, 0x8000040d, -1, 516};
    for (int i = 0; i < 5; i++) {
        remote_arg a[1];
        a[0].buf = (remote_buf){(void *)&codes[i], 4};
        CHECK_EQUAL(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(TEST_FAIL, 1, 0), a), codes[i]);
    }
    CHECK_EQUAL(remote_handle64_invoke(h, 1u << 24 | REMOTE_SCALARS_MAKEX(0, TEST_ECHO, 0, 0, 1, 0), NULL),
                AEE_EUNSUPPORTED); /* handles as arguments */
    CHECK_EQUAL(remote_handle64_close(h), 0);
    CHECK_EQUAL(echo_status(h, in, 8, out, 8), AEE_ENOSUCHHANDLE);
}

/* ---- calls beside each other ---- */

#define MEETING 6

static void * meets(void * handle) {
    for (int i = 0; i < 50; i++) {
        app_run(*(remote_handle64 *)handle, RUN_MEET, -1, 0, MEETING);
    }
    return NULL;
}

/* Six calls on one handle return only when all six are under way. */
static void calls_in_parallel(void) {
    remote_handle64 h = app_open(URI);
    pthread_t t[MEETING];
    for (int i = 0; i < MEETING; i++) {
        CHECK(!pthread_create(&t[i], NULL, meets, &h));
    }
    for (int i = 0; i < MEETING; i++) {
        pthread_join(t[i], NULL);
    }
    CHECK_EQUAL(app_reported(NULL), 0); /* with the checks on: one call's end is not the other's */
}

struct writer {
    remote_handle64 h;
    uint8_t * p;
    int fd;
};

/* Fill a buffer of one's own over and over: the others' calls begin and end meanwhile. */
static void * fills(void * argument) {
    const struct writer * w = argument;
    for (uint32_t i = 0; i < 100; i++) {
        CHECK_EQUAL(app_run(w->h, RUN_MAP_FILL, w->fd, 16384, i & 0xff), 0);
        CHECK(w->p[0] == (i & 0xff) && w->p[16383] == (i & 0xff));
        memset(w->p, 0xee, 16384);
    }
    return NULL;
}

static void fills_in_parallel(void) {
    struct writer w[4];
    pthread_t t[4];
    for (int i = 0; i < 4; i++) {
        w[i].h = app_open(URI); /* and as many handles */
        w[i].p = app_buffer(CDSP_DOMAIN_ID, 16384, FASTRPC_MAP_FD_DELAYED, &w[i].fd);
        CHECK(!pthread_create(&t[i], NULL, fills, &w[i]));
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        CHECK_EQUAL(remote_handle64_close(w[i].h), 0);
    }
    CHECK_EQUAL(app_reported(NULL), 0);
}

static void thread_parameters(void) {
    struct remote_rpc_thread_params p = {CDSP_DOMAIN_ID, 100, 65536};
    remote_handle64 h;
    CHECK_EQUAL(remote_session_control(FASTRPC_THREAD_PARAMS, &p, sizeof p), 0);
    h = app_open(URI);
    CHECK_EQUAL(app_run(h, RUN_PRIORITY, -1, 0, 0), 100);
    p = (struct remote_rpc_thread_params){-1, 0, -1};
    CHECK_EQUAL(remote_session_control(FASTRPC_THREAD_PARAMS, &p, sizeof p), AEE_EBADPARM);
    p = (struct remote_rpc_thread_params){CDSP_DOMAIN_ID, -1, 1000};
    CHECK_EQUAL(remote_session_control(FASTRPC_THREAD_PARAMS, &p, sizeof p), AEE_EBADPARM);
    h = app_open("file:///libtest-v79.so?test_skel_handle_invoke&_modver=1.0&_dom=cdsp1");
    CHECK_EQUAL(app_run(h, RUN_PRIORITY, -1, 0, 0), 192); /* of the other DSP: as ever */
}

/* ---- mappings ---- */

static void map_family(void) {
    remote_handle64 h              = app_open(URI);
    enum fastrpc_map_flags flags[] = {FASTRPC_MAP_FD_DELAYED, FASTRPC_MAP_FD_NOMAP, FASTRPC_MAP_FD_DELAYED};
    for (int i = 0; i < 3; i++) {
        int fd;
        uint8_t * p = app_buffer(CDSP_DOMAIN_ID, 65536, flags[i], &fd);
        memset(p, i + 1, 65536);
        CHECK_EQUAL(app_run(h, RUN_MAP_FAMILY, fd, 65536, 0), (uint32_t)(i + 1) * 65536);
        CHECK_EQUAL(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, 65536), 0);
        rpcmem_free(p);
    }
    /* mapped by the application itself: there for the library, too, until the application takes it back */
    int fd;
    uint8_t * p = app_buffer(CDSP_DOMAIN_ID, 4096, FASTRPC_MAP_FD, &fd);
    p[5]        = 9;
    CHECK_EQUAL(app_run(h, RUN_MAP_KEEP, fd, 4096, 0), 9);
    CHECK_EQUAL(app_run(h, RUN_MAP_KEEP, fd, 4096, 2), 9);
    CHECK_EQUAL(app_run(h, RUN_MAP, fd, 4096, 0), 9);
    CHECK_EQUAL(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, 4096), 0);
    app_run(h, RUN_MAP_UNKNOWN, fd, 4096, 0);
}

/* A buffer is freed while the library keeps its mapping, and its number goes to another one. */
static void number_used_again(void) {
    remote_handle64 h = app_open(URI);
    int fd, next_fd;
    uint8_t * p = app_buffer(CDSP_DOMAIN_ID, 4096, FASTRPC_MAP_FD, &fd);
    memset(p, 1, 4096);
    CHECK_EQUAL(app_run(h, RUN_MAP_KEEP, fd, 4096, 0), 4096);
    CHECK_EQUAL(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, 4096), 0);
    rpcmem_free(p);
    p = app_buffer(CDSP_DOMAIN_ID, 8192, FASTRPC_MAP_FD_DELAYED, &next_fd);
    CHECK_EQUAL(next_fd, fd);
    memset(p, 2, 8192);
    CHECK_EQUAL(app_run(h, RUN_MAP, next_fd, 8192, 0), 2 * 8192);  /* the new one */
    CHECK_EQUAL(app_run(h, RUN_MAP_KEEP, next_fd, 4096, 1), 4096); /* the old one, still there */
    CHECK_EQUAL(app_run(h, RUN_MAP_KEEP, next_fd, 4096, 2), 4096);
    CHECK_EQUAL(app_run(h, RUN_MAP, next_fd, 8192, 0), 2 * 8192);
}

/* ---- nothing left behind ---- */

struct held {
    int descriptors, threads, mappings;
    long resident_kib;
};

static int entries(int pid, const char * what) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, what);
    DIR * d = opendir(path);
    int n   = 0;
    CHECK(d);
    while (readdir(d)) {
        n++;
    }
    closedir(d);
    return n;
}

static struct held held_by(int pid) {
    struct held h = {entries(pid, "fd"), entries(pid, "task"), 0, 0};
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE * f = fopen(path, "r");
    CHECK(f);
    while (fgets(line, sizeof line, f)) {
        h.mappings++;
    }
    fclose(f);
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    f = fopen(path, "r");
    CHECK(f && fscanf(f, "%*d %ld", &h.resident_kib) == 1);
    fclose(f);
    h.resident_kib *= sysconf(_SC_PAGESIZE) / 1024;
    return h;
}

/* What a session does: open, queue, threads, DMA, buffers by every flag, and all of it back. */
static void cycle(void) {
    remote_handle64 h = app_open(URI);
    dspqueue_t q;
    struct test_start t;
    remote_arg a[1];
    CHECK_EQUAL(dspqueue_create(CDSP_DOMAIN_ID, 0, 4096, 4096, NULL, NULL, NULL, &q), 0);
    CHECK_EQUAL(dspqueue_export(q, &t.queue_id), 0);
    a[0].buf = (remote_buf){&t, sizeof t};
    CHECK_EQUAL(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(TEST_START, 1, 0), a), 0);
    app_run(h, RUN_DMA_IN_THREAD, -1, 0, 0);
    for (int i = 0; i < 2; i++) {
        int fd;
        uint8_t * p = app_buffer(CDSP_DOMAIN_ID, 65536, i ? FASTRPC_MAP_FD : FASTRPC_MAP_FD_DELAYED, &fd);
        app_run(h, RUN_MAP, fd, 65536, 0);
        CHECK_EQUAL(echo_status(h, p, 1000, p + 32768, 1000), 0);
        CHECK_EQUAL(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, 65536), 0);
        rpcmem_free(p);
    }
    uint8_t * unannounced = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 8192);
    CHECK_EQUAL(echo_status(h, unannounced, 4096, unannounced + 4096, 4096), 0);
    rpcmem_free(unannounced);
    CHECK_EQUAL(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(TEST_STOP, 0, 0), NULL), 0);
    CHECK_EQUAL(dspqueue_close(q), 0);
    CHECK_EQUAL(remote_handle64_close(h), 0);
}

static void * cycle_in_thread(void * unused) {
    cycle();
    return unused;
}

/* Threads that ended need a moment to be gone. */
static void settle(int pid, int threads) {
    for (int i = 0; i < 2000 && entries(pid, "task") > threads; i++) {
        usleep(1000);
    }
}

static void cycles(void) {
    const int n = getenv("TEST_CYCLES") ? atoi(getenv("TEST_CYCLES")) : 1000;
    pthread_t t;
    for (int i = 0; i < 20; i++) {
        cycle();
    }
    int dsp = app_dsp_pid(), me = (int)getpid();
    struct held app0 = held_by(me), dsp0 = held_by(dsp);
    for (int i = 0; i < n; i++) {
        if (i % 10) {
            cycle();
        } else { /* from a thread that comes and goes */
            CHECK(!pthread_create(&t, NULL, cycle_in_thread, NULL));
            pthread_join(t, NULL);
        }
    }
    settle(dsp, dsp0.threads);
    struct held app1 = held_by(me), dsp1 = held_by(dsp);
    printf("after %d cycles: application %d descriptors %d threads %d mappings %ld KiB (before %d %d %d %ld), "
           "DSP %d %d %d %ld (before %d %d %d %ld)\n",
           n, app1.descriptors, app1.threads, app1.mappings, app1.resident_kib, app0.descriptors, app0.threads,
           app0.mappings, app0.resident_kib, dsp1.descriptors, dsp1.threads, dsp1.mappings, dsp1.resident_kib,
           dsp0.descriptors, dsp0.threads, dsp0.mappings, dsp0.resident_kib);
    CHECK_EQUAL(app1.descriptors, app0.descriptors);
    CHECK_EQUAL(app1.threads, app0.threads);
    CHECK_EQUAL(dsp1.descriptors, dsp0.descriptors);
    CHECK_EQUAL(dsp1.threads, dsp0.threads);
    /* Allocators round and cache: a leak of one small block in each cycle would be more than this. */
    if (getenv("TEST_CYCLES")) {
        return; /* a sanitizer's allocator keeps what was freed */
    }
    CHECK(app1.mappings <= app0.mappings + 8 && dsp1.mappings <= dsp0.mappings + 8);
    CHECK(app1.resident_kib <= app0.resident_kib + n && dsp1.resident_kib <= dsp0.resident_kib + n);
}

/* A DSP process that dies leaves no descriptor behind either. */
static void deaths(void) {
    int before = 0;
    for (int i = 0; i < 30; i++) {
        remote_handle64 h = app_open(URI);
        CHECK_EQUAL(app_run_status(h, RUN_NULL_POINTER), AEE_ECONNRESET);
        CHECK_EQUAL(remote_handle64_close(h), AEE_ECONNRESET);
        if (i == 5) {
            before = entries((int)getpid(), "fd");
        }
    }
    app_open(URI); /* drops the last one's connection */
    settle((int)getpid(), 4);
    CHECK(entries((int)getpid(), "fd") <= before + 2);
}

const struct app_case app_remote[] = {{"large-arguments", large_arguments},
                                      {"many-arguments", many_arguments},
                                      {"error-codes", error_codes},
                                      {"calls-in-parallel", calls_in_parallel},
                                      {"fills-in-parallel", fills_in_parallel},
                                      {"thread-parameters", thread_parameters},
                                      {"map-family", map_family},
                                      {"number-used-again", number_used_again},
                                      {"cycles", cycles},
                                      {"deaths", deaths},
                                      {NULL, NULL}};
