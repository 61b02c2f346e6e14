/* dspqueue over two processes. */
#define _GNU_SOURCE
#include "app.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "dspqueue.h"
#include "rpcmem.h"

#define BYTES 8192u

struct setup {
    remote_handle64 h;
    dspqueue_t q;
    uint8_t * p;
    int fd;
};

static struct setup set_up(uint32_t queue_bytes) {
    struct setup s = {app_open(URI), NULL, NULL, -1};
    struct test_start t;
    CHECK_EQUAL(dspqueue_create(CDSP_DOMAIN_ID, 0, queue_bytes, queue_bytes, NULL, NULL, NULL, &s.q), 0);
    CHECK_EQUAL(dspqueue_export(s.q, &t.queue_id), 0);
    remote_arg a[1];
    a[0].buf = (remote_buf){&t, sizeof t};
    CHECK_EQUAL(remote_handle64_invoke(s.h, REMOTE_SCALARS_MAKE(TEST_START, 1, 0), a), 0);
    s.p = app_buffer(CDSP_DOMAIN_ID, BYTES, FASTRPC_MAP_FD, &s.fd);
    return s;
}

static void tear_down(struct setup s) {
    CHECK_EQUAL(dspqueue_close(s.q), AEE_ERPC); /* the DSP still has it */
    CHECK_EQUAL(remote_handle64_invoke(s.h, REMOTE_SCALARS_MAKE(TEST_STOP, 0, 0), NULL), 0);
    CHECK_EQUAL(dspqueue_close(s.q), 0);
    CHECK_EQUAL(remote_handle64_close(s.h), 0);
}

static int put(struct setup s, uint32_t kind, uint32_t value, uint32_t offset, uint32_t bytes, uint32_t timeout_us) {
    struct test_packet packet = {kind, value};
    struct dspqueue_buffer b  = {(uint32_t)s.fd,
                                 bytes,
                                 offset,
                                 DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER | DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT,
                                 {NULL}};
    return dspqueue_write(s.q, 0, 1, &b, sizeof packet, (const uint8_t *)&packet, timeout_us);
}

static int get(struct setup s, struct dspqueue_buffer * b, struct test_packet * packet, uint32_t timeout_us) {
    uint32_t flags, n, bytes;
    return dspqueue_read(s.q, &flags, 1, &n, b, sizeof *packet, &bytes, (uint8_t *)packet, timeout_us);
}

static void packets(void) {
    struct setup s = set_up(2560);
    struct dspqueue_buffer b;
    struct test_packet packet;
    CHECK_EQUAL(get(s, &b, &packet, 0), AEE_EWOULDBLOCK);
    CHECK_EQUAL(get(s, &b, &packet, 1000), AEE_EEXPIRED);
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t offset = i * 64 % 4096;
        uint8_t before  = s.p[offset + 63];
        CHECK_EQUAL(put(s, PACKET_ADD, i, offset, 64, 1000000), 0);
        CHECK_EQUAL(get(s, &b, &packet, 1000000), 0);
        CHECK(packet.value == i && b.ptr == s.p + offset && b.size == 64);
        CHECK_EQUAL(s.p[offset + 63], (uint8_t)(before + i));
    }
    s.fd += 1000;
    CHECK_EQUAL(put(s, PACKET_ADD, 0, 0, 64, 0), AEE_ENOSUCHMAP);
    s.fd -= 1000;
    CHECK_EQUAL(put(s, PACKET_ADD, 0, BYTES, 64, 0), AEE_EBADPARM);
    tear_down(s);
}

static void * reader(void * argument) {
    struct setup * s = argument;
    struct dspqueue_buffer b;
    struct test_packet packet;
    for (uint32_t i = 0; i < 5000; i++) {
        CHECK_EQUAL(get(*s, &b, &packet, DSPQUEUE_TIMEOUT_NONE), 0);
        CHECK_EQUAL(packet.value, i);
    }
    return NULL;
}

static void packets_full(void) {
    struct setup s = set_up(512);
    int full       = 0;
    pthread_t t;
    CHECK(!pthread_create(&t, NULL, reader, &s));
    for (uint32_t i = 0; i < 5000; i++) {
        int e = put(s, PACKET_ADD, i, 0, 8, 0);
        if (e == AEE_EWOULDBLOCK) {
            full++;
            e = put(s, PACKET_ADD, i, 0, 8, DSPQUEUE_TIMEOUT_NONE);
        }
        CHECK_EQUAL(e, 0);
    }
    pthread_join(t, NULL);
    printf("%d of 5000 writes found the queue full\n", full);
    tear_down(s);
}

