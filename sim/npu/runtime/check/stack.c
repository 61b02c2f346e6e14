/* stack: where a thread's stack would end on the device, this machine's becomes inaccessible; whoever goes beyond is
 * told with its frames, once for each thread, and goes on.
 *
 * Frames on this machine are larger than Hexagon's: 64-bit registers and addresses, and vectors that Hexagon keeps in
 * 32 registers of 128 bytes spill here. So the stack that was asked for counts HEXSIM_STACK_SCALE times. */
#include <sys/mman.h>

#include "check.h"
#include "env.h"

#define DEFAULT_SCALE 4
#define PAGE_BYTES 4096u

static size_t allowed(size_t asked) {
    return asked * (size_t)env_number("HEXSIM_STACK_SCALE", DEFAULT_SCALE, 1, 64);
}

size_t check_stack_room(size_t asked) {
    return (allowed(asked) + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
}

void check_stack_begins(struct dsp_thread * t) {
    if (t->asked_bytes) {
        t->stack_limit =
            (uint8_t *)((uintptr_t)(t->stack_top - allowed(t->asked_bytes)) & ~(uintptr_t)(PAGE_BYTES - 1));
        mprotect(t->stack, (size_t)(t->stack_limit - t->stack), PROT_NONE);
    }
}

bool check_stack_fault(uintptr_t address) {
    struct dsp_thread * t = thread_self();
    uintptr_t start       = (uintptr_t)t->stack;
    if (!t->stack_limit || address < start || address >= (uintptr_t)t->stack_limit) {
        return false;
    }
    size_t used = (size_t)(t->stack_top - t->stack_limit);
    mprotect(t->stack, (size_t)(t->stack_limit - t->stack), PROT_READ | PROT_WRITE);
    t->stack_limit = NULL;
    check_report("stack", "too-deep", address, 1,
                 "thread %s uses more than %zu bytes of stack here, which stand for the %zu it has on the device",
                 t->name, used, t->asked_bytes);
    return true;
}
