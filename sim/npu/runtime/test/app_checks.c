/* Planted faults, each found; and the right way to do the same, silent. */
#define _GNU_SOURCE
#include "app.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "AEEStdErr.h"
#include "rpcmem.h"

#define BYTES 16384u

static void silent(remote_handle64 h, uint32_t scenario) {
    app_run(h, scenario, -1, 0, 0);
    CHECK_EQUAL(app_reported(NULL), 0);
}

static void found(remote_handle64 h, uint32_t scenario, const char * kind) {
    app_run(h, scenario, -1, 0, 0);
    CHECK_EQUAL(app_reported(kind), 1);
}

static void vtcm(void) {
    remote_handle64 h = app_open(URI);
    silent(h, RUN_VTCM_CLEAN);
    CHECK_EQUAL(app_run(h, RUN_VTCM_CLEAN, -1, 0, 0), 0xff); /* nothing of before is left */
    found(h, RUN_VTCM_USE_AFTER_RELEASE, "use-after-release");
    CHECK_EQUAL(app_run_status(h, RUN_VTCM_PAST_END), AEE_ECONNRESET); /* faults on the device too */
    CHECK_EQUAL(app_reported("out-of-bounds"), 1);
}

static void dma(void) {
    remote_handle64 h = app_open(URI);
    silent(h, RUN_DMA_CLEAN);
    CHECK_EQUAL(app_run(h, RUN_DMA_EARLY_READ, -1, 0, 0), 0xfe); /* rubbish, not yesterday's bytes */
    CHECK_EQUAL(app_reported(NULL), 0);
    CHECK_EQUAL(app_run(h, RUN_DMA_CHAIN, -1, 0, 1), 8);
    CHECK_EQUAL(app_reported(NULL), 0);
    CHECK_EQUAL(app_run(h, RUN_DMA_CHAIN, -1, 0, 0), 8); /* the engine keeps the order here; who knows of others */
    CHECK_EQUAL(app_reported("relies-on-order"), 1);
    CHECK_EQUAL(app_reported("source-written"), 0); /* the check itself disturbs nothing */
    found(h, RUN_DMA_NEVER_WAITED, "never-waited-for");
    found(h, RUN_DMA_SOURCE_WRITTEN, "source-written");
    found(h, RUN_DMA_DESTINATION_WRITTEN, "destination-written");
    found(h, RUN_DMA_OVERLAP, "overlapping-destinations");
}

/* Each use of a place that a transfer of another thread has not finished with; after its end the same is right. At the
 * earliest moment (HEXSIM_DMA=link) a transfer is never in flight, so that nothing is found. */
static void in_flight(bool latest) {
    static const struct {
        uint32_t scenario;
        const char * kind;
    } cases[] = {
        {RUN_DMA_SOURCE_IN_FLIGHT, "source-in-flight"},   {RUN_DMA_DESTINATION_IN_FLIGHT, "destination-in-flight"},
        {RUN_DMA_DESCRIPTOR_REUSED, "descriptor-reused"}, {RUN_HMX_READS_IN_FLIGHT, "read-in-flight"},
        {RUN_HMX_WRITES_IN_FLIGHT, "written-in-flight"},  {RUN_HMX_OVERWRITES_SOURCE, "source-overwritten"}};
    remote_handle64 h = app_open(URI);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        app_run(h, cases[i].scenario, -1, 0, 0);
    }
    CHECK_EQUAL(app_reported(NULL), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char source[64];
        snprintf(source, sizeof source, "\"source\":\"test/faults.c:%u\"", app_run(h, cases[i].scenario, -1, 0, 1));
        CHECK_EQUAL(app_reported(cases[i].kind), latest);
        CHECK_EQUAL(app_reported_with(cases[i].kind, source), latest);
    }
}

static void dma_latest(void) {
    in_flight(true);
}

/* HEXSIM_DMA=unordered: what relies on the order without asking for it writes back the wrong block. */
static void dma_unordered(void) {
    remote_handle64 h = app_open(URI);
    CHECK_EQUAL(app_run(h, RUN_DMA_CHAIN, -1, 0, 1), 8);
    CHECK_EQUAL(app_run(h, RUN_DMA_CHAIN, -1, 0, 0), 5);
}

