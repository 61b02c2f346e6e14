/* wire_test: rings, frames and the emulated division in one process; a hostile peer must not do more than end things.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channel.h"
#include "div0.h"
#include "ring.h"
#include "shared.h"

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static uint64_t seed = 20240501;

static uint32_t rnd(uint32_t n) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % n;
}

/* ---- rings ---- */

static const uint32_t sizes[2] = {1000, 4096}; /* 1000: packets wrap at odd places */

static void * ring_memory(void) {
    void * m = mmap(NULL, ring_total(sizes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(m != MAP_FAILED);
    return m;
}

static void * write_many(void * argument) {
    struct ring * r = argument;
    uint8_t message[256];
    for (uint32_t i = 0; i < 20000; i++) {
        struct ring_buffer b = {i, i * 2, i * 3, i * 5};
        uint32_t n           = i % 200;
        memset(message, (int)i, n);
        CHECK(ring_write(r, 0, i, &b, i % 2, message, n, UINT32_MAX) == RING_OK);
    }
    return NULL;
}

static void test_ring(void) {
    void * m = ring_memory();
    struct ring a, b;
    ring_init(&a, m, sizes, NULL);
    ring_init(&b, m, sizes, NULL);
    struct ring_packet p;
    struct ring_buffer list[4];
    uint8_t message[256];
    CHECK(ring_read(&b, 0, &p, list, 4, message, 256, 0) == RING_EMPTY);
    CHECK(ring_read(&b, 0, &p, list, 4, message, 256, 1000) == RING_TIMEOUT);
    CHECK(ring_write(&a, 0, 0, list, 0, message, 2000, 0) == RING_TOO_LARGE);
    pthread_t t;
    CHECK(!pthread_create(&t, NULL, write_many, &a));
    for (uint32_t i = 0; i < 20000; i++) {
        if (i % 3 == 0) {
            CHECK(ring_peek(&b, 0, &p, UINT32_MAX) == RING_OK && p.flags == i);
        }
        if (i % 200 > 10 && i % 7 == 0) {
            CHECK(ring_read(&b, 0, &p, list, 4, message, 10, UINT32_MAX) == RING_TOO_SMALL);
        }
        CHECK(ring_read(&b, 0, &p, list, 4, message, 256, UINT32_MAX) == RING_OK);
        CHECK(p.flags == i && p.n_buffers == i % 2 && p.message_bytes == i % 200);
        CHECK(!p.n_buffers || (list[0].fd == i && list[0].flags == i * 5));
        CHECK(!p.message_bytes || message[p.message_bytes - 1] == (uint8_t)i);
    }
    pthread_join(t, NULL);
    ring_leave(&a);
    CHECK(ring_read(&b, 0, &p, list, 4, message, 256, UINT32_MAX) == RING_GONE);
    munmap(m, ring_total(sizes));
}

static void test_ring_hostile(void) {
    struct ring r;
    struct ring_packet p;
    struct ring_buffer list[4];
    uint8_t message[256];
    void * m = ring_memory();
    ring_init(&r, m, sizes, NULL);
    for (int i = 0; i < 200000; i++) {
        uint64_t * w = m;
        for (uint32_t k = rnd(4); k < 5; k++) { /* positions, heads, bytes: anything */
            uint32_t at = rnd((uint32_t)ring_total(sizes) / 8 - 16) + 16;
            w[at]       = rnd(3) ? rnd(600) * 8 : (uint64_t)rnd(UINT32_MAX) << 32 | rnd(UINT32_MAX);
        }
        if (rnd(2)) {
            atomic_store(&r.shared->position[0].read, rnd(1000) * 8);
            atomic_store(&r.shared->position[0].written, atomic_load(&r.shared->position[0].read) + rnd(130) * 8);
        }
        ring_read(&r, 0, &p, list, 4, message, sizeof message, 0);
        ring_write(&r, 0, 0, list, 4, message, rnd(256), 0);
    }
    munmap(m, ring_total(sizes));
}

/* ---- frames ---- */

static void test_frames(void) {
    int s[2], fds[2];
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, s) && !pipe(fds));
    for (uint32_t n = 0; n < 100000; n = n * 7 + 1) {
        uint8_t * body     = malloc(n + 1);
        struct iovec parts = {body, n};
        struct channel_frame f;
        memset(body, (int)n, n + 1);
        CHECK(!channel_send(s[0], 7, &parts, 1, fds, n % 3) && !channel_recv(s[1], &f));
        CHECK(f.kind == 7 && f.body_bytes == n && f.n_fds == n % 3 && (!n || !memcmp(f.body, body, n)));
        channel_free(&f);
        free(body);
    }
    struct iovec big = {malloc(16), (size_t)WIRE_MAX_BODY + 1};
    CHECK(channel_send(s[0], 7, &big, 1, NULL, 0));
    free(big.iov_base);
    close(s[0]);
    struct channel_frame f;
    CHECK(channel_recv(s[1], &f));
    close(s[1]);
    for (int i = 0; i < 3000; i++) { /* rubbish, then the end */
        CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, s));
        uint32_t words[64];
        for (int k = 0; k < 64; k++) {
            words[k] = rnd(3) ? rnd(64) : rnd(UINT32_MAX);
        }
        words[0] = WIRE_MAGIC;
        CHECK(write(s[0], words, rnd(sizeof words) + 1) > 0);
        close(s[0]);
        while (!channel_recv(s[1], &f)) {
            channel_free(&f);
        }
        close(s[1]);
    }
    close(fds[0]);
    close(fds[1]);
}

/* ---- division ---- */

