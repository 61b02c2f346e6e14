/* hexsim_qfloat_v79.h: qf32 and qf16 as v79 and later have them, as far as 32 and 16 bits of a lane can hold them.
 *
 * From v79 on a vector register carries four more bits for each word (V79 HVX Programmer's Reference Manual
 * 80-N2040-61, "HVX floating point"; QEMU's hvx_qfloat.c): the low bit of the significand, two rounding bits and a
 * ninth exponent bit. With them results are those of IEEE single and half, with a larger range. A vector of C has no
 * place for them, so:
 *
 *   qf32 is held as the bits of the single with its value. Every operation rounds once to 24 bits, nearest even. Beyond
 *   the range of a single a value is Inf (subnormal or zero below) where the hardware would go on to 2^256 (2^-255).
 *
 *   qf16 is held in its own 16 bits, 15..5 a signed significand s, 4..0 an exponent e, value s/512 * 2^(e - 15). The
 * low bit that the registers add is kept in what the format leaves free: a significand whose two top bits are equal is
 * not normalised and never written by an operation, except for e = 0; here it stands for the value with bit 9 inverted,
 *   plus half a step. With e = 31 a normalised one is Inf by its sign, another a NaN. So every half has one pattern,
 * and a normalised pattern below 2^16 that a kernel writes as a constant has the value the manual gives it. */
#ifndef HEXSIM_QFLOAT_V79_H
#define HEXSIM_QFLOAT_V79_H

#include "hexsim_float.h"

/* ---- single lanes ---- */

/* Half to qf16. */
HEXSIM_INLINE uint16_t hexsim_qf16_of_hf(uint16_t h) {
    const int negative = h >> 15, exponent = h >> 10 & 31, fraction = h & 1023;
    int s, e = exponent;
    if (exponent == 31) {
        s = fraction ? (negative ? -1 : 0) : (negative ? -1024 : 1023);
    } else if (exponent == 0) {
        s = negative ? -fraction : fraction; /* units of 2^-24, which are those of e = 0 */
    } else {
        const int m = negative ? -(1024 + fraction) : 1024 + fraction;
        if (m == -1024) { /* -1 * 2^n is -2 * 2^(n - 1), normalised */
            s = -1024;
            e = exponent - 1;
        } else {
            s = m & 1 ? (m >> 1) ^ 512 : m >> 1;
        }
    }
    return (uint16_t)((uint32_t)s << 5 | (uint32_t)e);
}

/* The value of a qf16, exact below 2^16. */
HEXSIM_INLINE float hexsim_sf_of_qf16(uint16_t q) {
    const int s = (int16_t)q >> 5, e = q & 31;
    const int unnormalised = ((s >> 10 ^ s >> 9) & 1) == 0;
    if (e == 31) {
        return hexsim_sf((s < 0 ? 0xff800000u : 0x7f800000u) | (unnormalised ? 0x7fe000u : 0));
    }
    if (e == 30 && s == -1024) { /* -2^16 */
        return hexsim_sf(0xff800000u);
    }
    const int m = e && unnormalised ? 2 * (s ^ 512) + 1 : 2 * s;
    return (float)m * hexsim_sf((uint32_t)(127 + e - 25) << 23);
}

HEXSIM_INLINE uint16_t hexsim_qf16_result(float x) {
    return hexsim_qf16_of_hf(hexsim_hf_result(x));
}

/* ---- vectors ---- */

/* The same in 16-bit arithmetic, for all halves of a vector. */
HEXSIM_INLINE HVX_Vector hexsim_qf16_of_vhf(HVX_Vector Vu) {
    const hexsim_vh h = (hexsim_vh)Vu, sign = h >> 15, magnitude = h & 0x7fff, fraction = h & 1023;
    const hexsim_vh e = magnitude >> 10, odd = -(h & 1);
    const hexsim_vh m     = ((fraction | 1024) ^ sign) - sign; /* +-(1024 + fraction) */
    const hexsim_vh small = ((fraction ^ sign) - sign), denormal = e == 0, special = e == 31;
    const hexsim_vh minus1 = m == -1024; /* and not denormal, not special: those are chosen below */
    hexsim_vh s            = (m >> 1) ^ (odd & 512);
    s                      = (s & ~minus1) | (minus1 & -1024);
    s                      = (s & ~denormal) | (denormal & small);
    const hexsim_vh nan    = magnitude > 0x7c00;
    s                      = (s & ~special) | (special & ((nan & sign) | (~nan & (1023 ^ sign))));
    const hexsim_vh q      = (s << 5) | (e + (minus1 & ~denormal & ~special));
    return (HVX_Vector)q;
}

/* To half bits, exact but for normalised patterns beyond the range of a half, which become Inf. */
HEXSIM_INLINE HVX_Vector hexsim_vhf_of_qf16(HVX_Vector Vu) {
    const hexsim_vh q = (hexsim_vh)Vu, s = q >> 5, e = q & 31, sign = s >> 15;
    const hexsim_vh unnormalised = ((s ^ (s << 1)) & 1024) == 0, least = e == 0, most = e == 31;
    /* significand in units of 2^(e - 25): 12 bits and a sign, magnitude 1024..2048 when e > 0 */
    const hexsim_vh m2   = (s << 1) ^ (unnormalised & 1024); /* bit 9 of s is bit 10 here */
    const hexsim_vh m    = m2 | (unnormalised & 1);
    const hexsim_vh a    = (m ^ sign) - sign;
    const hexsim_vh two  = a == 2048; /* -2 * 2^n */
    const hexsim_vh bits = ((e + (two & 1)) << 10) | (a & 1023 & ~two);
    /* e = 0: units of 2^-24, magnitude up to 1024, which carries into the exponent as it should */
    const hexsim_vh small = (s ^ sign) - sign;
    hexsim_vh d           = (bits & ~least) | (small & least);
    const hexsim_vh inf   = (hexsim_vh){0} + 0x7c00;
    d                     = (d & ~most) | (most & (inf | (unnormalised & 0x3ff)));
    /* a carry of e = 30 into 31 gives the bits of Inf by itself */
    return (HVX_Vector)(d | (sign & (int16_t)0x8000));
}

#endif /* HEXSIM_QFLOAT_V79_H */
