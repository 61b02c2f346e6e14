/* dspqueue, the application's side. */
#define _GNU_SOURCE
#include "dspqueue.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host.h"
#include "queue_status.h"

#define DEFAULT_BYTES 65536u

struct dspqueue {
    struct ring ring;
    struct pd * pd;
    struct pd_queue entry;
    uint64_t id, bytes;
    uint32_t ring_bytes[2];
    dspqueue_callback_t on_packet, on_error;
    void * context;
    pthread_t waiter;
    bool has_waiter;
    _Atomic bool closing;
};

static uint32_t rounded(uint32_t bytes) {
    uint32_t n = bytes ? bytes : DEFAULT_BYTES;
    return n > RING_MAX_BYTES ? RING_MAX_BYTES : (n + 255u) & ~255u;
}

static AEEResult code(enum ring_status status) {
    return queue_status(status, QUEUE_HOST);
}

/* Wait for packets and for the end of the DSP process, on behalf of the callbacks. */
static void * waiter(void * argument) {
    struct dspqueue * q = argument;
    struct ring_packet head;
    while (!atomic_load(&q->closing)) {
        enum ring_status status = ring_peek(&q->ring, 1, &head, 50000);
        if (status == RING_OK && q->on_packet) {
            q->on_packet(q, 0, q->context);
        } else if (status == RING_GONE || status == RING_BROKEN) {
            if (q->on_error && !atomic_load(&q->closing)) {
                q->on_error(q, code(status), q->context);
            }
            break;
        } else if (status == RING_OK) {
            usleep(1000); /* only an error callback: the application reads when it likes */
        }
    }
    return NULL;
}