static void dma_earliest(void) {
    in_flight(false);
    CHECK_EQUAL(app_reported(NULL), 0);
}

struct shared {
    remote_handle64 h;
    uint8_t * p;
    int fd;
};

static struct shared share(void) {
    struct shared s = {app_open(URI), NULL, -1};
    s.p             = app_buffer(CDSP_DOMAIN_ID, BYTES, FASTRPC_MAP_FD_DELAYED, &s.fd);
    return s;
}

static uint32_t run(struct shared s, uint32_t scenario, uint32_t value) {
    return app_run(s.h, scenario, s.fd, BYTES, value);
}

static void coherency_clean(void) {
    struct shared s = share();
    for (int i = 1; i < 5; i++) {
        memset(s.p, i, BYTES);
        CHECK_EQUAL(run(s, RUN_COHERENT_SUM, 0), (uint32_t)i * BYTES);
        run(s, RUN_FILL_CLEAN, (uint32_t)i + 10);
        CHECK(s.p[0] == i + 10 && s.p[BYTES - 1] == i + 10);
    }
    CHECK_EQUAL(app_reported(NULL), 0);
}

static void coherency_stale(void) {
    struct shared s = share();
    memset(s.p, 1, BYTES);
    CHECK_EQUAL(run(s, RUN_COHERENT_SUM, 0), BYTES);
    s.p[5000] = 2;
    CHECK_EQUAL(run(s, RUN_STALE_SUM, 0), BYTES); /* as the device would */
    CHECK_EQUAL(app_reported("stale-read"), 1);
}

static void coherency_not_cleaned(void) {
    struct shared s = share();
    run(s, RUN_FILL_NOT_CLEAN, 3);
    CHECK(s.p[0] == 3 && s.p[BYTES - 1] == 0);
    CHECK_EQUAL(app_reported("dirty-at-return"), 1);
}

static void coherency_discarded(void) {
    struct shared s = share();
    run(s, RUN_FILL_DISCARD, 3);
    CHECK(s.p[0] == 3 && s.p[BYTES - 1] == 0);
    CHECK_EQUAL(app_reported("discarded-write"), 1);
}

static void coherency_dma(void) {
    struct shared s = share();
    CHECK_EQUAL(run(s, RUN_DMA_READ_DIRTY, 1), 0); /* DMA saw what lay in memory */
    CHECK_EQUAL(app_reported("dma-read-dirty"), 1);
}

static void coherency_dma_write(void) {
    struct shared s = share();
    CHECK_EQUAL(run(s, RUN_DMA_WRITE_DIRTY, 0), 7 * BYTES);
    CHECK(s.p[0] == 7 && s.p[BYTES - 1] == 7);
    CHECK_EQUAL(app_reported(NULL), 0);
    CHECK_EQUAL(run(s, RUN_DMA_WRITE_DIRTY, 1), 3 * BYTES); /* the write-back undid it */
    CHECK_EQUAL(app_reported("dma-write-dirty"), 1);
    char where[64];
    snprintf(where, sizeof where, "\"fd\":%d,\"offset\":0,", s.fd);
    CHECK_EQUAL(app_reported_with("dma-write-dirty", where), 1);
}

/* Two parties write different bytes of one line, then one writes it back. */
static void shared_line(const char * kind) {
    struct shared s = share();
    run(s, RUN_SHARED_LINE, 0);
    s.p[64] = 77;
    run(s, RUN_SHARED_LINE, 1);
    CHECK_EQUAL(app_reported(kind), 1);
}

struct peer {
    remote_handle64 h;
    int fd;
    uint32_t value;
};

static void * peer_writes(void * argument) {
    const struct peer * p = argument;
    app_run(p->h, RUN_PEER_WRITES, p->fd, BYTES, p->value);
    return NULL;
}

/* A fence between two DSPs. A line that was only near one that was read is fresh behind it; one that was read itself
 * and not invalidated is not. */
