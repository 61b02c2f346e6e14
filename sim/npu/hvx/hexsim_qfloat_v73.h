/* hexsim_qfloat_v73.h: qf32 and qf16 as v73 and v75 have them.
 *
 *   qf32: bits 31..8 a signed significand s, bits 7..0 an exponent e; value = (2 s + 1) * 2^(e - 127 - 23)
 *   qf16: bits 15..5 a signed significand s, bits 4..0 an exponent e; value = (2 s + 1) * 2^(e - 15 - 10)
 *
 * The lowest bit of the significand is implied: every value is odd in the units of its exponent, and there is no zero.
 * Zero, Inf and NaN do not exist: an exact zero result is the pattern 0, the smallest positive value; the singles and
 * halves with the largest exponent are read as the numbers their bits would be. Results are not normalised.
 * Rules: the legacy part of QEMU's target/hexagon/mmvec/hvx_qfloat.c, which follows Qualcomm's own model. There a zero
 * operand has the exponent 0 when operands are aligned, here none; it shows only below 2^-126. */
#ifndef HEXSIM_QFLOAT_V73_H
#define HEXSIM_QFLOAT_V73_H

#include "hexsim_float.h"

/* The two formats. */
typedef struct {
    int fraction; /* bits of the significand below 1 */
    int bias, e_min, e_max;
} hexsim_qformat;

#define HEXSIM_QF32 ((hexsim_qformat) {23, 127, -127, 128})
#define HEXSIM_QF16 ((hexsim_qformat) {10, 15, -15, 16})

/* An operand: significand * 2^(exponent - fraction of its format). */
typedef struct {
    int32_t significand;
    int exponent;
} hexsim_qnumber;

HEXSIM_INLINE hexsim_qnumber hexsim_from_qf32(uint32_t bits) {
    return (hexsim_qnumber) {((int32_t) bits >> 7) | 1, (int) (bits & 0xff) - 127};
}

HEXSIM_INLINE hexsim_qnumber hexsim_from_qf16(uint16_t bits) {
    return (hexsim_qnumber) {((int16_t) bits >> 4) | 1, (int) (bits & 0x1f) - 15};
}

HEXSIM_INLINE hexsim_qnumber hexsim_from_sf(uint32_t bits) {
    const int e     = (int) (bits >> 23 & 0xff);
    const int32_t m = (int32_t) (bits & 0x7fffff) | (e ? 0x800000 : 0);
    return (hexsim_qnumber) {bits >> 31 ? -m : m, (e ? e : 1) - 127};
}

HEXSIM_INLINE hexsim_qnumber hexsim_from_hf(uint16_t bits) {
    const int e     = bits >> 10 & 0x1f;
    const int32_t m = (bits & 0x3ff) | (e ? 0x400 : 0);
    return (hexsim_qnumber) {bits >> 15 ? -m : m, (e ? e : 1) - 15};
}

/* floor(log2 |x|), far below everything for 0 */
HEXSIM_INLINE int hexsim_log2(__int128 x) {
    if (x == 0) {
        return -100000;
    }
    const unsigned __int128 m = x < 0 ? -(unsigned __int128) x : (unsigned __int128) x;
    return (uint64_t) (m >> 64) ? 127 - __builtin_clzll((uint64_t) (m >> 64)) : 63 - __builtin_clzll((uint64_t) m);
}

/* Rounds x * 2^scale to the format f at the exponent `exponent`; the pattern, right-aligned.
 *
 * With the unit 2^(exponent - fraction) and low = x mod 4 units, the significand is the multiple of 4 below x, plus 1
 * for low <= 1.5, plus 2 for low <= 2.5 (written with the next exponent), plus 3 above. Next to the ends of the range,
 * and when the exponent is raised because x does not fit, it is plus 1 for low <= 2, plus 3 above. Within 4 units of
 * zero it is 1 or -1. */
