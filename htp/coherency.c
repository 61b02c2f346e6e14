/* coherency.c: which lines of the DSP's cache to clean and invalidate, and when.
 *
 * Upstream cleans and invalidates the whole cache before and after each batch. By role, only this happens:
 *
 * block     The batch's descriptors and profile: cleaned and invalidated before and after (entry.c). The application
 *           writes them before each batch, main.c and the profiler write into them here.
 *           Dropped before: the DSP runs the ops of an earlier batch in the same slot. Dropped after: the application
 *           reads no profile, and a late write-back damages the slot's next batch.
 * weights   Nothing, once they are mapped: they are written before their first use, and then by nobody. A buffer in
 *           recycled memory of the pool is invalidated when it is mapped (entry.c): lines of its predecessor are in
 *           the cache. A program that changes weights in place after it has computed with them needs coherency whole.
 * fences    Nothing: the kernels that poll and set them maintain their lines.
 * needed    What ops read through the cache before an op of the batch has written it: inputs from the application,
 *           activations from the CPU or another session, state of an earlier batch; and lines that an op writes in
 *           part. Invalidated before the first op. Dropped: an op reads what an earlier batch has read; or its output
 *           shares a line with what the application has written since, and the write-back undoes that. Lines that an
 *           op overwrites whole may be stale until then: an output's memory holds nothing else that anybody wants.
 * produced  What an op writes for a later one: upstream's own ranges, cleaned and invalidated between the ops.
 * outputs   What of these is left at the end: cleaned and invalidated then, for the application to read.
 * by DMA    What kernels access by DMA only, past the cache: the KV cache in SET_ROWS and FLASH_ATTN_EXT, recurrent
 *           state in GATED_DELTA_NET, tables and rows in GET_ROWS. Nothing, but for the lines that some op of the batch
 *           touches through the cache: these are produced. The KV cache grows with the context, and a token touches a
 *           sliver of it; recurrent state is most of what a hybrid model moves. A kernel that begins to use the cache
 *           for one of them must leave the table below.
 *
 * Invalidating always cleans too: an invalidation alone would lose what an op of this batch has just written. Batches
 * of device groups, and those that write weights, are kept as upstream keeps them. */
#include <HAP_farf.h>
#include <qurt.h>
#include <qurt_memory.h>

#define GGML_COMMON_DECL_C
#include "ggml-common.h"
#include "hex-utils.h"
#include "htp-ctx.h"
#include "htp-tensor.h"

#include "dsp-ctx.h"

#define LINE HEX_L2_LINE_SIZE

/* Inputs and outputs of which no byte goes through the cache. */
static const struct {
    uint32_t opcode;
    uint32_t inputs, outputs; /* bit n: src[n], dst[n] */
} by_dma[] = {
    {HTP_OP_FLASH_ATTN_EXT, 1 << 1 | 1 << 2, 0}, /* K and V; Q and the mask may be loaded */
    {HTP_OP_GATED_DELTA_NET, 1 << 5, 1 << 1},    /* the state, and where its copy is fused; values are stored */
    {HTP_OP_GET_ROWS, 1 << 0, 1 << 0},           /* table and rows; the ids are loaded */
    {HTP_OP_SET_ROWS, 1 << 2, 1 << 0},           /* the table, which is not read at all; rows may be loaded */
    {HTP_OP_CPY, 1 << 1, 0},                     /* the output, which is not read at all */
};

static bool goes_by_dma(uint32_t opcode, bool output, int n) {
    for (size_t i = 0; i < sizeof by_dma / sizeof *by_dma; i++) {
        if (by_dma[i].opcode == opcode) {
            return (output ? by_dma[i].outputs : by_dma[i].inputs) >> n & 1;
        }
    }
    return false;
}

/* Whether the cache ever holds lines of a tensor that the rules above are about. */
static bool maintained(const struct htp_tensor * t) {
    return t->size && !(t->flags & (HTP_TENSOR_WEIGHT | HTP_TENSOR_FENCE)) && !htp_tensor_is_extended(t);
}

