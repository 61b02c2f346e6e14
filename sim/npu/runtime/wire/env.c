#include "env.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int64_t env_number(const char * name, int64_t fallback, int64_t low, int64_t high) {
    const char * text = getenv(name);
    if (!text || !*text) {
        return fallback;
    }
    char * end;
    errno       = 0;
    long long v = strtoll(text, &end, 0);
    if (errno || *end || v < low || v > high) {
        fprintf(stderr, "hexsim: %s=%s is not a number from %" PRId64 " to %" PRId64 "; using %" PRId64 "\n", name,
                text, low, high, fallback);
        return fallback;
    }
    return v;
}
