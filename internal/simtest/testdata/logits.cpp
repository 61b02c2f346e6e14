// logits MODEL DEVICE OUT [TOKENS]: evaluates a fixed pseudo-random prompt of TOKENS tokens (48), once as one batch and
// then four tokens one by one, and writes the logits of the last prompt position and of each single token to OUT as
// 32-bit floats. DEVICE is a llama.cpp device such as HTP0, or none for the CPU.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "ggml-backend.h"
#include "llama.h"

static constexpr int singles = 4;

[[noreturn]] static void fail(const char * what, const char * which) {
    fprintf(stderr, "logits: %s: %s\n", what, which);
    exit(1);
}

int main(int argc, char ** argv) {
    if (argc < 4) {
        fail("usage", "logits MODEL DEVICE OUT [TOKENS]");
    }
    const int tokens = argc > 4 ? atoi(argv[4]) : 48;
    if (tokens < 1 || tokens > 2048) {
        fail("not a number of tokens from 1 to 2048", argv[4]);
    }
    ggml_backend_load_all();
    llama_backend_init();

    ggml_backend_dev_t devices[2] = {};
    llama_model_params mp         = llama_model_default_params();
    mp.n_gpu_layers               = 99;
    if (strcmp(argv[2], "none") != 0) {
        devices[0] = ggml_backend_dev_by_name(argv[2]);
        if (!devices[0]) {
            fail("no such device", argv[2]);
        }
    }
    mp.devices          = devices;
    llama_model * model = llama_model_load_from_file(argv[1], mp);
    if (!model) {
        fail("can not load", argv[1]);
    }
    llama_context_params cp = llama_context_default_params();
    cp.n_ctx                = 4096;
    cp.n_batch = cp.n_ubatch = 1024;
    cp.n_threads = cp.n_threads_batch = 2;
    cp.flash_attn_type                = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    llama_context * context           = llama_init_from_model(model, cp);
    if (!context) {
        fail("no context for", argv[1]);
    }
    FILE * out = fopen(argv[3], "wb");
    if (!out) {
        fail("can not write", argv[3]);
    }
    const int32_t vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
    uint32_t      state      = 1;  // Numerical Recipes' linear congruential generator
    auto          next       = [&] {
        state = state * 1664525u + 1013904223u;
        return (llama_token) ((state >> 8) % (uint32_t) vocabulary);
    };
    auto evaluate = [&](std::vector<llama_token> batch) {
        if (llama_decode(context, llama_batch_get_one(batch.data(), (int32_t) batch.size())) != 0) {
            fail("can not decode with", argv[1]);
        }
        const float * logits = llama_get_logits_ith(context, -1);
        if (!logits || fwrite(logits, sizeof(float), (size_t) vocabulary, out) != (size_t) vocabulary) {
            fail("can not write", argv[3]);
        }
    };
    std::vector<llama_token> prompt((size_t) tokens);
    for (auto & t : prompt) {
        t = next();
    }
    evaluate(prompt);
    for (int i = 0; i < singles; i++) {
        evaluate({ next() });
    }
    if (fclose(out) != 0) {
        fail("can not write", argv[3]);
    }
    llama_free(context);
    llama_model_free(model);
    llama_backend_free();
    return 0;
}
