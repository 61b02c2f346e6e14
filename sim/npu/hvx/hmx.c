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

/* 16 halves h: the 8 even ones and the 8 odd ones as singles. */
AVX2 static inline void widen(__m256i h, bool plain, float * even, float * odd) {
    const __m256i pairs = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9, 12,
                                           13, 2, 3, 6, 7, 10, 11, 14, 15);
    if (__builtin_expect(plain, 1)) {
        h = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(h, pairs), 0xd8);
        _mm256_store_ps(even, _mm256_cvtph_ps(_mm256_castsi256_si128(h)));
        _mm256_store_ps(odd, _mm256_cvtph_ps(_mm256_extracti128_si256(h, 1)));
        return;
    }
    const __m256 scale = _mm256_castsi256_ps(_mm256_set1_epi32(0x77800000));
    const __m256i sign = _mm256_set1_epi32((int) 0x80000000u), magnitude = _mm256_set1_epi32(0x7fff << 13);
    const __m256i low = _mm256_slli_epi32(h, 16);
    for (int i = 0; i < 2; i++) {
        const __m256i x = i ? h : low; /* the half is in the upper 16 bits */
        const __m256i m = _mm256_and_si256(_mm256_srli_epi32(_mm256_andnot_si256(sign, x), 3), magnitude);
        const __m256 v  = _mm256_mul_ps(_mm256_castsi256_ps(m), scale);
        _mm256_store_ps(i ? odd : even, _mm256_or_ps(v, _mm256_castsi256_ps(_mm256_and_si256(sign, x))));
    }
}

/* Whether a half of the tile has the exponent 31. */
AVX2 static bool has_special(const __m256i * tile) {
    const __m256i exponent = _mm256_set1_epi16(0x7c00);
    __m256i found          = _mm256_setzero_si256();
    for (int i = 0; i < TILE_HALVES / 16; i++) {
        const __m256i e = _mm256_and_si256(_mm256_loadu_si256(tile + i), exponent);
        found           = _mm256_or_si256(found, _mm256_cmpeq_epi16(e, exponent));
    }
    return !_mm256_testz_si256(found, found);
}

/* A tile as rows of singles: of an activation out[r][k], of a weight out[k][n]. The result has a bit for each pair of
 * rows that is not all zeros (of either sign). */
AVX2 static uint32_t unpack_tile(const void * tile, float out[TILE][TILE]) {
    const __m256i * t       = tile;
    const bool plain        = !has_special(t);
    const __m256i magnitude = _mm256_set1_epi16(0x7fff);
    uint32_t rows           = 0;
    for (int pair = 0; pair < TILE / 2; pair++) {
        __m256i any = _mm256_setzero_si256();
        for (int i = 0; i < 4; i++) {
            const __m256i h = _mm256_loadu_si256(t + 4 * pair + i);
            any             = _mm256_or_si256(any, h);
            widen(h, plain, &out[2 * pair][8 * i], &out[2 * pair + 1][8 * i]);
        }
        rows |= (uint32_t) !_mm256_testz_si256(any, magnitude) << pair;
    }
    return rows;
}

/* Blocks of 4 rows x 16 columns stay in 8 registers; each k needs 2 loads and 4 broadcasts for 8 FMA.
 *
 * Rows of zeros are skipped, most of a tile when few tokens are multiplied. That changes nothing: operands are finite
 * and an accumulator is never -0, so adding a zero of any sign leaves it as it is. */
AVX2 static void multiply_block(float a[TILE][TILE], float w[TILE][TILE], int r, int n) {
    __m256 c[4][2];
    for (int i = 0; i < 4; i++) {
        c[i][0] = _mm256_load_ps(&hmx.acc[r + i][n]);
        c[i][1] = _mm256_load_ps(&hmx.acc[r + i][n + 8]);
    }
    for (int k = 0; k < TILE; k++) {
        const __m256 w0 = _mm256_load_ps(&w[k][n]), w1 = _mm256_load_ps(&w[k][n + 8]);
        for (int i = 0; i < 4; i++) {
            const __m256 x = _mm256_broadcast_ss(&a[r + i][k]);
            c[i][0]        = _mm256_fmadd_ps(x, w0, c[i][0]);
            c[i][1]        = _mm256_fmadd_ps(x, w1, c[i][1]);
        }
    }
    for (int i = 0; i < 4; i++) {
        _mm256_store_ps(&hmx.acc[r + i][n], c[i][0]);
        _mm256_store_ps(&hmx.acc[r + i][n + 8], c[i][1]);
    }
}

AVX2 static void multiply_avx2(const void * activation, const void * weight, uint32_t tiles) {
    _Alignas(64) float a[TILE][TILE], w[TILE][TILE];
    for (uint32_t t = 0; t < tiles; t++) {
        const uint32_t rows = unpack_tile(halves(activation, t), a);
        if (!rows) {
            continue;
        }
        unpack_tile(halves(weight, t), w);
        for (int n = 0; n < TILE; n += 16) {
            for (int r = 0; r < TILE; r += 4) {
                if (rows >> (r / 2) & 3) {
                    multiply_block(a, w, r, n);
                }
            }
        }
    }
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

static bool fast(void) {
#if defined(__x86_64__)
    static _Atomic int known; /* 1: no, 2: yes */
    int k = known;
    if (!k) {
        k = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") ? 2 : 1;
        known = k;
    }
    return k == 2;
#else
    return false;
#endif
}

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
    if (fast()) {
        multiply_avx2(activation, weight, tiles);
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
    if (fast()) {
        store_avx2(out);
        memset(hmx.acc, 0, sizeof hmx.acc);
        return;
    }
#endif
    hexsim_hmx_store_plain(out);
}
