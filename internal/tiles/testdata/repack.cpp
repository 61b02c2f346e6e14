// Lets the pinned Hexagon backend repack weights, and writes the bytes that it
// keeps on the device: what the specification in Go is compared with.
//
//   repack BACKEND (TYPE COLUMNS ROWS FLAT TILED BACK)...
//
// FLAT is a file of blocks as in a model; TILED receives the device's bytes and
// BACK what the backend reads back as blocks.
#include <strings.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "ggml-backend.h"
#include "ggml.h"

namespace {

[[noreturn]] void fail(const char * what, const char * detail) {
    std::fprintf(stderr, "repack: %s: %s\n", what, detail);
    std::exit(1);
}

ggml_type type_of(const char * name) {
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const char * known = ggml_type_name(static_cast<ggml_type>(t));
        if (known != nullptr && strcasecmp(known, name) == 0) {
            return static_cast<ggml_type>(t);
        }
    }
    fail("no type", name);
}

void write(const char * path, const void * data, size_t size) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char *>(data), static_cast<std::streamsize>(size));
    if (!out.flush()) {
        fail("not written", path);
    }
}

void repack(ggml_backend_buffer_type_t buft, char ** args) {
    const int64_t     columns = std::atoll(args[1]);
    const int64_t     rows    = std::atoll(args[2]);
    std::ifstream     in(args[3], std::ios::binary);
    std::vector<char> flat((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());

    ggml_init_params params = { ggml_tensor_overhead() * 2, nullptr, true };
    ggml_context *   ctx    = ggml_init(params);
    ggml_tensor *    t      = ggml_new_tensor_2d(ctx, type_of(args[0]), columns, rows);
    if (flat.size() != ggml_nbytes(t)) {
        fail("size of", args[3]);
    }
    const size_t          size   = ggml_backend_buft_get_alloc_size(buft, t);
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(buft, size + 1024);
    if (buffer == nullptr) {
        fail("no buffer for", args[0]);
    }
    ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    if (ggml_backend_tensor_alloc(buffer, t, ggml_backend_buffer_get_base(buffer)) != GGML_STATUS_SUCCESS) {
        fail("no tensor of", args[0]);
    }
    ggml_backend_tensor_set(t, flat.data(), 0, flat.size());
    write(args[4], t->data, size);
    std::vector<char> back(flat.size());
    ggml_backend_tensor_get(t, back.data(), 0, back.size());
    write(args[5], back.data(), back.size());
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

}  // namespace

int main(int argc, char ** argv) {
    if (argc < 8 || (argc - 2) % 6 != 0) {
        fail("usage", "repack BACKEND (TYPE COLUMNS ROWS FLAT TILED BACK)...");
    }
    ggml_backend_reg_t reg = ggml_backend_load(argv[1]);
    if (reg == nullptr || ggml_backend_reg_dev_count(reg) == 0) {
        fail("not loaded", argv[1]);
    }
    ggml_backend_dev_t device  = ggml_backend_reg_dev_get(reg, 0);
    ggml_backend_t     backend = ggml_backend_dev_init(device, nullptr);
    if (backend == nullptr) {
        fail("no session with", ggml_backend_dev_name(device));
    }
    for (int i = 2; i < argc; i += 6) {
        repack(ggml_backend_dev_buffer_type(device), argv + i);
    }
    ggml_backend_free(backend);
    return 0;
}
