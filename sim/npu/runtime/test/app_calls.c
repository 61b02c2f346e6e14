/* Sessions, calls, buffers, the DSP's own services, and its death. */
#define _GNU_SOURCE
#include "app.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "rpcmem.h"

#define UNABLE_TO_LOAD ((int)0x80000406)

/* ---- opening ---- */

static void open_missing(void) {
    remote_handle64 h;
    CHECK_EQUAL(remote_handle64_open("file:///libnothere-v79.so?x&_modver=1.0&_dom=cdsp", &h), UNABLE_TO_LOAD);
    CHECK_EQUAL(remote_handle64_open("file:///libtest-v79.so?no_such_symbol&_modver=1.0&_dom=cdsp", &h),
                UNABLE_TO_LOAD);
    CHECK_EQUAL(remote_handle64_open("file:///libtest-v81.so?test_skel_handle_invoke&_dom=cdsp", &h), UNABLE_TO_LOAD);
    CHECK_EQUAL(remote_handle64_open("file:///libtest-v75.so?test_skel_handle_invoke&_dom=cdsp", &h), UNABLE_TO_LOAD);
    CHECK_EQUAL(remote_handle64_open("file:///libbroken-v79.so?test_skel_handle_invoke&_dom=cdsp", &h), UNABLE_TO_LOAD);
    CHECK_EQUAL(remote_handle64_open("file:///../libtest-v79.so?test_skel_handle_invoke&_dom=cdsp", &h), 0x8000040f);
    CHECK_EQUAL(remote_handle64_open("nonsense", &h), 0x8000040f);
    CHECK_EQUAL(remote_handle64_open("file:///libtest-v79.so?test_skel_handle_invoke&_dom=adsp", &h),
                AEE_EINVALIDDOMAIN);
    unsetenv("ADSP_LIBRARY_PATH");
    CHECK_EQUAL(remote_handle64_open(URI, &h), UNABLE_TO_LOAD);
}

static void open_shell_missing(void) {
    remote_handle64 h;
    setenv("HEXSIM_DSP", "/nonexistent/hexsim-dsp", 1);
    CHECK_EQUAL(remote_handle64_open(URI, &h), 0x80000600);
    setenv("HEXSIM_DSP", "/bin/false", 1);
    CHECK_EQUAL(remote_handle64_open(URI, &h), 0x80000414);
}

static void sessions(void) {
    char uri[256];
    remote_rpc_reserve_new_session_t n = {
        .domain_name = "cdsp", .domain_name_len = 4, .session_name = "x", .session_name_len = 1};
    CHECK_EQUAL(remote_session_control(FASTRPC_RESERVE_NEW_SESSION, &n, sizeof n), 0);
    CHECK(n.session_id == 1 && n.effective_domain_id != CDSP_DOMAIN_ID);
    char module[]          = "file:///libtest-v79.so?test_skel_handle_invoke&_modver=1.0";
    remote_rpc_get_uri_t u = {"cdsp", 4, 1, module, sizeof module - 1, uri, sizeof uri};
    CHECK_EQUAL(remote_session_control(FASTRPC_GET_URI, &u, sizeof u), 0);
    CHECK(strstr(uri, "&_dom=cdsp&_session=1"));
    u.uri_len = 10;
    CHECK_EQUAL(remote_session_control(FASTRPC_GET_URI, &u, sizeof u), AEE_EBADSIZE);
    remote_handle64 a = app_open(URI), b = app_open(uri);
    int fd;
    uint8_t * p = app_buffer((int)n.effective_domain_id, 4096, FASTRPC_MAP_FD_DELAYED, &fd);
    p[0]        = 7;
    CHECK_EQUAL(app_run(b, RUN_MAP, fd, 4096, 0), 7);
    app_run(a, RUN_MAP_UNKNOWN, fd, 4096, 0); /* the other process has not been told */
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQUAL(remote_session_control(FASTRPC_RESERVE_NEW_SESSION, &n, sizeof n), 0);
    }
    CHECK_EQUAL(remote_session_control(FASTRPC_RESERVE_NEW_SESSION, &n, sizeof n), AEE_ENOSESSION);
    CHECK_EQUAL(remote_handle64_close(a), 0);
    CHECK_EQUAL(remote_handle64_close(b), 0);
    CHECK_EQUAL(remote_handle64_close(b), AEE_ENOSUCHHANDLE);
}

