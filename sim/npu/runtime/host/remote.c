/* remote: open, invoke and close interfaces on a DSP. */
#include "remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "soc.h"

#define MAX_HANDLES 256u

struct handle {
    struct pd * pd;
    uint64_t dsp_handle;
    bool used;
};

static struct {
    pthread_mutex_t lock;
    struct handle slot[MAX_HANDLES];
} handles = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Handles look like the driver's: no small numbers, so that a mixed-up integer is refused. */
#define HANDLE_BASE 0x4857000000000000ull

static bool handle_copy(remote_handle64 h, struct handle * out) {
    uint64_t i = h - HANDLE_BASE;
    bool ok    = false;
    pthread_mutex_lock(&handles.lock);
    if (i < MAX_HANDLES && handles.slot[i].used) {
        *out = handles.slot[i];
        ok   = true;
    }
    pthread_mutex_unlock(&handles.lock);
    return ok;
}

static bool handle_new(struct handle h, remote_handle64 * out) {
    bool ok = false;
    pthread_mutex_lock(&handles.lock);
    for (uint64_t i = 0; i < MAX_HANDLES && !ok; i++) {
        if (!handles.slot[i].used) {
            h.used          = true;
            handles.slot[i] = h;
            *out            = HANDLE_BASE + i;
            ok              = true;
        }
    }
    pthread_mutex_unlock(&handles.lock);
    return ok;
}

static void handle_drop(remote_handle64 h) {
    pthread_mutex_lock(&handles.lock);
    handles.slot[h - HANDLE_BASE].used = false;
    pthread_mutex_unlock(&handles.lock);
}

/* ---- URI ---- */

/* The effective domain id that a URI names: _dom (default cdsp) and _session (default 0); -1 when there is none. */
static int uri_domain(const char * uri) {
    static const char * const names[SOC_MAX_DOMAINS] = {CDSP_DOMAIN_NAME, CDSP1_DOMAIN_NAME};
    int domain                                       = CDSP_DOMAIN_ID;
    const char * dom                                 = strstr(uri, "_dom=");
    if (dom) {
        size_t n = strcspn(dom + 5, "&");
        domain   = -1;
        for (uint32_t i = 0; i < soc_domains(); i++) {
            if (strlen(names[i]) == n && !strncmp(names[i], dom + 5, n)) {
                domain = (int)(SOC_FIRST_DOMAIN + i);
            }
        }
    }
    const char * session = strstr(uri, "_session=");
    unsigned long n      = session ? strtoul(session + 9, NULL, 10) : 0;
    return domain < 0 || n >= HOST_MAX_SESSIONS ? -1 : domain + (int)(n * HOST_DOMAIN_STRIDE);
}

static const char * search_path(void) {
    const char * path = getenv("DSP_LIBRARY_PATH");
    if (!path) {
        path = getenv("ADSP_LIBRARY_PATH");
    }
    return path ? path : "";
}

/* ---- one exchange on the caller's connection ---- */

static int call(struct pd * pd, uint32_t kind, const struct iovec * parts, int n_parts, const int * fds, uint32_t n_fds,
                struct channel_frame * answer, struct wire_reply * reply) {
    int socket = pd_call_socket(pd);
    if (socket < 0) {
        return AEE_ECONNRESET;
    }
    if (channel_send(socket, kind, parts, n_parts, fds, n_fds) || channel_recv(socket, answer)) {
        pd_note_dead(pd);
        return AEE_ECONNRESET;
    }
    if (answer->kind != WIRE_REPLY || answer->body_bytes < sizeof *reply) {
        channel_free(answer);
        return AEE_ERPC;
    }
    memcpy(reply, answer->body, sizeof *reply);
    return 0;
}

EXPORT int remote_handle64_open(const char * name, remote_handle64 * handle) {
    if (!name || !handle) {
        return AEE_EBADPARM;
    }
    int status;
    struct pd * pd = pd_get(uri_domain(name), true, &status);
    if (!pd) {
        return status;
    }
    const char * path     = search_path();
    struct wire_open open = {(uint32_t)strlen(name) + 1, (uint32_t)strlen(path) + 1};
    struct iovec parts[]  = {{&open, sizeof open}, {(void *)name, open.uri_bytes}, {(void *)path, open.path_bytes}};
    struct channel_frame answer;
    struct wire_reply reply;
    status = call(pd, WIRE_OPEN, parts, 3, NULL, 0, &answer, &reply);
    if (status) {
        return status;
    }
    channel_free(&answer);
    if (reply.status) {
        return reply.status;
    }
    if (!handle_new((struct handle){pd, reply.value, true}, handle)) {
        return AEE_EOUTOFHANDLES;
    }
    pthread_mutex_lock(&pd->lock);
    pd->handles++;
    pthread_mutex_unlock(&pd->lock);
    return 0;
}

EXPORT int remote_handle64_close(remote_handle64 h) {
    struct handle handle;
    if (!handle_copy(h, &handle)) {
        return AEE_ENOSUCHHANDLE;
    }
    struct wire_handle body = {handle.dsp_handle};
    struct iovec part       = {&body, sizeof body};
    struct channel_frame answer;
    struct wire_reply reply;
    int status = call(handle.pd, WIRE_CLOSE, &part, 1, NULL, 0, &answer, &reply);
    if (!status) {
        channel_free(&answer);
        status = reply.status;
    }
    if (status && status != AEE_ECONNRESET) {
        return status;
    }
    handle_drop(h);
    pthread_mutex_lock(&handle.pd->lock);
    handle.pd->handles--;
    pthread_mutex_unlock(&handle.pd->lock);
    counters_write();
    return status;
}

