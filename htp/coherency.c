/* coherency.c: which lines of the DSP's cache to clean and invalidate, and when.
 *
 * Upstream cleans and invalidates the whole cache before and after each batch, and between the ops each tensor that one
 * has written and the next one reads. By role, only this happens:
 *
 * block     The batch's descriptors and profile: cleaned and invalidated before and after (entry.c). The application
 *           writes them before each batch, main.c and the profiler write into them here.
 *           Dropped before: the DSP runs the ops of an earlier batch in the same slot. Dropped after: the application
 *           reads no profile, and a late write-back damages the slot's next batch.
 * weights   Nothing, once they are mapped: they are written before their first use, and then by nobody. A buffer in
 *           recycled memory of the pool is invalidated when it is mapped (entry.c): lines of its predecessor are in
 *           the cache. A program that changes weights in place after it has computed with them needs coherency whole.
 *           The words that fences are made of are maintained by the kernels that poll and set them.
 *
 * All other memory goes by where its lines can be, of which three sets of ranges keep account: absent, where no line is
 * in the cache, unless kernels prefetch beyond the end of what they load (kept from batch to batch); current, where
 * what is in the cache is no older than memory (kept within a batch); dirty, what was written through the cache and is
 * not cleaned yet.
 *
 * Kernels access memory by DMA, past the cache, or load and store through it; the lists below say who does what. To
 * flush is to clean and invalidate: an invalidation alone would lose what an op of this batch has just written.
 *
 * inputs    What is dirty there: flushed, for kernels that read it by DMA.
 *           Dropped: an op reads what was there before an earlier op of the batch wrote.
 * loaded    Inputs that no list has may be loaded; what is not current there: flushed.
 *           Dropped: an op reads what an earlier batch has read, or what was there before an op wrote by DMA.
 * stored    Outputs, unless all is current or absent: flushed before, as parts of lines may be written. Then dirty.
 *           Dropped: a line is written back with bytes in it that the application has changed since.
 * by DMA    Outputs of which something is dirty: flushed before. Then nothing there is current.
 *           Dropped: a late write-back undoes what DMA has written, or an op loads what was there before.
 * either    Outputs that no list has, unless all is absent: flushed before. Then dirty and not current.
 * fences    Before one tells or waits, what is dirty: flushed. After one has waited nothing is current.
 * the end   What is dirty, and what else may be in the cache: flushed, for the application to read and to write.
 *           Dropped: the application reads what was there before the batch.
 *
 * So what goes by DMA from op to op costs nothing: most activations, the KV cache in SET_ROWS and FLASH_ATTN_EXT,
 * recurrent state in GATED_DELTA_NET, tables in GET_ROWS. The last three grow with the context; a token touches a
 * sliver of them. A kernel that begins to use the cache for something in the lists below must leave them.
 *
 * Batches of device groups, and those that write weights, are kept as upstream keeps them. */
#include <HAP_farf.h>
#include <qurt.h>
#include <qurt_memory.h>

#define GGML_COMMON_DECL_C
#include "ggml-common.h"
#include "binary-ops.h"
#include "hex-utils.h"
#include "htp-ctx.h"
#include "htp-tensor.h"

#include "dsp-ctx.h"

/* Ops that fetch rows by DMA, compute in VTCM, and write rows by DMA: unary-ops.c and act-ops.c. */
static bool rows_by_dma(uint32_t opcode) {
    switch (opcode) {
    case HTP_OP_NORM:
    case HTP_OP_RMS_NORM:
    case HTP_OP_RMS_NORM_MUL:
    case HTP_OP_L2_NORM:
    case HTP_OP_SCALE:
    case HTP_OP_CLAMP:
    case HTP_OP_SQR:
    case HTP_OP_SQRT:
    case HTP_OP_UNARY_SOFTPLUS:
    case HTP_OP_UNARY_SIGMOID:
    case HTP_OP_UNARY_SILU:
    case HTP_OP_UNARY_GELU:
    case HTP_OP_UNARY_NEG:
    case HTP_OP_UNARY_EXP:
    case HTP_OP_UNARY_TANH:
    case HTP_OP_UNARY_ABS:
    case HTP_OP_UNARY_LOG:
    case HTP_OP_UNARY_RELU:
    case HTP_OP_LEAKY_RELU:
    case HTP_OP_TRI:
    case HTP_OP_GLU_SWIGLU:
    case HTP_OP_GLU_SWIGLU_OAI:
    case HTP_OP_GLU_SWIGLU_CLAMP:
    case HTP_OP_GLU_GEGLU:
    case HTP_OP_GLU_GEGLU_QUICK:
        return true;
    default:
        return false;
    }
}

/* concat-ops.c copies by DMA when it appends columns to rows. */
static bool appends_columns(const struct htp_ops_context * octx) {
    const struct htp_tensor *a = octx->src[0], *b = octx->src[1], *dst = octx->dst;
    return octx->op_params[0] == 0 && dst->ne[2] == 1 && dst->ne[3] == 1 && b->nb[0] > b->nb[1] && a->nb[0] <= a->nb[1];
}