HEXSIM_LANE_FN uint32_t hexsim_qround(hexsim_qformat f, int exponent, __int128 x, int scale) {
    const int exponent_bits = f.fraction == 23 ? 8 : 5;
    const uint32_t mask     = ((uint32_t) 1 << f.fraction) - 1;
    const uint32_t sign     = x < 0;
    int raise = 0, half = 0;
    uint32_t significand;
    if (x == 0) {
        return 0;
    }
    const int top      = hexsim_log2(x) + scale;
    const int minus2   = sign && top == exponent + 1 && ((-x) & (-x - 1)) == 0; /* it fits */
    const int overflow = top >= exponent + 1 && !minus2;
    if (exponent >= f.e_max + 1 || (overflow && exponent == f.e_max)) {
        significand = sign ? 0 : mask;
        exponent    = f.e_max;
    } else if (exponent <= f.e_min - 2) {
        significand = sign ? mask : 0;
        exponent    = f.e_min;
    } else {
        raise            = exponent == f.e_min - 1 || overflow;
        const int middle = !raise && exponent >= f.e_min && exponent < f.e_max;
        const int shift  = exponent + raise - f.fraction - scale; /* log2 of the unit in units of x */
        __int128 n;
        if (top < exponent + raise - f.fraction + 2) {
            n = sign ? -1 : 1;
        } else if (shift <= -2) {
            n = x * ((__int128) 1 << -shift) + 1; /* a multiple of 4 units */
        } else {
            /* eighths of a unit, so that 1.5 and 2.5 and a rest count */
            const int down       = shift + 2;
            const __int128 base  = x >> down;
            const __int128 low   = x - base * ((__int128) 1 << down);
            const __int128 whole = (__int128) 1 << down; /* 4 units */
            if (middle) {
                half = 8 * low > 3 * whole && 8 * low <= 5 * whole;
                n    = 4 * base + (8 * low <= 3 * whole ? 1 : half ? 2 : 3);
            } else {
                n = 4 * base + (2 * low <= whole ? 1 : 3);
            }
        }
        const uint64_t magnitude = (uint64_t) (n < 0 ? -n : n);
        significand              = (uint32_t) (magnitude >> (half ? 2 : 1)) & mask;
        if (sign) {
            significand = ~significand;
        }
        exponent += raise + half;
    }
    return ((sign << f.fraction) | (significand & mask)) << exponent_bits |
           ((uint32_t) (exponent + f.bias) & (((uint32_t) 1 << exponent_bits) - 1));
}

/* a + b. The exponent is the larger one, or where that operand is not normalised as much less as it could be. */
HEXSIM_LANE_FN uint32_t hexsim_qadd(hexsim_qformat f, hexsim_qnumber a, hexsim_qnumber b) {
    if (b.exponent >= a.exponent) { /* a is the one with the larger exponent, b for equal ones */
        const hexsim_qnumber t = a;
        a                      = b;
        b                      = t;
    }
    const int normal   = hexsim_log2(a.significand) + a.exponent - f.fraction;
    const int exponent = normal > b.exponent ? normal : b.exponent;
    const int distance = a.exponent - b.exponent;
    if (distance > 90) { /* all that b can do is to be on one side of a */
        const __int128 tail = b.significand > 0 ? 1 : b.significand < 0 ? -1 : 0;
        return hexsim_qround(f, exponent, (__int128) a.significand * ((__int128) 1 << 90) + tail,
                             a.exponent - f.fraction - 90);
    }
    return hexsim_qround(f, exponent, (__int128) a.significand * ((__int128) 1 << distance) + b.significand,
                         b.exponent - f.fraction);
}

/* a * b, at the sum of the exponents; out: the format of the result, in: that of the operands */
HEXSIM_LANE_FN uint32_t hexsim_qmpy(hexsim_qformat out, hexsim_qformat in, hexsim_qnumber a, hexsim_qnumber b) {
    const int exponent = a.exponent + b.exponent;
    return hexsim_qround(out, exponent, (__int128) a.significand * b.significand, exponent - 2 * in.fraction);
}

HEXSIM_INLINE hexsim_qnumber hexsim_qneg(hexsim_qnumber a) {
    return (hexsim_qnumber) {-a.significand, a.exponent};
}

/* 2^n as a double, -1022 <= n <= 1023 */
HEXSIM_INLINE double hexsim_pow2(int n) {
    const uint64_t bits = (uint64_t) (n + 1023) << 52;
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

/* To single, nearest even; beyond the range Inf. */
HEXSIM_INLINE float hexsim_sf_of_qf32(uint32_t bits) {
    const hexsim_qnumber q = hexsim_from_qf32(bits);
    return (float) ((double) q.significand * hexsim_pow2(q.exponent - 23));
}

/* To half, nearest even. The significand is odd: without its lowest bit, and the next one set for it, it fits in a
 * single and rounds the same way. */
HEXSIM_INLINE uint16_t hexsim_hf_of_qf32(uint32_t bits) {
    const int32_t s = ((int32_t) bits >> 8) | 1;
    int e           = (int) (bits & 0xff) - 127 - 22;
    e               = e < -100 ? -100 : e > 100 ? 100 : e;
    return hexsim_hf_bits((_Float16) (float) ((float) s * (float) hexsim_pow2(e)));
}

HEXSIM_INLINE uint16_t hexsim_hf_of_qf16(uint16_t bits) {
    const hexsim_qnumber q = hexsim_from_qf16(bits);
    return hexsim_hf_bits((_Float16) ((float) q.significand * (float) hexsim_pow2(q.exponent - 10)));
}

#endif /* HEXSIM_QFLOAT_V73_H */
