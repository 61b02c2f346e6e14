#define _GNU_SOURCE
#include "div0.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

static _Atomic unsigned long emulated;

unsigned long div0_count(void) {
    return atomic_load(&emulated);
}

#if defined(__x86_64__)

/* Length of a DIV or IDIV (opcodes F6 /6 /7 and F7 /6 /7, with their prefixes), 0 for anything else. */
static unsigned divide_length(const uint8_t * code, int * is_byte, int * is_short) {
    const uint8_t * p = code;
    while (*p == 0x66 || *p == 0x67 || *p == 0x2e || *p == 0x3e || *p == 0x26 || *p == 0x36 || *p == 0x64 ||
           *p == 0x65 || *p == 0xf2 || *p == 0xf3) {
        *is_short = *is_short || *p == 0x66;
        p++;
    }
    if ((*p & 0xf0) == 0x40) {
        *is_short = *is_short && !(*p & 8); /* REX.W wins */
        p++;
    }
    if (*p != 0xf6 && *p != 0xf7) {
        return 0;
    }
    *is_byte      = *p == 0xf6;
    uint8_t modrm = p[1];
    p += 2;
    int mod = modrm >> 6, reg = modrm >> 3 & 7, rm = modrm & 7;
    if (reg < 6) {
        return 0;
    }
    if (mod != 3) {
        if (rm == 4) {
            uint8_t sib = *p++;
            if (mod == 0 && (sib & 7) == 5) {
                p += 4;
            }
        } else if (mod == 0 && rm == 5) {
            p += 4;
        }
        p += mod == 1 ? 1 : mod == 2 ? 4 : 0;
    }
    return (unsigned)(p - code);
}

static void on_fpe(int sig, siginfo_t * info, void * context) {
    greg_t * regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    int is_byte = 0, is_short = 0;
    /* The quotient overflow of INT_MIN / -1 raises the same signal and stays fatal when the divisor is not zero; the
     * two are told apart only by the operand, and INT_MIN / -1 is undefined in C. */
    unsigned n = info->si_code == FPE_INTDIV ? divide_length((const uint8_t *)regs[REG_RIP], &is_byte, &is_short) : 0;
    if (!n) {
        signal(sig, SIG_DFL);
        if (info->si_code <= 0) {
            raise(sig); /* somebody sent it */
        }
        return; /* else the instruction faults again, now fatally */
    }
    atomic_fetch_add(&emulated, 1);
    if (is_byte) {
        regs[REG_RAX] &= ~0xffffll; /* AX */
    } else if (is_short) {
        regs[REG_RAX] &= ~0xffffll; /* AX and DX */
        regs[REG_RDX] &= ~0xffffll;
    } else {
        regs[REG_RAX] = 0;
        regs[REG_RDX] = 0;
    }
    regs[REG_RIP] += n;
}

void div0_install(int only_if_default) {
    struct sigaction old;
    if (only_if_default && (sigaction(SIGFPE, NULL, &old) || old.sa_handler != SIG_DFL)) {
        return;
    }
    struct sigaction action = {0};
    action.sa_sigaction     = on_fpe;
    action.sa_flags         = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigaction(SIGFPE, &action, NULL);
}

#else

void div0_install(int only_if_default) {
    (void)only_if_default;
}

#endif
