/* The matrix unit: layout of tiles, order of operations, and the fast form against the plain one, bit by bit. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hexsim_asm.h"
#include "hexsim_runtime.h"
#include "hmx.h"

int hexsim_hmx_watched = 1;

static unsigned multiplied, stored;

void hexsim_hmx_note(enum hexsim_hmx_kind kind, const void * a, const void * b, size_t bytes, uint32_t tiles) {
    (void) a;
    (void) b;
    (void) bytes;
    multiplied += kind == HEXSIM_HMX_MULTIPLY ? tiles : 0;
    stored += kind == HEXSIM_HMX_STORE;
}

enum { TILES = 3 };

static _Alignas(128) _Float16 act[TILES][1024], wt[TILES][1024], out[1024], want[1024];
static _Alignas(128) uint32_t bias[64];
static int failures;

static void check(const char * what, int holds) {
    if (!holds && ++failures < 20) {
        printf("does not hold: %s\n", what);
    }
}

static int at(int row, int column) {
    return 64 * (row / 2) + 2 * column + row % 2;
}

static uint64_t state = 20260101;

static uint32_t random32(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (state >> 32);
}

static void fill(int any) {
    for (int t = 0; t < TILES; t++) {
        for (int i = 0; i < 1024; i++) {
            uint16_t x = (uint16_t) random32(), y = (uint16_t) random32();
            if (!any) { /* no infinities */
                x = (x & 0x8fff) | 0x3000;
                y = (y & 0x8fff) | 0x3000;
            }
            memcpy(&act[t][i], &x, 2);
            memcpy(&wt[t][i], &y, 2);
        }
    }
    for (int n = 0; n < 32; n++) {
        bias[n] = 0x3800 + (uint32_t) n; /* 0.5 and a little */
    }
}

static void identity(void) {
    memset(act, 0, sizeof act);
    for (int i = 0; i < 32; i++) {
        act[0][at(i, i)] = 1;
        for (int k = 0; k < 32; k++) {
            wt[0][at(k, i)] = (_Float16) (k * 32 + i);
        }
        bias[i] = 0x3c00;
    }
    hexsim_hmx_clracc_hf();
    hexsim_hmx_set_bias(bias);
    hexsim_hmx_mpy_hf(act[0], 2047, wt[0], 2047);
    hexsim_hmx_store_after_hf(out, 0);
    check("the identity gives the weights back", !memcmp(out, wt[0], sizeof out));
    hexsim_hmx_store_after_hf(out, 0);
    memset(want, 0, sizeof want);
    check("a store leaves a cleared accumulator", !memcmp(out, want, sizeof out));
}

static void zero_times_stale_memory(void) {
    memset(act, 0, sizeof act);
    memset(wt, 0xff, sizeof wt); /* NaN in IEEE's terms */
    hexsim_hmx_mpy_hf(act[0], 2047, wt[0], 2047);
    hexsim_hmx_mpy_hf(wt[0], 2047, act[0], 2047);
    hexsim_hmx_store_after_hf(out, 0);
    int zeros = 1;
    for (int i = 0; i < 1024; i++) {
        zeros &= out[i] == 0;
    }
    check("zero times any bits is zero", zeros);
}

int main(void) {
    identity();
    zero_times_stale_memory();
    for (int i = 0; i < 200; i++) {
        fill(i % 2);
        hexsim_hmx_set_bias(bias);
        hexsim_hmx_clracc_hf();
        hexsim_hmx_mpy_deep_hf(act, TILES * 2048 - 1, wt, TILES * 2048 - 1);
        hexsim_hmx_mpy_hf(act[1], 2047, wt[2], 2047);
        hexsim_hmx_store_after_hf(out, 0);
        hexsim_hmx_multiply_plain(act, wt, TILES);
        hexsim_hmx_multiply_plain(act[1], wt[2], 1);
        hexsim_hmx_store_plain(want);
        check("fast and plain forms agree", !memcmp(out, want, sizeof out));
        if (i % 2 == 0) { /* and both with exact arithmetic, within what single precision loses */
            double sum = 0, size = 0;
            for (int t = 0; t < TILES; t++) {
                for (int k = 0; k < 32; k++) {
                    const double x = (double) act[t][at(5, k)] * (double) wt[t][at(k, 9)];
                    sum += x;
                    size += fabs(x);
                }
            }
            for (int k = 0; k < 32; k++) {
                const double x = (double) act[1][at(5, k)] * (double) wt[2][at(k, 9)];
                sum += x;
                size += fabs(x);
            }
            sum *= 0.5 * (1 + 9.0 / 1024);
            check("near the exact product", fabs(sum - (double) out[at(5, 9)]) <= 0x1p-10 * fabs(sum) + 0x1p-15 * size);
        }
    }
    check("counted", multiplied == 3 + 200 * 4 && stored == 3 + 200);
    printf("hmx: %d failures\n", failures);
    return failures != 0;
}
