/* padded_rows.cpp: two matrix products that the backend fuses (MUL_MAT_NX)
 * write the padding of their weights too.
 *
 * The host pads the rows of quantised weights to 32 (ggml-hexagon.cpp,
 * add_tensor) and the fused kernel takes the number of results from them
 * (htp/matmul-ops.c, valid_rows = ne01 - ...). Where a result is not a multiple
 * of 32 wide, the last tile of a row goes on into the next row, and that of the
 * last row into the next tensor. An application like any other, for a phone
 * too: the folder of the backends is its argument. Exit status 0: both were
 * seen; 1: neither; with GGML_HEXAGON_OPFUSION=0 neither is to be. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml.h"

namespace {

constexpr int k = 256, n = 1025, tokens = 2, tile = 32;
constexpr float untouched = 7;

struct graph {
    ggml_context *constant, *context;
    ggml_tensor *weights[2], *activations, *product[2], *behind, *result;
};

graph build() {
    graph g    = {};
    g.constant = ggml_init({1 << 20, nullptr, true});
    g.context  = ggml_init({1 << 20, nullptr, true});
    for (auto *& w : g.weights) {
        w = ggml_new_tensor_2d(g.constant, GGML_TYPE_Q4_0, k, n);
    }
    g.activations = ggml_new_tensor_2d(g.context, GGML_TYPE_F32, k, tokens);
    g.product[0]  = ggml_mul_mat(g.context, g.weights[0], g.activations);
    g.product[1]  = ggml_mul_mat(g.context, g.weights[1], g.activations);
    g.behind      = ggml_new_tensor_1d(g.context, GGML_TYPE_F32, tile); /* lies behind product[1] */
    g.result      = ggml_swiglu_split(g.context, g.product[0], g.product[1]);
    return g;
}

void fill(ggml_tensor * t, float value) {
    std::vector<float> values(ggml_nelements(t), value);
    if (t->type == GGML_TYPE_F32) {
        ggml_backend_tensor_set(t, values.data(), 0, ggml_nbytes(t));
        return;
    }
    std::vector<char> quantised(ggml_nbytes(t));
    ggml_quantize_chunk(t->type, values.data(), quantised.data(), 0, t->ne[1], t->ne[0], nullptr);
    ggml_backend_tensor_set(t, quantised.data(), 0, quantised.size());
}

} // namespace

int main(int argc, char ** argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: padded_rows FOLDER\n");
        return 2;
    }
    setenv("GGML_HEXAGON_NHVX", "1", 1); /* one thread: the last tile is the last one written */
    ggml_backend_load_all_from_path(argv[1]);
    ggml_backend_t backend = ggml_backend_init_by_name("HTP0", nullptr);
    if (!backend) {
        fprintf(stderr, "there is no HTP0\n");
        return 2;
    }
    graph g                       = build();
    ggml_backend_buffer_t weights = ggml_backend_alloc_ctx_tensors(g.constant, backend);
    ggml_backend_buffer_t buffer  = ggml_backend_alloc_ctx_tensors(g.context, backend);
    ggml_cgraph * c               = ggml_new_graph(g.context);
    ggml_backend_buffer_set_usage(weights, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_build_forward_expand(c, g.result);
    fill(g.weights[0], 1);
    fill(g.weights[1], 1);
    fill(g.activations, 1);
    fill(g.behind, untouched);
    if (ggml_backend_graph_compute(backend, c) != GGML_STATUS_SUCCESS) {
        return 2;
    }
    std::vector<float> product(n * tokens), behind(tile);
    ggml_backend_tensor_get(g.product[1], product.data(), 0, ggml_nbytes(g.product[1]));
    ggml_backend_tensor_get(g.behind, behind.data(), 0, ggml_nbytes(g.behind));
    int wrong = 0, beyond = 0;
    for (float x : product) {
        wrong += x < k * 0.9F || x > k * 1.1F; /* all are k but for rounding */
    }
    for (float x : behind) {
        beyond += x != untouched;
    }
    printf("%d of %d products are not %d: the first of row 1 are %g and %g, row 0 has %g\n", wrong, n * tokens, k,
           product[n], product[n + 1], product[0]);
    printf("%d values of the tensor behind it have changed\n", beyond);
    ggml_backend_buffer_free(buffer);
    ggml_backend_buffer_free(weights);
    ggml_backend_free(backend);
    ggml_free(g.context);
    ggml_free(g.constant);
    if ((wrong > 0) != (beyond > 0)) {
        return 2;
    }
    return wrong == 0;
}
