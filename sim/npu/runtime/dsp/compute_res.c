/* compute_res: VTCM and HMX, which the processes of one physical DSP take turns with. */
#define _GNU_SOURCE
#include "HAP_compute_res.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "check.h"
#include "dsp.h"

#define MAX_CONTEXTS 16
#define FIRST_CONTEXT 0x10u
#define ATTR_MAGIC 0x48415052u

struct context {
    bool used, cached, held;
    compute_res_attr_t attr;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct context context[MAX_CONTEXTS];
    int holder; /* index of the context that has VTCM, -1 */
    unsigned local_waiters;
    uint8_t * vtcm;
    bool watched;
} r = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .holder = -1};

static size_t vtcm_bytes(void) {
    return (size_t)dsp.soc->vtcm_mib << 20;
}

bool vtcm_range(uintptr_t * base, size_t * bytes) {
    *base  = (uintptr_t)r.vtcm;
    *bytes = vtcm_bytes();
    return r.vtcm != NULL;
}

bool vtcm_acquired(void) {
    return r.holder >= 0;
}

/* ---- turns between processes ---- */

static uint32_t me(void) {
    return dsp.session + 1;
}

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

static void futex_wake(_Atomic uint32_t * word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool resource_take(struct shared_resource * s, int64_t deadline) {
    uint32_t owner = 0;
    if (atomic_compare_exchange_strong(&s->owner, &owner, me())) {
        return true;
    }
    bool ok = false;
    atomic_fetch_add(&s->waiters, 1);
    futex_wake(&s->waiters);
    for (;;) {
        owner = 0;
        if (atomic_compare_exchange_strong(&s->owner, &owner, me())) {
            ok = true;
            break;
        }
        int64_t left = deadline - now_us();
        if (left <= 0) {
            break;
        }
        left              = left > 100000 ? 100000 : left;
        struct timespec t = {0, (long)left * 1000};
        syscall(SYS_futex, &s->owner, FUTEX_WAIT, owner, &t, NULL, 0);
    }
    atomic_fetch_sub(&s->waiters, 1);
    return ok;
}

static void resource_give(struct shared_resource * s) {
    atomic_store(&s->owner, 0);
    futex_wake(&s->owner);
}

/* Calls the holder's release callback when somebody waits: another process, or another context of this one. */
static void * watcher(void * unused) {
    (void)unused;
    pthread_setname_np(pthread_self(), "vtcm-watcher");
    fault_thread_init();
    struct shared_resource * s = &dsp.state->vtcm;
    for (;;) {
        uint32_t waiting = atomic_load(&s->waiters);
        if (!waiting) {
            syscall(SYS_futex, &s->waiters, FUTEX_WAIT, 0, NULL, NULL, 0);
            continue;
        }
        compute_res_release_callback_t callback = NULL;
        void * client                           = NULL;
        unsigned id                             = 0;
        pthread_mutex_lock(&r.lock);
        if (r.holder >= 0) {
            struct context * c = &r.context[r.holder];
            callback           = c->attr.release_callback;
            client             = c->attr.release_client;
            id                 = FIRST_CONTEXT + (unsigned)r.holder;
        }
        pthread_mutex_unlock(&r.lock);
        if (callback) {
            callback(id, client);
        }
        usleep(1000); /* until the holder reacts */
    }
    return NULL;
}

static bool vtcm_take(int index, unsigned timeout_us) {
    int64_t deadline = now_us() + timeout_us;
    pthread_mutex_lock(&r.lock);
    bool counted = false;
    while (r.holder >= 0 && now_us() < deadline) {
        if (!counted) {
            counted = true;
            atomic_fetch_add(&dsp.state->vtcm.waiters, 1);
            futex_wake(&dsp.state->vtcm.waiters);
        }
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += 10000000;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&r.changed, &r.lock, &t);
    }
    if (counted) {
        atomic_fetch_sub(&dsp.state->vtcm.waiters, 1);
    }
    bool ok = r.holder < 0;
    if (ok) {
        r.holder = index;
    }
    pthread_mutex_unlock(&r.lock);
    if (ok && !resource_take(&dsp.state->vtcm, deadline)) {
        pthread_mutex_lock(&r.lock);
        r.holder = -1;
        pthread_cond_broadcast(&r.changed);
        pthread_mutex_unlock(&r.lock);
        ok = false;
    }
    if (ok && checks.vtcm) {
        check_vtcm_acquired((uintptr_t)r.vtcm, vtcm_bytes());
    }
    return ok;
}

