/* vtcm: the content of VTCM is undefined after it was acquired, and it may not be touched after it was released.
 * Acquiring fills it with a pattern that is a NaN in every floating format; releasing takes away the pages' rights.
 * Beyond its ends lie guards, as always. */
#include <string.h>
#include <sys/mman.h>

#include "check.h"

#define POISON 0xff

static _Atomic bool released;

void check_vtcm_acquired(uintptr_t base, size_t bytes) {
    mprotect((void *)base, bytes, PROT_READ | PROT_WRITE);
    atomic_store(&released, false);
    memset((void *)base, POISON, bytes);
}

void check_vtcm_released(uintptr_t base, size_t bytes) {
    atomic_store(&released, true);
    mprotect((void *)base, bytes, PROT_NONE);
}

bool check_vtcm_fault(uintptr_t address, bool write) {
    uintptr_t base;
    size_t bytes;
    if (!vtcm_range(&base, &bytes)) {
        return false;
    }
    const char * verb = write ? "written" : "read";
    if (address - base < bytes && atomic_load(&released)) {
        check_report("vtcm", "use-after-release", address, 1, "VTCM is %s while this process does not hold it", verb);
        mprotect((void *)(address & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE);
        return true; /* go on: the next release takes the rights away again */
    }
    if (address - base >= bytes && address - base < bytes + 0x10000) {
        check_report("vtcm", "out-of-bounds", address, 1, "0x%zx bytes after the end of VTCM are %s",
                     (size_t)(address - base - bytes), verb);
    } else if (base - address <= 0x10000) {
        check_report("vtcm", "out-of-bounds", address, 1, "0x%zx bytes before VTCM are %s", (size_t)(base - address),
                     verb);
    }
    return false; /* the device faults as well */
}
