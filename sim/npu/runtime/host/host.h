/* host.h: the parts of libcdsprpc.so. */
#ifndef HEXSIM_HOST_H
#define HEXSIM_HOST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "AEEStdErr.h"
#include "channel.h"
#include "ring.h"
#include "shared.h"

#define EXPORT __attribute__((visibility("default")))

/* A code as the DSP side gives it. */
#define DSP_CODE(code) ((int)(DSP_AEE_EOFFSET + (code)))
#define DSP_SHELL_MISSING ((int)0x80000600)

/* As in the public FastRPC library: an effective domain id is domain + 8 * session, four sessions at most. */
#define HOST_DOMAIN_STRIDE 8u
#define HOST_MAX_SESSIONS 4u

/* ---- shared buffers (rpcmem.c) ---- */

struct host_buffer {
    uint8_t * base;
    size_t bytes;
    int fd;
    bool owned; /* of rpcmem, not of remote_register_buf */
};

/* The buffer that holds address, or has descriptor fd; copied, since it may vanish. */
bool host_buffer_at(const void * address, struct host_buffer * found);
bool host_buffer_of(int fd, struct host_buffer * found);

/* ---- processes on the DSP (pd.c): one for each physical DSP and session ---- */

struct pd_map {
    int fd;
    size_t bytes;
};

struct pd_queue {
    uint64_t id;
    struct ring * ring;
    struct pd_queue * next;
};

struct pd {
    uint32_t domain, session;
    pid_t pid;
    int control;                  /* socket; -1 once the process is gone. Changed with both locks held */
    pthread_mutex_t control_lock; /* one request at a time */
    pthread_mutex_t closing_lock; /* held for moments only */
    _Atomic bool dead;
    pthread_mutex_t lock; /* of what follows */
    bool reaped;          /* waited for: its time is this process's */
    pthread_cond_t reaping;
    struct pd_map * maps;
    size_t n_maps, room_maps;
    struct pd_queue * queues;
    unsigned handles;
    struct shared_counters * counters;
};

/* The process for an effective domain id, started when there is none or when the last one died and restart is asked
 * for. NULL with an AEE code in *status. */
struct pd * pd_get(int effective_domain, bool restart, int * status);

/* Split an effective domain id; false when there is no such DSP or session. */
bool pd_split(int effective_domain, uint32_t * domain, uint32_t * session);

/* One request on the control connection. AEE_ECONNRESET when the process is gone. */
int pd_request(struct pd * pd, uint32_t kind, const void * body, size_t bytes, const int * fds, uint32_t n_fds,
               uint64_t * value);

/* What the DSP threads that serve later callers of a domain are like; domain -1: all of them. -1 keeps a value. */
int pd_thread_params(int effective_domain, int priority, int stack_bytes);

/* The calling thread's call connection; -1 when the process is gone. */
int pd_call_socket(struct pd * pd);

/* After a failure on a connection: ends the process and returns when its end was said, or after a few seconds. */
void pd_note_dead(struct pd * pd);

/* Ask all processes to end, and wait for their ends for a moment: so their time is counted as the application's. */
void pd_shutdown_all(void);

/* ---- counters (counters.c) ---- */

#define HOST_COUNT(pd, name, n) atomic_fetch_add(&(pd)->counters->counter[SHARED_##name], (uint64_t)(n))

/* Write HEXSIM_COUNTERS, if set: all processes so far. */
void counters_write(void);
struct pd * const * pd_all(size_t * n);

#endif