static void whole_cache(void) {
    qurt_mem_cache_clean((qurt_addr_t)0, 0, QURT_MEM_CACHE_FLUSH_INVALIDATE_ALL, QURT_MEM_DCACHE);
}

void coherency_whole(const struct coherency * c) {
    if (!c->narrow) {
        whole_cache();
    }
}

void coherency_buffer(const struct coherency * c, void * address, size_t bytes) {
    if (bytes > c->cap_bytes) {
        whole_cache();
    } else {
        hex_l2flush(address, bytes);
    }
}

void coherency_choose(struct coherency * c, struct ops ops) {
    c->narrow = c->policy == WIRE_COHERENCY_ROLE;
    for (uint32_t o = 0; o < ops.n_ops && c->narrow; o++) {
        if (ops.op[o].opcode == HTP_OP_MDEV_GROUP) {
            c->narrow = false;
        }
        for (int i = 0; i < HTP_OP_MAX_OUTPUTS; i++) {
            uint16_t t = ops.op[o].dst[i];
            if (t != 0xffff && ops.tensor[t].flags & HTP_TENSOR_WEIGHT) {
                c->narrow = false;
            }
        }
    }
}

/* Lines, since that is what the cache has: the one an address lies in, and the first one that begins there or later. */
static uint32_t line_of(uint64_t address) {
    return (uint32_t)address & ~(LINE - 1u);
}

static uint32_t line_from(uint64_t address) {
    return line_of(address + LINE - 1);
}

/* Whether a tensor has every byte of its range. */
static bool dense(const struct htp_tensor * t) {
    return t->size == t->ne[0] * t->ne[1] * t->ne[2] * t->ne[3] * t->nb[0];
}

/* Lines that must not be stale, apart from those that an op has overwritten before. */
static void need(struct coherency * c, uint32_t start, uint32_t end) {
    const struct ranges * w = &c->overwritten;
    for (uint32_t i = ranges_at(w, start + 1); i < w->n && start < end; start = w->range[i++].end) {
        if (start < w->range[i].start) {
            ranges_add(&c->needed, start, hex_smin(end, w->range[i].start));
        }
    }
    if (start < end) {
        ranges_add(&c->needed, start, end);
    }
}

static void touch(struct coherency * c, const struct htp_tensor * t, uint32_t bytes, bool written) {
    if (!maintained(t)) {
        return;
    }
    const uint32_t start = line_of(t->data), end = line_from(t->data + bytes);
    const uint32_t inner = line_from(t->data), inner_end = line_of(t->data + bytes);
    const bool over = written && dense(t) && inner < inner_end;
    ranges_add(&c->touched, start, end);
    need(c, start, over ? inner : end);
    if (over) {
        need(c, inner_end, end);
        ranges_add(&c->overwritten, inner, inner_end);
    }
}

/* How much of an output an op writes, from the start: of GATED_DELTA_NET's first one only the values, as large as its
 * input 2, when its states go to the second. */
static uint32_t written_bytes(uint32_t opcode, int dst, const struct htp_tensor * out, const struct htp_tensor * second,
                              const struct htp_tensor * in2) {
    if (opcode != HTP_OP_GATED_DELTA_NET || dst != 0 || !second) {
        return out->size;
    }
    return in2->ne[0] * in2->ne[1] * in2->ne[2] * in2->ne[3] * (uint32_t)sizeof(float);
}

static void touched_by(struct coherency * c, const struct htp_op_desc * op, const struct htp_tensor * tensor) {
    for (int i = 0; i < HTP_OP_MAX_INPUTS; i++) {
        if (op->src[i] != 0xffff && !goes_by_dma(op->opcode, false, i)) {
            touch(c, &tensor[op->src[i]], tensor[op->src[i]].size, false);
        }
    }
    const struct htp_tensor * second = op->dst[1] == 0xffff ? NULL : &tensor[op->dst[1]];
    const struct htp_tensor * in2    = op->src[2] == 0xffff ? NULL : &tensor[op->src[2]];
    for (int i = 0; i < HTP_OP_MAX_OUTPUTS; i++) {
        if (op->dst[i] != 0xffff && !goes_by_dma(op->opcode, true, i)) {
            const struct htp_tensor * t = &tensor[op->dst[i]];
            touch(c, t, written_bytes(op->opcode, i, t, second, in2), true);
        }
    }
}

