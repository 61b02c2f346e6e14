/* skel: the test library on the DSP. Methods and the queue's thread; scenarios are in scenarios.c. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "dspqueue.h"
#include "qurt.h"
#include "remote.h"
#include "scenarios.h"

static dspqueue_t queue;
static qurt_thread_t thread;
static atomic_bool stop;

/* Add value to each byte of the buffer, and answer with the same buffer. */
static void serve(void) {
    struct test_packet packet;
    struct dspqueue_buffer b;
    uint32_t flags, n = 0, bytes = 0;
    if (dspqueue_read_noblock(queue, &flags, 1, &n, &b, sizeof packet, &bytes, (uint8_t *)&packet)) {
        return;
    }
    if (packet.kind == PACKET_CRASH) {
        *(volatile int *)(uintptr_t)0x10 = 1;
    }
    if (packet.kind == PACKET_SILENT) {
        return;
    }
    for (uint32_t i = 0; n && i < b.size; i++) {
        ((uint8_t *)b.ptr)[i] = (uint8_t)(((uint8_t *)b.ptr)[i] + packet.value);
    }
    b.flags = DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER | DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT;
    int e   = dspqueue_write(queue, 0, n, &b, sizeof packet, (const uint8_t *)&packet, 1000000);
    if (e) {
        FARF(ERROR, "answer failed with 0x%x", (unsigned)e);
    }
}

static void queue_main(void * unused) {
    (void)unused;
    while (!atomic_load(&stop)) {
        uint32_t flags, n, bytes;
        int e = dspqueue_peek(queue, &flags, &n, &bytes, 10000);
        if (e == 0) {
            serve();
        } else if (e != (int)AEE_EEXPIRED && e != AEE_EWOULDBLOCK) {
            break;
        }
    }
}

static int start(uint64_t id) {
    static uint8_t stack[65536];
    qurt_thread_attr_t attr;
    int e = dspqueue_import(id, NULL, NULL, NULL, &queue);
    if (e) {
        return e;
    }
    atomic_store(&stop, false);
    qurt_thread_attr_init(&attr);
    qurt_thread_attr_set_name(&attr, "test-queue");
    qurt_thread_attr_set_stack_addr(&attr, stack);
    qurt_thread_attr_set_stack_size(&attr, sizeof stack);
    return qurt_thread_create(&thread, &attr, queue_main, NULL);
}

static int finish(void) {
    atomic_store(&stop, true);
    qurt_thread_join(thread, NULL);
    return dspqueue_close(queue);
}

int test_skel_handle_invoke(remote_handle64 handle, uint32_t sc, remote_arg * a);

int test_skel_handle_invoke(remote_handle64 handle, uint32_t sc, remote_arg * a) {
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case 0:
        a[2].h64 = 4711;
        return 0;
    case 1:
        return a[0].h64 == 4711 ? 0 : (int)AEE_EBADPARM;
    case TEST_ECHO:
        if (handle != 4711 || a[0].buf.nLen != a[1].buf.nLen) {
            return (int)AEE_EBADPARM;
        }
        memcpy(a[1].buf.pv, a[0].buf.pv, a[0].buf.nLen);
        return 0;
    case TEST_SUMS:
        for (uint32_t i = 0, n = REMOTE_SCALARS_INBUFS(sc); i < n; i++) {
            uint8_t most = 0;
            for (size_t k = 0; k < a[i].buf.nLen; k++) {
                most = ((uint8_t *)a[i].buf.pv)[k] > most ? ((uint8_t *)a[i].buf.pv)[k] : most;
            }
            memset(a[n + i].buf.pv, most, a[n + i].buf.nLen);
        }
        return 0;
    case TEST_FAIL: {
        int code;
        memcpy(&code, a[0].buf.pv, sizeof code);
        return code;
    }
    case TEST_START: {
        struct test_start s;
        memcpy(&s, a[0].buf.pv, sizeof s);
        return start(s.queue_id);
    }
    case TEST_STOP:
        return finish();
    case TEST_RUN: {
        struct test_run run;
        memcpy(&run, a[0].buf.pv, sizeof run);
        struct test_result r = scenario_run(&run);
        memcpy(a[1].buf.pv, &r, sizeof r);
        return 0;
    }
    default:
        return (int)AEE_EUNSUPPORTED;
    }
}
