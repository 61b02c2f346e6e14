package tiles

import (
	"encoding/binary"

	"hexab/internal/gguf"
)

// Formats are all tiled formats, in the guide's order.
var Formats = []*Format{
	{
		Name: "Q4_0", Columns: 32, Bytes: 576, BlockValues: 32, BlockBytes: 18, Bits: 4, Padding: 8, Lossless: true, Pinned: true,
		Planes: []Plane{nibbles(0)}, Fields: []Field{rowScales(512)},
		Value: "d[r] * (q - 8)",
		quant: nibbleAt(2), fill: firstHalf, restore: restoreNibbles(2),
		value: func(parts []*Tile, sub, row, k int) float32 {
			return scale(parts[sub], 0, row) * float32(int(code(parts[sub], row, k))-8)
		},
	},
	{
		Name: "Q4_1", Columns: 32, Bytes: 640, BlockValues: 32, BlockBytes: 20, Bits: 4, Lossless: true, Pinned: true,
		Planes: []Plane{nibbles(0)}, Fields: []Field{scaleAndMinimum()},
		Value: "d[r] * q + m[r]",
		quant: nibbleAt(4),
		fill: func(t *Tile, block []byte, _, row int) {
			t.Fields[0][2*row], t.Fields[0][2*row+1] = half(block, 0), half(block, 2)
		},
		restore: restoreNibbles(4),
		value:   affine,
	},
	{
		Name: "Q8_0", Columns: 32, Bytes: 1088, BlockValues: 32, BlockBytes: 34, Bits: 8, Lossless: true, Pinned: true,
		Planes: []Plane{{Name: "quants", Bytes: 1024, Bits: 8, Formula: "byte 64*(k/2) + 2*r + k%2",
			place: func(row, k int) (int, int) { return 64*(k/2) + 2*row + k%2, 0 }}},
		Fields: []Field{rowScales(1024)},
		Value:  "d[r] * q, q signed",
		quant:  func(block []byte, e int) uint8 { return block[2+e] },
		fill:   firstHalf,
		restore: func(block []byte, parts []*Tile, row int) {
			binary.LittleEndian.PutUint16(block, parts[0].Fields[0][row])
			copy(block[2:], parts[0].Quants[row*32:(row+1)*32])
		},
		value: func(parts []*Tile, sub, row, k int) float32 {
			return scale(parts[sub], 0, row) * float32(int8(code(parts[sub], row, k)))
		},
	},
	{
		Name: "IQ4_NL", Columns: 32, Bytes: 576, BlockValues: 32, BlockBytes: 18, Bits: 4, Padding: 8, Lossless: true, Pinned: true,
		Planes: []Plane{nibbles(0)}, Fields: []Field{rowScales(512)},
		Value: "d[r] * table[q], the 16 values of IQ4_NL",
		quant: nibbleAt(2), fill: firstHalf, restore: restoreNibbles(2),
		value: func(parts []*Tile, sub, row, k int) float32 {
			return scale(parts[sub], 0, row) * nonLinear[code(parts[sub], row, k)]
		},
	},
	{
		Name: "MXFP4", Columns: 32, Bytes: 544, BlockValues: 32, BlockBytes: 17, Bits: 4, Lossless: true, Pinned: true,
		Planes: []Plane{nibbles(0)},
		Fields: []Field{{Name: "exponents", Offset: 512, Entries: 32, Width: 1, Formula: "byte r is row r's exponent e, bias 127"}},
		Value:  "2^(clamp(e - 112, 0, 30) - 15) as half * E2M1(q); 0 for e <= 112",
		quant:  nibbleAt(1),
		fill:   func(t *Tile, block []byte, _, row int) { t.Fields[0][row] = uint16(block[0]) },
		restore: func(block []byte, parts []*Tile, row int) {
			block[0] = byte(parts[0].Fields[0][row])
			putNibbles(block[1:], parts[0].Quants[row*32:])
		},
		value: func(parts []*Tile, sub, row, k int) float32 {
			exponent := min(max(int(parts[sub].Fields[0][row])-112, 0), 30)
			return gguf.Float32(uint16(exponent<<10)) * e2m1[code(parts[sub], row, k)]
		},
	},
	{
		Name: "Q1_0", Columns: 128, Bytes: 576, BlockValues: 128, BlockBytes: 18, Bits: 1, Lossless: true,
		Planes: []Plane{{Name: "signs", Bytes: 512, Bits: 1, Formula: "byte 128*(k/32) + 4*r + k%4, bit (k%32)/4",
			place: func(row, k int) (int, int) { return 128*(k/32) + 4*row + k%4, k % 32 / 4 }}},
		Fields: []Field{rowScales(512)},
		Value:  "d[r] * (2*q - 1)",
		quant:  func(block []byte, e int) uint8 { return block[2+e/8] >> (e % 8) & 1 },
		fill:   firstHalf,
		restore: func(block []byte, parts []*Tile, row int) {
			binary.LittleEndian.PutUint16(block, parts[0].Fields[0][row])
			for e := range 128 {
				block[2+e/8] |= code(parts[0], row, e) << (e % 8)
			}
		},
		value: func(parts []*Tile, sub, row, k int) float32 {
			return scale(parts[sub], 0, row) * float32(2*int(code(parts[sub], row, k))-1)
		},
	},
	{
		Name: "Q2_0", Columns: 64, Bytes: 576, BlockValues: 64, BlockBytes: 18, Bits: 2, Lossless: true,
		Planes: []Plane{{Name: "quants", Bytes: 512, Bits: 2, Formula: "byte 128*(k/16) + 4*r + k%4, bits 2*((k/4)%4)",
			place: func(row, k int) (int, int) { return 128*(k/16) + 4*row + k%4, 2 * (k / 4 % 4) }}},
		Fields: []Field{rowScales(512)},
		Value:  "d[r] * (q - 1)",
		quant:  func(block []byte, e int) uint8 { return block[2+e/4] >> (2 * (e % 4)) & 3 },
		fill:   firstHalf,
		restore: func(block []byte, parts []*Tile, row int) {
			binary.LittleEndian.PutUint16(block, parts[0].Fields[0][row])
			for e := range 64 {
				block[2+e/4] |= code(parts[0], row, e) << (2 * (e % 4))
			}
		},
		value: func(parts []*Tile, sub, row, k int) float32 {
			return scale(parts[sub], 0, row) * float32(int(code(parts[sub], row, k))-1)
		},
	},
	q2K, q3K, q4K, q5K, q6K,
}