static void test_division(void) {
#if !defined(__x86_64__) || defined(__SANITIZE_ADDRESS__)
    return;
#else
    div0_install(0);
    volatile struct {
        int64_t q;
        int32_t w[3];
        int16_t h;
        int8_t b;
    } z                  = {0};
    volatile int64_t a   = 1234567890123;
    volatile int32_t c   = -77;
    volatile uint8_t d   = 200;
    volatile unsigned i  = 1;
    unsigned long before = div0_count();
    /* stored before they are looked at: a compiler may answer "is the quotient zero" without a division */
    volatile int64_t quotients[] = {a / z.q,    a % z.q,         (int64_t)((uint64_t)a / (uint64_t)z.q),
                                    c / z.w[i], c % z.w[i + 1],  (uint32_t)c / (uint32_t)z.w[0],
                                    c / z.h,    d / (uint8_t)z.b};
    for (int k = 0; k < 8; k++) {
        CHECK(quotients[k] == 0);
    }
    int quotient, remainder;
    __asm__("idivl %2" : "=a"(quotient), "=d"(remainder) : "r"(0), "a"(5), "d"(0));
    CHECK(quotient == 0 && remainder == 0);
    __asm__("divb %b1" : "=a"(quotient) : "q"(0), "a"(0x0105));
    CHECK((quotient & 0xffff) == 0);
    long zeros[40] = {0}, rax; /* the long encodings: registers above 7, scale, 8 and 32 bits of displacement */
    __asm__("mov %1, %%r12; xor %%r9d, %%r9d; idivq 8(%%r12,%%r9,4)"
            : "=a"(rax)
            : "r"(zeros), "a"(5l), "d"(0l)
            : "r9", "r12", "cc");
    CHECK(rax == 0);
    __asm__("mov %1, %%r13; divl 256(%%r13)" : "=a"(rax) : "r"(zeros), "a"(5l), "d"(0l) : "r13", "cc");
    CHECK(rax == 0);
    CHECK(div0_count() == before + 12);
    volatile int exact = c / (z.w[0] + 7);
    CHECK(exact == -11);
    /* anything but a division stays fatal */
    pid_t child = fork();
    if (child == 0) {
        raise(SIGFPE);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
#endif
}

/* ---- a hostile application ---- */

static pid_t start_dsp(const char * program, int * control) {
    int s[2];
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s));
    pid_t parent = getpid(), child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (s[1] != WIRE_CONTROL_FD) {
            dup2(s[1], WIRE_CONTROL_FD);
        } else {
            dup2(s[1], 10);
            dup2(10, WIRE_CONTROL_FD);
        }
        execl(program, "hexsim-dsp", (char *)NULL);
        _exit(99);
    }
    close(s[1]);
    *control            = s[0];
    struct wire_hello h = {WIRE_VERSION, 3, 0, 0, (uint64_t)parent};
    struct iovec part   = {&h, sizeof h};
    int fds[2]          = {memfd_create("c", 0), memfd_create("d", 0)};
    CHECK(!ftruncate(fds[0], sizeof(struct shared_counters)) && !ftruncate(fds[1], sizeof(struct shared_state)));
    struct channel_frame f;
    CHECK(!channel_send(s[0], WIRE_HELLO, &part, 1, fds, 2) && !channel_recv(s[0], &f));
    channel_free(&f);
    close(fds[0]);
    close(fds[1]);
    return child;
}

/* A frame of some kind with bytes of no sense, and some descriptors. The answer is read when there is one. */
static void rubbish(int socket, uint32_t kind) {
    static const uint32_t lengths[] = {0, 8, 16, 24, 40, 48, 72, 200};
    uint32_t words[64];
    for (int k = 0; k < 64; k++) {
        words[k] = rnd(4) ? rnd(80) : rnd(UINT32_MAX);
    }
    int fd            = memfd_create("x", 0);
    int fds[2]        = {fd, fd};
    struct iovec part = {words, lengths[rnd(8)]};
    struct channel_frame f;
    if (ftruncate(fd, rnd(100000))) {
        exit(1);
    }
    if (!channel_send(socket, kind, &part, 1, fds, rnd(3)) && !channel_recv(socket, &f)) {
        channel_free(&f);
    }
    close(fd);
}

static void test_hostile(const char * program) {
    for (int round = 0; round < 10; round++) {
        int control;
        pid_t child = start_dsp(program, &control);
        for (int i = 0; i < 200; i++) {
            static const uint32_t control_kinds[] = {WIRE_MAP,       WIRE_UNMAP, WIRE_QUEUE_ADD,
                                                     WIRE_QUEUE_DEL, WIRE_HELLO, 99};
            rubbish(control, control_kinds[rnd(6)]);
            if (i % 10 == 0) { /* a call connection of its own, for as long as it stands */
                int s[2];
                struct wire_caller c = {192, 16384};
                struct iovec part    = {&c, sizeof c};
                struct channel_frame f;
                CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s));
                CHECK(!channel_send(control, WIRE_CALLER, &part, 1, &s[1], 1) && !channel_recv(control, &f));
                channel_free(&f);
                close(s[1]);
                for (int k = 0; k < 5; k++) {
                    static const uint32_t kinds[] = {WIRE_OPEN, WIRE_INVOKE, WIRE_CLOSE, 77};
                    rubbish(s[0], kinds[rnd(4)]);
                }
                close(s[0]);
            }
        }
        close(control);
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

int main(int argc, char ** argv) {
    printf("seed %llu\n", (unsigned long long)seed);
    signal(SIGPIPE, SIG_IGN);
    test_ring();
    test_ring_hostile();
    test_frames();
    test_division();
    if (argc == 2) {
        test_hostile(argv[1]);
    }
    return 0;
}
