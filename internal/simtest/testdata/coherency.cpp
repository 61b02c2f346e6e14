// coherency.cpp: graphs that go wrong when the FastRPC variant's DSP side leaves out an upkeep of its cache. The
// application changes memory between graphs, in the ways that htp/coherency.c has rules for; results are compared with
// what they must be. Run it under the simulator's coherency check, which also finds what the results hide.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "ggml-backend.h"
#include "ggml.h"

static ggml_backend_t backend;
static int failures;

static void check(bool ok, const char * what, int round) {
    if (!ok) {
        failures++;
        fprintf(stderr, "wrong result: %s, round %d\n", what, round);
    }
}

// A context without data, and a buffer for its tensors.
struct Tensors {
    ggml_context * ctx;
    ggml_backend_buffer_t buffer = nullptr;

    Tensors() : ctx(ggml_init({ggml_tensor_overhead() * 64 + 16 * ggml_graph_overhead(), nullptr, true})) {
    }
    ~Tensors() {
        ggml_backend_buffer_free(buffer);
        ggml_free(ctx);
    }
    void allocate(ggml_backend_buffer_usage usage = GGML_BACKEND_BUFFER_USAGE_ANY) {
        buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
        if (!buffer) {
            fprintf(stderr, "no buffer\n");
            exit(1);
        }
        ggml_backend_buffer_set_usage(buffer, usage);
    }
};

static void set(ggml_tensor * t, float value) {
    std::vector<float> v(static_cast<size_t>(ggml_nelements(t)), value);
    ggml_backend_tensor_set(t, v.data(), 0, v.size() * sizeof(float));
}

static void compute(ggml_context * ctx, std::initializer_list<ggml_tensor *> results) {
    ggml_cgraph * graph = ggml_new_graph(ctx);
    for (ggml_tensor * t : results) {
        ggml_build_forward_expand(graph, t);
    }
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        if (!ggml_backend_supports_op(backend, ggml_graph_node(graph, i))) {
            fprintf(stderr, "node %d (%s) is not supported\n", i, ggml_op_desc(ggml_graph_node(graph, i)));
            exit(1);
        }
    }
    if (ggml_backend_graph_compute(backend, graph) != GGML_STATUS_SUCCESS) {
        fprintf(stderr, "the graph failed\n");
        failures++;
    }
}

static bool all(ggml_tensor * t, const std::function<float(size_t)> & want) {
    size_t n = static_cast<size_t>(ggml_nelements(t));
    std::vector<uint8_t> data(ggml_nbytes(t));
    ggml_backend_tensor_get(t, data.data(), 0, data.size());
    for (size_t i = 0; i < n; i++) {
        float got = t->type == GGML_TYPE_F16 ? ggml_fp16_to_fp32(reinterpret_cast<ggml_fp16_t *>(data.data())[i])
                                             : reinterpret_cast<float *>(data.data())[i];
        if (std::fabs(got - want(i)) > 1e-3f) {
            return false;
        }
    }
    return true;
}

// A copy to another type goes through the cache, unlike most ops, which use DMA.
static ggml_tensor * through_cache(ggml_context * ctx, ggml_tensor * from) {
    return ggml_cpy(ctx, from, ggml_new_tensor(ctx, GGML_TYPE_F16, GGML_MAX_DIMS, from->ne));
}

// Block, stale inputs, outputs: two graphs take turns in few slots; their input changes each time.
static void inputs() {
    Tensors a, b;
    ggml_tensor * x = ggml_new_tensor_2d(a.ctx, GGML_TYPE_F32, 1024, 8);
    ggml_tensor * y = through_cache(a.ctx, x);
    ggml_tensor * u = ggml_new_tensor_2d(b.ctx, GGML_TYPE_F32, 512, 4);
    ggml_tensor * v = through_cache(b.ctx, u);
    ggml_tensor * w = ggml_sum_rows(b.ctx, u);
    a.allocate();
    b.allocate();
    for (int round = 1; round <= 6; round++) {
        float value = static_cast<float>(round);
        set(x, value);
        set(u, 2 * value);
        compute(a.ctx, {y});
        compute(b.ctx, {v, w});
        check(all(y, [&](size_t) { return value; }), "input", round);
        check(all(v, [&](size_t) { return 2 * value; }), "second input", round);
        check(all(w, [&](size_t) { return 1024 * value; }), "sum", round);
    }
}

