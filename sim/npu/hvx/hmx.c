/* hmx.c: the matrix unit, built into the DSP process. hexsim_asm.h tells which instruction each function stands for.
 *
 * A tile is 32 x 32 halves in 2048 bytes. Rows are stored in pairs: element (r, c) is half 64 (r / 2) + 2 c + r % 2. An
 * activation tile holds rows of A by k, a weight tile holds k by columns of B, the output tile is like an activation.
 *
 *   multiply:  acc[r][n] = fma(act[r][k], wt[k][n], acc[r][n]) for k = 0 .. 31, in single precision, in this order
 *   deep:      the same over (range + 1) / 2048 tiles, one after the other in both operands
 *   store:     out[r][n] = half(acc[r][n] * scale[n]); acc = 0
 *   bias:      32 words: the low half of word n is scale[n]; 32 more words, which must be zero as the kernels have them
 *
 * Infinities and NaNs do not exist in operands: the unit works with USR's inf_nan_enable off, where a half with
 * exponent 31 is the number that its bits make, (1 + fraction / 1024) * 2^16, and a zero times it is zero. (Model and
 * names from Qualcomm's QEMU, target/hexagon/hmx/mpy_hmx_fp_custom.c; its accumulator is a wider fixed-point one with
 * an exponent. README.md tells what follows.) */
#include "hmx.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hexsim_asm.h"
#include "hexsim_runtime.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { TILE = 32, TILE_HALVES = TILE * TILE, TILE_BYTES = 2 * TILE_HALVES };

/* The accumulator and bias of the thread that holds the unit. */
static _Thread_local struct {
    _Alignas(64) float acc[TILE][TILE];
    float scale[TILE];
} hmx;

