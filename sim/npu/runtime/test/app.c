/* app: one test of the runtime by name, in two processes. */
#define _GNU_SOURCE
#include "app.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rpcmem.h"

remote_handle64 app_open(const char * uri) {
    remote_handle64 h = 0;
    CHECK_EQUAL(remote_handle64_open(uri, &h), 0);
    return h;
}

static int run(remote_handle64 h, struct test_run r, struct test_result * result) {
    remote_arg a[2];
    a[0].buf = (remote_buf){&r, sizeof r};
    a[1].buf = (remote_buf){result, sizeof *result};
    return remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(TEST_RUN, 1, 1), a);
}

uint32_t app_run(remote_handle64 h, uint32_t scenario, int fd, uint32_t bytes, uint32_t value) {
    struct test_result result = {-1, 0};
    CHECK_EQUAL(run(h, (struct test_run){scenario, fd, bytes, value}, &result), 0);
    if (result.status) {
        static const char * const files[] = {"?", "scenarios.c", "calls.c", "faults.c"};
        fprintf(stderr, "scenario %u failed at %s:%d\n", scenario, files[result.status / 10000 & 3],
                result.status % 10000);
        exit(1);
    }
    return result.value;
}

int app_run_status(remote_handle64 h, uint32_t scenario) {
    struct test_result result;
    return run(h, (struct test_run){scenario, -1, 0, 0}, &result);
}

uint8_t * app_buffer(int domain, uint32_t bytes, enum fastrpc_map_flags flags, int * fd) {
    uint8_t * p = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes);
    CHECK(p);
    *fd = rpcmem_to_fd(p);
    CHECK_EQUAL(fastrpc_mmap(domain, *fd, p, 0, bytes, flags), 0);
    return p;
}

int app_reported(const char * kind) {
    return app_reported_with(kind, "");
}

int app_reported_with(const char * kind, const char * text) {
    const char * path = getenv("HEXSIM_REPORT");
    char want[64], line[4096];
    CHECK(path);
    FILE * f = fopen(path, "r");
    int n    = 0;
    snprintf(want, sizeof want, "\"kind\":\"%s\"", kind ? kind : "");
    while (f && fgets(line, sizeof line, f)) {
        n += (!kind || strstr(line, want)) && strstr(line, text);
    }
    if (f) {
        fclose(f);
    }
    return n;
}

void app_log_has(const char * text) {
    char log[16384] = "";
    FILE * f        = fopen(getenv("HEXSIM_FARF"), "r");
    CHECK(f && fread(log, 1, sizeof log - 1, f) > 0);
    fclose(f);
    if (!strstr(log, text)) {
        fprintf(stderr, "no \"%s\" in the log:\n%s\n", text, log);
        exit(1);
    }
}

int app_dsp_pid(void) {
    char path[64], line[4096] = "";
    snprintf(path, sizeof path, "pgrep -P %d -x hexsim-dsp", (int)getpid());
    FILE * f = popen(path, "r");
    CHECK(f && fgets(line, sizeof line, f));
    pclose(f);
    return atoi(line);
}

int main(int argc, char ** argv) {
    const struct app_case * lists[] = {app_calls, app_remote, app_queues, app_checks};
    alarm(400); /* against a hang only */
    ;
    if (argc == 2) {
        const char * report = getenv("HEXSIM_REPORT");
        if (report) {
            unlink(report);
        }
        if (getenv("HEXSIM_FARF")) {
            unlink(getenv("HEXSIM_FARF"));
        }
        for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
            for (const struct app_case * c = lists[l]; c->name; c++) {
                if (!strcmp(c->name, argv[1])) {
                    c->run();
                    return 0;
                }
            }
        }
    }
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
        for (const struct app_case * c = lists[l]; c->name; c++) {
            puts(c->name);
        }
    }
    return 2;
}
