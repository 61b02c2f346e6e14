/* entry.c: the interface of the fastrpc variant's DSP library.
 *
 * Upstream's main.c is compiled here as it stands, by inclusion. What it calls of the queue, of the mappings and of the
 * cache is redirected first; what it exports is renamed, and called from the methods below. Each batch is one call:
 * no thread of this library waits for anything. */
#include <AEEStdErr.h>
#include <HAP_farf.h>
#include <HAP_mem.h>
#include <dspqueue.h>
#include <qurt.h>
#include <qurt_memory.h>
#include <remote.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* All that main.c includes and that declares what is redirected. */
#define GGML_COMMON_DECL_C
#include "ggml-common.h"
#include "htp-ctx.h"
#include "htp-ops.h"
#include "htp-tensor.h"
#include "work-queue.h"

#include "dsp-ctx.h"

_Static_assert(sizeof(struct htp_opbatch_rsp) <= sizeof(((struct session *)0)->response), "room for the response");

/* Calls come one at a time: the application sees to it for each session, and a second session of the same process
 * waits. So the session whose call runs needs no parameter, which main.c's calls have no place for. */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static struct session * active;

static struct session * enter(remote_handle64 handle) {
    while (atomic_flag_test_and_set(&busy)) {
        qurt_sleep(50);
    }
    return active = (struct session *)(uintptr_t)handle;
}

static AEEResult leave(AEEResult result) {
    active = NULL;
    atomic_flag_clear(&busy);
    return result;
}

/* ---- what main.c calls ---- */

/* NULL callbacks are refused, as on devices that insist on them: main.c then starts no thread. */
static AEEResult queue_import(dspqueue_callback_t packets, dspqueue_t * queue) {
    if (!packets) {
        return AEE_EBADPARM;
    }
    *queue = (dspqueue_t)active;
    return AEE_SUCCESS;
}

static AEEResult queue_write(uint32_t bytes, const uint8_t * message) {
    if (bytes > sizeof active->response) {
        return AEE_EBADSIZE;
    }
    memcpy(active->response, message, bytes);
    active->response_bytes = bytes;
    return AEE_SUCCESS;
}

/* The packet loop, which nothing calls here. */
static AEEResult queue_read(void) {
    return AEE_EUNSUPPORTED;
}

static void * map(uint32_t fd, size_t bytes) {
    void * p = segments_map(&active->segments, fd, bytes);
    if (p != (void *)-1 && wire_is_pooled(fd) && active->coherency.narrow) {
        coherency_buffer(&active->coherency, p, bytes); /* weights: recycled memory */
    }
    return p;
}

static struct ops ops_of(const struct htp_tensor * tensor, const struct htp_op_desc * op, uint32_t n_ops) {
    return (struct ops){.tensor = tensor, .op = op, .n_ops = n_ops};
}

#define dspqueue_import(id, packets, errors, context, queue) queue_import(packets, queue)
#define dspqueue_close(queue) AEE_SUCCESS
#define dspqueue_write(queue, flags, n, buffers, bytes, message, timeout) queue_write(bytes, message)
#define dspqueue_peek(...) queue_read()
#define dspqueue_read_noblock(...) queue_read()
#define HAP_mmap2(address, bytes, protection, flags, fd, offset) map(fd, bytes)
#define HAP_mmap(address, bytes, protection, flags, fd, offset) map(fd, (size_t)(bytes))
#define HAP_munmap2(address, bytes) segments_unmap(&active->segments, address, bytes)
#define HAP_munmap(address, bytes) segments_unmap(&active->segments, address, (size_t)(bytes))
#define qurt_mem_cache_clean(...) coherency_whole(&active->coherency)
#define work_queue_wakeup(queue)                                                                                       \
    do {                                                                                                               \
        (work_queue_wakeup)(queue);                                                                                    \
        coherency_begin(&active->coherency, ctx, ops_of(tens, ops, n_ops));                                            \
    } while (0)
#define work_queue_suspend(queue)                                                                                      \
    do {                                                                                                               \
        coherency_end(&active->coherency, ctx);                                                                        \
        (work_queue_suspend)(queue);                                                                                   \
    } while (0)
#define htp_tensor_flush_all(context, tensors, n) coherency_flush(&active->coherency, octx)
#define htp_tensor_dirty_all(context, tensors, n) coherency_dirty(&active->coherency, octx)

/* ---- main.c ---- */

#define htp_iface_open upstream_open
#define htp_iface_close upstream_close
#define htp_iface_start upstream_start
#define htp_iface_stop upstream_stop
#define htp_iface_mmap upstream_mmap
#define htp_iface_munmap upstream_munmap
#define htp_iface_profiler upstream_profiler
#define htp_iface_etm upstream_etm
#define htp_iface_hwinfo upstream_hwinfo

