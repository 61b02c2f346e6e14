/* pd: processes on the DSP. Each physical DSP and session has one of its own, as user processes on the real DSP have:
 * with its own 32-bit window. It is a child of a thread that only waits for its end, so that it dies with the
 * application (PR_SET_PDEATHSIG follows the thread), and its end is noticed at once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <linux/futex.h>
#include <unistd.h>

#include "host.h"
#include "soc.h"

extern char ** environ;

/* FastRPC's threads on the DSP, as the public library has it. */
#define DEFAULT_PRIORITY 192
#define DEFAULT_STACK (16 << 10)
#define LEAST_STACK (16 << 10)
#define MOST_STACK (8 << 20)

/* A process that was asked to end does so at once, but gives back much memory. */
#define REAPING_SECONDS 10

static struct {
    pthread_mutex_t lock;
    struct wire_caller params[SOC_MAX_DOMAINS][HOST_MAX_SESSIONS]; /* 0: the default */
    struct pd ** list; /* the dead ones too: handles and queues still point at them */
    size_t n;
    struct shared_state * state;
    int state_fd;
    pid_t owner; /* who started them; a child that it forked has nothing to end */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct pd * const * pd_all(size_t * n) {
    *n = all.n;
    return all.list;
}

bool pd_split(int effective_domain, uint32_t * domain, uint32_t * session) {
    if (effective_domain < 0) {
        return false;
    }
    *domain  = (uint32_t)effective_domain % HOST_DOMAIN_STRIDE;
    *session = (uint32_t)effective_domain / HOST_DOMAIN_STRIDE;
    return *domain >= SOC_FIRST_DOMAIN && *domain < SOC_FIRST_DOMAIN + soc_domains() && *session < HOST_MAX_SESSIONS;
}

/* ---- death ---- */

static void release_resource(struct shared_resource * r, uint32_t owner) {
    if (atomic_compare_exchange_strong(&r->owner, &owner, 0)) {
        syscall(SYS_futex, &r->owner, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
    }
}

static void say_how(const struct pd * pd, int status, bool known) {
    if (known && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return;
    }
    char how[64] = "ended";
    if (known && WIFSIGNALED(status)) {
        snprintf(how, sizeof how, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (known) {
        snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(status));
    }
    fprintf(stderr, "hexsim: DSP process %d (domain %u, session %u) %s\n", (int)pd->pid, pd->domain, pd->session, how);
}

/* From here on nobody waits for the process. */
static void mark_dead(struct pd * pd) {
    if (atomic_exchange(&pd->dead, true)) {
        return;
    }
    struct shared_domain * state = &all.state->domain[pd->domain - SOC_FIRST_DOMAIN];
    release_resource(&state->vtcm, pd->session + 1);
    release_resource(&state->hmx, pd->session + 1);
    pthread_mutex_lock(&pd->lock);
    for (struct pd_queue * q = pd->queues; q; q = q->next) {
        ring_wake_all(q->ring);
    }
    pthread_mutex_unlock(&pd->lock);
}

static void await_reaping(struct pd * pd, const struct timespec * until) {
    int late = 0;
    pthread_mutex_lock(&pd->lock);
    while (!pd->reaped && !late) {
        late = pthread_cond_timedwait(&pd->reaping, &pd->lock, until);
    }
    pthread_mutex_unlock(&pd->lock);
}

static struct timespec reaping_ends(void) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += REAPING_SECONDS;
    return until;
}

void pd_note_dead(struct pd * pd) {
    if (atomic_load(&pd->dead)) {
        return;
    }
    pthread_mutex_lock(&pd->closing_lock);
    if (pd->control >= 0) {
        shutdown(pd->control, SHUT_RDWR); /* ends a process that does not make sense any more */
    }
    pthread_mutex_unlock(&pd->closing_lock);
    /* An application may end at the error that it is about to get: how the process ended must be said before. */
    struct timespec until = reaping_ends();
    await_reaping(pd, &until);
    mark_dead(pd);
}

/* ---- start ---- */

static bool program_path(char * path, size_t room) {
    const char * named = getenv("HEXSIM_DSP");
    if (named && *named) {
        snprintf(path, room, "%s", named);
    } else {
        Dl_info info;
        if (!dladdr((void *)pd_get, &info) || !info.dli_fname) {
            return false;
        }
        const char * slash = strrchr(info.dli_fname, '/');
        int n              = slash ? (int)(slash - info.dli_fname) + 1 : 0;
        snprintf(path, room, "%.*shexsim-dsp", n, info.dli_fname);
    }
    if (access(path, X_OK)) {
        fprintf(stderr, "hexsim: the DSP program %s: %s; set HEXSIM_DSP\n", path, strerror(errno));
        return false;
    }
    return true;
}

struct start {
    struct pd * pd;
    const char * path;
    int far_socket;
    int error;
    bool done;
    pthread_mutex_t lock;
    pthread_cond_t cond;
};

static int spawn(struct start * s) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawn_file_actions_adddup2(&actions, s->far_socket, WIRE_CONTROL_FD);
    char name[]   = "hexsim-dsp";
    char * argv[] = {name, NULL};
    int error     = posix_spawn(&s->pd->pid, s->path, &actions, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    return error;
}

/* Start the process, tell the starter, and wait for the process's end. */
static void * keeper(void * argument) {
    struct start * s = argument;
    struct pd * pd   = s->pd;
    pthread_setname_np(pthread_self(), "hexsim-keeper");
    int error = spawn(s);
    pthread_mutex_lock(&s->lock);
    s->error = error;
    s->done  = true;
    pthread_cond_signal(&s->cond);
    pthread_mutex_unlock(&s->lock); /* s is gone from here on */
    if (error) {
        return NULL;
    }
    int status = 0;
    pid_t got;
    do {
        got = waitpid(pd->pid, &status, 0);
    } while (got < 0 && errno == EINTR);
    say_how(pd, status, got == pd->pid);
    mark_dead(pd);
    pthread_mutex_lock(&pd->lock);
    pd->reaped = true;
    pthread_cond_broadcast(&pd->reaping);
    pthread_mutex_unlock(&pd->lock);
    pthread_mutex_lock(&pd->control_lock);
    pthread_mutex_lock(&pd->closing_lock);
    close(pd->control);
    pd->control = -1;
    pthread_mutex_unlock(&pd->closing_lock);
    pthread_mutex_unlock(&pd->control_lock);
    return NULL;
}

static int start_process(struct pd * pd, const char * path, int far_socket) {
    struct start s = {.pd = pd, .path = path, .far_socket = far_socket};
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.cond, NULL);
    pthread_t thread;
    sigset_t every, old;
    sigfillset(&every); /* the application's signals are not for this thread */
    pthread_sigmask(SIG_SETMASK, &every, &old);
    int error = pthread_create(&thread, NULL, keeper, &s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error) {
        return error;
    }
    pthread_detach(thread);
    pthread_mutex_lock(&s.lock);
    while (!s.done) {
        pthread_cond_wait(&s.cond, &s.lock);
    }
    pthread_mutex_unlock(&s.lock);
    return s.error;
}

static void * shared_memory(const char * name, size_t bytes, int * fd) {
    *fd = memfd_create(name, MFD_CLOEXEC);
    if (*fd < 0 || ftruncate(*fd, (off_t)bytes)) {
        return NULL;
    }
    void * p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* With all.lock held. */
static struct pd * pd_start(uint32_t domain, uint32_t session, int * status) {
    *status = DSP_SHELL_MISSING;
    char path[4096];
    if (!soc_selected() || !program_path(path, sizeof path)) {
        return NULL;
    }
    *status = DSP_CODE(0x014); /* the session can not be opened */
    if (!all.state) {
        all.state = shared_memory("hexsim-state", sizeof *all.state, &all.state_fd);
    }
    struct pd * pd    = calloc(1, sizeof *pd);
    struct pd ** list = realloc(all.list, (all.n + 1) * sizeof *list);
    int sockets[2], counters_fd = -1;
    if (list) {
        all.list = list;
    }
    if (!pd || !list || !all.state || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
        free(pd);
        return NULL;
    }
    pd->domain   = domain;
    pd->session  = session;
    pd->control  = sockets[0];
    pd->counters = shared_memory("hexsim-counters", sizeof *pd->counters, &counters_fd);
    pthread_mutex_init(&pd->control_lock, NULL);
    pthread_mutex_init(&pd->closing_lock, NULL);
    pthread_mutex_init(&pd->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&pd->reaping, &attr);
    pthread_condattr_destroy(&attr);
    int error = pd->counters ? start_process(pd, path, sockets[1]) : ENOMEM;
    close(sockets[1]);
    if (error) {
        fprintf(stderr, "hexsim: starting %s: %s\n", path, strerror(error));
        close(sockets[0]);
        free(pd);
        return NULL;
    }
    all.list[all.n++]       = pd;
    all.owner               = getpid();
    struct wire_hello hello = {WIRE_VERSION, domain, session, 0, (uint64_t)getpid()};
    int fds[]               = {counters_fd, all.state_fd};
    int got                 = pd_request(pd, WIRE_HELLO, &hello, sizeof hello, fds, 2, NULL);
    close(counters_fd);
    if (got) {
        *status = got == AEE_ECONNRESET ? DSP_CODE(0x014) : got;
        return NULL;
    }
    *status = 0;
    return pd;
}

struct pd * pd_get(int effective_domain, bool restart, int * status) {
    uint32_t domain, session;
    if (!pd_split(effective_domain, &domain, &session)) {
        *status = AEE_EINVALIDDOMAIN;
        return NULL;
    }
    *status          = 0;
    struct pd * last = NULL;
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < all.n; i++) {
        if (all.list[i]->domain == domain && all.list[i]->session == session) {
            last = all.list[i];
        }
    }
    if (!last || (restart && atomic_load(&last->dead))) {
        last = pd_start(domain, session, status);
    }
    pthread_mutex_unlock(&all.lock);
    return last;
}

/* ---- requests ---- */

static int exchange(int socket, uint32_t kind, const void * body, size_t bytes, const int * fds, uint32_t n_fds,
                    uint64_t * value) {
    struct iovec part = {(void *)body, bytes};
    struct channel_frame frame;
    if (channel_send(socket, kind, &part, 1, fds, n_fds) || channel_recv(socket, &frame)) {
        return AEE_ECONNRESET;
    }
    struct wire_reply reply = {AEE_ERPC, 0, 0};
    if (frame.kind == WIRE_REPLY && frame.body_bytes >= sizeof reply) {
        memcpy(&reply, frame.body, sizeof reply);
    }
    channel_free(&frame);
    if (value) {
        *value = reply.value;
    }
    return reply.status;
}

int pd_request(struct pd * pd, uint32_t kind, const void * body, size_t bytes, const int * fds, uint32_t n_fds,
               uint64_t * value) {
    if (atomic_load(&pd->dead)) {
        return AEE_ECONNRESET;
    }
    pthread_mutex_lock(&pd->control_lock);
    int status = pd->control < 0 ? AEE_ECONNRESET : exchange(pd->control, kind, body, bytes, fds, n_fds, value);
    pthread_mutex_unlock(&pd->control_lock);
    if (status == AEE_ECONNRESET) {
        pd_note_dead(pd);
    }
    return status;
}

/* ---- call connections ---- */

struct call {
    struct pd * pd;
    int socket;
    struct call * next;
};

static pthread_key_t calls_key;
static pthread_once_t calls_once = PTHREAD_ONCE_INIT;

int pd_thread_params(int effective_domain, int priority, int stack_bytes) {
    uint32_t domain = 0, session = 0;
    if ((effective_domain != -1 && !pd_split(effective_domain, &domain, &session)) ||
        (priority != -1 && (priority < 1 || priority > 255)) ||
        (stack_bytes != -1 && (stack_bytes < LEAST_STACK || stack_bytes > MOST_STACK))) {
        return AEE_EBADPARM;
    }
    pthread_mutex_lock(&all.lock);
    for (uint32_t d = 0; d < SOC_MAX_DOMAINS; d++) {
        for (uint32_t s = 0; s < HOST_MAX_SESSIONS; s++) {
            if (effective_domain == -1 || (d + SOC_FIRST_DOMAIN == domain && s == session)) {
                struct wire_caller * p = &all.params[d][s];
                p->priority            = priority == -1 ? p->priority : priority;
                p->stack_bytes         = stack_bytes == -1 ? p->stack_bytes : (uint32_t)stack_bytes;
            }
        }
    }
    pthread_mutex_unlock(&all.lock);
    return 0;
}

static struct wire_caller thread_params(const struct pd * pd) {
    pthread_mutex_lock(&all.lock);
    struct wire_caller p = all.params[pd->domain - SOC_FIRST_DOMAIN][pd->session];
    pthread_mutex_unlock(&all.lock);
    p.priority    = p.priority ? p.priority : DEFAULT_PRIORITY;
    p.stack_bytes = p.stack_bytes ? p.stack_bytes : DEFAULT_STACK;
    return p;
}

/* Connections to processes that are gone. */
static struct call * without_dead(struct call * list) {
    struct call ** p = &list;
    while (*p) {
        struct call * c = *p;
        if (atomic_load(&c->pd->dead)) {
            *p = c->next;
            close(c->socket);
            free(c);
        } else {
            p = &c->next;
        }
    }
    return list;
}

static void calls_end(void * list) {
    for (struct call *c = list, *next; c; c = next) {
        next = c->next;
        close(c->socket); /* the DSP thread behind it ends */
        free(c);
    }
}

static void calls_init(void) {
    pthread_key_create(&calls_key, calls_end);
}

int pd_call_socket(struct pd * pd) {
    pthread_once(&calls_once, calls_init);
    if (atomic_load(&pd->dead)) {
        return -1;
    }
    struct call * list = without_dead(pthread_getspecific(calls_key));
    pthread_setspecific(calls_key, list);
    for (struct call * c = list; c; c = c->next) {
        if (c->pd == pd) {
            return c->socket;
        }
    }
    int sockets[2];
    struct call * c = malloc(sizeof *c);
    if (!c || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
        free(c);
        return -1;
    }
    struct wire_caller caller = thread_params(pd);
    int status                = pd_request(pd, WIRE_CALLER, &caller, sizeof caller, &sockets[1], 1, NULL);
    close(sockets[1]);
    if (status) {
        close(sockets[0]);
        free(c);
        return -1;
    }
    *c = (struct call){pd, sockets[0], list};
    pthread_setspecific(calls_key, c);
    return c->socket;
}

void pd_shutdown_all(void) {
    if (all.owner != getpid()) {
        return;
    }
    for (size_t i = 0; i < all.n; i++) {
        struct pd * pd = all.list[i];
        if (!atomic_load(&pd->dead)) {
            pd_request(pd, WIRE_SHUTDOWN, NULL, 0, NULL, 0, NULL);
        }
    }
    struct timespec until = reaping_ends();
    for (size_t i = 0; i < all.n; i++) {
        await_reaping(all.list[i], &until);
    }
}