/* Upstream's trace has an event for each maintenance. */
void coherency_begin(struct coherency * c, struct htp_context * ctx, struct ops ops) {
    if (!c->narrow) {
        return;
    }
    htp_trace_event_start(&ctx->trace[0], HTP_TRACE_EVT_L2FLUSH, 0);
    ranges_clear(&c->touched);
    ranges_clear(&c->overwritten);
    ranges_clear(&c->needed);
    for (uint32_t o = 0; o < ops.n_ops; o++) {
        touched_by(c, &ops.op[o], ops.tensor);
    }
    const struct ranges * needed = &c->needed;
    uint64_t bytes               = 0;
    for (uint32_t i = 0; i < needed->n; i++) {
        bytes += needed->range[i].end - needed->range[i].start;
    }
    if (needed->full || bytes > c->cap_bytes) {
        whole_cache();
    } else {
        for (uint32_t i = 0; i < needed->n; i++) {
            hex_l2flush((void *)(uintptr_t)needed->range[i].start, needed->range[i].end - needed->range[i].start);
        }
    }
    htp_trace_event_stop(&ctx->trace[0], HTP_TRACE_EVT_L2FLUSH, 0);
}

void coherency_end(const struct coherency * c, struct htp_context * ctx) {
    if (c->narrow) {
        htp_flush_dirty_ranges(ctx);
    }
}

/* ---- between the ops: upstream's own account of what is dirty ---- */

typedef void (*upkeep)(struct htp_context *, const struct htp_tensor * const *, uint32_t);

static void keep(struct htp_context * ctx, upkeep f, const struct htp_tensor * like, uint32_t start, uint32_t end) {
    struct htp_tensor t              = *like;
    const struct htp_tensor * one[1] = {&t};
    t.data                           = start;
    t.size                           = end - start;
    f(ctx, one, 1);
}

/* Of a tensor that goes by DMA, the lines that ops of the batch touch through the cache. */
static void keep_touched(const struct coherency * c, struct htp_context * ctx, upkeep f, const struct htp_tensor * t) {
    const struct ranges * r = &c->touched;
    const uint32_t start = (uint32_t)t->data, end = start + t->size;
    for (uint32_t i = ranges_at(r, start + 1); i < r->n && r->range[i].start < end; i++) {
        keep(ctx, f, t, hex_smax(start, r->range[i].start), hex_smin(end, r->range[i].end));
    }
}

static bool by_range(const struct coherency * c, const struct htp_tensor * t) {
    return c->narrow && !c->touched.full && !htp_tensor_is_extended(t);
}

void coherency_flush(const struct coherency * c, struct htp_ops_context * octx) {
    const struct htp_tensor * whole[HTP_OP_MAX_INPUTS];
    uint32_t n = 0;
    for (int i = 0; i < HTP_OP_MAX_INPUTS; i++) {
        const struct htp_tensor * t = octx->src[i];
        if (t && by_range(c, t) && goes_by_dma(octx->op, false, i)) {
            keep_touched(c, octx->ctx, htp_tensor_flush_all, t);
        } else if (t) {
            whole[n++] = t;
        }
    }
    htp_tensor_flush_all(octx->ctx, whole, n);
}

void coherency_dirty(const struct coherency * c, struct htp_ops_context * octx) {
    for (int i = 0; i < HTP_OP_MAX_OUTPUTS; i++) {
        const struct htp_tensor * t = octx->dsts[i];
        if (t && by_range(c, t) && goes_by_dma(octx->op, true, i)) {
            keep_touched(c, octx->ctx, htp_tensor_dirty_all, t);
        } else if (t) {
            const uint32_t start = (uint32_t)t->data;
            keep(octx->ctx, htp_tensor_dirty_all, t, start,
                 start + written_bytes(octx->op, i, t, octx->dsts[1], octx->src[2]));
        }
    }
}