static float number(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The value of a half as the unit reads it: exponent 31 is an exponent like others. */
static float hmx_half(uint16_t h) {
    const float magnitude = number((uint32_t) (h & 0x7fff) << 13) * number(0x77800000); /* 2^112 */
    return h >> 15 ? -magnitude : magnitude;
}

/* To half, nearest even, without the help of a half type: rounds the bits, subnormals by adding a power of two. */
static uint16_t half_bits(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    const uint16_t sign = (uint16_t) (u >> 16 & 0x8000);
    u &= 0x7fffffff;
    if (u > 0x7f800000) {
        return 0x7fff;
    }
    if (u >= 0x477ff000) { /* 65520 and more */
        return sign | 0x7c00;
    }
    if (u < 0x38800000) { /* below 2^-14: the unit of 0.5 is that of the subnormals */
        const float y = number(u) + 0.5f;
        memcpy(&u, &y, sizeof u);
        return (uint16_t) (sign | (u - 0x3f000000));
    }
    u += 0xfff + (u >> 13 & 1) - 0x38000000;
    return (uint16_t) (sign | u >> 13);
}

static const uint16_t * halves(const void * tile, uint32_t index) {
    return (const uint16_t *) tile + (size_t) index * TILE_HALVES;
}

static void multiply_plain(const void * activation, const void * weight, uint32_t tiles) {
    for (uint32_t t = 0; t < tiles; t++) {
        const uint16_t *a = halves(activation, t), *w = halves(weight, t);
        for (int k = 0; k < TILE; k++) {
            float row[TILE];
            for (int n = 0; n < TILE; n++) {
                row[n] = hmx_half(w[64 * (k / 2) + 2 * n + k % 2]);
            }
            for (int r = 0; r < TILE; r++) {
                const float x = hmx_half(a[64 * (r / 2) + 2 * k + r % 2]);
                for (int n = 0; n < TILE; n++) {
                    hmx.acc[r][n] = fmaf(x, row[n], hmx.acc[r][n]);
                }
            }
        }
    }
}

static void store_plain(void * out) {
    for (int r = 0; r < TILE; r++) {
        for (int n = 0; n < TILE; n++) {
            ((uint16_t *) out)[64 * (r / 2) + 2 * n + r % 2] = half_bits(hmx.acc[r][n] * hmx.scale[n]);
        }
    }
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,fma,f16c")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
/* What follows has no instructions of its own: inlined into a function, it becomes those of that function's target. */
#define FORM static inline __attribute__((__always_inline__))

typedef uint16_t bits32 __attribute__((ext_vector_type(32)));
typedef uint16_t bits16 __attribute__((ext_vector_type(16)));
typedef uint32_t words16 __attribute__((ext_vector_type(16)));
typedef _Float16 halves16 __attribute__((ext_vector_type(16)));
typedef float singles16 __attribute__((ext_vector_type(16)));

#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31

/* The even (odd) ones of 32 halves as singles; special: some may have the exponent 31. */
FORM void widen(const uint16_t * from, bool odd, bool special, float * out) {
    bits32 x;
    singles16 d;
    memcpy(&x, from, sizeof x);
    const bits16 h = odd ? __builtin_shufflevector(x, x, ODD) : __builtin_shufflevector(x, x, EVEN);
    if (__builtin_expect(special, 0)) { /* as hmx_half */
        const words16 u   = __builtin_convertvector(h, words16);
        const singles16 v = (singles16) ((u & 0x7fff) << 13) * number(0x77800000);
        d                 = (singles16) ((words16) v | (u & 0x8000) << 16);
    } else {
        d = __builtin_convertvector((halves16) h, singles16);
    }
    memcpy(out, &d, sizeof d);
}

/* A tile as rows of singles: of an activation out[r][k], of a weight out[k][n]. The result has a bit for each pair of
 * rows that is not all zeros (of either sign). */
FORM uint32_t unpack_tile(const uint16_t * tile, float out[TILE][TILE]) {
    bits32 largest = 0;
    uint32_t rows  = 0;
    for (int pair = 0; pair < TILE / 2; pair++) {
        bits32 x[2];
        memcpy(x, tile + 2 * TILE * pair, sizeof x);
        largest = __builtin_elementwise_max(largest, __builtin_elementwise_max(x[0] << 1, x[1] << 1)); /* no signs */
        rows |= (uint32_t) (__builtin_reduce_or((x[0] | x[1]) << 1) != 0) << pair;
    }
    const bool special = __builtin_reduce_max(largest) >= 0xf800;
    for (int pair = 0; pair < TILE / 2; pair++) {
        if (!(rows >> pair & 1)) {
            memset(out[2 * pair], 0, 2 * sizeof out[0]);
            continue;
        }
        for (int i = 0; i < 2; i++) {
            const uint16_t * from = tile + 2 * TILE * pair + TILE * i;
            widen(from, false, special, &out[2 * pair][16 * i]);
            widen(from, true, special, &out[2 * pair + 1][16 * i]);
        }
    }
    return rows;
}

/* A block of some rows and 16 columns stays in registers over all k.
 *
 * Rows of zeros are skipped, most of a tile when few tokens are multiplied. That changes nothing: operands are finite
 * and an accumulator is never -0, so adding a zero of any sign leaves it as it is. */
FORM void multiply_block(float a[TILE][TILE], float w[TILE][TILE], int r, int n, int rows) {
    singles16 c[8];
#pragma unroll
    for (int i = 0; i < rows; i++) {
        memcpy(&c[i], &hmx.acc[r + i][n], sizeof c[i]);
    }
    for (int k = 0; k < TILE; k++) {
        singles16 column;
        memcpy(&column, &w[k][n], sizeof column);
#pragma unroll
        for (int i = 0; i < rows; i++) {
            c[i] = __builtin_elementwise_fma((singles16) a[r + i][k], column, c[i]);
        }
    }
#pragma unroll
    for (int i = 0; i < rows; i++) {
        memcpy(&hmx.acc[r + i][n], &c[i], sizeof c[i]);
    }
}

/* rows: those of a block, as many as the registers hold. */
FORM void multiply_tiles(const void * activation, const void * weight, uint32_t tiles, int rows) {
    _Alignas(64) float a[TILE][TILE], w[TILE][TILE];
    for (uint32_t t = 0; t < tiles; t++) {
        const uint32_t some = unpack_tile(halves(activation, t), a);
        if (!some) {
            continue;
        }
        unpack_tile(halves(weight, t), w);
        for (int r = 0; r < TILE; r += rows) {
            const uint32_t in = some >> (r / 2) & ((1u << (rows / 2)) - 1);
            if (in) {
                multiply_block(a, w, r, 0, rows);
                multiply_block(a, w, r, 16, rows);
            }
        }
    }
}

AVX2 static void multiply_avx2(const void * activation, const void * weight, uint32_t tiles) {
    multiply_tiles(activation, weight, tiles, 4);
}

AVX512 static void multiply_avx512(const void * activation, const void * weight, uint32_t tiles) {
    multiply_tiles(activation, weight, tiles, 8);
}

AVX2 static __m128i narrow(__m256 x) {
    const __m256 nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
    return _mm256_cvtps_ph(_mm256_blendv_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)), nan),
                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

AVX2 static void store_avx2(void * out) {
    for (int r = 0; r < TILE; r += 2) {
        for (int n = 0; n < TILE; n += 8) {
            const __m256 s  = _mm256_loadu_ps(&hmx.scale[n]);
            const __m128i e = narrow(_mm256_mul_ps(_mm256_load_ps(&hmx.acc[r][n]), s));
            const __m128i o = narrow(_mm256_mul_ps(_mm256_load_ps(&hmx.acc[r + 1][n]), s));
            __m128i * d     = (__m128i *) ((uint16_t *) out + 32 * r + 2 * n);
            _mm_storeu_si128(d, _mm_unpacklo_epi16(e, o));
            _mm_storeu_si128(d + 1, _mm_unpackhi_epi16(e, o));
        }
    }
}
#endif

#if defined(__x86_64__)
/* What this machine has: 1 nothing of use, 2 AVX2, 3 AVX-512. */
static int level(void) {
    static _Atomic int known;
    int k = known;
    if (!k) {
        const bool avx2 =
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
        k = 1 + avx2 +
            (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
        known = k;
    }
    return k;
}
#endif

void hexsim_hmx_multiply_plain(const void * activation, const void * weight, uint32_t tiles) {
    multiply_plain(activation, weight, tiles);
}

void hexsim_hmx_store_plain(void * out) {
    store_plain(out);
    memset(hmx.acc, 0, sizeof hmx.acc);
}

static void multiply(const void * activation, const void * weight, uint32_t tiles) {
    if (hexsim_hmx_watched) {
        hexsim_hmx_note(HEXSIM_HMX_MULTIPLY, activation, weight, (size_t) tiles * TILE_BYTES, tiles);
    }
#if defined(__x86_64__)
    if (level() > 1) {
        (level() > 2 ? multiply_avx512 : multiply_avx2)(activation, weight, tiles);
        return;
    }
#endif
    multiply_plain(activation, weight, tiles);
}

void hexsim_hmx_clracc_hf(void) {
    if (hexsim_hmx_watched) {
        hexsim_hmx_note(HEXSIM_HMX_OTHER, NULL, NULL, 0, 0);
    }
    memset(hmx.acc, 0, sizeof hmx.acc);
}

void hexsim_hmx_set_bias(const void * addr) {
    if (hexsim_hmx_watched) {
        hexsim_hmx_note(HEXSIM_HMX_OTHER, addr, NULL, 256, 0);
    }
    const uint32_t * word = addr;
    for (int n = 0; n < TILE; n++) {
        hmx.scale[n] = hmx_half((uint16_t) word[n]);
    }
}

void hexsim_hmx_mpy_hf(const void * activation, uint32_t activation_range, const void * weight, uint32_t weight_range) {
    (void) activation_range; /* one tile whatever the range says: it is 2047 */
    (void) weight_range;
    multiply(activation, weight, 1);
}

void hexsim_hmx_mpy_deep_hf(const void * activation, uint32_t activation_range, const void * weight,
                            uint32_t weight_range) {
    (void) weight_range;
    multiply(activation, weight, (uint32_t) (((uint64_t) activation_range + 1) / TILE_BYTES));
}

void hexsim_hmx_store_after_hf(void * out, uint32_t control) {
    (void) control; /* 0: no feedback, rounding to half, no activation function */
    if (hexsim_hmx_watched) {
        hexsim_hmx_note(HEXSIM_HMX_STORE, out, NULL, TILE_BYTES, 1);
    }
#if defined(__x86_64__)
    if (level() > 1) {
        store_avx2(out);
        memset(hmx.acc, 0, sizeof hmx.acc);
        return;
    }
#endif
    hexsim_hmx_store_plain(out);
}
