/* dsp.h: the parts of the DSP process. */
#ifndef HEXSIM_DSP_H
#define HEXSIM_DSP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "channel.h"
#include "shared.h"
#include "soc.h"

#define LINE_BYTES 128u

/* ---- this process (main.c) ---- */

extern struct dsp {
    uint32_t domain, session;
    pid_t app_pid;
    const struct soc * soc;
    struct shared_counters * counters; /* never NULL after the start */
    struct shared_domain * state;
    _Atomic uint64_t * written; /* shared_state.written */
} dsp;

#define DSP_COUNT(name, n)                                                                                             \
    atomic_fetch_add_explicit(&dsp.counters->counter[SHARED_##name], (uint64_t)(n), memory_order_relaxed)

/* ---- the 32-bit window (window.c) ---- */

enum region_kind { REGION_BUFFER, REGION_HEAP, REGION_STACK, REGION_VTCM };

struct region {
    uintptr_t base;
    size_t bytes;
    enum region_kind kind;
    int app_fd; /* of a buffer: its descriptor's number in the application; else -1 */
    char name[32];
};

void window_init(void);

/* Map fd (or anonymous memory when fd is -1) below 4 GiB with unmapped guards around. NULL when the window is full. */
void * window_map(size_t bytes, int fd, enum region_kind kind, int app_fd, const char * name);

/* The same at a 40-bit address above the window. */
void * window_map_extended(size_t bytes, int fd, int app_fd);

/* VTCM's place. */
void * window_map_vtcm(size_t bytes);

void window_unmap(void * base);

/* The region that holds address; or, with near, the closest one. False when there is none. */
bool window_find(uintptr_t address, bool near, struct region * found);

/* "buffer fd 17 +0x1200", "guard 0x40 bytes after VTCM", "no mapping": for people. */
void window_describe(uintptr_t address, char * text, size_t room);

/* ---- direct access (access.c) ---- */

/* Bytes of shared buffers that a thread has loaded and stored, as far as its libraries report it. */
struct access {
    uint64_t loaded, stored;
};

extern _Thread_local struct access access_of_thread;

/* Pages of the window become part of a shared buffer, or cease to be. */
void access_pages(uintptr_t base, size_t bytes, bool shared);

/* ---- the DSP's heap (heap.c) ---- */

void * heap_alloc(size_t align, size_t bytes);
void heap_free(void * block);
size_t heap_size(const void * block);

/* ---- threads (thread.c) ---- */

/* Counters that threads keep by themselves, since a call for each step would be too slow. */
enum { DSP_OWN_COUNTERS = 3 };

struct dsp_thread {
    unsigned id; /* qurt_thread_t; 0: a thread of the process itself */
    char name[16];
    uint8_t * stack;
    size_t stack_bytes; /* the simulated stack, larger than asked */
    size_t asked_bytes;
    uint8_t * stack_top;   /* frame at which the entry began */
    uint8_t * stack_limit; /* below it lies what the device's thread would not have: check; else NULL */
    int priority;
    uint64_t last_line; /* last line maintained: counting */
    /* While it runs: variables of its own that it adds to; how much of each the counters have. */
    const uint64_t * own[DSP_OWN_COUNTERS];
    uint64_t counted[DSP_OWN_COUNTERS];
    pthread_t pthread;
    void (*entry)(void *);
    void * argument;
};

struct dsp_thread * thread_self(void);

/* A DSP thread for the process itself: FastRPC's callers, dspqueue's callbacks. 0 on failure. */
unsigned thread_start(const char * name, size_t stack_bytes, int priority, void (*entry)(void *), void * argument);
void thread_detach(unsigned id);

/* This thread has come to a point at which it waits for others: who woke it may go on. */
void thread_waits(void);

/* Add what the threads that run have counted by themselves to the counters. */
void thread_count_own(void);

/* ---- shared buffers (mapping.c) ---- */

int mapping_add(const struct wire_map * map, int fd, uint64_t * dsp_va); /* takes fd */
int mapping_remove(int app_fd);
/* DSP address of part of a buffer that is mapped; NULL when it is not, or out of it. */
void * mapping_address(int app_fd, uint64_t offset, uint64_t bytes);
/* The same for an invocation's argument: mapped for the call when needed. Give it back with mapping_release. */
void * mapping_borrow(int app_fd, int fd, uint64_t buffer_bytes, uint64_t offset, uint64_t bytes);
void mapping_release(int app_fd);

/* ---- libraries and calls (skel.c) ---- */

int skel_open(const char * uri, const char * path, uint64_t * handle);
int skel_invoke(uint64_t handle, uint32_t scalars, void * args);
int skel_close(uint64_t handle);
/* A place in a loaded library; false elsewhere. */
struct skel_place {
    const char *library, *path; /* its name, its file */
    size_t offset;
    const char * function; /* by the library's symbols; NULL when not known */
};
bool skel_place(uintptr_t address, struct skel_place * place);
unsigned skel_arch(void);
bool skel_holds_low(uint32_t low_bits, uintptr_t * whole);

/* ---- serving one application thread (calls.c) ---- */

/* priority and stack size are what the device's thread would have. */
void calls_serve(int socket, int priority, uint32_t stack_bytes);

/* ---- queues (dspqueue.c) ---- */

int queue_add(const struct wire_queue * queue, int fd); /* takes fd */
int queue_remove(uint64_t id);
bool queue_imported(void);

/* ---- compute resources (compute_res.c) ---- */

bool vtcm_range(uintptr_t * base, size_t * bytes);
bool vtcm_acquired(void);

/* ---- user DMA (dma.c) ---- */

/* The calling thread ends: another one may have its engine once that is idle. */
void dma_thread_end(void);

/* Finish what is still in flight in every thread, as hardware would have by now; how many there were. */
unsigned dma_drain(void);

/* ---- log and last words (farf.c, fault.c) ---- */

void farf_init(void);
void farf_line(const char * level, const char * format, ...) __attribute__((format(printf, 2, 3)));
void fault_init(void);
void fault_thread_init(void); /* alternate signal stack of the calling thread */
void fault_thread_end(void);

/* The calling thread works for the application from now on: what it does is the op that others work for, too. */
void check_works(void);

/* Planned faults of HEXSIM_FAULT, counted at each packet and invocation. */
void fault_plan_step(void);

#endif