EXPORT AEEResult dspqueue_create(int domain, uint32_t flags, uint32_t req_queue_size, uint32_t resp_queue_size,
                                 dspqueue_callback_t packet_callback, dspqueue_callback_t error_callback,
                                 void * callback_context, dspqueue_t * queue) {
    static _Atomic uint64_t next_id = 1;
    (void)flags;
    if (!queue) {
        return AEE_EBADPARM;
    }
    int status;
    struct pd * pd = pd_get(domain, false, &status);
    if (!pd) {
        return status;
    }
    struct dspqueue * q = calloc(1, sizeof *q);
    if (!q) {
        return AEE_ENOMEMORY;
    }
    q->pd            = pd;
    q->id            = (uint64_t)pd->domain << 48 | (uint64_t)pd->session << 40 | atomic_fetch_add(&next_id, 1);
    q->ring_bytes[0] = rounded(req_queue_size);
    q->ring_bytes[1] = rounded(resp_queue_size);
    q->bytes         = ring_total(q->ring_bytes);
    q->on_packet     = packet_callback;
    q->on_error      = error_callback;
    q->context       = callback_context;
    int fd           = memfd_create("dspqueue", MFD_CLOEXEC);
    void * memory    = MAP_FAILED;
    if (fd >= 0 && !ftruncate(fd, (off_t)q->bytes)) {
        memory = mmap(NULL, q->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (memory == MAP_FAILED) {
        status = AEE_ENORPCMEMORY;
    } else {
        ring_init(&q->ring, memory, q->ring_bytes, &pd->dead);
        struct wire_queue body = {q->id, {q->ring_bytes[0], q->ring_bytes[1]}, q->bytes};
        status                 = pd_request(pd, WIRE_QUEUE_ADD, &body, sizeof body, &fd, 1, NULL);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (status) {
        if (memory != MAP_FAILED) {
            munmap(memory, q->bytes);
        }
        free(q);
        return status;
    }
    q->entry = (struct pd_queue){q->id, &q->ring, NULL};
    pthread_mutex_lock(&pd->lock);
    q->entry.next = pd->queues;
    pd->queues    = &q->entry;
    pthread_mutex_unlock(&pd->lock);
    if (packet_callback || error_callback) {
        q->has_waiter = !pthread_create(&q->waiter, NULL, waiter, q);
    }
    *queue = q;
    return 0;
}

EXPORT AEEResult dspqueue_export(dspqueue_t q, uint64_t * queue_id) {
    if (!q || !queue_id) {
        return AEE_EBADPARM;
    }
    *queue_id = q->id;
    return 0;
}

EXPORT AEEResult dspqueue_import(uint64_t queue_id, dspqueue_callback_t packet_callback,
                                 dspqueue_callback_t error_callback, void * callback_context, dspqueue_t * queue) {
    (void)queue_id;
    (void)packet_callback;
    (void)error_callback;
    (void)callback_context;
    (void)queue;
    return AEE_EUNSUPPORTED; /* for the DSP */
}

EXPORT AEEResult dspqueue_close(dspqueue_t q) {
    if (!q) {
        return AEE_EBADPARM;
    }
    struct wire_queue body = {.id = q->id};
    int status             = pd_request(q->pd, WIRE_QUEUE_DEL, &body, sizeof body, NULL, 0, NULL);
    if (status && status != AEE_ECONNRESET) {
        return status; /* the DSP still has it */
    }
    atomic_store(&q->closing, true);
    ring_leave(&q->ring);
    if (q->has_waiter) {
        pthread_join(q->waiter, NULL);
    }
    pthread_mutex_lock(&q->pd->lock);
    for (struct pd_queue ** p = &q->pd->queues; *p; p = &(*p)->next) {
        if (*p == &q->entry) {
            *p = q->entry.next;
            break;
        }
    }
    pthread_mutex_unlock(&q->pd->lock);
    munmap(q->ring.shared, q->bytes);
    free(q);
    return 0;
}

/* ---- packets ---- */

static bool mapped(struct pd * pd, uint32_t fd, size_t * bytes) {
    bool ok = false;
    pthread_mutex_lock(&pd->lock);
    for (size_t i = 0; i < pd->n_maps && !ok; i++) {
        if (pd->maps[i].fd == (int)fd) {
            *bytes = pd->maps[i].bytes;
            ok     = true;
        }
    }
    pthread_mutex_unlock(&pd->lock);
    return ok;
}

EXPORT AEEResult dspqueue_write(dspqueue_t q, uint32_t flags, uint32_t num_buffers, struct dspqueue_buffer * buffers,
                                uint32_t message_length, const uint8_t * message, uint32_t timeout_us) {
    (void)flags;
    struct ring_buffer list[RING_MAX_BUFFERS];
    if (!q || num_buffers > RING_MAX_BUFFERS || message_length > RING_MAX_MESSAGE || (num_buffers && !buffers) ||
        (message_length && !message)) {
        return AEE_EBADPARM;
    }
    for (uint32_t i = 0; i < num_buffers; i++) {
        size_t bytes;
        if (!mapped(q->pd, buffers[i].fd, &bytes)) {
            return atomic_load(&q->pd->dead) ? code(RING_GONE) : AEE_ENOSUCHMAP;
        }
        uint32_t n = buffers[i].size ? buffers[i].size : (uint32_t)(bytes - buffers[i].offset);
        if (buffers[i].offset > bytes || n > bytes - buffers[i].offset) {
            return AEE_EBADPARM;
        }
        list[i] = (struct ring_buffer){buffers[i].fd, n, buffers[i].offset, buffers[i].flags};
    }
    uint32_t packet =
        (num_buffers ? DSPQUEUE_PACKET_FLAG_BUFFERS : 0) | (message_length ? DSPQUEUE_PACKET_FLAG_MESSAGE : 0);
    return code(ring_write(&q->ring, 0, packet, list, num_buffers, message, message_length, timeout_us));
}

EXPORT AEEResult dspqueue_write_noblock(dspqueue_t q, uint32_t flags, uint32_t num_buffers,
                                        struct dspqueue_buffer * buffers, uint32_t message_length,
                                        const uint8_t * message) {
    return dspqueue_write(q, flags, num_buffers, buffers, message_length, message, 0);
}

EXPORT AEEResult dspqueue_read(dspqueue_t q, uint32_t * flags, uint32_t max_buffers, uint32_t * num_buffers,
                               struct dspqueue_buffer * buffers, uint32_t max_message_length, uint32_t * message_length,
                               uint8_t * message, uint32_t timeout_us) {
    if (!q) {
        return AEE_EBADPARM;
    }
    struct ring_packet head;
    struct ring_buffer list[RING_MAX_BUFFERS];
    uint32_t room    = max_buffers < RING_MAX_BUFFERS ? max_buffers : RING_MAX_BUFFERS;
    AEEResult status = code(ring_read(&q->ring, 1, &head, list, room, message, max_message_length, timeout_us));
    if (status) {
        return status;
    }
    for (uint32_t i = 0; i < head.n_buffers; i++) {
        struct host_buffer b;
        bool known = host_buffer_of((int)list[i].fd, &b) && list[i].offset <= b.bytes &&
                     list[i].bytes <= b.bytes - list[i].offset;
        buffers[i]     = (struct dspqueue_buffer){list[i].fd, list[i].bytes, list[i].offset, list[i].flags, {NULL}};
        buffers[i].ptr = known ? b.base + list[i].offset : NULL;
    }
    if (flags) {
        *flags = head.flags;
    }
    if (num_buffers) {
        *num_buffers = head.n_buffers;
    }
    if (message_length) {
        *message_length = head.message_bytes;
    }
    return 0;
}

EXPORT AEEResult dspqueue_read_noblock(dspqueue_t q, uint32_t * flags, uint32_t max_buffers, uint32_t * num_buffers,
                                       struct dspqueue_buffer * buffers, uint32_t max_message_length,
                                       uint32_t * message_length, uint8_t * message) {
    return dspqueue_read(q, flags, max_buffers, num_buffers, buffers, max_message_length, message_length, message, 0);
}

EXPORT AEEResult dspqueue_peek(dspqueue_t q, uint32_t * flags, uint32_t * num_buffers, uint32_t * message_length,
                               uint32_t timeout_us) {
    if (!q) {
        return AEE_EBADPARM;
    }
    struct ring_packet head = {0};
    AEEResult status        = code(ring_peek(&q->ring, 1, &head, timeout_us));
    if (!status && flags) {
        *flags = head.flags;
    }
    if (!status && num_buffers) {
        *num_buffers = head.n_buffers;
    }
    if (!status && message_length) {
        *message_length = head.message_bytes;
    }
    return status;
}

EXPORT AEEResult dspqueue_peek_noblock(dspqueue_t q, uint32_t * flags, uint32_t * num_buffers,
                                       uint32_t * message_length) {
    return dspqueue_peek(q, flags, num_buffers, message_length, 0);
}
