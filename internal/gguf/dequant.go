package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Dequantize turns whole blocks of the type F32, F16, Q4_0 or Q6_K into the
// numbers they stand for.
func Dequantize(t Type, data []byte) ([]float32, error) {
	decode, ok := decoders[t]
	if !ok {
		return nil, fmt.Errorf("no conversion from %v to numbers", t)
	}
	values, size := t.BlockValues(), t.BlockBytes()
	if len(data)%size != 0 {
		return nil, fmt.Errorf("%d bytes are not whole %v blocks of %d", len(data), t, size)
	}
	out := make([]float32, len(data)/size*values)
	for i := 0; i < len(data)/size; i++ {
		decode(out[i*values:(i+1)*values], data[i*size:(i+1)*size])
	}
	return out, nil
}

var decoders = map[Type]func(dst []float32, block []byte){
	F32:  func(dst []float32, b []byte) { dst[0] = math.Float32frombits(binary.LittleEndian.Uint32(b)) },
	F16:  func(dst []float32, b []byte) { dst[0] = Float32(binary.LittleEndian.Uint16(b)) },
	Q4_0: decodeQ4_0,
	Q6_K: decodeQ6_K,
}

// decodeQ4_0 reads a half scale and 32 nibbles, the low ones first, each less 8
// (dequantize_row_q4_0 in ggml/src/ggml-quants.c).
func decodeQ4_0(dst []float32, b []byte) {
	d := Float32(binary.LittleEndian.Uint16(b))
	for i, q := range b[2:18] {
		dst[i] = d * float32(int(q&15)-8)
		dst[i+16] = d * float32(int(q>>4)-8)
	}
}

// decodeQ6_K reads 256 values of 6 bits, each less 32, in two halves of four
// runs of 32. Bytes 0 to 127 hold the low four bits, 128 to 191 the high two,
// 192 to 207 a signed scale for each 16 values, then comes the half scale of all
// (dequantize_row_q6_K in ggml/src/ggml-quants.c).
func decodeQ6_K(dst []float32, b []byte) {
	d := Float32(binary.LittleEndian.Uint16(b[208:]))
	for i := range dst {
		half, run, l := i/128, i/32%4, i%32
		low := b[64*half+32*(run%2)+l] >> (4 * (run / 2)) & 15
		high := b[128+32*half+l] >> (2 * run) & 3
		scale := int8(b[192+i/16])
		dst[i] = d * float32(scale) * float32(int(low|high<<4)-32)
	}
}
