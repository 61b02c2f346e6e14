/* A worker of the kernels' work queue can run a task twice. work_queue_wakeup raises seqn although there is no task
 * (work-queue.c:237). A worker that sees this seqn, and reads idx_write only when the first task has been added, takes
 * the task; for the task's own seqn it takes it again, as long as the main thread has not advanced idx_read. The
 * barrier falls below zero and the main thread waits for ever.
 *
 * The unmodified source is compiled here with threads of this machine, and the worker is held between its two loads.
 * Exit status 0: the task ran twice. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned int load(atomic_uint * p);
#undef atomic_load_explicit
#define atomic_load_explicit(p, order)                                                                                 \
    _Generic((p), atomic_uint *: load((atomic_uint *) (void *) (p)), default: __c11_atomic_load(p, order))
#include "work-queue.c"

#define WAKE_UP 1u    /* the seqn of work_queue_wakeup */
#define FIRST_TASK 2u /* and of the first task */

static atomic_uint * seqn_of_queue;
static _Thread_local bool is_worker;
static atomic_bool awake; /* the worker has seen the wake-up's seqn */
static atomic_uint runs;

static unsigned int load(atomic_uint * p) {
    unsigned int value = atomic_load(p);
    if (is_worker && p == seqn_of_queue && value == WAKE_UP) {
        atomic_store(&awake, true);
        while (atomic_load(p) != FIRST_TASK) {
            sched_yield();
        }
    }
    return value;
}

static void task(unsigned int n, unsigned int i, void * data) {
    (void) n, (void) data;
    if (i > 0) {
        atomic_fetch_add(&runs, 1);
        return;
    }
    for (time_t end = time(NULL) + 10;
         atomic_load(&runs) < 2 && time(NULL) < end;) { /* the main thread's longer part */
        sched_yield();
    }
    printf("the worker ran its part of the task %u times\n", atomic_load(&runs));
    exit(atomic_load(&runs) == 2 ? 0 : 1); /* work_queue_run would not return */
}

/* ---- QuRT on threads of this machine ---- */

static struct {
    void (*entry)(void *);
    void * argument;
} start;

static void * begin(void * unused) {
    is_worker = true;
    start.entry(start.argument);
    return unused;
}

int qurt_thread_create(qurt_thread_t * id, qurt_thread_attr_t * attributes, void (*entry)(void *), void * argument) {
    pthread_t thread;
    (void) attributes;
    start.entry    = entry;
    start.argument = argument;
    *id            = 1;
    return pthread_create(&thread, NULL, begin, NULL);
}

int qurt_thread_join(unsigned int id, int * status) {
    (void) id, (void) status;
    return 0;
}

qurt_thread_t qurt_thread_get_id(void) {
    return 0;
}

int qurt_thread_get_priority(qurt_thread_t id) {
    (void) id;
    return 1;
}

int qurt_futex_wait(void * lock, int value) {
    while (atomic_load((atomic_int *) lock) == value) {
        sched_yield();
    }
    return 0;
}

int qurt_futex_wake(void * lock, int n) {
    (void) lock;
    return n;
}

void hexsim_pause(uint32_t cycles);
void hexsim_pause(uint32_t cycles) {
    (void) cycles;
    sched_yield();
}

void HAP_debug_v2(int level, const char * file, int line, const char * format, ...) {
    (void) level, (void) file, (void) line, (void) format;
}

int main(void) {
    const uint32_t threads = 2, capacity = 16, stack_bytes = 4096;
    void * memory =
        aligned_alloc(work_queue_alignof(), (work_queue_sizeof(threads, capacity, stack_bytes) + 4095) & ~4095ul);
    work_queue_t queue = work_queue_init(memory, threads, capacity, stack_bytes);
    seqn_of_queue      = (atomic_uint *) queue; /* its first member */
    work_queue_wakeup(queue);
    while (!atomic_load(&awake)) {
        sched_yield();
    }
    return work_queue_run(queue, task, NULL, threads) ? 1 : 2;
}
