/* where: the place in the library that a finding is about, and the op it belongs to.
 *
 * The runtime does not know the messages of the library it runs, so it has no names of tensors: a finding tells the
 * buffer's descriptor and the offset in it, and the op by its function. Ops are spread over worker threads, on whose
 * stacks the op is not; then the thread that took the batch is asked what it is doing. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "source.h"

#define MAX_FRAMES 48
#define ANSWER_S 2

static _Thread_local uintptr_t blamed;

void check_blame(uintptr_t pc) {
    blamed = pc;
}

uintptr_t check_library_pc(uintptr_t pc) {
    struct skel_place place;
    void * frame[16];
    if (skel_place(pc, &place)) {
        return pc;
    }
    for (int i = 0, n = backtrace(frame, 16); i < n; i++) {
        if (skel_place((uintptr_t)frame[i] - 1, &place)) {
            return (uintptr_t)frame[i] - 1;
        }
    }
    return 0;
}

/* ---- the thread that took the batch ---- */

static struct {
    pthread_mutex_t lock; /* one question at a time */
    _Atomic pid_t tid;    /* 0: nobody */
    sem_t answered;
    void * frame[MAX_FRAMES];
    int n;
} worker = {.lock = PTHREAD_MUTEX_INITIALIZER};

void check_works(void) {
    static _Thread_local pid_t tid;
    tid = tid ? tid : (pid_t)syscall(SYS_gettid);
    atomic_store_explicit(&worker.tid, tid, memory_order_relaxed);
}

static void on_question(int signal_number) {
    (void)signal_number;
    worker.n = backtrace(worker.frame, MAX_FRAMES);
    sem_post(&worker.answered);
}

void check_where_init(void) {
    struct sigaction a = {.sa_handler = on_question, .sa_flags = SA_RESTART | SA_ONSTACK};
    sem_init(&worker.answered, 0, 0);
    sigaction(SIGUSR2, &a, NULL);
    source_start();
}

/* Is the function an op? By the names of llama.cpp's kernels. */
static bool is_op(const char * function) {
    return function && !strncmp(function, "op_", 3);
}

static bool outermost_op(void ** frame, int n, char * op, size_t room) {
    bool found = false;
    for (int i = 0; i < n; i++) {
        struct skel_place place;
        if (skel_place((uintptr_t)frame[i] - 1, &place) && is_op(place.function)) {
            snprintf(op, room, "%s", place.function);
            found = true;
        }
    }
    return found;
}

static bool op_of_batch(char * op, size_t room) {
    bool found = false;
    pthread_mutex_lock(&worker.lock);
    pid_t tid = atomic_load(&worker.tid);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ANSWER_S;
    while (!sem_trywait(&worker.answered)) {
        /* an answer that came too late */
    }
    if (tid && tid != (pid_t)syscall(SYS_gettid) && !syscall(SYS_tgkill, getpid(), tid, SIGUSR2) &&
        !sem_timedwait(&worker.answered, &until)) {
        found = outermost_op(worker.frame, worker.n, op, room);
    }
    pthread_mutex_unlock(&worker.lock);
    return found;
}

/* ---- places ---- */

bool check_where_at(struct check_where * w, uintptr_t * pc) {
    void * frame[MAX_FRAMES];
    struct skel_place place;
    int n = blamed ? 0 : backtrace(frame, MAX_FRAMES);
    *pc   = blamed;
    for (int i = 0; i < n && !*pc; i++) {
        *pc = skel_place((uintptr_t)frame[i] - 1, &place) ? (uintptr_t)frame[i] - 1 : 0;
    }
    blamed = 0;
    snprintf(w->at, sizeof w->at, "?");
    if (!*pc || !skel_place(*pc, &place)) {
        return false;
    }
    snprintf(w->at, sizeof w->at, "%s+0x%zx", place.library, place.offset);
    return true;
}

static void add_frames(struct check_where * w, uintptr_t pc, size_t * used) {
    struct source_frame frame[SOURCE_MAX_INLINED];
    size_t n;
    if (!source_frames(pc, frame, &n)) {
        return;
    }
    for (size_t k = 0; k < n; k++) {
        if (*used == 1) {
            snprintf(w->source, sizeof w->source, "%s", frame[k].line);
            snprintf(w->op, sizeof w->op, "%s", frame[n - 1].function);
        }
        if (*used + strlen(frame[k].function) + strlen(frame[k].line) + 8 < sizeof w->frames) {
            *used += (size_t)snprintf(w->frames + *used, sizeof w->frames - *used, "%s\"%s%s%s\"", *used > 1 ? "," : "",
                                      frame[k].function, *frame[k].line ? " " : "", frame[k].line);
        }
    }
}

void check_where_rest(struct check_where * w, uintptr_t pc) {
    void * frame[MAX_FRAMES];
    int n        = backtrace(frame, MAX_FRAMES);
    bool mine    = false; /* the stack is about the finding: pc is on it */
    size_t used  = 1;
    w->frames[0] = '[';
    w->source[0] = 0;
    snprintf(w->op, sizeof w->op, "?");
    for (int i = 0; i < n; i++) {
        mine = mine || (uintptr_t)frame[i] - 1 == pc;
        if (mine) {
            add_frames(w, (uintptr_t)frame[i] - 1, &used);
        }
    }
    if (!mine && pc) {
        add_frames(w, pc, &used);
    }
    snprintf(w->frames + used, sizeof w->frames - used, "]");
    if ((!mine || !outermost_op(frame, n, w->op, sizeof w->op)) && mine) {
        op_of_batch(w->op, sizeof w->op);
    }
}
