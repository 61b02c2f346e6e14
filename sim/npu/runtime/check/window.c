/* window and stack. */
#include "check.h"
#include "env.h"

void check_window_access(uint64_t address, size_t bytes, bool extended_allowed, const char * what) {
    struct region r;
    if (!bytes) {
        return;
    }
    if (address > UINT32_MAX && !extended_allowed) {
        check_report("window", "beyond-4GiB", address, bytes, "%s at an address that does not fit in 32 bits", what);
    } else if (!window_find(address, false, &r)) {
        check_report("window", "unmapped", address, bytes, "%s at an address that is not mapped", what);
    } else if (bytes > r.bytes - (address - r.base)) {
        check_report("window", "past-the-end", address, bytes, "%s runs 0x%zx bytes past the end of its mapping", what,
                     bytes - (r.bytes - (address - r.base)));
    }
}

/* Frames on this machine are larger than Hexagon's: 64-bit registers and addresses, and vectors that Hexagon keeps in
 * 32 registers of 128 bytes spill here. What a thread uses is divided by this before it is compared. */
#define DEFAULT_SCALE 4

void check_stack(const struct dsp_thread * t) {
    if (!t->asked_bytes) {
        return;
    }
    size_t used = thread_stack_used(t), scale = (size_t)env_number("HEXSIM_STACK_SCALE", DEFAULT_SCALE, 1, 64);
    if (used / scale > t->asked_bytes) {
        check_report("stack", "too-deep", (uintptr_t)t->stack_top - used, used,
                     "thread %s used %zu bytes of stack here, about %zu on the device; it has %zu", t->name, used,
                     used / scale, t->asked_bytes);
    }
}

void check_stack_all(void) {
    thread_each(check_stack);
}
