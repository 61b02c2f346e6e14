/* calls: one DSP thread serves one application thread: open, invoke, close, in order. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "check.h"
#include "dsp.h"
#include "remote.h"

static int reply(int socket, int status, uint64_t value, const struct iovec * outputs, int n) {
    struct wire_reply head = {status, 0, value};
    struct iovec parts[WIRE_MAX_ARGS + 1];
    parts[0] = (struct iovec){&head, sizeof head};
    for (int i = 0; i < n; i++) {
        parts[1 + i] = outputs[i];
    }
    return channel_send(socket, WIRE_REPLY, parts, 1 + n, NULL, 0);
}

static int serve_open(int socket, const struct channel_frame * f) {
    struct wire_open open;
    if (f->body_bytes < sizeof open) {
        return -1;
    }
    memcpy(&open, f->body, sizeof open);
    const char * uri = (const char *)f->body + sizeof open;
    uint64_t left    = f->body_bytes - sizeof open;
    if (!open.uri_bytes || !open.path_bytes || (uint64_t)open.uri_bytes + open.path_bytes != left ||
        uri[open.uri_bytes - 1] || uri[left - 1]) {
        return -1;
    }
    uint64_t handle = 0;
    int status      = skel_open(uri, uri + open.uri_bytes, &handle);
    return reply(socket, status, handle, NULL, 0);
}

static int serve_close(int socket, const struct channel_frame * f) {
    struct wire_handle body;
    if (f->body_bytes != sizeof body) {
        return -1;
    }
    memcpy(&body, f->body, sizeof body);
    int status = skel_close(body.handle);
    thread_count_own();
    return reply(socket, status, 0, NULL, 0);
}

/* An invocation's arguments as the library gets them. */
struct arguments {
    struct wire_invoke head;
    struct wire_arg wire[WIRE_MAX_ARGS];
    remote_arg arg[WIRE_MAX_ARGS];
    uint32_t n_in, n;
    uint8_t * block; /* inline bytes, in the window */
    uint32_t borrowed;
};

#define ALIGN 128u

static uint64_t aligned(uint64_t bytes) {
    return (bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

/* Read the heads and check all lengths. *inputs is where inline input bytes start. */
static bool parse(const struct channel_frame * f, struct arguments * a, const uint8_t ** inputs) {
    if (f->body_bytes < sizeof a->head) {
        return false;
    }
    memcpy(&a->head, f->body, sizeof a->head);
    a->n_in = REMOTE_SCALARS_INBUFS(a->head.scalars);
    a->n    = a->n_in + REMOTE_SCALARS_OUTBUFS(a->head.scalars);
    if (a->n != a->head.n_args || a->n > WIRE_MAX_ARGS || (f->body_bytes - sizeof a->head) / sizeof a->wire[0] < a->n) {
        return false;
    }
    memcpy(a->wire, f->body + sizeof a->head, a->n * sizeof a->wire[0]);
    uint64_t in = 0, out = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct wire_arg * w = &a->wire[i];
        if (w->bytes > UINT32_MAX || (w->app_fd >= 0 && (w->fd_index < 0 || (uint32_t)w->fd_index >= f->n_fds))) {
            return false;
        }
        if (w->app_fd < 0) {
            *(i < a->n_in ? &in : &out) += w->bytes;
        }
    }
    size_t heads = sizeof a->head + a->n * sizeof a->wire[0];
    *inputs      = f->body + heads;
    return in == f->body_bytes - heads && out <= WIRE_MAX_BODY - sizeof(struct wire_reply);
}

static int place(struct arguments * a, const struct channel_frame * f, const uint8_t * inputs) {
    uint64_t room = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        room += a->wire[i].app_fd < 0 ? aligned(a->wire[i].bytes) : 0;
    }
    a->block = heap_alloc(ALIGN, room ? room : 1);
    if (!a->block) {
        return (int)AEE_ENOMEMORY;
    }
    uint8_t * at = a->block;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct wire_arg * w = &a->wire[i];
        a->arg[i].buf.nLen        = w->bytes;
        if (w->app_fd < 0) {
            a->arg[i].buf.pv = at;
            if (i < a->n_in) {
                memcpy(at, inputs, w->bytes);
                inputs += w->bytes;
            } else {
                memset(at, 0, w->bytes);
            }
            at += aligned(w->bytes);
        } else {
            a->arg[i].buf.pv = mapping_borrow(w->app_fd, f->fds[w->fd_index], w->buffer_bytes, w->offset, w->bytes);
            if (!a->arg[i].buf.pv) {
                return (int)AEE_ENOSUCHMAP;
            }
            a->borrowed = i + 1;
        }
    }
    return 0;
}

