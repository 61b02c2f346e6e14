/* access: bytes that kernels load from and store to shared buffers themselves, without DMA.
 *
 * A load or store of C is no call. Libraries of an SDK that has the compiler report each one (internal/simsdk,
 * AccessFlags) call the functions below, which are those of the compiler's kernel address sanitizer; other libraries
 * do not, and count nothing. */
#include <stdint.h>
#include <string.h>

#include "dsp.h"

#define PAGE_BITS 12

/* Pages of the 32-bit window that belong to a shared buffer. */
static _Atomic uint8_t shared_page[1u << (32 - PAGE_BITS)];

_Thread_local struct access access_of_thread;

void access_pages(uintptr_t base, size_t bytes, bool shared) {
    if (base > UINT32_MAX) {
        return; /* an extended buffer: only DMA reaches it */
    }
    for (uintptr_t page = base >> PAGE_BITS; page <= (base + bytes - 1) >> PAGE_BITS; page++) {
        atomic_store_explicit(&shared_page[page], shared, memory_order_relaxed);
    }
}

static bool shared(const void * at) {
    uintptr_t a = (uintptr_t)at;
    return a <= UINT32_MAX && atomic_load_explicit(&shared_page[a >> PAGE_BITS], memory_order_relaxed);
}

static void loads(const void * at, size_t bytes) {
    if (shared(at)) {
        access_of_thread.loaded += bytes;
    }
}

static void stores(const void * at, size_t bytes) {
    if (shared(at)) {
        access_of_thread.stored += bytes;
    }
}

/* Weak: where the DSP's process itself is built with the address sanitizer, these are the sanitizer's. */
#define HOOK __attribute__((weak))

/* The compiler calls them by name: no header declares them. */
#define HOOKS(n)                                                                                                       \
    HOOK void __asan_load##n##_noabort(const void * at);                                                               \
    HOOK void __asan_load##n##_noabort(const void * at) {                                                              \
        loads(at, n);                                                                                                  \
    }                                                                                                                  \
    HOOK void __asan_store##n##_noabort(const void * at);                                                              \
    HOOK void __asan_store##n##_noabort(const void * at) {                                                             \
        stores(at, n);                                                                                                 \
    }

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

HOOK void __asan_loadN_noabort(const void * at, size_t bytes);
HOOK void __asan_storeN_noabort(const void * at, size_t bytes);
HOOK void __asan_handle_no_return(void);
HOOK void * __asan_memcpy(void * to, const void * from, size_t bytes);
HOOK void * __asan_memmove(void * to, const void * from, size_t bytes);
HOOK void * __asan_memset(void * to, int value, size_t bytes);

void __asan_loadN_noabort(const void * at, size_t bytes) {
    loads(at, bytes);
}

void __asan_storeN_noabort(const void * at, size_t bytes) {
    stores(at, bytes);
}

/* Before a call that does not return: the sanitizer's stack is none of ours. */
void __asan_handle_no_return(void) {
}

void * __asan_memcpy(void * to, const void * from, size_t bytes) {
    loads(from, bytes);
    stores(to, bytes);
    return memcpy(to, from, bytes);
}

void * __asan_memmove(void * to, const void * from, size_t bytes) {
    loads(from, bytes);
    stores(to, bytes);
    return memmove(to, from, bytes);
}

void * __asan_memset(void * to, int value, size_t bytes) {
    stores(to, bytes);
    return memset(to, value, bytes);
}