static void coherency_peers(void) {
    struct shared s  = share();
    struct peer peer = {app_open("file:///libtest-v79.so?test_skel_handle_invoke&_modver=1.0&_dom=cdsp1"), s.fd, 0};
    CHECK_EQUAL(fastrpc_mmap(CDSP1_DOMAIN_ID, s.fd, s.p, 0, BYTES, FASTRPC_MAP_FD_DELAYED), 0);
    for (peer.value = 0; peer.value < 2; peer.value++) {
        pthread_t t;
        memset(s.p, 0, BYTES);
        CHECK(!pthread_create(&t, NULL, peer_writes, &peer));
        uint32_t got = run(s, RUN_PEER_READS, peer.value);
        pthread_join(t, NULL);
        CHECK_EQUAL(got, peer.value ? 0 : 9); /* stale, as on the device */
        CHECK_EQUAL(app_reported("stale-read"), peer.value);
    }
    CHECK_EQUAL(app_reported_with("stale-read", "peer_reads test/faults.c"), 1);
}

static void coherency_lost(void) {
    shared_line("lost-write");
}

static void sharing(void) {
    shared_line("false-sharing");
}

static void window(void) {
    remote_handle64 h = app_open(URI);
    silent(h, RUN_WINDOW_CLEAN);
    found(h, RUN_WINDOW_UNMAPPED, "unmapped");
    found(h, RUN_WINDOW_PAST_END, "past-the-end");
    found(h, RUN_WINDOW_HIGH, "beyond-4GiB");
    CHECK_EQUAL(app_run_status(h, RUN_NULL_POINTER), AEE_ECONNRESET);
    CHECK_EQUAL(app_reported_with("unmapped-access", "null pointer +0x18"), 1);
    CHECK_EQUAL(app_reported_with("unmapped-access", "\"source\":\"test/scenarios.c:"), 1);
}

/* The op is that of the thread that waits, the place that of the worker. */
static void spread(void) {
    char source[64];
    remote_handle64 h = app_open(URI);
    snprintf(source, sizeof source, "\"source\":\"test/faults.c:%u\"", app_run(h, RUN_SPREAD, -1, 0, 0));
    CHECK_EQUAL(app_reported_with("unmapped", source), 1);
    CHECK_EQUAL(app_reported_with("unmapped", "\"op\":\"op_spread\""), 1);
    CHECK_EQUAL(app_reported_with("unmapped", "\"frames\":[\"spread_worker test/faults.c:"), 1);
}

/* HEXSIM_SYMBOLIZER=/nonexistent: functions without lines, and the log says why. */
static void no_symbolizer(void) {
    remote_handle64 h = app_open(URI);
    app_run(h, RUN_SPREAD, -1, 0, 0);
    CHECK_EQUAL(app_reported_with("unmapped", "\"frames\":[\"spread_worker\"]"), 1);
    CHECK_EQUAL(app_reported_with("unmapped", "\"source\":\"\",\"at\":\"libtest-v79.so+0x"), 1);
    app_log_has("/nonexistent does not run; install llvm-19");
}

static void stack(void) {
    remote_handle64 h = app_open(URI);
    silent(h, RUN_STACK_CLEAN);
    found(h, RUN_STACK_DEEP, "too-deep");
    CHECK_EQUAL(app_reported_with("too-deep", "\"source\":\"test/faults.c:"), 1);
    /* the thread that serves the call itself: 16 KiB */
    app_run(h, RUN_OWN_STACK, -1, 0, 16384);
    CHECK_EQUAL(app_reported("too-deep"), 1);
    app_run(h, RUN_OWN_STACK, -1, 0, 100 * 1024);
    CHECK_EQUAL(app_reported("too-deep"), 2);
    CHECK_EQUAL(app_reported_with("too-deep", "\"frames\":[\"own_stack test/calls.c:"), 1);
}