/* FastRPC maintains the cache for arguments in shared buffers: inputs before, outputs after. */
static void maintain(const struct arguments * a, bool before) {
    for (uint32_t i = 0; i < a->n && checks.coherency; i++) {
        if (a->wire[i].app_fd >= 0 && a->arg[i].buf.pv) {
            coherency_range((uintptr_t)a->arg[i].buf.pv, a->wire[i].bytes, true, before);
        }
    }
}

/* Turns of the application and the DSP with shared memory. Calls run beside each other: the first of them begins the
 * DSP's turn, each brings what its caller has written, and the last ends the turn. With a queue, its packets are the
 * turns, and calls may run beside a batch. */
static struct {
    pthread_mutex_t lock;
    unsigned active;
} turn = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void turn_begins(void) {
    pthread_mutex_lock(&turn.lock);
    turn.active++;
    pthread_mutex_unlock(&turn.lock);
    if (checks.any && !queue_imported()) {
        check_works();
    }
    if (checks.coherency && !queue_imported()) {
        coherency_enter();
    }
}

static void turn_ends(void) {
    pthread_mutex_lock(&turn.lock);
    if (--turn.active == 0 && !queue_imported()) {
        dma_drain();
        if (checks.coherency) {
            coherency_leave();
        }
    }
    pthread_mutex_unlock(&turn.lock);
}

static int serve_invoke(int socket, const struct channel_frame * f) {
    struct arguments * a = calloc(1, sizeof *a);
    const uint8_t * inputs;
    if (!a || !parse(f, a, &inputs)) {
        free(a);
        return -1;
    }
    uint32_t method = REMOTE_SCALARS_METHOD(a->head.scalars);
    atomic_fetch_add(&dsp.counters->invokes[method], 1);
    int status = place(a, f, inputs);
    if (!status) {
        fault_plan_step();
        turn_begins();
        maintain(a, true);
        status = skel_invoke(a->head.handle, a->head.scalars, a->arg);
        maintain(a, false);
        turn_ends();
    }
    struct iovec outputs[WIRE_MAX_ARGS];
    int n = 0;
    for (uint32_t i = a->n_in; i < a->n && !status; i++) {
        if (a->wire[i].app_fd < 0) {
            outputs[n++] = (struct iovec){a->arg[i].buf.pv, a->wire[i].bytes};
        }
    }
    /* Before the answer: the caller may give the buffer's number to another one at once. */
    for (uint32_t i = 0; i < a->borrowed; i++) {
        if (a->wire[i].app_fd >= 0 && a->arg[i].buf.pv) {
            mapping_release(a->wire[i].app_fd);
        }
    }
    int sent = reply(socket, status, 0, outputs, n);
    heap_free(a->block);
    free(a);
    return sent;
}

static void serve(void * argument) {
    int socket = (int)(intptr_t)argument;
    struct channel_frame f;
    while (!channel_recv(socket, &f)) {
        int bad = f.kind == WIRE_OPEN     ? serve_open(socket, &f)
                  : f.kind == WIRE_INVOKE ? serve_invoke(socket, &f)
                  : f.kind == WIRE_CLOSE  ? serve_close(socket, &f)
                                          : -1;
        channel_free(&f);
        if (bad) {
            break;
        }
    }
    close(socket);
    thread_detach(thread_self()->id);
}

void calls_serve(int socket, int priority, uint32_t stack_bytes) {
    if (!thread_start("fastrpc", stack_bytes, priority, serve, (void *)(intptr_t)socket)) {
        close(socket); /* the application sees a connection that ends */
    }
}
