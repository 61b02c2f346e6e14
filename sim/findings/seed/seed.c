/* seed.c: a library that makes test-backend-ops repeatable; loaded in front of
 * the C++ library (LD_PRELOAD).
 *
 * The program draws its data from std::random_device, which has no seed. Here
 * the device gives the numbers of splitmix64 (Steele, Lea, Flood, 2014) from
 * the seed in FINDINGS_SEED, 1 by default. The program also divides the drawing
 * among threads by std::thread::hardware_concurrency, so that says 2
 * everywhere, with which one thread draws all. The data of a case still depend
 * on the cases before it in the same process: equal commands give equal data.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

unsigned _ZNSt13random_device9_M_getvalEv(void * device);
unsigned _ZNSt6thread20hardware_concurrencyEv(void);

/* std::random_device::_M_getval() */
unsigned _ZNSt13random_device9_M_getvalEv(void * device) {
    static _Atomic uint64_t drawn;
    (void) device;
    const char * text = getenv("FINDINGS_SEED");
    uint64_t z        = text ? strtoull(text, NULL, 10) : 1;
    z += (atomic_fetch_add(&drawn, 1) + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (unsigned) (z ^ z >> 31);
}

/* std::thread::hardware_concurrency() */
unsigned _ZNSt6thread20hardware_concurrencyEv(void) {
    return 2;
}
