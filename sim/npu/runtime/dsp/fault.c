/* fault: the DSP's last words, and planned faults.
 *
 * HEXSIM_FAULT=crash:N, exit:N or hang:N makes the process crash, end, or stop answering at the Nth packet or
 * invocation (from 1), so that whatever sits above can be tested against it. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"
#include "div0.h"
#include "dsp.h"
#include "source.h"

#define ALTERNATE_BYTES (128u << 10)

static bool is_write(const void * context) {
#if defined(__x86_64__)
    return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2;
#elif defined(__aarch64__)
    /* The kernel tells the syndrome register in a record behind the registers: its WnR bit. */
    const uint8_t * record = ((const ucontext_t *)context)->uc_mcontext.__reserved;
    for (;;) {
        struct _aarch64_ctx head;
        memcpy(&head, record, sizeof head);
        if (head.magic == ESR_MAGIC) {
            return ((const struct esr_context *)record)->esr >> 6 & 1;
        }
        if (!head.magic || !head.size) {
            return false;
        }
        record += head.size;
    }
#else
    (void)context;
    return false;
#endif
}

static void frames(void) {
    void * frame[48];
    struct source_frame inlined[SOURCE_MAX_INLINED];
    size_t n_inlined;
    int n = backtrace(frame, 48), told = 0;
    for (int i = 0; i < n && told < 24; i++) {
        struct skel_place place;
        if (!skel_place((uintptr_t)frame[i], &place) || !source_frames((uintptr_t)frame[i], inlined, &n_inlined)) {
            continue;
        }
        for (size_t k = 0; k < n_inlined; k++) {
            farf_line("FATAL", "  #%d %s %s (%s+0x%zx)", told++, inlined[k].function, inlined[k].line, place.library,
                      place.offset);
        }
    }
}

static void last_words(int signal_number, uintptr_t address, const char * what) {
    static _Atomic int begun;
    if (atomic_fetch_add(&begun, 1)) {
        for (;;) {
            pause(); /* another thread is speaking, and ends the process */
        }
    }
    char where[160] = "";
    if (signal_number == SIGSEGV || signal_number == SIGBUS) {
        window_describe(address, where, sizeof where);
        farf_line("FATAL", "%s at 0x%zx: %s; thread %s", what, (size_t)address, where, thread_self()->name);
    } else {
        farf_line("FATAL", "%s; thread %s", what, thread_self()->name);
    }
    frames();
}

static void die(int signal_number) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    _exit(128 + signal_number);
}

static void on_fault(int signal_number, siginfo_t * info, void * context) {
    uintptr_t address = (uintptr_t)info->si_addr;
    bool write        = is_write(context);
    if (signal_number == SIGSEGV && info->si_code > 0 && checks.any) {
        if (checks.coherency && coherency_fault(address, write, context)) {
            return;
        }
        if (checks.vtcm && check_vtcm_fault(address, write)) {
            return;
        }
        if (checks.stack && check_stack_fault(address)) {
            return;
        }
    }
    char what[64];
    snprintf(what, sizeof what, "%s (%s)", strsignal(signal_number), write ? "write" : "read");
    last_words(signal_number, address, what);
    if (checks.window) {
        check_report("window", "unmapped-access", address, 1, "access outside all mappings");
    }
    die(signal_number);
}

static void on_abort(int signal_number, siginfo_t * info, void * context) {
    (void)info;
    (void)context;
    last_words(signal_number, 0, strsignal(signal_number));
    die(signal_number);
}

static void on_trap(int signal_number, siginfo_t * info, void * context) {
    (void)info;
    if (!(checks.coherency && coherency_trap(context))) {
        last_words(signal_number, 0, strsignal(signal_number));
        die(signal_number);
    }
}

static _Thread_local void * alternate;

void fault_thread_init(void) {
    alternate = mmap(NULL, ALTERNATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (alternate != MAP_FAILED) {
        stack_t s = {.ss_sp = alternate, .ss_size = ALTERNATE_BYTES};
        sigaltstack(&s, NULL);
    }
}

void fault_thread_end(void) {
    if (alternate && alternate != MAP_FAILED) {
        stack_t s = {.ss_flags = SS_DISABLE};
        sigaltstack(&s, NULL);
        munmap(alternate, ALTERNATE_BYTES);
        alternate = NULL;
    }
}

static void install(int signal_number, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction a = {0};
    a.sa_sigaction     = handler;
    a.sa_flags         = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(signal_number, &a, NULL);
}

static char plan_kind[8];
static long plan_at;
static _Atomic long plan_step;

void fault_init(void) {
    void * warm[4];
    backtrace(warm, 4); /* loads the unwinder now, not in a handler */
    fault_thread_init();
    source_init();
    install(SIGSEGV, on_fault);
    install(SIGBUS, on_fault);
    install(SIGILL, on_fault);
    install(SIGABRT, on_abort);
    install(SIGTRAP, on_trap);
    div0_install(0);
    const char * plan = getenv("HEXSIM_FAULT");
    if (plan && *plan &&
        (sscanf(plan, "%7[a-z]:%ld", plan_kind, &plan_at) != 2 || plan_at < 1 ||
         (strcmp(plan_kind, "crash") && strcmp(plan_kind, "exit") && strcmp(plan_kind, "hang")))) {
        fprintf(stderr, "hexsim: HEXSIM_FAULT=%s is not crash:N, exit:N or hang:N\n", plan);
        plan_at = 0;
    }
}

void fault_plan_step(void) {
    if (!plan_at || atomic_fetch_add(&plan_step, 1) + 1 != plan_at) {
        return;
    }
    farf_line("FATAL", "planned fault: %s at step %ld (HEXSIM_FAULT)", plan_kind, plan_at);
    if (!strcmp(plan_kind, "exit")) {
        _exit(3);
    }
    while (!strcmp(plan_kind, "hang")) {
        pause();
    }
    *(volatile int *)(uintptr_t)0x40 = 1;
}