static void vtcm_give(void) {
    if (checks.vtcm) {
        check_vtcm_released((uintptr_t)r.vtcm, vtcm_bytes());
    }
    resource_give(&dsp.state->vtcm);
    pthread_mutex_lock(&r.lock);
    r.holder = -1;
    pthread_cond_broadcast(&r.changed);
    pthread_mutex_unlock(&r.lock);
}

/* ---- HAP_compute_res.h ---- */

int HAP_compute_res_query_VTCM(unsigned int application_id, unsigned int * total, compute_res_vtcm_page_t * layout,
                               unsigned int * available, compute_res_vtcm_page_t * available_layout) {
    (void)application_id;
    unsigned bytes               = (unsigned)vtcm_bytes();
    compute_res_vtcm_page_t page = {1, {{bytes, 1}}};
    if (total) {
        *total = bytes;
    }
    if (layout) {
        *layout = page;
    }
    if (available) {
        *available = atomic_load(&dsp.state->vtcm.owner) ? 0 : bytes;
    }
    if (available_layout) {
        *available_layout = page;
    }
    return 0;
}

int HAP_compute_res_attr_init(compute_res_attr_t * attr) {
    if (!attr) {
        return AEE_EBADPARM;
    }
    memset(attr, 0, sizeof *attr);
    attr->initialised = ATTR_MAGIC;
    return 0;
}

static bool ready(const compute_res_attr_t * attr) {
    return attr && attr->initialised == ATTR_MAGIC;
}

int HAP_compute_res_attr_set_serialize(compute_res_attr_t * attr, unsigned char serialize) {
    if (!ready(attr)) {
        return AEE_EBADPARM;
    }
    attr->serialize = serialize;
    return 0;
}

int HAP_compute_res_attr_set_cache_mode(compute_res_attr_t * attr, unsigned char cache_mode) {
    if (!ready(attr)) {
        return AEE_EBADPARM;
    }
    attr->cache_mode = cache_mode;
    return 0;
}

int HAP_compute_res_attr_set_vtcm_param_v2(compute_res_attr_t * attr, unsigned int size, unsigned int min_page,
                                           unsigned int min_size) {
    if (!ready(attr)) {
        return AEE_EBADPARM;
    }
    attr->vtcm_size          = size;
    attr->vtcm_min_page_size = min_page;
    attr->vtcm_min_size      = min_size;
    return 0;
}

int HAP_compute_res_attr_set_release_callback(compute_res_attr_t * attr, compute_res_release_callback_t callback,
                                              void * client) {
    if (!ready(attr)) {
        return AEE_EBADPARM;
    }
    attr->release_callback = callback;
    attr->release_client   = client;
    return 0;
}

int HAP_compute_res_attr_set_hmx_param(compute_res_attr_t * attr, unsigned char hmx) {
    if (!ready(attr)) {
        return AEE_EBADPARM;
    }
    attr->hmx = hmx;
    return 0;
}

/* With the lock held: VTCM's place, and the watcher. */
static bool prepare(void) {
    if (!r.vtcm) {
        r.vtcm = window_map_vtcm(vtcm_bytes());
        if (r.vtcm && checks.vtcm) {
            check_vtcm_released((uintptr_t)r.vtcm, vtcm_bytes());
        }
    }
    if (!r.watched) {
        pthread_t t;
        r.watched = !pthread_create(&t, NULL, watcher, NULL);
        if (r.watched) {
            pthread_detach(t);
        }
    }
    return r.vtcm && r.watched;
}