static bool has_plain_rows(const struct htp_tensor * t, uint32_t element_bytes) {
    return t->nb[0] == element_bytes && t->nb[0] <= t->nb[1] && t->nb[1] >= t->ne[0] * element_bytes;
}

/* cpy-ops.c copies by DMA what keeps its type, from rows to rows of the same shape, or as a whole. */
static bool copies_by_dma(const struct htp_tensor * src, const struct htp_tensor * dst) {
    const uint32_t bytes = src->type == HTP_TYPE_F32 ? 4 : 2;
    return src->type == dst->type &&
           ((has_plain_rows(src, bytes) && has_plain_rows(dst, bytes) && !memcmp(src->ne, dst->ne, sizeof src->ne)) ||
            (htp_tensor_is_contiguous(src, bytes) && htp_tensor_is_contiguous(dst, bytes)));
}

/* Inputs of which no byte is loaded. */
static bool dma_reads(const struct htp_ops_context * octx, int src) {
    switch (octx->op) {
    case HTP_OP_FLASH_ATTN_EXT:
    case HTP_OP_SSM_CONV:
        return true;
    case HTP_OP_GATED_DELTA_NET:
        return src == 5; /* the state */
    case HTP_OP_GET_ROWS:
        return src == 0; /* the table; the ids are loaded */
    case HTP_OP_SET_ROWS:
        return src != 1; /* the rows; the table is the output and not read at all. The ids are loaded */
    case HTP_OP_ROPE:
        return src != 1; /* the positions are loaded */
    case HTP_OP_CONCAT:
        return appends_columns(octx);
    case HTP_OP_CPY:
        return src == 1 || copies_by_dma(octx->src[0], octx->dst); /* 1 is the output: not read */
    case HTP_OP_ADD:
    case HTP_OP_SUB:
    case HTP_OP_MUL:
    case HTP_OP_DIV: {
        uint32_t kernel = ((const struct htp_binary_kernel_params *)octx->kernel_params)->kernel_type;
        return src == 0 || kernel == HTP_BINARY_KERNEL_SAME_SHAPE || kernel == HTP_BINARY_KERNEL_ROW_BCAST ||
               kernel == HTP_BINARY_KERNEL_SCALAR_DMA;
    }
    default:
        return rows_by_dma(octx->op);
    }
}

enum way { EITHER, BY_DMA, STORED };

static enum way writes(const struct htp_ops_context * octx, int dst) {
    switch (octx->op) {
    case HTP_OP_GET_ROWS:
    case HTP_OP_SET_ROWS:
    case HTP_OP_ROPE:
    case HTP_OP_ADD:
    case HTP_OP_SUB:
    case HTP_OP_MUL:
    case HTP_OP_DIV:
    case HTP_OP_SSM_CONV:
        return BY_DMA;
    case HTP_OP_CONCAT:
        return appends_columns(octx) ? BY_DMA : EITHER;
    case HTP_OP_CPY:
        return copies_by_dma(octx->src[0], octx->dst) ? BY_DMA : EITHER;
    case HTP_OP_GATED_DELTA_NET:
        return dst == 1 ? BY_DMA : EITHER; /* the state, when its copy is fused */
    case HTP_OP_MUL_MAT:
    case HTP_OP_MUL_MAT_ADD:
    case HTP_OP_MUL_MAT_NX:
    case HTP_OP_FLASH_ATTN_EXT:
        return STORED;
    default:
        return rows_by_dma(octx->op) ? BY_DMA : EITHER;
    }
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

void coherency_choose(struct coherency * c, const struct htp_tensor * tensor, const struct htp_op_desc * op,
                      uint32_t n_ops) {
    c->narrow = c->policy == WIRE_COHERENCY_ROLE;
    for (uint32_t o = 0; o < n_ops && c->narrow; o++) {
        if (op[o].opcode == HTP_OP_MDEV_GROUP) {
            c->narrow = false;
        }
        for (int i = 0; i < HTP_OP_MAX_OUTPUTS; i++) {
            uint16_t t = op[o].dst[i];
            if (t != 0xffff && tensor[t].flags & HTP_TENSOR_WEIGHT) {
                c->narrow = false;
            }
        }
    }
}

/* Ranges are of whole lines: that is what the cache has. */
static struct range lines_of(uint64_t address, uint32_t bytes) {
    const uint32_t start = (uint32_t)address, mask = HEX_L2_LINE_SIZE - 1;
    return (struct range){start & ~mask, (start + bytes + mask) & ~mask};
}

/* What an op writes of an output: of GATED_DELTA_NET's first one only the values, when its states go to the second. */
static struct range written(const struct htp_ops_context * octx, int i) {
    uint32_t bytes = octx->dsts[i]->size;
    if (octx->op == HTP_OP_GATED_DELTA_NET && i == 0 && octx->dsts[1]) {
        const uint32_t * ne = octx->src[2]->ne;
        bytes               = ne[0] * ne[1] * ne[2] * ne[3] * (uint32_t)sizeof(float);
    }
    return lines_of(octx->dsts[i]->data, bytes);
}

static bool overlap(const struct ranges * set, struct range r) {
    uint32_t i = ranges_at(set, r.start + 1);
    return i < set->n && set->range[i].start < r.end;
}

static void flushed(struct coherency * c, struct range r) {
    ranges_remove(&c->dirty, r);
    ranges_add(&c->current, r);
    ranges_add(&c->absent, r);
}

/* An op is about to load or store. */
static void used(struct coherency * c, struct range r) {
    ranges_remove(&c->absent, r);
    ranges_add(&c->current, r);
}

/* Tell upstream that an op writes a range, which is then cleaned and invalidated at the next flush. */
static void tell(struct htp_context * ctx, struct range r) {
    const struct htp_tensor t      = {.data = r.start, .size = r.end - r.start};
    const struct htp_tensor * list = &t;
    htp_tensor_dirty_all(ctx, &list, 1);
}

static void flush(struct coherency * c, struct htp_context * ctx, struct range r) {
    if (r.end - r.start > c->cap_bytes) {
        whole_cache();
    } else {
        tell(ctx, r);
        htp_flush_dirty_ranges(ctx);
    }
    flushed(c, r);
}

static void flush_dirty(struct coherency * c, struct htp_context * ctx) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->dirty.n; i++) {
        bytes += c->dirty.range[i].end - c->dirty.range[i].start;
    }
    if (bytes > c->cap_bytes) {
        whole_cache();
    } else {
        for (uint32_t i = 0; i < c->dirty.n; i++) {
            tell(ctx, c->dirty.range[i]);
        }
        htp_flush_dirty_ranges(ctx);
    }
    while (c->dirty.n) {
        flushed(c, c->dirty.range[c->dirty.n - 1]);
    }
}