static AEEResult upstream_open(const char * uri, remote_handle64 * handle);
static AEEResult upstream_close(remote_handle64 handle);
static AEEResult upstream_start(remote_handle64 handle, uint32_t id, uint64_t queue, uint32_t n_hvx, uint32_t n_hmx,
                                uint64_t max_vmem);
static AEEResult upstream_stop(remote_handle64 handle);
static AEEResult upstream_mmap(remote_handle64 handle, uint32_t fd, uint64_t size);
static AEEResult upstream_munmap(remote_handle64 handle, uint32 fd);
static AEEResult upstream_profiler(remote_handle64 handle, uint32_t mode, const htp_iface_pmu_conf * conf);
static AEEResult upstream_etm(remote_handle64 handle, uint32_t enable);
static AEEResult upstream_hwinfo(remote_handle64 handle, uint32_t * n_threads, uint32_t * n_hvx, uint32_t * n_hmx,
                                 uint64_t * vtcm_size);

#include "main.c"

#undef htp_iface_open
#undef htp_iface_close
#undef htp_iface_start
#undef htp_iface_stop
#undef htp_iface_mmap
#undef htp_iface_munmap
#undef htp_iface_profiler
#undef htp_iface_etm
#undef htp_iface_hwinfo

/* ---- the interface ---- */

AEEResult htp_iface_open(const char * uri, remote_handle64 * handle) {
    struct session * s = calloc(1, sizeof *s);
    if (!s) {
        return AEE_ENOMEMORY;
    }
    AEEResult result = upstream_open(uri, &s->upstream);
    if (result != AEE_SUCCESS) {
        free(s);
        return result;
    }
    *handle = (remote_handle64)(uintptr_t)s;
    return AEE_SUCCESS;
}

AEEResult htp_iface_close(remote_handle64 handle) {
    struct session * s = enter(handle);
    AEEResult result   = upstream_close(s->upstream);
    if (result == AEE_SUCCESS) {
        segments_release_all(&s->segments);
        free(s);
    }
    return leave(result);
}

AEEResult htp_iface_attach(remote_handle64 handle, const htp_iface_settings * settings) {
    struct session * s      = enter(handle);
    htp_iface_settings want = wire_settings();
    want.coherency          = settings->coherency;
    want.cap_bytes          = settings->cap_bytes;
    if (memcmp(&want, settings, sizeof want) || settings->coherency > WIRE_COHERENCY_WHOLE) {
        FARF(ERROR,
             "fastrpc: the application speaks version %u of the wire, this library %u, or was built from another"
             " llama.cpp",
             settings->version, want.version);
        return leave(AEE_EVERSIONNOTSUPPORT);
    }
    s->coherency.policy    = settings->coherency;
    s->coherency.cap_bytes = settings->cap_bytes;
    s->attached            = true;
    return leave(AEE_SUCCESS);
}

AEEResult htp_iface_start(remote_handle64 handle, uint32_t id, uint64_t queue, uint32_t n_hvx, uint32_t n_hmx,
                          uint64_t max_vmem) {
    struct session * s = enter(handle);
    if (!s->attached) {
        FARF(ERROR, "fastrpc: start without attach: is the application's library the dspqueue variant's?");
        return leave(AEE_EVERSIONNOTSUPPORT);
    }
    return leave(upstream_start(s->upstream, id, queue, n_hvx, n_hmx, max_vmem));
}

AEEResult htp_iface_stop(remote_handle64 handle) {
    struct session * s = enter(handle);
    AEEResult result   = upstream_stop(s->upstream);
    segments_release_all(&s->segments); /* main.c has forgotten its mappings */
    return leave(result);
}

AEEResult htp_iface_mmap(remote_handle64 handle, uint32_t fd, uint64_t size) {
    return leave(upstream_mmap(enter(handle)->upstream, fd, size));
}

AEEResult htp_iface_munmap(remote_handle64 handle, uint32_t fd) {
    return leave(upstream_munmap(enter(handle)->upstream, fd));
}

AEEResult htp_iface_profiler(remote_handle64 handle, uint32_t mode, const htp_iface_pmu_conf * conf) {
    return leave(upstream_profiler(enter(handle)->upstream, mode, conf));
}

AEEResult htp_iface_etm(remote_handle64 handle, uint32_t enable) {
    return leave(upstream_etm(enter(handle)->upstream, enable));
}

AEEResult htp_iface_hwinfo(remote_handle64 handle, uint32_t * n_threads, uint32_t * n_hvx, uint32_t * n_hmx,
                           uint64_t * vtcm_size) {
    return leave(upstream_hwinfo(enter(handle)->upstream, n_threads, n_hvx, n_hmx, vtcm_size));
}