// Edges: part of a line is written by an op, the rest by the application, while the line is in the cache. Lines that
// the op overwrites whole are not written by the application, which would be for nothing.
static void edges(size_t offset, size_t n) {
    Tensors t;
    ggml_tensor * whole  = ggml_new_tensor_1d(t.ctx, GGML_TYPE_F16, 512);
    ggml_tensor * source = ggml_new_tensor_1d(t.ctx, GGML_TYPE_F32, static_cast<int64_t>(n));
    ggml_tensor * widened =
        ggml_cpy(t.ctx, whole, ggml_new_tensor_1d(t.ctx, GGML_TYPE_F32, 512)); // reads the whole through the cache
    ggml_tensor * part = ggml_cpy(t.ctx, source, ggml_view_1d(t.ctx, whole, static_cast<int64_t>(n), offset * 2));
    t.allocate();
    for (int round = 1; round <= 3; round++) {
        std::vector<ggml_fp16_t> background(512, ggml_fp32_to_fp16(static_cast<float>(round)));
        ggml_backend_tensor_set(whole, background.data(), 0, 1024);
        compute(t.ctx, {widened});
        for (auto & e : background) {
            e = ggml_fp32_to_fp16(static_cast<float>(10 + round));
        }
        ggml_backend_tensor_set(whole, background.data(), 0, offset * 2);
        ggml_backend_tensor_set(whole, background.data(), (offset + n) * 2, 1024 - (offset + n) * 2);
        set(source, 100);
        compute(t.ctx, {part});
        check(all(whole,
                  [&](size_t i) { return i >= offset && i < offset + n ? 100.0f : 10.0f + static_cast<float>(round); }),
              "edge", round);
    }
}

// Parts: an op overwrites the middle of what a later one reads, the application the rest. The op between them has the
// middle cleaned, so that the later one has nothing of its input maintained as produced.
static void parts() {
    Tensors t;
    ggml_tensor * whole   = ggml_new_tensor_1d(t.ctx, GGML_TYPE_F16, 512);
    ggml_tensor * source  = ggml_new_tensor_1d(t.ctx, GGML_TYPE_F32, 128);
    ggml_tensor * middle  = ggml_cpy(t.ctx, source, ggml_view_1d(t.ctx, whole, 128, 256));
    ggml_tensor * between = ggml_cpy(t.ctx, middle, ggml_new_tensor_1d(t.ctx, GGML_TYPE_F32, 128));
    ggml_tensor * widened = ggml_cpy(t.ctx, whole, ggml_new_tensor_1d(t.ctx, GGML_TYPE_F32, 512));
    t.allocate();
    for (int round = 1; round <= 3; round++) {
        const std::vector<ggml_fp16_t> rest(256, ggml_fp32_to_fp16(static_cast<float>(round)));
        ggml_backend_tensor_set(whole, rest.data(), 0, 256);
        ggml_backend_tensor_set(whole, rest.data(), 512, 512);
        set(source, 100);
        compute(t.ctx, {between, widened});
        check(all(widened, [&](size_t i) { return i >= 128 && i < 256 ? 100.0f : static_cast<float>(round); }), "part",
              round);
    }
}

// Gaps: an output whose rows lie apart.
static void gaps() {
    Tensors t;
    ggml_tensor * whole   = ggml_new_tensor_2d(t.ctx, GGML_TYPE_F16, 96, 16);
    ggml_tensor * source  = ggml_new_tensor_2d(t.ctx, GGML_TYPE_F32, 32, 16);
    ggml_tensor * widened = ggml_cpy(t.ctx, whole, ggml_new_tensor_2d(t.ctx, GGML_TYPE_F32, 96, 16));
    ggml_tensor * part    = ggml_cpy(t.ctx, source, ggml_view_2d(t.ctx, whole, 32, 16, whole->nb[1], 0));
    t.allocate();
    for (int round = 1; round <= 3; round++) {
        std::vector<ggml_fp16_t> background(96 * 16, ggml_fp32_to_fp16(static_cast<float>(round)));
        ggml_backend_tensor_set(whole, background.data(), 0, ggml_nbytes(whole));
        compute(t.ctx, {widened});
        for (auto & e : background) {
            e = ggml_fp32_to_fp16(static_cast<float>(10 + round));
        }
        ggml_backend_tensor_set(whole, background.data(), 0, ggml_nbytes(whole));
        set(source, 100);
        compute(t.ctx, {part});
        check(all(whole, [&](size_t i) { return i % 96 < 32 ? 100.0f : 10.0f + static_cast<float>(round); }), "gap",
              round);
    }
}

