/* ring.h: the packet rings of a dspqueue, in memory that both processes map.
 *
 * Ring 0 carries packets from the application to the DSP, ring 1 the other way. Sizes come from the control
 * connection, never from the shared memory; positions count bytes since the start and are checked on each use, so that
 * a broken peer yields RING_BROKEN, not a wild access. */
#ifndef HEXSIM_RING_H
#define HEXSIM_RING_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RING_MAX_BUFFERS 64u
#define RING_MAX_MESSAGE 65536u
#define RING_MAX_BYTES (64u << 20)

struct ring_position {
    _Atomic uint64_t written;     /* bytes, by the writer */
    _Atomic uint64_t read;        /* bytes, by the reader */
    _Atomic uint32_t written_seq; /* futex words: bumped after each write, read */
    _Atomic uint32_t read_seq;
    uint8_t pad[104];
};
static_assert(sizeof(struct ring_position) == 128, "shared memory");

/* Start of the shared memory; the bytes of ring 0 follow, then those of ring 1. */
struct ring_shared {
    _Atomic uint32_t gone; /* a side has left */
    uint8_t pad[124];
    struct ring_position position[2];
};
static_assert(sizeof(struct ring_shared) == 384, "shared memory");

struct ring_buffer {
    uint32_t fd, bytes, offset, flags;
};
static_assert(sizeof(struct ring_buffer) == 16, "shared memory");

struct ring_packet {
    uint32_t bytes; /* of the whole packet, a multiple of 8 */
    uint32_t flags;
    uint32_t n_buffers;
    uint32_t message_bytes;
    /* ring_buffer[n_buffers], message */
};
static_assert(sizeof(struct ring_packet) == 16, "shared memory");

enum ring_status {
    RING_OK,
    RING_EMPTY,     /* no packet, and no wait wanted */
    RING_FULL,      /* no room, and no wait wanted */
    RING_TIMEOUT,   /* neither came in time */
    RING_TOO_SMALL, /* the packet is larger than the reader's room */
    RING_TOO_LARGE, /* the packet will never fit */
    RING_GONE,      /* the other side has left or died */
    RING_BROKEN,    /* the positions or the packet's head make no sense */
};

/* One process's end of a queue. */
struct ring {
    struct ring_shared * shared;
    uint8_t * data[2];
    uint32_t bytes[2]; /* multiples of 8 */
    pthread_mutex_t lock[2];
    const _Atomic bool * peer_dead; /* set when the peer's process has ended; may be NULL */
};

/* Bytes of shared memory for rings of these sizes. */
uint64_t ring_total(const uint32_t bytes[2]);

void ring_init(struct ring * ring, void * memory, const uint32_t bytes[2], const _Atomic bool * peer_dead);

/* timeout_us 0: do not wait; UINT32_MAX: without end. */
enum ring_status ring_write(struct ring * ring, int direction, uint32_t flags, const struct ring_buffer * buffers,
                            uint32_t n_buffers, const void * message, uint32_t message_bytes, uint32_t timeout_us);

/* Take the next packet. RING_TOO_SMALL leaves it in place. */
enum ring_status ring_read(struct ring * ring, int direction, struct ring_packet * packet, struct ring_buffer * buffers,
                           uint32_t max_buffers, void * message, uint32_t max_message, uint32_t timeout_us);

/* Look at the next packet's head. */
enum ring_status ring_peek(struct ring * ring, int direction, struct ring_packet * packet, uint32_t timeout_us);

/* Tell the peer that this side leaves, and wake everybody who waits. */
void ring_leave(struct ring * ring);
void ring_wake_all(struct ring * ring);

#endif
