#define _GNU_SOURCE
#include "ring.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ll
#define RECHECK_NS 100000000ll /* a peer that dies between two checks is noticed after this at the latest */

uint64_t ring_total(const uint32_t bytes[2]) {
    return sizeof(struct ring_shared) + (uint64_t)bytes[0] + bytes[1];
}

void ring_init(struct ring * ring, void * memory, const uint32_t bytes[2], const _Atomic bool * peer_dead) {
    ring->shared    = memory;
    ring->data[0]   = (uint8_t *)memory + sizeof(struct ring_shared);
    ring->data[1]   = ring->data[0] + bytes[0];
    ring->bytes[0]  = bytes[0];
    ring->bytes[1]  = bytes[1];
    ring->peer_dead = peer_dead;
    pthread_mutex_init(&ring->lock[0], NULL);
    pthread_mutex_init(&ring->lock[1], NULL);
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static bool gone(const struct ring * ring) {
    return atomic_load(&ring->shared->gone) || (ring->peer_dead && atomic_load(ring->peer_dead));
}

/* Sleep while *word == seen, at most until deadline; false when the deadline has passed. */
static bool wait_word(_Atomic uint32_t * word, uint32_t seen, int64_t deadline) {
    int64_t left = deadline - now_ns();
    if (left <= 0) {
        return false;
    }
    if (left > RECHECK_NS) {
        left = RECHECK_NS;
    }
    struct timespec t = {left / NS_PER_S, left % NS_PER_S};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0);
    return true;
}

