// options.h: what the environment decides about the transport.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fastrpc {

struct Options {
    // Size of a pool segment in bytes; 0 for no pool. GGML_HEXAGON_FASTRPC_SEGMENT, in MiB.
    size_t segment_bytes;
    // enum wire_coherency. GGML_HEXAGON_FASTRPC_COHERENCY: role or whole.
    uint32_t coherency;
    // Ranges of more bytes than this give way to a whole-cache operation. GGML_HEXAGON_FASTRPC_CAP, in KiB.
    uint32_t cap_bytes;
};

// Read once; what can not be understood is said and ignored.
const Options & options();

} // namespace fastrpc
