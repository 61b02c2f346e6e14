package tiles

import (
	"encoding/binary"

	"hexab/internal/gguf"
)

// The K-quants: blocks of 256 values, which are eight tiles of 32 columns.

var q2K = &Format{
	Name: "Q2_K", Columns: 32, Bytes: 336, BlockValues: 256, BlockBytes: 84, Bits: 2, Lossless: true,
	Planes: []Plane{twoBits("quants", 0, 0)},
	Fields: []Field{
		{Name: "scales and minimums", Offset: 256, Entries: 64, Width: 1, Formula: "byte 32*(k/16) + r is row r's min << 4 | scale of columns k"},
		{Name: "d or -dmin", Offset: 320, Entries: 8, Width: 2, Formula: "tile j of the block: half i is row 8*(j%4) + i's d (j < 4) or -dmin"},
	},
	Value: "d * scale * q - dmin * min, d and dmin from two of the block's eight tiles",
	quant: func(block []byte, e int) uint8 { return lowTwo(block[16:], e) },
	fill: func(t *Tile, block []byte, sub, row int) {
		t.Fields[0][row], t.Fields[0][32+row] = uint16(block[2*sub]), uint16(block[2*sub+1])
		if row/8 == sub%4 {
			t.Fields[1][row%8] = half(block, 80)
			if sub >= 4 {
				t.Fields[1][row%8] = half(block, 82) ^ 0x8000
			}
		}
	},
	restore: func(block []byte, parts []*Tile, row int) {
		for sub, t := range parts {
			block[2*sub], block[2*sub+1] = byte(t.Fields[0][row]), byte(t.Fields[0][32+row])
			for k := range 32 {
				e := 32*sub + k
				block[16+32*(e/128)+e%32] |= code(t, row, k) << (2 * (e % 128 / 32))
			}
		}
		binary.LittleEndian.PutUint16(block[80:], parts[row/8].Fields[1][row%8])
		binary.LittleEndian.PutUint16(block[82:], parts[4+row/8].Fields[1][row%8]^0x8000)
	},
	value: func(parts []*Tile, sub, row, k int) float32 {
		t := parts[sub]
		packed := t.Fields[0][32*(k/16)+row]
		d, minusMin := scale(parts[row/8], 1, row%8), scale(parts[4+row/8], 1, row%8)
		return d*float32(packed&15)*float32(code(t, row, k)) + minusMin*float32(packed>>4)
	},
}

var q3K = &Format{
	Name: "Q3_K", Columns: 32, Bytes: 512, BlockValues: 256, BlockBytes: 110, Bits: 3,
	Planes: []Plane{
		twoBits("low 2 bits", 0, 0),
		{Name: "signs", Offset: 256, Bytes: 128, Low: 2, Bits: 1, Formula: "byte 4*r + k%4, bit k/4: set subtracts 4",
			place: func(row, k int) (int, int) { return 4*row + k%4, k / 4 }},
	},
	Fields: []Field{halves16(384)},
	Value:  "scale * (q%4 - 4*(q/4)), scale = half(d * (scales[] - 32))",
	quant: func(block []byte, e int) uint8 {
		sign := ^block[e%32] >> (e / 32) & 1
		return lowTwo(block[32:], e) | sign<<2
	},
	fill: func(t *Tile, block []byte, sub, row int) {
		d := gguf.Float32(half(block, 108))
		for i := range 2 {
			t.Fields[0][32*i+row] = gguf.Float16(d * float32(int(sixBits(block[96:108], 2*sub+i))-32))
		}
	},
	value: func(parts []*Tile, sub, row, k int) float32 {
		q := int(code(parts[sub], row, k))
		return scale(parts[sub], 0, 32*(k/16)+row) * float32(q&3-4*(q>>2))
	},
}

var q4K = &Format{
	Name: "Q4_K", Columns: 32, Bytes: 640, BlockValues: 256, BlockBytes: 144, Bits: 4, Pinned: true,
	Planes: []Plane{nibbles(0)}, Fields: []Field{scaleAndMinimum()},
	Value: "scale * q + minimum, scale = half(d * sc), minimum = half(-dmin * m)",
	quant: func(block []byte, e int) uint8 { return block[16+32*(e/64)+e%32] >> (4 * (e / 32 % 2)) & 15 },
	fill:  scaleAndMinimumOf, value: affine,
}