static void capabilities(void) {
    struct remote_dsp_capability c = {CDSP_DOMAIN_ID, ARCH_VER, 0};
    CHECK_EQUAL(remote_handle_control(DSPRPC_GET_DSP_INFO, &c, sizeof c), 0);
    CHECK_EQUAL(c.capability, 0x79);
    fastrpc_domain d[4];
    system_req_payload s = {.id = FASTRPC_GET_DOMAINS, .sys = {.domains = d, .max_domains = 4, .flags = FASTRPC_NSP}};
    CHECK_EQUAL(remote_system_request(&s), 0);
    CHECK(s.sys.num_domains == 2 && d[0].id == 3 && !strcmp(d[1].name, "cdsp1") && d[1].instance_id == 1);
    setenv("HEXSIM_DRIVER", "old", 1);
    char uri[64];
    remote_rpc_get_uri_t u = {"cdsp", 4, 0, "x", 1, uri, sizeof uri};
    CHECK_EQUAL(remote_session_control(FASTRPC_GET_URI, &u, sizeof u), 0x14);
    CHECK_EQUAL(remote_system_request(&s), AEE_EUNSUPPORTED);
}

/* ---- calls ---- */

static void echo(remote_handle64 h, void * in, void * out, size_t bytes) {
    remote_arg a[2];
    a[0].buf = (remote_buf){in, bytes};
    a[1].buf = (remote_buf){out, bytes};
    CHECK_EQUAL(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(TEST_ECHO, 1, 1), a), 0);
    CHECK(!memcmp(in, out, bytes));
}

static void calls(void) {
    remote_handle64 h = app_open(URI);
    for (size_t n = 0; n < 3000000; n = n * 5 + 1) {
        uint8_t *in = malloc(n + 1), *out = malloc(n + 1);
        memset(in, (int)n, n + 1);
        echo(h, in, out, n);
        free(in);
        free(out);
    }
    int fd;
    uint8_t * p = app_buffer(CDSP_DOMAIN_ID, 8192, FASTRPC_MAP_FD, &fd);
    uint8_t * q = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, 0, 100000); /* shared, never announced */
    memset(p, 3, 8192);
    memset(q, 4, 100000);
    echo(h, p + 100, p + 4096, 3900);
    echo(h, q + 7, q + 50000, 40000);
    remote_arg a[1] = {{{NULL, 0}}};
    CHECK_EQUAL(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(30, 0, 0), a), 0x80000414);
    CHECK_EQUAL(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(0, 0, 0), a), 0x80000414);
    CHECK_EQUAL(remote_handle64_invoke(12345, REMOTE_SCALARS_MAKE(2, 0, 0), a), AEE_ENOSUCHHANDLE);
    rpcmem_free(q);
    CHECK_EQUAL(remote_handle64_close(h), 0);
}

static void * caller(void * handle) {
    uint64_t in[64], out[64];
    for (uint64_t i = 0; i < 200; i++) {
        for (int k = 0; k < 64; k++) {
            in[k] = i * 64 + (uint64_t)k + (uintptr_t)&in;
        }
        echo(*(remote_handle64 *)handle, in, out, sizeof in);
    }
    return NULL;
}

static void calls_from_threads(void) {
    remote_handle64 h = app_open(URI);
    pthread_t t[6];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 6; i++) {
            CHECK(!pthread_create(&t[i], NULL, caller, &h));
        }
        for (int i = 0; i < 6; i++) {
            pthread_join(t[i], NULL);
        }
    }
}

/* ---- buffers ---- */

static void buffers(void) {
    remote_handle64 h = app_open(URI);
    int fd;
    uint8_t * p = app_buffer(CDSP_DOMAIN_ID, 70000, FASTRPC_MAP_FD_DELAYED, &fd);
    memset(p, 1, 70000);
    CHECK_EQUAL(app_run(h, RUN_MAP, fd, 70000, 0), 70000);
    CHECK_EQUAL(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 70000, FASTRPC_MAP_FD), AEE_EMAPALREADYPRESENT);
    CHECK_EQUAL(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, 70000), 0);
    CHECK_EQUAL(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, 70000), AEE_ENOSUCHMAP);
    app_run(h, RUN_MAP_UNKNOWN, fd, 70000, 0);
    rpcmem_free(p);
    CHECK_EQUAL(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 70000, FASTRPC_MAP_FD), AEE_EINVALIDFD);
    for (int i = 0; i < 300; i++) { /* descriptors are used again */
        p    = app_buffer(CDSP_DOMAIN_ID, 1u << 20, FASTRPC_MAP_FD_DELAYED, &fd);
        p[i] = 9;
        CHECK_EQUAL(app_run(h, RUN_MAP, fd, 1u << 20, 0), 9);
        CHECK_EQUAL(fastrpc_munmap(CDSP_DOMAIN_ID, fd, p, 1u << 20), 0);
        rpcmem_free(p);
    }
}

