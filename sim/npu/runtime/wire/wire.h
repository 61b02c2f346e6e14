/* wire.h: what the application's libcdsprpc.so and the DSP process say to each other.
 *
 * Two kinds of unix stream sockets: one control connection for each DSP process, served by its main thread, and one
 * call connection for each application thread that invokes, served by a DSP thread of its own. A frame is a head, a
 * body of sized integers, and up to WIRE_MAX_FDS descriptors that travel with the head. Every request has one reply.
 * Neither side trusts the other: lengths and counts are checked before use. */
#ifndef HEXSIM_WIRE_H
#define HEXSIM_WIRE_H

#include <assert.h>
#include <stdint.h>

#define WIRE_MAGIC 0x50534448u /* "HDSP" */
#define WIRE_VERSION 2u
#define WIRE_MAX_BODY (64u << 20) /* bytes; larger arguments belong into shared buffers */
#define WIRE_MAX_FDS 16u
#define WIRE_CONTROL_FD 3 /* where the DSP process finds its control connection */

enum wire_kind {
    WIRE_HELLO     = 1,  /* wire_hello */
    WIRE_MAP       = 2,  /* wire_map + 1 fd */
    WIRE_UNMAP     = 3,  /* wire_unmap */
    WIRE_QUEUE_ADD = 4,  /* wire_queue + 1 fd */
    WIRE_QUEUE_DEL = 5,  /* wire_queue */
    WIRE_CALLER    = 6,  /* wire_caller + 1 fd: the call connection of one more application thread */
    WIRE_SHUTDOWN  = 7,  /* no body */
    WIRE_OPEN      = 16, /* wire_open + URI + search path */
    WIRE_INVOKE    = 17, /* wire_invoke + wire_arg[] + inline input bytes; fds of shared arguments */
    WIRE_CLOSE     = 18, /* wire_handle */
    WIRE_REPLY     = 32, /* wire_reply, after an invoke followed by the inline output bytes */
};

struct wire_head {
    uint32_t magic;
    uint32_t kind; /* enum wire_kind */
    uint32_t body_bytes;
    uint32_t n_fds;
};
static_assert(sizeof(struct wire_head) == 16, "wire");

struct wire_hello {
    uint32_t version;
    uint32_t domain;  /* physical DSP: 3 is cdsp, 4 is cdsp1 */
    uint32_t session; /* session on that DSP */
    uint32_t reserved;
    uint64_t app_pid;
};
static_assert(sizeof(struct wire_hello) == 24, "wire");

struct wire_caller {
    int32_t priority;     /* QuRT's: 1 is the highest */
    uint32_t stack_bytes; /* of the DSP thread, as the device would make it */
};
static_assert(sizeof(struct wire_caller) == 8, "wire");

enum wire_map_when { WIRE_MAP_NOW = 0, WIRE_MAP_DELAYED = 1 };

struct wire_map {
    int32_t app_fd; /* the descriptor's number in the application: the buffer's name on both sides */
    uint32_t when;  /* enum wire_map_when */
    uint32_t extended;
    uint32_t reserved;
    uint64_t bytes;
};
static_assert(sizeof(struct wire_map) == 24, "wire");

struct wire_unmap {
    int32_t app_fd;
    uint32_t reserved;
};
static_assert(sizeof(struct wire_unmap) == 8, "wire");

struct wire_queue {
    uint64_t id;
    uint32_t ring_bytes[2]; /* application to DSP, DSP to application */
    uint64_t bytes;         /* of the shared memory */
};
static_assert(sizeof(struct wire_queue) == 24, "wire");

struct wire_open {
    uint32_t uri_bytes;  /* with the NUL */
    uint32_t path_bytes; /* with the NUL */
};
static_assert(sizeof(struct wire_open) == 8, "wire");

struct wire_handle {
    uint64_t handle;
};
static_assert(sizeof(struct wire_handle) == 8, "wire");

#define WIRE_MAX_ARGS 64u

struct wire_invoke {
    uint64_t handle;
    uint32_t scalars;
    uint32_t n_args;
};
static_assert(sizeof(struct wire_invoke) == 16, "wire");

/* One buffer argument. Shared: bytes lie in the buffer of descriptor number app_fd, fds[fd_index] is that descriptor;
 * else the bytes of an input follow inline, and those of an output come with the reply. */
struct wire_arg {
    uint64_t bytes;
    uint64_t offset;
    uint64_t buffer_bytes;
    int32_t app_fd; /* -1: inline */
    int32_t fd_index;
};
static_assert(sizeof(struct wire_arg) == 32, "wire");

struct wire_reply {
    int32_t status; /* AEE code */
    uint32_t reserved;
    uint64_t value; /* a handle, or an address in the DSP's window */
};
static_assert(sizeof(struct wire_reply) == 16, "wire");

#endif
