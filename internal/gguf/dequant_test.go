package gguf

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestDequantizeQ4_0(t *testing.T) {
	b := make([]byte, 18)
	binary.LittleEndian.PutUint16(b, Float16(-0.5))
	for i := range 16 {
		b[2+i] = byte(i | (15-i)<<4)
	}
	got, err := Dequantize(Q4_0, b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 16 {
		if want := -0.5 * float32(i-8); got[i] != want {
			t.Errorf("value %d is %v, want %v", i, got[i], want)
		}
		if want := -0.5 * float32(15-i-8); got[16+i] != want {
			t.Errorf("value %d is %v, want %v", 16+i, got[16+i], want)
		}
	}
}

// TestDequantizeQ6_K packs known numbers in the order in which llama.cpp
// unpacks them: four at a time, 32 apart.
func TestDequantizeQ6_K(t *testing.T) {
	const seed = 2
	r := rand.New(rand.NewPCG(seed, seed))
	const d = 3.0 / (1 << 22) // a subnormal half
	b, want := make([]byte, 210), make([]float32, 256)
	binary.LittleEndian.PutUint16(b[208:], Float16(d))
	for i := range 16 {
		b[192+i] = byte(r.Uint32())
	}
	for half := range 2 {
		low, high, scales := b[64*half:], b[128+32*half:], b[192+8*half:]
		for l := range 32 {
			for run := range 4 {
				q := int(r.Uint32() & 63)
				at := l
				if run&1 == 1 {
					at += 32
				}
				low[at] |= byte(q&15) << (4 * (run >> 1))
				high[l] |= byte(q>>4) << (2 * run)
				want[128*half+32*run+l] = d * float32(int8(scales[l/16+2*run])) * float32(q-32)
			}
		}
	}
	got, err := Dequantize(Q6_K, b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("seed %d: value %d is %v, want %v", seed, i, got[i], want[i])
		}
	}
}

func TestDequantizeRejects(t *testing.T) {
	if _, err := Dequantize(Q4_0, make([]byte, 17)); err == nil || !strings.Contains(err.Error(), "whole Q4_0 blocks of 18") {
		t.Errorf("part of a block: %v", err)
	}
	if _, err := Dequantize(8, make([]byte, 34)); err == nil || !strings.Contains(err.Error(), "Q8_0") {
		t.Errorf("a type without conversion: %v", err)
	}
}
