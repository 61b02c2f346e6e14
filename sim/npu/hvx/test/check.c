#include "check.h"

int check_failures;

static uint64_t state = 1;

void check_seed(uint64_t seed) {
    state = seed;
}

uint64_t check_random(void) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 2685821657736338717u;
}

static const uint32_t hard_words[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x00800001, 0x3f800000, 0xbf800000,
    0x3f7fffff, 0x3f800001, 0x40000000, 0xc0000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
    0xffc00000, 0x7f800001, 0xffffffff, 0x7fffffff, 0x477fe000, 0x477fefff, 0x477ff000, 0x387fc000, 0x33000000,
    0x33000001, 0x0000007f, 0xffffff80, 0x00000080, 0x80000080, 0x7fffff00, 0x7fffffff, 0x800000ff};
static const uint16_t hard_halves[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00,
                                       0x3bff, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe00,
                                       0x7c01, 0xffff, 0x7800, 0xf800, 0x7ff5, 0x801f, 0x5082};

hexsim_lanes check_words(void) {
    hexsim_lanes d;
    /* In half of the vectors exponents are near each other, so that sums cancel and round. */
    const int near = (int) (check_random() & 1);
    for (int i = 0; i < 32; i++) {
        const uint64_t x = check_random();
        d.uw[i]          = (uint32_t) x;
        if (near) {
            d.uw[i] = (d.uw[i] & 0x807fffff) | (uint32_t) (120 + (x >> 40) % 12) << 23;
        }
        if ((x >> 32) % 8 == 0) {
            d.uw[i] = hard_words[(x >> 48) % (sizeof hard_words / sizeof hard_words[0])];
        }
    }
    return d;
}

hexsim_lanes check_halves(void) {
    hexsim_lanes d;
    for (int i = 0; i < 64; i++) {
        const uint64_t x = check_random();
        d.uh[i]          = (uint16_t) x;
        if ((x >> 32) % 8 == 0) {
            d.uh[i] = hard_halves[(x >> 48) % (sizeof hard_halves / sizeof hard_halves[0])];
        }
    }
    return d;
}

hexsim_lanes check_all_halves(int i) {
    hexsim_lanes d;
    for (int k = 0; k < 64; k++) {
        d.uh[k] = (uint16_t) (64 * i + k);
    }
    return d;
}

void check_same(const char * name, const void * got, const void * want, size_t bytes, const void * u, const void * v,
                int32_t r) {
    const uint8_t *g = got, *w = want;
    if (!memcmp(g, w, bytes)) {
        return;
    }
    if (++check_failures > 40) {
        return;
    }
    size_t i = 0;
    while (g[i] == w[i]) {
        i++;
    }
    i &= ~(size_t) 3;
    uint32_t x[4] = {0, 0, 0, 0};
    memcpy(&x[0], g + i, 4);
    memcpy(&x[1], w + i, 4);
    if (u) {
        memcpy(&x[2], (const uint8_t *) u + i % 128, 4);
    }
    if (v) {
        memcpy(&x[3], (const uint8_t *) v + i % 128, 4);
    }
    printf("%s: word %zu is %08x, lane form %08x; operands %08x %08x, scalar %d\n", name, i / 4, x[0], x[1], x[2], x[3],
           r);
}

void check_true(const char * what, int holds) {
    if (!holds && ++check_failures <= 40) {
        printf("does not hold: %s\n", what);
    }
}

int main(void) {
    static const struct {
        const char * name;
        void (*run)(void);
    } tests[] = {{"integer", test_integer},
                 {"permute", test_permute},
                 {"float", test_float},
                 {"qfloat", test_qfloat},
                 {"memory", test_memory}};
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        const int before = check_failures;
        check_seed(20260101 + i);
        tests[i].run();
        printf("%-8s v%d seed %zu: %d failures\n", tests[i].name, __HVX_ARCH__, 20260101 + i, check_failures - before);
    }
    return check_failures ? 1 : 0;
}
