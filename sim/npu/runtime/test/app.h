/* app.h: what the application side of the tests shares. */
#ifndef HEXSIM_TEST_APP_H
#define HEXSIM_TEST_APP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "methods.h"
#include "remote.h"

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define CHECK_EQUAL(got, want)                                                                                         \
    do {                                                                                                               \
        uint32_t g_ = (uint32_t)(got), w_ = (uint32_t)(want); /* codes are signed here, unsigned there */              \
        if (g_ != w_) {                                                                                                \
            fprintf(stderr, "%s:%d: %s is 0x%x, wanted 0x%x\n", __FILE__, __LINE__, #got, g_, w_);                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define URI "file:///libtest-v79.so?test_skel_handle_invoke&_modver=1.0&_dom=cdsp&_session=0"

remote_handle64 app_open(const char * uri);
/* Run a scenario; exits when the scenario itself failed. Returns its value. */
uint32_t app_run(remote_handle64 h, uint32_t scenario, int fd, uint32_t bytes, uint32_t value);
/* The same, for scenarios that kill the DSP: the status of the call. */
int app_run_status(remote_handle64 h, uint32_t scenario);

/* A buffer announced to a domain, to be mapped by the DSP when it likes (or now). */
uint8_t * app_buffer(int domain, uint32_t bytes, enum fastrpc_map_flags flags, int * fd);

/* Does HEXSIM_REPORT hold a finding of this kind? kind NULL: any at all. */
int app_reported(const char * kind);
/* The same, with a text somewhere in it. */
int app_reported_with(const char * kind, const char * text);

/* The DSP's log (HEXSIM_FARF) holds the text; else the test fails. */
void app_log_has(const char * text);

/* The process id of the DSP process, a child. */
int app_dsp_pid(void);

/* One test. */
struct app_case {
    const char * name;
    void (*run)(void);
};
extern const struct app_case app_calls[], app_remote[], app_queues[], app_checks[];

#endif
