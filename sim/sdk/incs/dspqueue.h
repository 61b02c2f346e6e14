/* dspqueue.h: asynchronous packets between an application and a DSP, in both directions, over shared memory.
 *
 * A packet is a message of some bytes and a few references to shared buffers, with the cache maintenance that goes
 * with them. The application creates a queue and exports it; the DSP imports it by the number. */
#ifndef DSPQUEUE_H
#define DSPQUEUE_H

#include <assert.h>
#include <stdint.h>

#include "AEEStdDef.h"

#define DSPQUEUE_TIMEOUT_NONE 0xffffffff /* wait without end */

/* Packet flags, filled in by the reader's side. */
enum dspqueue_packet_flags {
    DSPQUEUE_PACKET_FLAG_MESSAGE      = 0x0001,
    DSPQUEUE_PACKET_FLAG_BUFFERS      = 0x0002,
    DSPQUEUE_PACKET_FLAG_WAKEUP       = 0x0004, /* early wakeup, no content */
    DSPQUEUE_PACKET_FLAG_DRIVER_READY = 0x0008,
    DSPQUEUE_PACKET_FLAG_USER_READY   = 0x0010,
};

/* Flags of one buffer reference. "Sender" is who writes the packet; recipient maintenance happens at the read. */
enum dspqueue_buffer_flags {
    DSPQUEUE_BUFFER_FLAG_REF                  = 0x00000004, /* the recipient keeps the buffer until a DEREF */
    DSPQUEUE_BUFFER_FLAG_DEREF                = 0x00000008,
    DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER         = 0x00000010,
    DSPQUEUE_BUFFER_FLAG_INVALIDATE_SENDER    = 0x00000020,
    DSPQUEUE_BUFFER_FLAG_FLUSH_RECIPIENT      = 0x00000040,
    DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT = 0x00000080,
};

typedef struct dspqueue * dspqueue_t;

/* Reference to (a part of) a shared buffer, mapped to the DSP beforehand with the same descriptor. */
struct dspqueue_buffer {
    uint32_t fd;
    uint32_t size;   /* bytes; 0 on writing: the whole buffer */
    uint32_t offset; /* bytes from the start of the buffer */
    uint32_t flags;  /* enum dspqueue_buffer_flags */
    union {
        void *   ptr;     /* address in the process that reads, offset included; NULL when not mapped there */
        uint64_t address;
    };
};

static_assert(sizeof(struct dspqueue_buffer) == 24, "the buffer reference travels in packets");

/* Called in a thread of the library: packets are there to read, or the queue has failed. */
typedef void (*dspqueue_callback_t)(dspqueue_t queue, AEEResult error, void * context);

#ifdef __cplusplus
extern "C" {
#endif

/* Application only. Sizes in bytes, 0 for the default. A callback may be NULL; without a packet callback the reading
 * functions may wait. */
AEEResult dspqueue_create(int domain, uint32_t flags, uint32_t req_queue_size, uint32_t resp_queue_size,
                          dspqueue_callback_t packet_callback, dspqueue_callback_t error_callback,
                          void * callback_context, dspqueue_t * queue);

/* Both sides. AEE_ERPC in the application while the DSP still has the queue. */
AEEResult dspqueue_close(dspqueue_t queue);

/* Application: the number by which the DSP imports the queue. */
AEEResult dspqueue_export(dspqueue_t queue, uint64_t * queue_id);

/* DSP only. AEE_EBADPARM on devices that insist on callbacks when they are NULL; AEE_EITEMBUSY when imported already. */
AEEResult dspqueue_import(uint64_t queue_id, dspqueue_callback_t packet_callback, dspqueue_callback_t error_callback,
                          void * callback_context, dspqueue_t * queue);

/* Write a packet. AEE_EWOULDBLOCK (noblock, or timeout_us 0) or AEE_EEXPIRED when there is no room, AEE_ENOSUCHMAP for
 * a buffer that is not mapped, AEE_EBADSTATE or AEE_ECONNRESET when the other side is gone. */
AEEResult dspqueue_write_noblock(dspqueue_t queue, uint32_t flags, uint32_t num_buffers,
                                 struct dspqueue_buffer * buffers, uint32_t message_length, const uint8_t * message);
AEEResult dspqueue_write(dspqueue_t queue, uint32_t flags, uint32_t num_buffers, struct dspqueue_buffer * buffers,
                         uint32_t message_length, const uint8_t * message, uint32_t timeout_us);

/* Read a packet. AEE_EWOULDBLOCK or AEE_EEXPIRED when there is none; AEE_EBADSIZE when the room given is too small. */
AEEResult dspqueue_read_noblock(dspqueue_t queue, uint32_t * flags, uint32_t max_buffers, uint32_t * num_buffers,
                                struct dspqueue_buffer * buffers, uint32_t max_message_length,
                                uint32_t * message_length, uint8_t * message);
AEEResult dspqueue_read(dspqueue_t queue, uint32_t * flags, uint32_t max_buffers, uint32_t * num_buffers,
                        struct dspqueue_buffer * buffers, uint32_t max_message_length, uint32_t * message_length,
                        uint8_t * message, uint32_t timeout_us);

/* Sizes of the next packet, which stays in the queue. */
AEEResult dspqueue_peek_noblock(dspqueue_t queue, uint32_t * flags, uint32_t * num_buffers, uint32_t * message_length);
AEEResult dspqueue_peek(dspqueue_t queue, uint32_t * flags, uint32_t * num_buffers, uint32_t * message_length,
                        uint32_t timeout_us);

#ifdef __cplusplus
}
#endif

#endif /* DSPQUEUE_H */
