/* Planted faults, each found; and the right way to do the same, silent. */
#define _GNU_SOURCE
#include "app.h"

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
    found(h, RUN_DMA_CHAIN, "relies-on-order");
    CHECK_EQUAL(app_reported("source-written"), 0); /* the check itself disturbs nothing */
    found(h, RUN_DMA_NEVER_WAITED, "never-waited-for");
    found(h, RUN_DMA_SOURCE_WRITTEN, "source-written");
    found(h, RUN_DMA_DESTINATION_WRITTEN, "destination-written");
    found(h, RUN_DMA_OVERLAP, "overlapping-destinations");
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

/* Two parties write different bytes of one line, then one writes it back. */
static void shared_line(const char * kind) {
    struct shared s = share();
    run(s, RUN_SHARED_LINE, 0);
    s.p[64] = 77;
    run(s, RUN_SHARED_LINE, 1);
    CHECK_EQUAL(app_reported(kind), 1);
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
}

static void stack(void) {
    remote_handle64 h = app_open(URI);
    silent(h, RUN_STACK_CLEAN);
    found(h, RUN_STACK_DEEP, "too-deep");
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

/* HEXSIM_COUNTERS: known work gives known numbers. */
static void counters(void) {
    remote_handle64 h = app_open(URI);
    int fd;
    uint8_t * p = app_buffer(CDSP_DOMAIN_ID, 65536, FASTRPC_MAP_FD_DELAYED, &fd);
    CHECK(p);
    app_run(h, RUN_MAP, fd, 65536, 0);
    app_run(h, RUN_DMA_CLEAN, -1, 0, 0);
    app_run(h, RUN_WINDOW_CLEAN, -1, 0, 0);
    CHECK_EQUAL(remote_handle64_close(h), 0);
    char text[4096] = "";
    FILE * f        = fopen(getenv("HEXSIM_COUNTERS"), "r");
    CHECK(f && fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    const char * want[] = {"\"simulated\":true",
                           "\"host_maps\":1,\"host_map_bytes\":65536",
                           "\"dsp_maps\":1,",
                           "\"dma_descriptors\":2,\"dma_bytes_to_vtcm\":1024,\"dma_bytes_from_vtcm\":0",
                           "\"cache_clean_invalidate_lines\":512",
                           "\"invokes\":{\"5\":3}"};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        if (!strstr(text, want[i])) {
            fprintf(stderr, "no %s in %s", want[i], text);
            exit(1);
        }
    }
}

const struct app_case app_checks[] = {{"check-vtcm", vtcm},
                                      {"check-dma", dma},
                                      {"check-coherency-clean", coherency_clean},
                                      {"check-coherency-stale", coherency_stale},
                                      {"check-coherency-not-cleaned", coherency_not_cleaned},
                                      {"check-coherency-discarded", coherency_discarded},
                                      {"check-coherency-dma", coherency_dma},
                                      {"check-coherency-lost", coherency_lost},
                                      {"check-sharing", sharing},
                                      {"check-window", window},
                                      {"check-stack", stack},
                                      {"check-off", off},
                                      {"counters", counters},
                                      {NULL, NULL}};
