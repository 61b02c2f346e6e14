package standin

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

	"hexab/internal/gguf"
)

// stream is an endless row of random words that can be read from anywhere, so
// that parts of a tensor can be made in any order. It is the generator
// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014), whose state is a counter.
type stream struct{ start uint64 }

const goldenGamma = 0x9e3779b97f4a7c15

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// newStream returns the stream of a tensor. It depends on seed and name only,
// so that a tensor that is added changes no other.
func newStream(seed uint64, name string) stream {
	h := fnv.New64a()
	h.Write([]byte(name))
	return stream{mix(mix(seed+goldenGamma) ^ h.Sum64())}
}

// word returns the i-th word.
func (s stream) word(i uint64) uint64 { return mix(s.start + (i+1)*goldenGamma) }

// unit returns a number in [0, 1) of the i-th word.
func (s stream) unit(i uint64) float32 { return float32(s.word(i)>>40) / (1 << 24) }

// randomBlocks returns the data of a tensor of random values with mean 0 and
// about the given deviation, written in blocks of the type at once.
func randomBlocks(t gguf.Type, s stream, deviation float64) func(dst []byte, offset int64) error {
	var words uint64
	var fill func([]byte, stream, uint64, float64)
	switch t {
	case gguf.F16:
		words, fill = 1, fillF16
	case gguf.Q4_0:
		words, fill = 1+2*2, fillQ4_0
	case gguf.Q6_K:
		words, fill = 1+2*32, fillQ6_K
	default:
		panic(fmt.Sprintf("no random blocks of %v", t))
	}
	size := int64(t.BlockBytes())
	return func(dst []byte, offset int64) error {
		first := uint64(offset/size) * words
		for ; len(dst) > 0; dst, first = dst[size:], first+words {
			fill(dst[:size], s, first, deviation)
		}
		return nil
	}
}

// fillF16 writes a value of a uniform distribution.
func fillF16(b []byte, s stream, i uint64, deviation float64) {
	u := 2*float64(s.word(i)>>11)/(1<<53) - 1 // of deviation 1/sqrt(3)
	binary.LittleEndian.PutUint16(b, gguf.Float16(float32(u*(math.Sqrt(3)*deviation))))
}

// blockScale returns the scale of a block from its first word. It varies from
// block to block, by a factor of 0.75 to 1.25, and its sign is random: a block
// has one more negative value than positive ones, and so, on the whole, the
// mean is 0. Q4_0 files of llama-quantize are made like this too.
func blockScale(word uint64, scale float64) uint16 {
	const rms = 1.0103629710818451 // of the factor: sqrt(1 + 1/48)
	factor := 0.75 + float64(word>>11)/(1<<54)
	if word&1 == 1 {
		factor = -factor
	}
	return gguf.Float16(float32(factor * (scale / rms)))
}

// fillQ4_0 writes nibbles that are sums of two 3-bit numbers and a bit: all
// values from 0 to 15, in a bell around 7.5.
func fillQ4_0(b []byte, s stream, i uint64, deviation float64) {
	// Twice the variance of 0..7, that of a bit, and the square of the mean's
	// distance from 8, which is the zero of a nibble.
	rms := math.Sqrt(2*63.0/12 + 0.25 + 0.25)
	binary.LittleEndian.PutUint16(b, blockScale(s.word(i), deviation/rms))
	const three, one = 0x7777777777777777, 0x1111111111111111
	for j := range uint64(2) {
		x, y := s.word(i+1+2*j), s.word(i+2+2*j)
		binary.LittleEndian.PutUint64(b[2+8*j:], x&three+y&three+x>>3&one)
	}
}

// fillQ6_K writes values that are sums of two 5-bit numbers and a bit: all
// from 0 to 63, in a bell around 31.5. The packing is that of gguf.Dequantize.
func fillQ6_K(b []byte, s stream, i uint64, deviation float64) {
	const subScale = 32 // each of the 16; signs of theirs are random
	rms := math.Sqrt(2*1023.0/12+0.25+0.25) * subScale
	first := s.word(i)
	binary.LittleEndian.PutUint16(b[208:], blockScale(first&^1, deviation/rms))
	for j := range 16 {
		b[192+j] = subScale
		if first>>j&1 == 1 { // bits that decide little of the scale
			b[192+j] = 256 - subScale
		}
	}
	// Eight values a word: word w of run r of half h.
	value := func(h, r, w int) uint64 {
		const five, one = 0x1f1f1f1f1f1f1f1f, 0x0101010101010101
		k := i + 1 + 2*uint64(16*h+4*r+w)
		x, y := s.word(k), s.word(k+1)
		return x&five + y&five + x>>5&one
	}
	const low, high = 0x0f0f0f0f0f0f0f0f, 0x0303030303030303
	put := binary.LittleEndian.PutUint64
	for h := range 2 {
		for w := range 4 {
			v0, v1, v2, v3 := value(h, 0, w), value(h, 1, w), value(h, 2, w), value(h, 3, w)
			put(b[64*h+8*w:], v0&low|v2&low<<4)
			put(b[64*h+32+8*w:], v1&low|v3&low<<4)
			put(b[128+32*h+8*w:], v0>>4&high|v1>>4&high<<2|v2>>4&high<<4|v3>>4&high<<6)
		}
	}
}
