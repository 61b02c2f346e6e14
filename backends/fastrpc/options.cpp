#include "options.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "ggml-impl.h"
#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "htp-ops.h"
#include "wire.h"

namespace fastrpc {

namespace {

// Small enough to waste little, since the driver gives a segment all its pages at once; large enough that only weights
// and the caches and compute buffers of long contexts need mappings of their own.
constexpr unsigned long default_segment_mib = 128;
// Descriptors reach 4 GiB far, and v73 maps less than 2 GiB at once.
constexpr unsigned long max_segment_mib = 1024;
// As much as the DSP's level 2 cache holds: to go through more lines than there are is never cheaper.
constexpr unsigned long default_cap_kib = 1024;
constexpr unsigned long max_cap_kib     = 1024 * 1024;

unsigned long number(const char * name, unsigned long fallback, unsigned long max) {
    const char * text = getenv(name);
    if (!text || !*text) {
        return fallback;
    }
    char * end;
    errno               = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || *end || *text == '-' || value > max) {
        GGML_LOG_WARN("ggml-hex: %s=%s is not a number between 0 and %lu; %lu is taken\n", name, text, max, fallback);
        return fallback;
    }
    return value;
}

uint32_t coherency() {
    const char * text = getenv("GGML_HEXAGON_FASTRPC_COHERENCY");
    if (text && !strcmp(text, "whole")) {
        return WIRE_COHERENCY_WHOLE;
    }
    if (text && *text && strcmp(text, "role")) {
        GGML_LOG_WARN("ggml-hex: GGML_HEXAGON_FASTRPC_COHERENCY=%s is neither role nor whole; role is taken\n", text);
    }
    return WIRE_COHERENCY_ROLE;
}

} // namespace

const Options & options() {
    static const Options o = {
        number("GGML_HEXAGON_FASTRPC_SEGMENT", default_segment_mib, max_segment_mib) << 20,
        coherency(),
        static_cast<uint32_t>(number("GGML_HEXAGON_FASTRPC_CAP", default_cap_kib, max_cap_kib) << 10),
    };
    return o;
}

} // namespace fastrpc
