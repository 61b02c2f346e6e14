package gguf

import "math"

// Float16 converts to an IEEE 754 half, rounding to nearest, ties to even.
// Subnormal halves are kept: the block scales of quantised types are often
// that small. Values too large become infinite.
func Float16(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	exponent := int(bits>>23&0xff) - 127 + 15
	mantissa := bits & (1<<23 - 1)
	switch {
	case bits&^(1<<31) > 0x7f800000: // not a number
		return sign | 0x7e00
	case exponent >= 31:
		return sign | 0x7c00
	case exponent < -10:
		return sign // less than half of the smallest subnormal
	case exponent <= 0:
		return sign | uint16(roundShift(mantissa|1<<23, uint(14-exponent)))
	}
	// A carry out of the mantissa moves to the next exponent, or to infinity.
	return sign | uint16(roundShift(uint32(exponent)<<23|mantissa, 13))
}

// roundShift returns v >> n, rounded to nearest, ties to even.
func roundShift(v uint32, n uint) uint32 {
	half := uint32(1) << (n - 1)
	q, rest := v>>n, v&(1<<n-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	return q
}

// Float32 converts from an IEEE 754 half; every half has an exact float32.
func Float32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, mantissa := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0: // zero or subnormal: a multiple of 2^-24
		f := float32(mantissa) * (1.0 / (1 << 24))
		return math.Float32frombits(sign | math.Float32bits(f))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | mantissa<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | mantissa<<13)
}
