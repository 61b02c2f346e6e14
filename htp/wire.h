/* wire.h: what the application's and the DSP's side of the fastrpc variant share beyond ggml_htp.idl.
 *
 * Needs upstream's htp-ops.h (and, before it, ggml-common.h) for the structures that travel. */
#ifndef GGML_HTP_WIRE_H
#define GGML_HTP_WIRE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "htp_iface.h"

/* Raise it when the meaning of a method or structure of ggml_htp.idl changes. */
#define WIRE_VERSION 1u

enum wire_coherency {
    WIRE_COHERENCY_ROLE  = 0, /* maintain what the role of each tensor asks for */
    WIRE_COHERENCY_WHOLE = 1, /* clean and invalidate the whole cache around each batch, as upstream does */
};

/* Descriptor of a buffer in the pool: bit 30 tells it from the driver's, which are small; then the segment and the
 * first page. Unique, because no two buffers begin at the same page; never negative, because upstream tests for that;
 * and decoded without a table. */
#define WIRE_POOLED 0x40000000u
#define WIRE_PAGE_BYTES 4096u
#define WIRE_PAGE_BITS 20u
#define WIRE_MAX_SEGMENTS 64u

static inline int wire_is_pooled(uint32_t fd) {
    return (fd & 0xc0000000u) == WIRE_POOLED;
}

static inline uint32_t wire_descriptor(uint32_t segment, uint64_t offset) {
    return WIRE_POOLED | segment << WIRE_PAGE_BITS | (uint32_t)(offset / WIRE_PAGE_BYTES);
}

static inline uint32_t wire_segment(uint32_t fd) {
    return (fd & ~WIRE_POOLED) >> WIRE_PAGE_BITS;
}

static inline uint64_t wire_offset(uint32_t fd) {
    return (uint64_t)(fd & ((1u << WIRE_PAGE_BITS) - 1)) * WIRE_PAGE_BYTES;
}

/* What this side was built with. */
static inline htp_iface_settings wire_settings(void) {
    htp_iface_settings s;
    s.version        = WIRE_VERSION;
    s.request_bytes  = sizeof(struct htp_opbatch_req);
    s.response_bytes = sizeof(struct htp_opbatch_rsp);
    s.buffer_bytes   = sizeof(struct htp_buf_desc);
    s.tensor_bytes   = sizeof(struct htp_tensor);
    s.op_bytes       = sizeof(struct htp_op_desc);
    s.profile_bytes  = sizeof(struct htp_prof_desc);
    s.coherency      = WIRE_COHERENCY_ROLE;
    s.cap_bytes      = 0;
    s.reserved       = 0;
    return s;
}

/* The wire is what both compilers make of the definitions: no padding, the same places. */
static_assert(sizeof(htp_iface_settings) == 40, "settings travel as ten words");
static_assert(sizeof(htp_iface_segment) == 16 && offsetof(htp_iface_segment, fd) == 12, "segments travel packed");
static_assert(sizeof(htp_iface_batch) == 40 && offsetof(htp_iface_batch, block) == 24, "batches travel packed");

/* A batch begins with upstream's request, member for member. */
static_assert(sizeof(struct htp_opbatch_req) == offsetof(htp_iface_batch, block), "the request has changed");
static_assert(offsetof(struct htp_opbatch_req, seq) == offsetof(htp_iface_batch, seq), "the request has changed");
static_assert(offsetof(struct htp_opbatch_req, n_bufs) == offsetof(htp_iface_batch, n_bufs), "the request has changed");
static_assert(offsetof(struct htp_opbatch_req, n_tensors) == offsetof(htp_iface_batch, n_tensors),
              "the request has changed");
static_assert(offsetof(struct htp_opbatch_req, n_ops) == offsetof(htp_iface_batch, n_ops), "the request has changed");
static_assert(offsetof(struct htp_opbatch_req, n_traces) == offsetof(htp_iface_batch, n_traces),
              "the request has changed");

#endif