/* HEXSIM_WINDOW_MIB=64 */
static void small_window(void) {
    remote_handle64 h = app_open(URI);
    uint8_t * p[16];
    int fd, n = 0, status = 0;
    while (!status && n < 16) {
        p[n]   = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, 0, 10u << 20);
        fd     = rpcmem_to_fd(p[n]);
        status = fastrpc_mmap(CDSP_DOMAIN_ID, fd, p[n], 0, 10u << 20, FASTRPC_MAP_FD);
        n++;
    }
    CHECK(n >= 5 && n <= 7);
    CHECK_EQUAL(status, 1);
    CHECK_EQUAL(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p[n - 1], 0, 10u << 20, FASTRPC_MAP_FD_DELAYED), 0);
    app_run(h, RUN_MAP_UNKNOWN, fd, 10u << 20, 0); /* HAP_mmap finds no room */
    CHECK_EQUAL(fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(p[0]), p[0], 10u << 20), 0);
    CHECK_EQUAL(app_run(h, RUN_MAP, fd, 10u << 20, 0), 0);
}

/* HEXSIM_SOC=SM8850 */
static void extended(void) {
    remote_handle64 h = app_open("file:///libtest-v81.so?test_skel_handle_invoke&_modver=1.0&_dom=cdsp&_session=0");
    int fd;
    uint8_t * p = app_buffer(CDSP_DOMAIN_ID, 65536, FASTRPC_MAP_FD_DELAYED_EXTENDED, &fd);
    memset(p, 2, 65536);
    CHECK_EQUAL(app_run(h, RUN_DMA_EXTENDED, fd, 65536, 0), 2 * 65536);
}

/* ---- services ---- */

static void services(void) {
    remote_handle64 h = app_open(URI);
    app_run(h, RUN_DIVIDE_BY_ZERO, -1, 0, 0);
    app_run(h, RUN_HEAP, -1, 0, 0);
    for (int i = 0; i < 10; i++) {
        app_run(h, RUN_THREADS, -1, 0, 0);
        app_run(h, RUN_DMA_1D, -1, 0, 0);
    }
    app_run(h, RUN_DMA_2D, -1, 0, 0);
    CHECK_EQUAL(app_run(h, RUN_CLOCKS, -1, 0, 0), 0x79);
    CHECK_EQUAL(app_run(h, RUN_VTCM, -1, 0, 0), 8u << 20);
    volatile int zero = 0;
    CHECK_EQUAL(5 / zero, 0); /* the application stands for an Arm program */
}

/* Two processes of one DSP take turns with VTCM. */
static void vtcm_turns(void) {
    remote_handle64 a = app_open(URI);
    remote_handle64 b = app_open("file:///libtest-v79.so?test_skel_handle_invoke&_modver=1.0&_dom=cdsp&_session=1");
    remote_handle64 c = app_open("file:///libtest-v79.so?test_skel_handle_invoke&_modver=1.0&_dom=cdsp1");
    app_run(a, RUN_VTCM_HOLD, -1, 0, 0);
    app_run(c, RUN_VTCM_TAKE, -1, 0, 0); /* another DSP, another VTCM */
    app_run(b, RUN_VTCM_TAKE, -1, 0, 0); /* makes a's callback run */
}

/* ---- death ---- */

static void died(remote_handle64 h, int status) {
    CHECK_EQUAL(status, AEE_ECONNRESET);
    CHECK_EQUAL(app_run_status(h, RUN_HEAP), AEE_ECONNRESET);
    int fd;
    uint8_t * p = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, 0, 4096);
    fd          = rpcmem_to_fd(p);
    CHECK_EQUAL(fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 4096, FASTRPC_MAP_FD), AEE_ECONNRESET);
    CHECK_EQUAL(remote_handle64_close(h), AEE_ECONNRESET);
    h = app_open(URI); /* a new process */
    app_run(h, RUN_HEAP, -1, 0, 0);
    CHECK_EQUAL(remote_handle64_close(h), 0);
}

