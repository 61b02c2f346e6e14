/* channel.h: frames over a unix stream socket. */
#ifndef HEXSIM_CHANNEL_H
#define HEXSIM_CHANNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "wire.h"

struct channel_frame {
    uint32_t kind;
    uint32_t body_bytes;
    uint8_t * body; /* malloc'ed; NULL when empty */
    uint32_t n_fds;
    int fds[WIRE_MAX_FDS];
};

/* Send one frame whose body is the concatenation of parts. 0, or -1 with errno set. */
int channel_send(int socket, uint32_t kind, const struct iovec * parts, int n_parts, const int * fds, uint32_t n_fds);

/* Receive one frame; free it with channel_free. 0, or -1: closed, broken, or not a valid frame. */
int channel_recv(int socket, struct channel_frame * frame);

/* Release the body and close the descriptors that were not taken (set to -1 by whoever takes one). */
void channel_free(struct channel_frame * frame);

#endif