// nibbles is the plane of four low bits that the block-32 formats share.
func nibbles(offset int) Plane {
	return Plane{Name: "low 4 bits", Offset: offset, Bytes: 512, Bits: 4, Formula: "byte 32*(k/2) + r, low nibble for even k",
		place: func(row, k int) (int, int) { return 32*(k/2) + row, 4 * (k % 2) }}
}

// twoBits is the plane of two bits in vrmpy order that the K-quants share.
func twoBits(name string, offset, low int) Plane {
	return Plane{Name: name, Offset: offset, Bytes: 256, Low: low, Bits: 2, Formula: "byte 128*(k/16) + 4*r + k%4, bits 2*((k/4)%4)",
		place: func(row, k int) (int, int) { return 128*(k/16) + 4*row + k%4, 2 * (k / 4 % 4) }}
}

func rowScales(offset int) Field {
	return Field{Name: "scales d", Offset: offset, Entries: 32, Width: 2, Formula: "half r is row r's d"}
}

func scaleAndMinimum() Field {
	return Field{Name: "scale and minimum", Offset: 512, Entries: 64, Width: 2, Formula: "halves 2*r and 2*r + 1 are row r's scale and minimum"}
}

// halves16 are two scales for each row, one for each 16 columns.
func halves16(offset int) Field {
	return Field{Name: "scales", Offset: offset, Entries: 64, Width: 2, Formula: "half 32*(k/16) + r is row r's scale of columns k"}
}

// nibbleAt reads quants of four bits, the first 16 in the low nibbles.
func nibbleAt(offset int) func([]byte, int) uint8 {
	return func(block []byte, e int) uint8 { return block[offset+e%16] >> (4 * (e / 16)) & 15 }
}

func putNibbles(qs []byte, quants []uint8) {
	for i := range 16 {
		qs[i] = quants[i] | quants[i+16]<<4
	}
}

// restoreNibbles writes the scales, in the order of the field, and the quants.
func restoreNibbles(offset int) func([]byte, []*Tile, int) {
	return func(block []byte, parts []*Tile, row int) {
		for i := range offset / 2 {
			binary.LittleEndian.PutUint16(block[2*i:], parts[0].Fields[0][row*(offset/2)+i])
		}
		putNibbles(block[offset:], parts[0].Quants[row*32:])
	}
}

func firstHalf(t *Tile, block []byte, _, row int) { t.Fields[0][row] = half(block, 0) }

func half(block []byte, at int) uint16 { return binary.LittleEndian.Uint16(block[at:]) }

func code(t *Tile, row, k int) uint8 { return t.Quants[row*(len(t.Quants)/Rows)+k] }

func scale(t *Tile, field, entry int) float32 { return gguf.Float32(t.Fields[field][entry]) }

// affine is a scale and a minimum for each row.
func affine(parts []*Tile, sub, row, k int) float32 {
	t := parts[sub]
	return scale(t, 0, 2*row)*float32(code(t, row, k)) + scale(t, 0, 2*row+1)
}

// nonLinear are the values of IQ4_NL, e2m1 those of FP4 (OCP Microscaling
// Formats 1.0, E2M1).
var (
	nonLinear = [16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}
	e2m1      = [16]float32{0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6}
)
