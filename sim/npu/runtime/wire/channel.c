#define _GNU_SOURCE
#include "channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int send_rest(int socket, const uint8_t * bytes, size_t n) {
    while (n > 0) {
        ssize_t k = send(socket, bytes, n, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR) {
            continue;
        }
        if (k <= 0) {
            return -1;
        }
        bytes += k;
        n -= (size_t)k;
    }
    return 0;
}

int channel_send(int socket, uint32_t kind, const struct iovec * parts, int n_parts, const int * fds, uint32_t n_fds) {
    size_t body = 0;
    for (int i = 0; i < n_parts; i++) {
        body += parts[i].iov_len;
    }
    if (body > WIRE_MAX_BODY || n_fds > WIRE_MAX_FDS) {
        errno = EMSGSIZE;
        return -1;
    }
    struct wire_head head = {WIRE_MAGIC, kind, (uint32_t)body, n_fds};
    struct iovec iov      = {&head, sizeof head};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * WIRE_MAX_FDS)];
    } control;
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (n_fds > 0) {
        memset(&control, 0, sizeof control);
        msg.msg_control    = control.bytes;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
        struct cmsghdr * c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level      = SOL_SOCKET;
        c->cmsg_type       = SCM_RIGHTS;
        c->cmsg_len        = CMSG_LEN(sizeof(int) * n_fds);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
    }
    ssize_t k;
    do {
        k = sendmsg(socket, &msg, MSG_NOSIGNAL);
    } while (k < 0 && errno == EINTR);
    if (k <= 0 || send_rest(socket, (const uint8_t *)&head + k, sizeof head - (size_t)k)) {
        return -1;
    }
    for (int i = 0; i < n_parts; i++) {
        if (send_rest(socket, parts[i].iov_base, parts[i].iov_len)) {
            return -1;
        }
    }
    return 0;
}

static int recv_rest(int socket, uint8_t * bytes, size_t n) {
    while (n > 0) {
        ssize_t k = recv(socket, bytes, n, MSG_WAITALL);
        if (k < 0 && errno == EINTR) {
            continue;
        }
        if (k <= 0) {
            return -1;
        }
        bytes += k;
        n -= (size_t)k;
    }
    return 0;
}

static void take_fds(struct msghdr * msg, struct channel_frame * frame) {
    for (struct cmsghdr * c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
            if (frame->n_fds < WIRE_MAX_FDS) {
                frame->fds[frame->n_fds++] = fd;
            } else {
                close(fd);
            }
        }
    }
}

int channel_recv(int socket, struct channel_frame * frame) {
    memset(frame, 0, sizeof *frame);
    struct wire_head head;
    struct iovec iov = {&head, sizeof head};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * WIRE_MAX_FDS)];
    } control;
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t k;
    do {
        k = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
    } while (k < 0 && errno == EINTR);
    if (k <= 0) {
        return -1;
    }
    take_fds(&msg, frame);
    if (recv_rest(socket, (uint8_t *)&head + k, sizeof head - (size_t)k)) {
        goto fail;
    }
    if (head.magic != WIRE_MAGIC || head.body_bytes > WIRE_MAX_BODY || head.n_fds != frame->n_fds) {
        errno = EPROTO;
        goto fail;
    }
    frame->kind       = head.kind;
    frame->body_bytes = head.body_bytes;
    if (head.body_bytes > 0) {
        frame->body = malloc(head.body_bytes);
        if (!frame->body || recv_rest(socket, frame->body, head.body_bytes)) {
            goto fail;
        }
    }
    return 0;
fail:
    channel_free(frame);
    return -1;
}

void channel_free(struct channel_frame * frame) {
    free(frame->body);
    frame->body = NULL;
    for (uint32_t i = 0; i < frame->n_fds; i++) {
        if (frame->fds[i] >= 0) {
            close(frame->fds[i]);
        }
    }
    frame->n_fds = 0;
}