var q5K = &Format{
	Name: "Q5_K", Columns: 32, Bytes: 768, BlockValues: 256, BlockBytes: 176, Bits: 5,
	Planes: []Plane{
		nibbles(0),
		{Name: "fifth bits", Offset: 640, Bytes: 128, Low: 4, Bits: 1, Formula: "byte (32*(k/2) + r)%128, bit 2*(k/8) + k%2",
			place: func(row, k int) (int, int) { return (32*(k/2) + row) % Vector, 2*(k/8) + k%2 }},
	},
	Fields: []Field{scaleAndMinimum()},
	Value:  "scale * q + minimum, scale = half(d * sc), minimum = half(-dmin * m)",
	quant: func(block []byte, e int) uint8 {
		return block[48+32*(e/64)+e%32]>>(4*(e/32%2))&15 | block[16+e%32]>>(e/32)&1<<4
	},
	fill: scaleAndMinimumOf, value: affine,
}

var q6K = &Format{
	Name: "Q6_K", Columns: 32, Bytes: 896, BlockValues: 256, BlockBytes: 210, Bits: 6, Pinned: true,
	Planes: []Plane{
		{Name: "low 4 bits", Bytes: 512, Bits: 4, Formula: "byte 128*(k/8) + 4*r + k%4, low nibble for even k/4",
			place: func(row, k int) (int, int) { return 128*(k/8) + 4*row + k%4, 4 * (k / 4 % 2) }},
		twoBits("high 2 bits", 512, 4),
	},
	Fields: []Field{halves16(768)},
	Value:  "scale * (q - 32), scale = half(d * scales[])",
	quant: func(block []byte, e int) uint8 {
		chunk, within := e/128, e%128
		low := block[64*chunk+within%64] >> (4 * (within / 64)) & 15
		return low | block[128+32*chunk+e%32]>>(2*(within/32))&3<<4
	},
	fill: func(t *Tile, block []byte, sub, row int) {
		d := gguf.Float32(half(block, 208))
		for i := range 2 {
			t.Fields[0][32*i+row] = gguf.Float16(d * float32(int8(block[192+2*sub+i])))
		}
	},
	value: func(parts []*Tile, sub, row, k int) float32 {
		return scale(parts[sub], 0, 32*(k/16)+row) * float32(int(code(parts[sub], row, k))-32)
	},
}

// lowTwo reads two bits of element e in the order of Q2_K and Q3_K: two halves
// of 128, in each four runs of 32 in the same bytes.
func lowTwo(qs []byte, e int) uint8 { return qs[32*(e/128)+e%32] >> (2 * (e % 128 / 32)) & 3 }

// sixBits reads scale j of Q3_K: the low four bits of j and j+8 share a byte,
// the high two bits of j, j+4, j+8 and j+12 share one of the last four.
func sixBits(scales []byte, j int) uint8 {
	return scales[j%8]>>(4*(j/8))&15 | scales[8+j%4]>>(2*(j/4))&3<<4
}

// scaleAndMinimumOf fills the products of scales of Q4_K and Q5_K, whose
// twelve bytes hold eight scales and eight minimums of six bits
// (get_scale_min_k4 in ggml/src/ggml-quants.c).
func scaleAndMinimumOf(t *Tile, block []byte, sub, row int) {
	s := block[4:16]
	var sc, m uint8
	if sub < 4 {
		sc, m = s[sub]&63, s[sub+4]&63
	} else {
		sc, m = s[sub+4]&15|s[sub-4]>>6<<4, s[sub+4]>>4|s[sub]>>6<<4
	}
	t.Fields[0][2*row] = gguf.Float16(gguf.Float32(half(block, 0)) * float32(sc))
	t.Fields[0][2*row+1] = gguf.Float16(-gguf.Float32(half(block, 2)) * float32(m))
}
