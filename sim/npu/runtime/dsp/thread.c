/* thread: QuRT threads are pthreads with a stack of their own below 4 GiB. The stack that the creator brought is too
 * small for this machine's frames; its size is remembered for the stack check. */
#define _GNU_SOURCE
#include "qurt_thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "dsp.h"
#include "env.h"
#include "hexsim_runtime.h"
#include "qurt.h"

#define MAX_THREADS 256

static struct {
    pthread_mutex_t lock;
    struct dsp_thread * slot[MAX_THREADS]; /* index is id - FIRST_ID */
    unsigned next;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define FIRST_ID 0x100u

__thread uint64_t hexsim_hvx_instructions;

static _Thread_local struct dsp_thread * self;
static struct dsp_thread process_thread = {.name = "process", .priority = 192};

struct dsp_thread * thread_self(void) {
    return self ? self : &process_thread;
}

static struct dsp_thread * by_id(unsigned id) {
    return id >= FIRST_ID && id < FIRST_ID + MAX_THREADS ? all.slot[id - FIRST_ID] : NULL;
}

static bool take_id(struct dsp_thread * t) {
    bool ok = false;
    pthread_mutex_lock(&all.lock);
    for (unsigned i = 0; i < MAX_THREADS && !ok; i++) {
        unsigned k = (all.next + i) % MAX_THREADS;
        if (!all.slot[k]) {
            all.slot[k] = t;
            t->id       = FIRST_ID + k;
            all.next    = k + 1;
            ok          = true;
        }
    }
    pthread_mutex_unlock(&all.lock);
    return ok;
}

static void drop(struct dsp_thread * t) {
    pthread_mutex_lock(&all.lock);
    if (t->id) {
        all.slot[t->id - FIRST_ID] = NULL;
    }
    pthread_mutex_unlock(&all.lock);
    if (t->stack) {
        window_unmap(t->stack);
    }
    free(t);
}

static void run(void * argument) {
    struct dsp_thread * t = argument;
    t->entry(t->argument);
}

static const enum shared_counter own_counters[DSP_OWN_COUNTERS] = {
    SHARED_hvx_instructions,
    SHARED_direct_load_bytes,
    SHARED_direct_store_bytes,
};

/* With all.lock held: add what the thread has counted since the last time. */
static void count_own(struct dsp_thread * t) {
    for (int i = 0; i < DSP_OWN_COUNTERS && t->own[i]; i++) {
        uint64_t n = __atomic_load_n(t->own[i], __ATOMIC_RELAXED);
        atomic_fetch_add_explicit(&dsp.counters->counter[own_counters[i]], n - t->counted[i], memory_order_relaxed);
        t->counted[i] = n;
    }
}

void thread_count_own(void) {
    pthread_mutex_lock(&all.lock);
    for (unsigned i = 0; i < MAX_THREADS; i++) {
        if (all.slot[i]) {
            count_own(all.slot[i]);
        }
    }
    pthread_mutex_unlock(&all.lock);
}

/* The variables are of the thread that calls: they are gone once the thread has ended. */
static void watch_own(bool runs) {
    const uint64_t * own[] = {&hexsim_hvx_instructions, &access_of_thread.loaded, &access_of_thread.stored};
    pthread_mutex_lock(&all.lock);
    count_own(self);
    for (int i = 0; i < DSP_OWN_COUNTERS; i++) {
        self->own[i] = runs ? own[i] : NULL;
    }
    pthread_mutex_unlock(&all.lock);
}

static void thread_ends(void) {
    thread_waits();
    watch_own(false);
    dma_thread_end();
    fault_thread_end();
}

__attribute__((noinline)) static void * begin(void * argument) {
    struct dsp_thread * t = argument;
    self                  = t;
    watch_own(true);
    if (t->name[0]) {
        pthread_setname_np(pthread_self(), t->name);
    }
    fault_thread_init();
    t->stack_top = __builtin_frame_address(0);
    if (checks.stack) {
        check_stack_begins(t);
    }
    run(t);
    thread_ends();
    return NULL;
}

unsigned thread_start(const char * name, size_t asked, int priority, void (*entry)(void *), void * argument) {
    struct dsp_thread * t = calloc(1, sizeof *t);
    if (!t || !take_id(t)) {
        free(t);
        return 0;
    }
    char region[32];
    snprintf(t->name, sizeof t->name, "%s", name);
    snprintf(region, sizeof region, "stack of %s", t->name);
    t->entry       = entry;
    t->argument    = argument;
    t->priority    = priority;
    t->asked_bytes = asked;
    t->stack_bytes = (size_t)env_number("HEXSIM_STACK_KIB", 1024, 64, 65536) << 10;
    if (checks.stack) {
        t->stack_bytes += check_stack_room(asked);
    }
    t->stack    = window_map(t->stack_bytes, -1, REGION_STACK, -1, region);
    unsigned id = t->id; /* once the thread runs, t is its own: it may have ended before this one goes on */
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    int error = t->stack ? pthread_attr_setstack(&attr, t->stack, t->stack_bytes) : 1;
    error     = error ? error : pthread_create(&t->pthread, &attr, begin, t);
    pthread_attr_destroy(&attr);
    if (error) {
        farf_line("ERROR", "thread %s can not be created: %s", t->name, t->stack ? strerror(error) : "window full");
        drop(t);
        return 0;
    }
    return id;
}

static void * reap(void * argument) {
    struct dsp_thread * t = argument;
    pthread_join(t->pthread, NULL);
    drop(t);
    return NULL;
}

/* The stack is ours to unmap, so somebody has to wait for the thread's end. */
void thread_detach(unsigned id) {
    struct dsp_thread * t = by_id(id);
    pthread_t reaper;
    if (t && !pthread_create(&reaper, NULL, reap, t)) {
        pthread_detach(reaper);
    }
}

/* ---- QuRT ---- */

int qurt_thread_create(qurt_thread_t * thread, qurt_thread_attr_t * attr, void (*entry)(void *), void * arg) {
    if (!thread || !attr || !entry) {
        return QURT_EINVALID;
    }
    *thread = thread_start(attr->name, attr->stack_size, attr->priority, entry, arg);
    return *thread ? QURT_EOK : QURT_EMEM;
}

int qurt_thread_join(unsigned int id, int * status) {
    struct dsp_thread * t = by_id(id);
    if (!t) {
        return QURT_EVAL;
    }
    pthread_join(t->pthread, NULL);
    drop(t);
    if (status) {
        *status = 0;
    }
    return QURT_EOK;
}

void qurt_thread_exit(int status) {
    (void)status;
    thread_ends();
    pthread_exit(NULL);
}

qurt_thread_t qurt_thread_get_id(void) {
    return thread_self()->id;
}

int qurt_thread_get_priority(qurt_thread_t id) {
    struct dsp_thread * t = by_id(id);
    return t ? t->priority : id == 0 ? process_thread.priority : -1;
}

int qurt_thread_set_priority(qurt_thread_t id, unsigned short priority) {
    struct dsp_thread * t = by_id(id);
    if (!t) {
        return QURT_EVAL;
    }
    t->priority = priority;
    return QURT_EOK;
}

int qurt_sleep(unsigned long long us) {
    struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
    return QURT_EOK;
}

/* A thread that is woken runs at once on the device, which has a hardware thread for it. Here it may wait for a core
 * while the waker goes on, and the kernels' work queue does not bear that: a worker that notices the wake-up only when
 * the first task is being published runs that task twice (sim/findings/README.md). So the waker lets the woken ones
 * reach the next point at which they wait or pause; not for ever, since there may be none. */
#define WOKEN_WAIT_NANOSECONDS 2000000

static atomic_int n_woken;
static _Thread_local bool woken;

void thread_waits(void) {
    if (woken) {
        woken = false;
        atomic_fetch_sub(&n_woken, 1);
    }
}

static int64_t nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int qurt_futex_wait(void * lock, int value) {
    thread_waits();
    if (syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0)) {
        return QURT_EVAL;
    }
    woken = true; /* counted by the waker */
    return QURT_EOK;
}

int qurt_futex_wake(void * lock, int n) {
    thread_waits(); /* or it would wait for itself */
    int woke = (int)syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
    if (woke > 0) {
        atomic_fetch_add(&n_woken, woke);
        int64_t until = nanoseconds() + WOKEN_WAIT_NANOSECONDS;
        while (atomic_load(&n_woken) > 0 && nanoseconds() < until) {
            sched_yield();
        }
    }
    return woke;
}
