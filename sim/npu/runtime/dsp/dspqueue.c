/* dspqueue, the DSP's side. */
#define _GNU_SOURCE
#include "dspqueue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "check.h"
#include "dsp.h"
#include "queue_status.h"

struct dspqueue {
    struct ring ring;
    uint64_t id, bytes;
    bool imported;
    _Atomic bool closing;
    dspqueue_callback_t on_packet, on_error;
    void * context;
    unsigned waiter; /* thread */
    struct dspqueue * next;
};

static struct {
    pthread_mutex_t lock;
    struct dspqueue * list;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct dspqueue * by_id(uint64_t id) {
    for (struct dspqueue * q = all.list; q; q = q->next) {
        if (q->id == id) {
            return q;
        }
    }
    return NULL;
}

int queue_add(const struct wire_queue * w, int fd) {
    bool ok = w->ring_bytes[0] && w->ring_bytes[1] && w->ring_bytes[0] <= RING_MAX_BYTES &&
              w->ring_bytes[1] <= RING_MAX_BYTES && w->ring_bytes[0] % 8 == 0 && w->ring_bytes[1] % 8 == 0 &&
              w->bytes == ring_total(w->ring_bytes) && lseek(fd, 0, SEEK_END) >= (off_t)w->bytes;
    void * memory = ok ? mmap(NULL, w->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    struct dspqueue * q = memory == MAP_FAILED ? NULL : calloc(1, sizeof *q);
    if (!q) {
        return AEE_EBADPARM - AEE_EOFFSET;
    }
    q->id    = w->id;
    q->bytes = w->bytes;
    ring_init(&q->ring, memory, w->ring_bytes, NULL);
    pthread_mutex_lock(&all.lock);
    q->next  = all.list;
    all.list = q;
    pthread_mutex_unlock(&all.lock);
    return 0;
}

int queue_remove(uint64_t id) {
    int status = AEE_ENOSUCH;
    pthread_mutex_lock(&all.lock);
    for (struct dspqueue ** p = &all.list; *p; p = &(*p)->next) {
        struct dspqueue * q = *p;
        if (q->id != id) {
            continue;
        }
        status = AEE_ERPC - AEE_EOFFSET; /* the library still has it */
        if (!q->imported) {
            *p = q->next;
            munmap(q->ring.shared, q->bytes);
            free(q);
            status = 0;
        }
        break;
    }
    pthread_mutex_unlock(&all.lock);
    return status;
}

bool queue_imported(void) {
    bool any = false;
    pthread_mutex_lock(&all.lock);
    for (struct dspqueue * q = all.list; q && !any; q = q->next) {
        any = q->imported;
    }
    pthread_mutex_unlock(&all.lock);
    return any;
}

static AEEResult code(enum ring_status status) {
    return queue_status(status, QUEUE_DSP);
}

static void waiter(void * argument) {
    struct dspqueue * q = argument;
    struct ring_packet head;
    while (!atomic_load(&q->closing)) {
        enum ring_status status = ring_peek(&q->ring, 0, &head, 20000);
        if (status == RING_OK) {
            q->on_packet(q, 0, q->context);
        } else if (status == RING_GONE || status == RING_BROKEN) {
            if (q->on_error && !atomic_load(&q->closing)) {
                q->on_error(q, code(status), q->context);
            }
            break;
        }
    }
}

AEEResult dspqueue_import(uint64_t id, dspqueue_callback_t on_packet, dspqueue_callback_t on_error, void * context,
                          dspqueue_t * queue) {
    if (!queue) {
        return (AEEResult)AEE_EBADPARM;
    }
    AEEResult status = 0;
    pthread_mutex_lock(&all.lock);
    struct dspqueue * q = by_id(id);
    if (!q) {
        status = AEE_ENOSUCH;
    } else if (q->imported) {
        status = (AEEResult)AEE_EITEMBUSY;
    } else {
        q->imported  = true;
        q->closing   = false;
        q->on_packet = on_packet;
        q->on_error  = on_error;
        q->context   = context;
        q->waiter    = on_packet ? thread_start("dspqueue", 16384, 192, waiter, q) : 0;
        *queue       = q;
        if (on_packet && !q->waiter) {
            q->imported = false;
            status      = (AEEResult)AEE_EQURTTHREADCREATE;
        }
    }
    pthread_mutex_unlock(&all.lock);
    return status;
}

int qurt_thread_join(unsigned int id, int * status);

AEEResult dspqueue_close(dspqueue_t q) {
    if (!q || !q->imported) {
        return (AEEResult)AEE_EBADPARM;
    }
    atomic_store(&q->closing, true);
    if (q->waiter) {
        qurt_thread_join(q->waiter, NULL);
        q->waiter = 0;
    }
    pthread_mutex_lock(&all.lock);
    q->imported = false;
    pthread_mutex_unlock(&all.lock);
    return 0;
}

/* ---- packets ---- */

/* Maintenance by the flags of a reference, at the write (sender) or at the read (recipient). */
static void maintain(const struct dspqueue_buffer * b, bool sender) {
    uint32_t flush = sender ? DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER : DSPQUEUE_BUFFER_FLAG_FLUSH_RECIPIENT;
    uint32_t inval = sender ? DSPQUEUE_BUFFER_FLAG_INVALIDATE_SENDER : DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT;
    if (!b->ptr || !(b->flags & (flush | inval))) {
        return;
    }
    DSP_COUNT(packet_buffer_bytes, b->size);
    if (checks.coherency) {
        /* On the device an invalidation cleans first: a line that is partly someone else's must not be lost. */
        coherency_range((uintptr_t)b->ptr, b->size, true, b->flags & inval);
    }
}

AEEResult dspqueue_write(dspqueue_t q, uint32_t flags, uint32_t n, struct dspqueue_buffer * buffers,
                         uint32_t message_bytes, const uint8_t * message, uint32_t timeout_us) {
    (void)flags;
    struct ring_buffer list[RING_MAX_BUFFERS];
    if (!q || n > RING_MAX_BUFFERS || message_bytes > RING_MAX_MESSAGE || (n && !buffers) ||
        (message_bytes && !message)) {
        return (AEEResult)AEE_EBADPARM;
    }
    dma_drain();
    for (uint32_t i = 0; i < n; i++) {
        struct dspqueue_buffer b = buffers[i];
        b.ptr                    = mapping_address((int)b.fd, b.offset, b.size);
        if (!b.ptr) {
            return (AEEResult)AEE_ENOSUCHMAP;
        }
        maintain(&b, true);
        list[i] = (struct ring_buffer){b.fd, b.size, b.offset, b.flags};
    }
    if (checks.coherency) {
        coherency_leave();
    }
    uint32_t packet = (n ? DSPQUEUE_PACKET_FLAG_BUFFERS : 0) | (message_bytes ? DSPQUEUE_PACKET_FLAG_MESSAGE : 0);
    return code(ring_write(&q->ring, 1, packet, list, n, message, message_bytes, timeout_us));
}

AEEResult dspqueue_write_noblock(dspqueue_t q, uint32_t flags, uint32_t n, struct dspqueue_buffer * buffers,
                                 uint32_t message_bytes, const uint8_t * message) {
    return dspqueue_write(q, flags, n, buffers, message_bytes, message, 0);
}

AEEResult dspqueue_read(dspqueue_t q, uint32_t * flags, uint32_t max_buffers, uint32_t * num_buffers,
                        struct dspqueue_buffer * buffers, uint32_t max_message, uint32_t * message_bytes,
                        uint8_t * message, uint32_t timeout_us) {
    if (!q) {
        return (AEEResult)AEE_EBADPARM;
    }
    struct ring_packet head;
    struct ring_buffer list[RING_MAX_BUFFERS];
    uint32_t room    = max_buffers < RING_MAX_BUFFERS ? max_buffers : RING_MAX_BUFFERS;
    AEEResult status = code(ring_read(&q->ring, 0, &head, list, room, message, max_message, timeout_us));
    if (status) {
        return status;
    }
    DSP_COUNT(packets, 1);
    fault_plan_step();
    if (checks.any) {
        check_works();
    }
    if (checks.coherency) {
        coherency_enter();
    }
    for (uint32_t i = 0; i < head.n_buffers; i++) {
        buffers[i]     = (struct dspqueue_buffer){list[i].fd, list[i].bytes, list[i].offset, list[i].flags, {NULL}};
        buffers[i].ptr = mapping_address((int)list[i].fd, list[i].offset, list[i].bytes);
        maintain(&buffers[i], false);
    }
    if (flags) {
        *flags = head.flags;
    }
    if (num_buffers) {
        *num_buffers = head.n_buffers;
    }
    if (message_bytes) {
        *message_bytes = head.message_bytes;
    }
    return 0;
}

AEEResult dspqueue_read_noblock(dspqueue_t q, uint32_t * flags, uint32_t max_buffers, uint32_t * num_buffers,
                                struct dspqueue_buffer * buffers, uint32_t max_message, uint32_t * message_bytes,
                                uint8_t * message) {
    return dspqueue_read(q, flags, max_buffers, num_buffers, buffers, max_message, message_bytes, message, 0);
}

AEEResult dspqueue_peek(dspqueue_t q, uint32_t * flags, uint32_t * num_buffers, uint32_t * message_bytes,
                        uint32_t timeout_us) {
    if (!q) {
        return (AEEResult)AEE_EBADPARM;
    }
    struct ring_packet head = {0};
    AEEResult status        = code(ring_peek(&q->ring, 0, &head, timeout_us));
    if (!status && flags) {
        *flags = head.flags;
    }
    if (!status && num_buffers) {
        *num_buffers = head.n_buffers;
    }
    if (!status && message_bytes) {
        *message_bytes = head.message_bytes;
    }
    return status;
}

AEEResult dspqueue_peek_noblock(dspqueue_t q, uint32_t * flags, uint32_t * num_buffers, uint32_t * message_bytes) {
    return dspqueue_peek(q, flags, num_buffers, message_bytes, 0);
}