unsigned int HAP_compute_res_acquire(compute_res_attr_t * attr, unsigned int timeout_us) {
    if (!ready(attr)) {
        return 0;
    }
    uint32_t granted = attr->vtcm_size;
    if (granted > vtcm_bytes()) {
        granted = attr->vtcm_min_size && attr->vtcm_min_size <= vtcm_bytes() ? (uint32_t)vtcm_bytes() : 0;
    }
    int index = -1;
    pthread_mutex_lock(&r.lock);
    for (int i = 0; i < MAX_CONTEXTS && index < 0 && (granted || !attr->vtcm_size) && prepare(); i++) {
        if (!r.context[i].used) {
            index              = i;
            attr->vtcm_ptr     = r.vtcm;
            attr->vtcm_granted = granted;
            r.context[i]       = (struct context){true, attr->cache_mode != 0, false, *attr};
        }
    }
    pthread_mutex_unlock(&r.lock);
    if (index < 0) {
        return 0;
    }
    if (!attr->cache_mode && granted) {
        if (!vtcm_take(index, timeout_us)) {
            r.context[index].used = false;
            return 0;
        }
        r.context[index].held = true;
    }
    return FIRST_CONTEXT + (unsigned)index;
}

int HAP_compute_res_attr_get_vtcm_ptr_v2(compute_res_attr_t * attr, void ** vtcm_ptr, unsigned int * vtcm_size) {
    if (!ready(attr) || !attr->vtcm_ptr || !vtcm_ptr || !vtcm_size) {
        return AEE_EBADPARM;
    }
    *vtcm_ptr  = attr->vtcm_ptr;
    *vtcm_size = attr->vtcm_granted;
    return 0;
}

static struct context * context_of(unsigned id) {
    struct context * c = id - FIRST_CONTEXT < MAX_CONTEXTS ? &r.context[id - FIRST_CONTEXT] : NULL;
    return c && c->used ? c : NULL;
}

int HAP_compute_res_release(unsigned int id) {
    struct context * c = context_of(id);
    if (!c) {
        return AEE_EBADPARM;
    }
    if (c->held) {
        c->held = false;
        vtcm_give();
    }
    pthread_mutex_lock(&r.lock);
    c->used = false;
    pthread_mutex_unlock(&r.lock);
    return 0;
}

int HAP_compute_res_acquire_cached(unsigned int id, unsigned int timeout_us) {
    struct context * c = context_of(id);
    if (!c || !c->cached || c->held) {
        return AEE_EBADPARM;
    }
    if (!vtcm_take((int)(id - FIRST_CONTEXT), timeout_us)) {
        return AEE_EEXPIRED;
    }
    c->held = true;
    return 0;
}

int HAP_compute_res_release_cached(unsigned int id) {
    struct context * c = context_of(id);
    if (!c || !c->cached || !c->held) {
        return AEE_EBADPARM;
    }
    c->held = false;
    vtcm_give();
    return 0;
}

int HAP_compute_res_update_priority(unsigned int id, int priority) {
    (void)priority; /* every waiter makes the holder's callback run, whatever its priority */
    return context_of(id) ? 0 : AEE_EBADPARM;
}

static pthread_mutex_t hmx_lock = PTHREAD_MUTEX_INITIALIZER;

int HAP_compute_res_hmx_lock(unsigned int id) {
    struct context * c = context_of(id);
    if (!c || !c->attr.hmx) {
        return AEE_EBADPARM;
    }
    pthread_mutex_lock(&hmx_lock); /* one unit: one thread of this process, then one process */
    resource_take(&dsp.state->hmx, INT64_MAX);
    return 0;
}

int HAP_compute_res_hmx_unlock(unsigned int id) {
    if (!context_of(id)) {
        return AEE_EBADPARM;
    }
    resource_give(&dsp.state->hmx);
    pthread_mutex_unlock(&hmx_lock);
    return 0;
}
