/* hexsim-dsp: one process of one application on one simulated DSP. libcdsprpc.so starts it; descriptor 3 is the
 * control connection, whose end is this process's end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "check.h"
#include "dsp.h"
#include "hexsim_runtime.h"

struct dsp dsp;

static int take_fd(struct channel_frame * f, uint32_t i) {
    int fd    = f->fds[i];
    f->fds[i] = -1;
    return fd;
}

static bool body(const struct channel_frame * f, void * out, size_t bytes, uint32_t n_fds) {
    if (f->body_bytes != bytes || f->n_fds != n_fds) {
        return false;
    }
    memcpy(out, f->body, bytes);
    return true;
}

static void * map_state(int fd, size_t bytes) {
    if (lseek(fd, 0, SEEK_END) < (off_t)bytes) {
        return NULL;
    }
    void * p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* The first request. */
static int hello(struct channel_frame * f) {
    struct wire_hello h;
    if (!body(f, &h, sizeof h, 2) || h.version != WIRE_VERSION) {
        return (int)AEE_EVERSIONNOTSUPPORT;
    }
    dsp.domain                  = h.domain;
    dsp.session                 = h.session;
    dsp.app_pid                 = (pid_t)h.app_pid;
    dsp.counters                = map_state(f->fds[0], sizeof *dsp.counters);
    struct shared_state * state = map_state(f->fds[1], sizeof *state);
    dsp.soc                     = soc_selected();
    if (!dsp.counters || !state || !dsp.soc || h.domain - SOC_FIRST_DOMAIN >= SOC_MAX_DOMAINS) {
        return (int)AEE_EBADPARM;
    }
    dsp.state   = &state->domain[h.domain - SOC_FIRST_DOMAIN];
    dsp.written = &state->written;
    return 0;
}

static int serve(struct channel_frame * f, uint64_t * value) {
    struct wire_map map;
    struct wire_unmap unmap;
    struct wire_queue queue;
    struct wire_caller caller;
    switch (f->kind) {
    case WIRE_MAP:
        return body(f, &map, sizeof map, 1) ? mapping_add(&map, take_fd(f, 0), value) : AEE_ERPC - AEE_EOFFSET;
    case WIRE_UNMAP:
        return body(f, &unmap, sizeof unmap, 0) ? mapping_remove(unmap.app_fd) : AEE_ERPC - AEE_EOFFSET;
    case WIRE_QUEUE_ADD:
        return body(f, &queue, sizeof queue, 1) ? queue_add(&queue, take_fd(f, 0)) : AEE_ERPC - AEE_EOFFSET;
    case WIRE_QUEUE_DEL:
        return body(f, &queue, sizeof queue, 0) ? queue_remove(queue.id) : AEE_ERPC - AEE_EOFFSET;
    case WIRE_CALLER:
        if (!body(f, &caller, sizeof caller, 1)) {
            return AEE_ERPC - AEE_EOFFSET;
        }
        calls_serve(take_fd(f, 0), caller.priority, caller.stack_bytes);
        return 0;
    case WIRE_SHUTDOWN:
        return 0;
    default:
        return AEE_EUNSUPPORTED - AEE_EOFFSET;
    }
}

static int answer(int status, uint64_t value) {
    struct wire_reply r = {status, 0, value};
    struct iovec part   = {&r, sizeof r};
    return channel_send(WIRE_CONTROL_FD, WIRE_REPLY, &part, 1, NULL, 0);
}

int main(void) {
    struct channel_frame f;
    pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN); /* of a terminal: the application decides, and this process ends with it */
    signal(SIGPIPE, SIG_IGN);
    int type;
    socklen_t size = sizeof type;
    if (getsockopt(WIRE_CONTROL_FD, SOL_SOCKET, SO_TYPE, &type, &size)) {
        fprintf(stderr, "hexsim-dsp is started by libcdsprpc.so, not by hand\n");
        return 2;
    }
    fcntl(WIRE_CONTROL_FD, F_SETFD, FD_CLOEXEC); /* the symbolizer has no business with it */
    farf_init();
    if (channel_recv(WIRE_CONTROL_FD, &f)) {
        return 2;
    }
    int status = f.kind == WIRE_HELLO ? hello(&f) : (int)AEE_ERPC;
    channel_free(&f);
    if (!status && parent != dsp.app_pid) {
        status = (int)AEE_ENOSUCHPROCESS; /* the application ended meanwhile */
    }
    if (!status) {
        window_init();
        fault_init();
        check_init();
        const char * counters = getenv("HEXSIM_COUNTERS");
        hexsim_hmx_watched    = checks.dma || (counters && *counters);
    }
    if (answer(status, 0) || status) {
        return 2;
    }
    while (!channel_recv(WIRE_CONTROL_FD, &f)) {
        uint64_t value = 0;
        uint32_t kind  = f.kind;
        status         = serve(&f, &value);
        channel_free(&f);
        if (kind == WIRE_SHUTDOWN) {
            thread_count_own();
            check_report_end();
        }
        if (answer(status, value) || kind == WIRE_SHUTDOWN) {
            break;
        }
    }
    _exit(0); /* DSP threads may still run: no destructors under their feet */
}