/* No HEXSIM_CHECK: the same faults leave no trace, and memory is coherent. */
static void off(void) {
    struct shared s = share();
    memset(s.p, 1, BYTES);
    CHECK_EQUAL(run(s, RUN_COHERENT_SUM, 0), BYTES);
    s.p[5000] = 2;
    CHECK_EQUAL(run(s, RUN_STALE_SUM, 0), BYTES + 1);
    app_run(s.h, RUN_VTCM_USE_AFTER_RELEASE, -1, 0, 0);
    app_run(s.h, RUN_DMA_OVERLAP, -1, 0, 0);
    app_run(s.h, RUN_STACK_DEEP, -1, 0, 0);
    CHECK_EQUAL(app_reported(NULL), 0);
}

/* What HEXSIM_COUNTERS says contains each of a list. */
static void counted(const char * const * want, size_t n) {
    char text[4096] = "";
    FILE * f        = fopen(getenv("HEXSIM_COUNTERS"), "r");
    CHECK(f && fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    for (size_t i = 0; i < n; i++) {
        if (!strstr(text, want[i])) {
            fprintf(stderr, "no %s in %s", want[i], text);
            exit(1);
        }
    }
}

/* Known work gives known numbers. */
static void counters(void) {
    remote_handle64 h = app_open(URI);
    int fd;
    uint8_t * p = app_buffer(CDSP_DOMAIN_ID, 65536, FASTRPC_MAP_FD_DELAYED, &fd);
    CHECK(p);
    app_run(h, RUN_MAP, fd, 65536, 0);
    app_run(h, RUN_DMA_CLEAN, -1, 0, 0);
    app_run(h, RUN_WINDOW_CLEAN, -1, 0, 0);
    app_run(h, RUN_INSTRUCTIONS, -1, 0, 1000);
    CHECK_EQUAL(remote_handle64_close(h), 0);
    static const char * const want[] = {"\"simulated\":true",
                                        "\"host_maps\":1,\"host_map_bytes\":65536",
                                        "\"dsp_maps\":1,",
                                        "\"dma_descriptors\":2,\"dma_bytes_to_vtcm\":1024,\"dma_bytes_from_vtcm\":0",
                                        "\"cache_clean_invalidate_lines\":512",
                                        "\"direct_load_bytes\":0,\"direct_store_bytes\":0,",
                                        "\"hvx_instructions\":7000,",
                                        "\"invokes\":{\"5\":4}"};
    counted(want, sizeof want / sizeof want[0]);
}

/* A library that reports its accesses. */
static void counters_access(void) {
    remote_handle64 h = app_open("file:///libaccess-v79.so?test_skel_handle_invoke&_modver=1.0&_dom=cdsp&_session=0");
    int fd;
    CHECK(app_buffer(CDSP_DOMAIN_ID, 65536, FASTRPC_MAP_FD_DELAYED, &fd));
    app_run(h, RUN_ACCESS, fd, 65536, 0);
    CHECK_EQUAL(remote_handle64_close(h), 0);
    static const char * const want[] = {"\"direct_load_bytes\":784,\"direct_store_bytes\":1040,"};
    counted(want, 1);
}

const struct app_case app_checks[] = {{"check-vtcm", vtcm},
                                      {"check-dma", dma},
                                      {"check-coherency-clean", coherency_clean},
                                      {"check-coherency-stale", coherency_stale},
                                      {"check-coherency-not-cleaned", coherency_not_cleaned},
                                      {"check-coherency-discarded", coherency_discarded},
                                      {"check-coherency-dma", coherency_dma},
                                      {"check-dma-latest", dma_latest},
                                      {"dma-unordered", dma_unordered},
                                      {"check-dma-earliest", dma_earliest},
                                      {"check-coherency-dma-write", coherency_dma_write},
                                      {"check-spread", spread},
                                      {"check-no-symbolizer", no_symbolizer},
                                      {"check-coherency-peers", coherency_peers},
                                      {"check-coherency-lost", coherency_lost},
                                      {"check-sharing", sharing},
                                      {"check-window", window},
                                      {"check-stack", stack},
                                      {"check-off", off},
                                      {"counters", counters},
                                      {"counters-access", counters_access},
                                      {NULL, NULL}};