// Weights: the memory of a model that is gone, with another one's in it.
static void weights() {
    for (int round = 1; round <= 3; round++) {
        Tensors model, t;
        ggml_tensor * w = ggml_new_tensor_2d(model.ctx, GGML_TYPE_F32, 256, 16);
        model.allocate(GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        set(w, static_cast<float>(round));
        ggml_tensor * y = through_cache(t.ctx, w);
        t.allocate();
        compute(t.ctx, {y});
        check(all(y, [&](size_t) { return static_cast<float>(round); }), "weight", round);
    }
}

// By DMA: a table that SET_ROWS changes between two reads through the cache, in one graph. The check knows of the first
// line of a page that it is in the cache, so row 0 is one of them.
static void rows() {
    Tensors t;
    ggml_tensor * table = ggml_new_tensor_2d(t.ctx, GGML_TYPE_F32, 128, 8);
    ggml_tensor * row   = ggml_new_tensor_2d(t.ctx, GGML_TYPE_F32, 128, 2);
    ggml_tensor * ids   = ggml_new_tensor_1d(t.ctx, GGML_TYPE_I64, 2);
    ggml_tensor * early = through_cache(t.ctx, table);
    ggml_tensor * after = ggml_set_rows(t.ctx, table, row, ids);
    ggml_tensor * late  = through_cache(t.ctx, after);
    t.allocate();
    for (int round = 1; round <= 3; round++) {
        set(table, static_cast<float>(round));
        set(row, 100);
        const int64_t at[] = {0, 6};
        ggml_backend_tensor_set(ids, at, 0, sizeof at);
        compute(t.ctx, {early, late});
        check(all(early, [&](size_t) { return static_cast<float>(round); }), "row before", round);
        check(all(late, [&](size_t i) { return i / 128 == 0 || i / 128 == 6 ? 100.0f : static_cast<float>(round); }),
              "row after", round);
    }
}

// By DMA: rows gathered from a table that an op of the same graph has stored through the cache.
static void gather() {
    Tensors t;
    ggml_tensor * x     = ggml_new_tensor_2d(t.ctx, GGML_TYPE_F16, 128, 8);
    ggml_tensor * table = ggml_cpy(t.ctx, x, ggml_new_tensor_2d(t.ctx, GGML_TYPE_F32, 128, 8));
    ggml_tensor * ids   = ggml_new_tensor_1d(t.ctx, GGML_TYPE_I32, 2);
    ggml_tensor * rows  = ggml_get_rows(t.ctx, table, ids);
    t.allocate();
    for (int round = 1; round <= 3; round++) {
        const std::vector<ggml_fp16_t> v(128 * 8, ggml_fp32_to_fp16(static_cast<float>(round)));
        const int32_t at[] = {0, 6};
        ggml_backend_tensor_set(x, v.data(), 0, ggml_nbytes(x));
        ggml_backend_tensor_set(ids, at, 0, sizeof at);
        compute(t.ctx, {rows});
        check(all(rows, [&](size_t) { return static_cast<float>(round); }), "gathered row", round);
    }
}

int main() {
    ggml_backend_load_all();
    backend = ggml_backend_init_by_name("HTP0", nullptr);
    if (!backend) {
        fprintf(stderr, "there is no HTP0\n");
        return 1;
    }
    inputs();
    edges(40, 88);  // the first line in part
    edges(64, 100); // the last line in part
    parts();
    gaps();
    weights();
    rows();
    gather();
    return failures ? 1 : 0;
}