static void queue_killed(void) {
    struct setup s = set_up(0);
    struct dspqueue_buffer b;
    struct test_packet packet;
    CHECK_EQUAL(put(s, PACKET_SILENT, 0, 0, 8, 0), 0);
    CHECK_EQUAL(get(s, &b, &packet, 20000), AEE_EEXPIRED);
    CHECK(!kill(app_dsp_pid(), SIGKILL));
    CHECK_EQUAL(get(s, &b, &packet, DSPQUEUE_TIMEOUT_NONE), 0x2e);
    CHECK_EQUAL(put(s, PACKET_ADD, 0, 0, 8, 0), 0x2e);
    CHECK_EQUAL(dspqueue_close(s.q), 0);
}

static void queue_crash(void) {
    struct setup s = set_up(0);
    struct dspqueue_buffer b;
    struct test_packet packet;
    CHECK_EQUAL(put(s, PACKET_CRASH, 0, 0, 8, 0), 0);
    CHECK_EQUAL(get(s, &b, &packet, DSPQUEUE_TIMEOUT_NONE), 0x2e);
}

/* HEXSIM_FAULT=hang:3: the second packet is never answered (the call that starts the queue is step 1). */
static void queue_hang(void) {
    struct setup s = set_up(0);
    struct dspqueue_buffer b;
    struct test_packet packet;
    CHECK_EQUAL(put(s, PACKET_ADD, 0, 0, 8, 0), 0);
    CHECK_EQUAL(get(s, &b, &packet, 1000000), 0);
    CHECK_EQUAL(put(s, PACKET_ADD, 0, 0, 8, 0), 0);
    CHECK_EQUAL(get(s, &b, &packet, 100000), AEE_EEXPIRED);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond  = PTHREAD_COND_INITIALIZER;
static int n_packets, last_error;

static void on_packet(dspqueue_t q, AEEResult error, void * context) {
    struct dspqueue_buffer b;
    struct test_packet packet;
    uint32_t flags, n, bytes;
    CHECK(!error && context == &lock);
    while (!dspqueue_read_noblock(q, &flags, 1, &n, &b, sizeof packet, &bytes, (uint8_t *)&packet)) {
        pthread_mutex_lock(&lock);
        n_packets++;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&lock);
    }
}

static void on_error(dspqueue_t q, AEEResult error, void * context) {
    (void)q;
    (void)context;
    pthread_mutex_lock(&lock);
    last_error = error;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&lock);
}

static void queue_callbacks(void) {
    struct setup s = {app_open(URI), NULL, NULL, -1};
    struct test_start t;
    CHECK_EQUAL(dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, on_packet, on_error, &lock, &s.q), 0);
    CHECK_EQUAL(dspqueue_export(s.q, &t.queue_id), 0);
    remote_arg a[1];
    a[0].buf = (remote_buf){&t, sizeof t};
    CHECK_EQUAL(remote_handle64_invoke(s.h, REMOTE_SCALARS_MAKE(TEST_START, 1, 0), a), 0);
    s.p = app_buffer(CDSP_DOMAIN_ID, BYTES, FASTRPC_MAP_FD, &s.fd);
    for (uint32_t i = 0; i < 100; i++) {
        CHECK_EQUAL(put(s, PACKET_ADD, i, 0, 8, 1000000), 0);
    }
    pthread_mutex_lock(&lock);
    while (n_packets < 100) {
        pthread_cond_wait(&cond, &lock);
    }
    pthread_mutex_unlock(&lock);
    CHECK(!kill(app_dsp_pid(), SIGKILL));
    pthread_mutex_lock(&lock);
    while (!last_error) {
        pthread_cond_wait(&cond, &lock);
    }
    pthread_mutex_unlock(&lock);
    CHECK_EQUAL(last_error, 0x2e);
    CHECK_EQUAL(dspqueue_close(s.q), 0);
}

const struct app_case app_queues[] = {{"packets", packets},
                                      {"packets-full", packets_full},
                                      {"queue-killed", queue_killed},
                                      {"queue-crash", queue_crash},
                                      {"queue-hang", queue_hang},
                                      {"queue-callbacks", queue_callbacks},
                                      {NULL, NULL}};
