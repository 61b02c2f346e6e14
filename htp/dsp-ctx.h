/* dsp-ctx.h: a session of the fastrpc variant on the DSP, and its parts. */
#ifndef GGML_HTP_DSP_CTX_H
#define GGML_HTP_DSP_CTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ranges.h"
#include "wire.h"

struct htp_context;
struct htp_ops_context;

/* ---- segment.c: the host's memory in the DSP's window ---- */

/* Passed through at most: upstream's own table of mappings. */
enum { MAX_PASSED = 64 };

struct segment {
    uint8_t * base; /* NULL: not mapped */
    uint64_t bytes;
    uint32_t fd;
    uint32_t refs; /* buffers of the segment that are in use */
};

struct segments {
    struct segment segment[WIRE_MAX_SEGMENTS];
    struct {
        void * base; /* NULL: free */
        size_t bytes;
    } passed[MAX_PASSED]; /* buffers of their own */
};

/* Take over the host's table, which came with a call. An entry whose segment is mapped must be the same one. */
AEEResult segments_update(struct segments * s, const htp_iface_segment * table, uint32_t n);

/* Map the buffer of a descriptor and unmap it again: what main.c calls HAP_mmap and HAP_munmap for. map returns
 * (void *) -1 when the window has no room or the descriptor is not known. */
void * segments_map(struct segments * s, uint32_t fd, size_t bytes);
int segments_unmap(struct segments * s, void * address, size_t bytes);

/* Unmap a segment that the host takes away, or everything. */
AEEResult segments_release(struct segments * s, uint32_t index);
void segments_release_all(struct segments * s);

/* ---- coherency.c: which lines to clean and invalidate, and when ---- */

struct coherency {
    uint32_t policy; /* enum wire_coherency */
    uint32_t cap_bytes;
    /* Of the batch that runs: */
    bool narrow;               /* by role; else as upstream */
    struct ranges touched;     /* what its ops access through the cache */
    struct ranges overwritten; /* and of that, what they overwrite before they read it */
    struct ranges needed;      /* and what must not be stale when they begin */
};

/* What a batch consists of. */
struct ops {
    const struct htp_tensor * tensor;
    const struct htp_op_desc * op;
    uint32_t n_ops;
};

/* Choose the policy for a batch, before it begins. */
void coherency_choose(struct coherency * c, struct ops ops);

/* In place of upstream's first whole-cache operation, once the tensors have addresses. */
void coherency_begin(struct coherency * c, struct htp_context * ctx, struct ops ops);

/* In place of the second one, while the work queue still runs. */
void coherency_end(const struct coherency * c, struct htp_context * ctx);

/* In place of htp_tensor_flush_all: clean and invalidate what an op is about to read and the cache holds dirty. */
void coherency_flush(const struct coherency * c, struct htp_ops_context * octx);

/* In place of htp_tensor_dirty_all: record what an op is about to write. */
void coherency_dirty(const struct coherency * c, struct htp_ops_context * octx);

/* Clean and invalidate a buffer that the application writes or reads. */
void coherency_buffer(const struct coherency * c, void * address, size_t bytes);

/* The operations that upstream's batches begin and end with, unless the batch is kept by role. */
void coherency_whole(const struct coherency * c);

/* ---- entry.c ---- */

struct session {
    remote_handle64 upstream; /* main.c's handle */
    bool attached;
    struct segments segments;
    struct coherency coherency;
    uint32_t response_bytes; /* 0: the batch has not answered */
    uint8_t response[128];
};

#endif