static void bump(_Atomic uint32_t * word) {
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void copy_in(struct ring * ring, int d, uint64_t at, const void * from, uint32_t n) {
    uint32_t o = (uint32_t)(at % ring->bytes[d]), first = ring->bytes[d] - o;
    if (first > n) {
        first = n;
    }
    if (first) {
        memcpy(ring->data[d] + o, from, first);
    }
    if (n - first) {
        memcpy(ring->data[d], (const uint8_t *)from + first, n - first);
    }
}

static void copy_out(const struct ring * ring, int d, uint64_t at, void * to, uint32_t n) {
    uint32_t o = (uint32_t)(at % ring->bytes[d]), first = ring->bytes[d] - o;
    if (first > n) {
        first = n;
    }
    if (first) {
        memcpy(to, ring->data[d] + o, first);
    }
    if (n - first) {
        memcpy((uint8_t *)to + first, ring->data[d], n - first);
    }
}

static int64_t deadline_of(uint32_t timeout_us) {
    return timeout_us == UINT32_MAX ? INT64_MAX : now_ns() + (int64_t)timeout_us * 1000;
}

/* Bytes in the ring, or -1 when the positions make no sense. */
static int64_t used(const struct ring * ring, int d, uint64_t * read_at, uint64_t * write_at) {
    *read_at   = atomic_load(&ring->shared->position[d].read);
    *write_at  = atomic_load(&ring->shared->position[d].written);
    uint64_t n = *write_at - *read_at;
    return n > ring->bytes[d] || n % 8 || *read_at % 8 ? -1 : (int64_t)n;
}

enum ring_status ring_write(struct ring * ring, int d, uint32_t flags, const struct ring_buffer * buffers,
                            uint32_t n_buffers, const void * message, uint32_t message_bytes, uint32_t timeout_us) {
    if (n_buffers > RING_MAX_BUFFERS || message_bytes > RING_MAX_MESSAGE) {
        return RING_TOO_LARGE;
    }
    uint32_t list  = n_buffers * (uint32_t)sizeof *buffers;
    uint32_t bytes = ((uint32_t)sizeof(struct ring_packet) + list + message_bytes + 7u) & ~7u;
    if (bytes > ring->bytes[d]) {
        return RING_TOO_LARGE;
    }
    struct ring_packet head  = {bytes, flags, n_buffers, message_bytes};
    struct ring_position * p = &ring->shared->position[d];
    int64_t deadline         = timeout_us ? deadline_of(timeout_us) : 0;
    enum ring_status status;
    pthread_mutex_lock(&ring->lock[d]);
    for (;;) {
        uint32_t seen = atomic_load(&p->read_seq);
        uint64_t r, w;
        int64_t n = used(ring, d, &r, &w);
        if (n < 0) {
            status = RING_BROKEN;
        } else if (gone(ring)) {
            status = RING_GONE;
        } else if (ring->bytes[d] - (uint64_t)n >= bytes) {
            copy_in(ring, d, w, &head, sizeof head);
            copy_in(ring, d, w + sizeof head, buffers, list);
            copy_in(ring, d, w + sizeof head + list, message, message_bytes);
            atomic_store(&p->written, w + bytes);
            bump(&p->written_seq);
            status = RING_OK;
        } else if (!timeout_us) {
            status = RING_FULL;
        } else if (wait_word(&p->read_seq, seen, deadline)) {
            continue;
        } else {
            status = RING_TIMEOUT;
        }
        break;
    }
    pthread_mutex_unlock(&ring->lock[d]);
    return status;
}

/* With the lock held: wait for a packet and copy its head. */
static enum ring_status next_packet(struct ring * ring, int d, struct ring_packet * head, uint64_t * at,
                                    uint32_t timeout_us) {
    struct ring_position * p = &ring->shared->position[d];
    int64_t deadline         = timeout_us ? deadline_of(timeout_us) : 0;
    for (;;) {
        uint32_t seen = atomic_load(&p->written_seq);
        uint64_t w;
        int64_t n = used(ring, d, at, &w);
        if (n < 0) {
            return RING_BROKEN;
        }
        if (n > 0) {
            if (n < (int64_t)sizeof *head) {
                return RING_BROKEN;
            }
            copy_out(ring, d, *at, head, sizeof *head);
            bool ok = head->bytes <= n && head->bytes % 8 == 0 && head->n_buffers <= RING_MAX_BUFFERS &&
                      head->message_bytes <= RING_MAX_MESSAGE &&
                      sizeof *head + head->n_buffers * sizeof(struct ring_buffer) + head->message_bytes <= head->bytes;
            return ok ? RING_OK : RING_BROKEN;
        }
        if (gone(ring)) {
            return RING_GONE;
        }
        if (!timeout_us) {
            return RING_EMPTY;
        }
        if (!wait_word(&p->written_seq, seen, deadline)) {
            return RING_TIMEOUT;
        }
    }
}

enum ring_status ring_read(struct ring * ring, int d, struct ring_packet * packet, struct ring_buffer * buffers,
                           uint32_t max_buffers, void * message, uint32_t max_message, uint32_t timeout_us) {
    uint64_t at;
    pthread_mutex_lock(&ring->lock[d]);
    enum ring_status status = next_packet(ring, d, packet, &at, timeout_us);
    if (status == RING_OK && (packet->n_buffers > max_buffers || packet->message_bytes > max_message)) {
        status = RING_TOO_SMALL;
    }
    if (status == RING_OK) {
        uint32_t list = packet->n_buffers * (uint32_t)sizeof *buffers;
        copy_out(ring, d, at + sizeof *packet, buffers, list);
        copy_out(ring, d, at + sizeof *packet + list, message, packet->message_bytes);
        atomic_store(&ring->shared->position[d].read, at + packet->bytes);
        bump(&ring->shared->position[d].read_seq);
    }
    pthread_mutex_unlock(&ring->lock[d]);
    return status;
}

enum ring_status ring_peek(struct ring * ring, int d, struct ring_packet * packet, uint32_t timeout_us) {
    uint64_t at;
    pthread_mutex_lock(&ring->lock[d]);
    enum ring_status status = next_packet(ring, d, packet, &at, timeout_us);
    pthread_mutex_unlock(&ring->lock[d]);
    return status;
}

void ring_wake_all(struct ring * ring) {
    for (int d = 0; d < 2; d++) {
        bump(&ring->shared->position[d].written_seq);
        bump(&ring->shared->position[d].read_seq);
    }
}

void ring_leave(struct ring * ring) {
    atomic_store(&ring->shared->gone, 1);
    ring_wake_all(ring);
}
