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
 *   plus half a step. So every half has one pattern, and a normalised pattern that a kernel writes as a constant has
 * the value the manual gives it. From 2^16 on a value is what a half with that exponent and fraction is: Inf or NaN. */
#ifndef HEXSIM_QFLOAT_V79_H
#define HEXSIM_QFLOAT_V79_H

#include "hexsim_float.h"

/* ---- single lanes ---- */

/* Half to qf16. */
HEXSIM_INLINE uint16_t hexsim_qf16_of_hf(uint16_t h) {
    const int negative = h >> 15, fraction = h & 1023;
    int s, e                               = h >> 10 & 31;
    if (e == 0) {
        s = negative ? -fraction : fraction; /* units of 2^-24, which are those of e = 0 */
    } else {
        const int m = negative ? -(1024 + fraction) : 1024 + fraction;
        s           = m & 1 ? (m >> 1) ^ 512 : m >> 1;
        if (m == -1024) { /* -1 * 2^n is -2 * 2^(n - 1), normalised */
            s = -1024;
            e--;
        }
    }
    return (uint16_t) ((uint32_t) s << 5 | (uint32_t) e);
}

/* qf16 to half. */
HEXSIM_INLINE uint16_t hexsim_hf_of_qf16(uint16_t q) {
    const int s = (int16_t) q >> 5, e = q & 31, sign = q & 0x8000;
    const int unnormalised = ((s >> 10 ^ s >> 9) & 1) == 0;
    const int m            = unnormalised ? 2 * (s ^ 512) + 1 : 2 * s; /* units of 2^(e - 25), 1024 to 2048 of them */
    const int magnitude    = e ? (e << 10) + (m < 0 ? -m : m) - 1024 : s < 0 ? -s : s;
    return (uint16_t) (sign | (magnitude < 0x7fff ? magnitude : 0x7fff));
}

HEXSIM_INLINE float hexsim_sf_of_qf16(uint16_t q) {
    const uint16_t h = hexsim_hf_of_qf16(q);
    _Float16 x;
    memcpy(&x, &h, 2);
    return (float) x;
}

HEXSIM_INLINE uint16_t hexsim_qf16_result(float x) {
    return hexsim_qf16_of_hf(hexsim_hf_result(x));
}

/* ---- vectors ---- */

/* The same for all halves of a vector. Of a positive half with the fraction f9..f0 and e > 0 the significand is
 * 0 ~f0 f9..f1: a rotation. A negative one has the complement, where an even fraction stands two lower (2^n borrows
 * from the exponent). For e = 0 the significand is the fraction with its sign. */
HEXSIM_INLINE HVX_Vector hexsim_qf16_of_vhf(HVX_Vector Vu) {
    const hexsim_vh h = (hexsim_vh) Vu, sign = h >> 15, magnitude = h & 0x7fff;
    const hexsim_vh x       = magnitude - (sign & ~(h << 1) & 2);
    const hexsim_vh rotated = ((x << 4) & 0x3fe0) | ((x >> 10) & 31) | ((~x << 14) & 0x4000);
    const hexsim_vh normal  = rotated ^ (sign & ~31);
    const hexsim_vh small = ((magnitude ^ sign) - sign) << 5, least = magnitude < 1024;
    return (HVX_Vector) ((normal & ~least) | (small & least));
}

HEXSIM_INLINE HVX_Vector hexsim_vhf_of_qf16(HVX_Vector Vu) {
    const hexsim_vh q = (hexsim_vh) Vu, sign = q >> 15, least = (q & 31) == 0;
    const hexsim_vh t          = q ^ (sign & ~31);
    const hexsim_vh x          = ((t & 31) << 10) | ((t >> 4) & 0x3fe) | ((~t >> 14) & 1);
    const hexsim_vuh magnitude = (hexsim_vuh) (x + (sign & ~(x << 1) & 2));
    const hexsim_vh normal     = (hexsim_vh) __builtin_elementwise_min(magnitude, (hexsim_vuh) {0} + 0x7fff);
    const hexsim_vh small      = ((q >> 5) ^ sign) - sign;
    return (HVX_Vector) ((normal & ~least) | (small & least) | (sign & (int16_t) 0x8000));
}

#endif /* HEXSIM_QFLOAT_V79_H */