/* Whether all of a range is current or absent. */
static bool known(const struct coherency * c, struct range r) {
    for (uint32_t at = r.start; at < r.end;) {
        uint32_t a = ranges_reach(&c->current, at), b = ranges_reach(&c->absent, at);
        if (a == at && b == at) {
            return false;
        }
        at = a > b ? a : b;
    }
    return true;
}

static void fence(struct coherency * c, struct htp_context * ctx, bool waits, bool tells) {
    tells ? flush_dirty(c, ctx) : (void)0;
    c->current.n = waits ? 0 : c->current.n;
}

static void inputs(struct coherency * c, struct htp_ops_context * octx) {
    for (int i = 0; i < HTP_OP_MAX_INPUTS; i++) {
        const struct htp_tensor * t = octx->src[i];
        if (!t || !maintained(t)) {
            continue;
        }
        struct range r = lines_of(t->data, t->size);
        bool may_load  = !dma_reads(octx, i);
        if (overlap(&c->dirty, r) || (may_load && ranges_reach(&c->current, r.start) < r.end)) {
            flush(c, octx->ctx, r);
        }
        if (may_load) {
            used(c, r);
        }
    }
}

static void output(struct coherency * c, struct htp_context * ctx, struct range r, enum way way) {
    bool ready = way == BY_DMA   ? !overlap(&c->dirty, r)
                 : way == STORED ? known(c, r)
                                 : ranges_reach(&c->absent, r.start) >= r.end;
    if (!ready) {
        flush(c, ctx, r);
    }
    if (way != BY_DMA) {
        used(c, r);
        ranges_add(&c->dirty, r);
    }
    if (way != STORED) {
        ranges_remove(&c->current, r);
    }
}

void coherency_op(struct coherency * c, struct htp_ops_context * octx) {
    struct htp_context * ctx = octx->ctx;
    if (!c->narrow) {
        htp_tensor_flush_all(ctx, octx->src, HTP_OP_MAX_INPUTS);
        htp_tensor_dirty_all(ctx, octx->dsts, HTP_OP_MAX_OUTPUTS);
        return;
    }
    const bool waits = octx->op == HTP_OP_FENCE, tells = waits || octx->op == HTP_OP_CPY_FENCE;
    fence(c, ctx, waits, tells || c->dirty.n > MAX_RANGES / 2);
    inputs(c, octx);
    for (int i = 0; i < HTP_OP_MAX_OUTPUTS; i++) {
        if (octx->dsts[i] && maintained(octx->dsts[i])) {
            struct range r = written(octx, i);
            output(c, ctx, r, writes(octx, i));
            if (octx->op == HTP_OP_CPY_FENCE) {
                tell(octx->ctx, r); /* the op flushes what it has written before it signals */
            }
        }
    }
}

void coherency_end(struct coherency * c, struct htp_context * ctx) {
    if (c->narrow) {
        for (uint32_t i = 0; i < c->absent.n; i++) {
            ranges_remove(&c->current, c->absent.range[i]);
        }
        for (uint32_t i = 0; i < c->current.n; i++) {
            ranges_add(&c->dirty, c->current.range[i]);
        }
        flush_dirty(c, ctx);
        c->current.n = 0;
    }
}