static void crash(void) {
    remote_handle64 h = app_open(URI);
    died(h, app_run_status(h, RUN_NULL_POINTER));
    app_log_has("null pointer +0x18");
    app_log_has("scenario_run test/scenarios.c:");
}

static void aborts(void) {
    remote_handle64 h = app_open(URI);
    died(h, app_run_status(h, RUN_ABORT));
}

static void killed(void) {
    remote_handle64 h = app_open(URI);
    CHECK(!kill(app_dsp_pid(), SIGKILL));
    died(h, app_run_status(h, RUN_HEAP));
}

/* An application may end at the first error that it gets from a DSP that is gone: how the DSP ended is said by then. */
static void end_said(void) {
    char said[256], want[64];
    int fd, err = dup(STDERR_FILENO), pipes[2];
    uint8_t * p = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 4096);
    fd          = rpcmem_to_fd(p);
    CHECK(err >= 0);
    for (int i = 0; i < 60; i++) {
        remote_handle64 h = app_open(URI);
        pid_t dsp         = app_dsp_pid();
        CHECK(!pipe(pipes) && dup2(pipes[1], STDERR_FILENO) >= 0);
        CHECK(!kill(dsp, SIGKILL));
        int status = i % 2 ? app_run_status(h, RUN_HEAP) : fastrpc_mmap(CDSP_DOMAIN_ID, fd, p, 0, 4096, FASTRPC_MAP_FD);
        CHECK(dup2(err, STDERR_FILENO) >= 0 && !close(pipes[1]));
        ssize_t n = read(pipes[0], said, sizeof said - 1); /* this side of the pipe has no writer left */
        CHECK(!close(pipes[0]));
        said[n < 0 ? 0 : n] = 0;
        CHECK_EQUAL(status, AEE_ECONNRESET);
        snprintf(want, sizeof want, "DSP process %d (domain 3, session 0) killed by signal 9", (int)dsp);
        if (!strstr(said, want)) {
            fprintf(stderr, "round %d: no \"%s\" in \"%s\"\n", i, want, said);
            exit(1);
        }
        CHECK_EQUAL(remote_handle64_close(h), AEE_ECONNRESET);
    }
}

/* HEXSIM_FAULT=exit:2 */
static void planned(void) {
    remote_handle64 h = app_open(URI);
    app_run(h, RUN_HEAP, -1, 0, 0);
    CHECK_EQUAL(app_run_status(h, RUN_HEAP), AEE_ECONNRESET);
}

/* An application that ends has waited for its DSP process, whose time counts as its own then: no orphan is left to us.
 */
static void reaped(void) {
    CHECK(!prctl(PR_SET_CHILD_SUBREAPER, 1));
    for (int end = 0; end < 2; end++) {
        int status  = -1;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            remote_handle64 h = app_open(URI);
            app_run(h, RUN_HEAP, -1, 0, 0);
            if (end) {
                CHECK_EQUAL(remote_handle64_close(h), 0);
            }
            exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        CHECK(waitpid(-1, &status, 0) == -1 && errno == ECHILD);
    }
}

/* A child that the application forks ends without ending the DSP process. */
static void forked(void) {
    remote_handle64 h = app_open(URI);
    int status        = -1;
    pid_t child       = fork();
    CHECK(child >= 0);
    if (child == 0) {
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    app_run(h, RUN_HEAP, -1, 0, 0);
}

const struct app_case app_calls[] = {{"open-missing", open_missing},
                                     {"open-shell-missing", open_shell_missing},
                                     {"sessions", sessions},
                                     {"capabilities", capabilities},
                                     {"calls", calls},
                                     {"calls-from-threads", calls_from_threads},
                                     {"buffers", buffers},
                                     {"small-window", small_window},
                                     {"extended", extended},
                                     {"services", services},
                                     {"vtcm-turns", vtcm_turns},
                                     {"crash", crash},
                                     {"abort", aborts},
                                     {"killed", killed},
                                     {"end-said", end_said},
                                     {"planned", planned},
                                     {"reaped", reaped},
                                     {"forked", forked},
                                     {NULL, NULL}};
