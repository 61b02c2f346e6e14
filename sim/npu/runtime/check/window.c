/* window: addresses that the device could not use. */
#include "check.h"

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