AEEResult htp_iface_release(remote_handle64 handle, uint32_t index) {
    return leave(segments_release(&enter(handle)->segments, index));
}

/* ---- batches ---- */

/* Address of a batch's block. One outside the pool is mapped by the application, all the time. */
static uint8_t * block_get(struct session * s, const htp_iface_batch * b) {
    void * base = NULL;
    if (wire_is_pooled(b->block)) {
        base = segments_map(&s->segments, b->block, (size_t)b->offset + b->bytes);
        return base == (void *)-1 ? NULL : (uint8_t *)base + b->offset;
    }
    uint64 physical;
    return HAP_mmap_get((int)b->block, &base, &physical) ? NULL : (uint8_t *)base + b->offset;
}

static void block_put(struct session * s, const htp_iface_batch * b, uint8_t * block) {
    if (wire_is_pooled(b->block)) {
        segments_unmap(&s->segments, block, b->bytes);
    } else {
        HAP_mmap_put((int)b->block);
    }
}

/* What a batch consists of, in the order in which it lies in its block, in bytes from the start. */
struct layout {
    uint64_t tensors, ops, profile, end;
};

static struct layout layout_of(const htp_iface_batch * b) {
    struct layout l;
    l.tensors = b->n_bufs * (uint64_t)sizeof(struct htp_buf_desc);
    l.ops     = l.tensors + b->n_tensors * (uint64_t)sizeof(struct htp_tensor);
    l.profile = l.ops + b->n_ops * (uint64_t)sizeof(struct htp_op_desc);
    l.end     = l.profile + b->n_ops * (uint64_t)sizeof(struct htp_prof_desc) +
            (HTP_MAX_NTHREADS + 1) * (uint64_t)b->n_traces * sizeof(struct htp_trace_desc);
    return l;
}

static AEEResult run(struct session * s, const htp_iface_batch * b, uint8_t * block) {
    struct htp_context * ctx = ((struct htp_handle *)(uintptr_t)s->upstream)->ctx;
    struct htp_opbatch_req req;
    memcpy(&req, b, sizeof req);
    const struct layout l         = layout_of(b);
    struct dspqueue_buffer buffer = {.fd = b->block, .size = b->bytes, .offset = b->offset, .ptr = block};

    /* Block: what the application has written. */
    coherency_buffer(&s->coherency, block, ctx->profiler ? l.end : l.profile);
    coherency_choose(&s->coherency, ops_of((const struct htp_tensor *)(block + l.tensors),
                                           (const struct htp_op_desc *)(block + l.ops), b->n_ops));

    /* The priority that main.c's own thread would have. VTCM goes back after each batch: nobody is here to answer when
     * another session asks for it. */
    qurt_thread_t self = qurt_thread_get_id();
    int priority       = qurt_thread_get_priority(self);
    qurt_thread_set_priority(self, (unsigned short)ctx->thread_prio);
    s->response_bytes = 0;
    vtcm_acquire(ctx);
    process_opbatch(ctx, &req, &buffer);
    vtcm_release(ctx);
    qurt_thread_set_priority(self, (unsigned short)priority);

    /* Block: what main.c has written, for the application to read, and to write over. */
    coherency_buffer(&s->coherency, block, ctx->profiler ? l.end : l.ops);
    return s->response_bytes == sizeof(struct htp_opbatch_rsp) ? AEE_SUCCESS : AEE_EFAILED;
}

AEEResult htp_iface_execute(remote_handle64 handle, const htp_iface_batch * b, const htp_iface_segment * table,
                            int n_table, unsigned char * response, int response_bytes) {
    struct session * s = enter(handle);
    if (!((struct htp_handle *)(uintptr_t)s->upstream)->ctx) {
        FARF(ERROR, "fastrpc: a batch for a session that is not started");
        return leave(AEE_EBADSTATE);
    }
    if (response_bytes != sizeof(struct htp_opbatch_rsp) || layout_of(b).end > b->bytes ||
        b->n_bufs > HTP_OP_MAX_BUFS || b->n_tensors > HTP_OP_MAX_TENSORS) {
        FARF(ERROR, "fastrpc: batch %llu of %u bytes is none", (unsigned long long)b->seq, b->bytes);
        return leave(AEE_EBADPARM);
    }
    AEEResult result = segments_update(&s->segments, table, (uint32_t)n_table);
    if (result != AEE_SUCCESS) {
        return leave(result);
    }
    uint8_t * block = block_get(s, b);
    if (!block) {
        FARF(ERROR, "fastrpc: the batches' buffer 0x%x is not mapped", b->block);
        return leave(AEE_ENOSUCHMAP);
    }
    result = run(s, b, block);
    block_put(s, b, block);
    memcpy(response, s->response, result == AEE_SUCCESS ? s->response_bytes : 0);
    return leave(result);
}