/* ---- invoke ---- */

struct invocation {
    struct wire_invoke head;
    struct wire_arg args[WIRE_MAX_ARGS];
    struct iovec parts[WIRE_MAX_ARGS + 2];
    int n_parts;
    int fds[WIRE_MAX_FDS];
    uint32_t n_fds;
    uint64_t in_bytes, out_bytes; /* inline */
    uint64_t shared_bytes;
};

/* Where a descriptor is among those that travel; -1 when there are too many. */
static int32_t travels(struct invocation * v, int fd) {
    for (uint32_t i = 0; i < v->n_fds; i++) {
        if (v->fds[i] == fd) {
            return (int32_t)i;
        }
    }
    if (v->n_fds == WIRE_MAX_FDS) {
        return -1;
    }
    v->fds[v->n_fds] = fd;
    return (int32_t)v->n_fds++;
}

/* FastRPC copies what is not shared through memory of the driver's, which is not without end. */
static bool fits(const struct invocation * v) {
    uint64_t room = WIRE_MAX_BODY - sizeof(struct wire_invoke) - WIRE_MAX_ARGS * sizeof(struct wire_arg);
    return v->in_bytes <= room && v->out_bytes <= room;
}

static void describe(struct invocation * v, uint32_t i, const remote_buf * buf, bool input) {
    struct wire_arg * a = &v->args[i];
    struct host_buffer b;
    *a = (struct wire_arg){.bytes = buf->nLen, .app_fd = -1};
    if (buf->nLen && host_buffer_at(buf->pv, &b) && buf->nLen <= b.bytes - (size_t)((uint8_t *)buf->pv - b.base) &&
        (a->fd_index = travels(v, b.fd)) >= 0) {
        a->app_fd       = b.fd;
        a->offset       = (uint64_t)((uint8_t *)buf->pv - b.base);
        a->buffer_bytes = b.bytes;
        v->shared_bytes += buf->nLen;
        return;
    }
    *(input ? &v->in_bytes : &v->out_bytes) += buf->nLen;
    if (input && buf->nLen) {
        v->parts[v->n_parts++] = (struct iovec){buf->pv, buf->nLen};
    }
}

EXPORT int remote_handle64_invoke(remote_handle64 h, uint32_t scalars, remote_arg * args) {
    struct handle handle;
    if (!handle_copy(h, &handle)) {
        return AEE_ENOSUCHHANDLE;
    }
    uint32_t n_in = REMOTE_SCALARS_INBUFS(scalars), n_out = REMOTE_SCALARS_OUTBUFS(scalars);
    if (n_in + n_out > WIRE_MAX_ARGS || REMOTE_SCALARS_INHANDLES(scalars) || REMOTE_SCALARS_OUTHANDLES(scalars)) {
        return AEE_EUNSUPPORTED; /* more arguments, or handles as arguments: nobody needs them */
    }
    struct invocation * v = calloc(1, sizeof *v);
    if (!v) {
        return AEE_ENOMEMORY;
    }
    v->head     = (struct wire_invoke){handle.dsp_handle, scalars, n_in + n_out};
    v->parts[0] = (struct iovec){&v->head, sizeof v->head};
    v->parts[1] = (struct iovec){v->args, (n_in + n_out) * sizeof v->args[0]};
    v->n_parts  = 2;
    for (uint32_t i = 0; i < n_in + n_out; i++) {
        describe(v, i, &args[i].buf, i < n_in);
    }
    if (!fits(v)) {
        free(v);
        return AEE_ENORPCMEMORY;
    }
    HOST_COUNT(handle.pd, invoked_bytes, v->in_bytes + v->out_bytes);
    HOST_COUNT(handle.pd, shared_argument_bytes, v->shared_bytes);

    struct channel_frame answer;
    struct wire_reply reply;
    int status = call(handle.pd, WIRE_INVOKE, v->parts, v->n_parts, v->fds, v->n_fds, &answer, &reply);
    if (!status) {
        size_t at = sizeof reply;
        for (uint32_t i = n_in; i < n_in + n_out && !status; i++) {
            size_t n = v->args[i].app_fd < 0 ? v->args[i].bytes : 0;
            if (n > answer.body_bytes - at) {
                status = reply.status ? 0 : AEE_ERPC; /* a failed call brings no outputs */
                break;
            }
            if (n) {
                memcpy(args[i].buf.pv, answer.body + at, n);
            }
            at += n;
        }
        status = status ? status : reply.status;
        channel_free(&answer);
    }
    free(v);
    return status;
}

/* Interfaces without instances are not used by anybody here. */
EXPORT int remote_handle_open(const char * name, remote_handle * handle) {
    (void)name;
    (void)handle;
    return AEE_EUNSUPPORTED;
}

EXPORT int remote_handle_invoke(remote_handle handle, uint32_t scalars, remote_arg * args) {
    (void)handle;
    (void)scalars;
    (void)args;
    return AEE_ENOSUCHHANDLE;
}

EXPORT int remote_handle_close(remote_handle handle) {
    (void)handle;
    return AEE_ENOSUCHHANDLE;
}
