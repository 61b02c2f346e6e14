package gguf

import (
	"math"
	"math/rand/v2"
	"testing"
)

// halfByDefinition computes a half's value from the definition in IEEE 754.
func halfByDefinition(h uint16) float64 {
	sign, exponent, mantissa := 1.0, int(h>>10&31), float64(h&0x3ff)
	if h>>15 == 1 {
		sign = -1
	}
	switch {
	case exponent == 31 && mantissa != 0:
		return math.NaN()
	case exponent == 31:
		return sign * math.Inf(1)
	case exponent == 0:
		return sign * math.Ldexp(mantissa, -24)
	}
	return sign * math.Ldexp(1024+mantissa, exponent-25)
}

func TestEveryHalf(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		want, got := halfByDefinition(h), Float32(h)
		if math.IsNaN(want) {
			if got == got || Float32(Float16(got)) == Float32(Float16(got)) {
				t.Errorf("%#04x: got %v, want NaN there and back", h, got)
			}
			continue
		}
		if float64(got) != want {
			t.Errorf("Float32(%#04x) = %v, want %v", h, got, want)
		}
		if back := Float16(got); back != h {
			t.Errorf("Float16(Float32(%#04x)) = %#04x", h, back)
		}
	}
}

// TestHalfRounding checks that Float16 gives the nearest half, and of two as
// near the even one, between all neighbours.
func TestHalfRounding(t *testing.T) {
	for h := uint16(0); h < 0x7bff; h++ {
		low, high := float64(Float32(h)), float64(Float32(h+1))
		middle := float32((low + high) / 2) // exact: a float32 has 13 more bits
		even := h + h&1
		for _, c := range []struct {
			f    float32
			want uint16
		}{
			{middle, even},
			{math.Nextafter32(middle, 0), h},
			{math.Nextafter32(middle, 1e9), h + 1},
			{-middle, even | 0x8000},
		} {
			if got := Float16(c.f); got != c.want {
				t.Fatalf("Float16(%v) = %#04x, want %#04x", c.f, got, c.want)
			}
		}
	}
	if got := Float16(65520); got != 0x7c00 { // halfway beyond the largest
		t.Errorf("Float16(65520) = %#04x, want infinity", got)
	}
	if got := Float16(65519.99); got != 0x7bff {
		t.Errorf("Float16(65519.99) = %#04x, want the largest half", got)
	}
	if got := Float16(float32(math.Inf(-1))); got != 0xfc00 {
		t.Errorf("Float16(-Inf) = %#04x", got)
	}
}

func TestHalfOfRandomFloats(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, seed))
	for range 200_000 {
		f := math.Float32frombits(r.Uint32())
		if math.IsNaN(float64(f)) || math.Abs(float64(f)) >= 65520 {
			continue
		}
		got := float64(Float32(Float16(f)))
		// Half of the distance to the next half: 2^-11 of a normal value, 2^-25 else.
		if bound := max(math.Abs(float64(f))/2048, 1.0/(1<<25)); math.Abs(got-float64(f)) > bound {
			t.Fatalf("seed %d: Float16(%g) stands for %g", seed, f, got)
		}
	}
}
