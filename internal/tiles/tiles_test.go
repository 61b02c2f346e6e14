package tiles

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"flag"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/gguf"
)

var update = flag.Bool("update", false, "write the golden files anew")

const seed = 20251

func random() *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// randomBlocks are flat blocks of random quants with finite scales.
func randomBlocks(f *Format, columns, rows int, r *rand.Rand) []byte {
	flat := make([]byte, rows*columns/f.BlockValues*f.BlockBytes)
	for i := range flat {
		flat[i] = byte(r.Uint32())
	}
	halves := map[string][]int{
		"Q4_0": {0}, "Q4_1": {0, 2}, "Q8_0": {0}, "IQ4_NL": {0}, "Q1_0": {0}, "Q2_0": {0},
		"Q2_K": {80, 82}, "Q3_K": {108}, "Q4_K": {0, 2}, "Q5_K": {0, 2}, "Q6_K": {208},
	}
	for at := 0; at < len(flat); at += f.BlockBytes {
		for _, offset := range halves[f.Name] {
			binary.LittleEndian.PutUint16(flat[at+offset:], gguf.Float16(float32(r.NormFloat64())/64))
		}
		if f.Name == "MXFP4" {
			flat[at] = byte(113 + r.IntN(29))
		}
	}
	return flat
}

// TestEveryBitOwnedOnce holds that planes and fields cover a tile's bits, each
// once.
func TestEveryBitOwnedOnce(t *testing.T) {
	for _, f := range Formats {
		owners := make([]int, 8*f.Bytes)
		for _, p := range f.Planes {
			for row := range Rows {
				for k := range f.Columns {
					offset, bit := p.place(row, k)
					if offset >= p.Bytes || bit+p.Bits > 8 {
						t.Fatalf("%s %s: row %d, column %d is at %d.%d", f.Name, p.Name, row, k, offset, bit)
					}
					for i := range p.Bits {
						owners[8*(p.Offset+offset)+bit+i]++
					}
				}
			}
		}
		for _, field := range f.Fields {
			for i := range 8 * field.Bytes() {
				owners[8*field.Offset+i]++
			}
		}
		for bit, n := range owners {
			if n != 1 {
				t.Fatalf("%s: byte %d bit %d has %d owners", f.Name, bit/8, bit%8, n)
			}
		}
		bits := 0
		for _, p := range f.Planes {
			bits += p.Bits
		}
		if bits != f.Bits || 1<<f.Bits <= int(f.Padding) {
			t.Errorf("%s: planes of %d bits for quants of %d", f.Name, bits, f.Bits)
		}
	}
}

// TestRoundTrips holds that any bytes are a tile and come back, and that
// lossless formats restore flat blocks, with rows that do not fill a tile.
func TestRoundTrips(t *testing.T) {
	r := random()
	for _, f := range Formats {
		data := make([]byte, f.Bytes)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		tile, err := f.Unpack(data)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.Pack(tile), data) {
			t.Errorf("%s: a tile does not come back (seed %d)", f.Name, seed)
		}
		columns, rows := 2*f.BlockValues, 37
		flat := randomBlocks(f, columns, rows, r)
		tiled, err := f.PackMatrix(flat, columns, rows)
		if err != nil {
			t.Fatal(err)
		}
		if size, _ := f.Size(columns, rows); len(tiled) != size || size != 2*(columns/f.Columns)*f.Bytes {
			t.Errorf("%s: %d bytes of tiles", f.Name, len(tiled))
		}
		again, err := f.UnpackMatrix(tiled, columns, rows)
		if f.Lossless != (err == nil) || f.Lossless && !bytes.Equal(again, flat) {
			t.Errorf("%s: flat blocks do not come back (seed %d): %v", f.Name, seed, err)
		}
	}
}

// TestValues compares the values of tiles with those of the flat blocks: equal
// for lossless formats, within the rounding of scales to half for the others.
func TestValues(t *testing.T) {
	r := random()
	for _, f := range Formats {
		columns, rows := 2*f.BlockValues, 33
		flat := randomBlocks(f, columns, rows, r)
		tiled, err := f.PackMatrix(flat, columns, rows)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Dequantize(tiled, columns, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range got {
			block := flat[i/f.BlockValues*f.BlockBytes:][:f.BlockBytes]
			want, magnitude := reference(f.Name, block, i%f.BlockValues)
			limit := 1e-6 * magnitude
			if !f.Lossless {
				limit = magnitude / 1024 // half has 11 bits
			}
			if math.Abs(float64(g)-want) > limit+1e-7 {
				t.Fatalf("%s: element %d is %g, want %g (seed %d)", f.Name, i, g, want, seed)
			}
		}
	}
}

// reference computes an element of a flat block in double precision, written
// from ggml's dequantize_row functions and apart from the table; magnitude
// bounds the terms that are added.
func reference(name string, b []byte, e int) (value, magnitude float64) {
	h := func(at int) float64 { return float64(gguf.Float32(binary.LittleEndian.Uint16(b[at:]))) }
	nibble := func(at int) float64 { return float64(b[at+e%16] >> (e / 16 * 4) & 15) }
	product := func(a, q float64) (float64, float64) { return a * q, math.Abs(a * q) }
	sum := func(a, q, m float64) (float64, float64) { return a*q + m, math.Abs(a*q) + math.Abs(m) }
	switch name {
	case "Q4_0":
		return product(h(0), nibble(2)-8)
	case "Q4_1":
		return sum(h(0), nibble(4), h(2))
	case "Q8_0":
		return product(h(0), float64(int8(b[2+e])))
	case "IQ4_NL":
		return product(h(0), []float64{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}[int(nibble(2))])
	case "MXFP4":
		half := []float64{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}[int(nibble(1))]
		return product(math.Ldexp(1, int(b[0])-128), half)
	case "Q1_0":
		if b[2+e/8]>>(e%8)&1 == 1 {
			return product(h(0), 1)
		}
		return product(h(0), -1)
	case "Q2_0":
		return product(h(0), float64(b[2+e/4]>>(e%4*2)&3)-1)
	case "Q6_K":
		values, err := gguf.Dequantize(gguf.Q6_K, b)
		if err != nil {
			panic(err)
		}
		return float64(values[e]), math.Abs(float64(values[e]))
	}
	low2 := float64(b[map[string]int{"Q2_K": 16, "Q3_K": 32}[name]+e/128*32+e%32] >> (e % 128 / 32 * 2) & 3)
	group := e / 32
	switch name {
	case "Q2_K":
		s := b[e/16]
		return sum(h(80)*float64(s&15), low2, -h(82)*float64(s>>4))
	case "Q3_K":
		var aux [16]byte // as dequantize_row_q3_K shuffles them, by bytes
		for i := range 4 {
			aux[i] = b[96+i]&15 | b[104+i]&3<<4
			aux[4+i] = b[100+i]&15 | b[104+i]>>2&3<<4
			aux[8+i] = b[96+i]>>4 | b[104+i]>>4&3<<4
			aux[12+i] = b[100+i]>>4 | b[104+i]>>6&3<<4
		}
		if b[e%32]>>group&1 == 0 {
			low2 -= 4
		}
		return product(h(108)*(float64(aux[e/16])-32), low2)
	}
	s := b[4:16] // Q4_K and Q5_K
	sc, m := s[group%8]&63, s[(group+4)%12]&63
	if group >= 4 {
		sc, m = s[group+4]&15|s[group-4]>>6<<4, s[group+4]>>4|s[group]>>6<<4
	}
	qs := 16
	if name == "Q5_K" {
		qs = 48
	}
	q := float64(b[qs+e/64*32+e%32] >> (group % 2 * 4) & 15)
	if name == "Q5_K" {
		q += 16 * float64(b[16+e%32]>>group&1)
	}
	return sum(h(0)*float64(sc), q, -h(2)*float64(m))
}

// TestGuide holds single places that the guide names.
func TestGuide(t *testing.T) {
	for _, test := range []struct {
		format         string
		plane, row, k  int
		offset, lowBit int
	}{
		{"Q4_0", 0, 5, 3, 1*32 + 5, 4},
		{"Q8_0", 0, 7, 9, 4*64 + 2*7 + 1, 0},
		{"Q1_0", 0, 3, 2*32 + 13, 2*128 + 4*3 + 1, 3},
		{"Q2_0", 0, 4, 37, 2*128 + 4*4 + 1, 2},
		{"Q2_K", 0, 6, 21, 128 + 4*6 + 1, 2},
		{"Q3_K", 1, 6, 21, 4*6 + 1, 5},
		{"Q5_K", 1, 2, 11, (5*32 + 2) % 128, 3},
		{"Q6_K", 0, 6, 21, 2*128 + 4*6 + 1, 4},
		{"Q6_K", 1, 6, 21, 128 + 4*6 + 1, 2},
	} {
		f, err := Find(test.format)
		if err != nil {
			t.Fatal(err)
		}
		if offset, bit := f.Planes[test.plane].place(test.row, test.k); offset != test.offset || bit != test.lowBit {
			t.Errorf("%+v: %d.%d", test, offset, bit)
		}
	}
}

func TestErrors(t *testing.T) {
	f, _ := Find("Q4_K")
	if _, err := Find("Q9"); err == nil || !strings.Contains(err.Error(), "Q4_0 Q4_1 Q8_0") {
		t.Error(err)
	}
	if _, err := f.Size(128, 1); err == nil {
		t.Error("half a block has a size")
	}
	if _, err := f.PackMatrix(make([]byte, 10), 256, 1); err == nil || !strings.Contains(err.Error(), "144 bytes, not 10") {
		t.Error(err)
	}
	if _, err := f.Dequantize(nil, 256, 1); err == nil {
		t.Error("no tiles have values")
	}
	if _, err := f.Unpack(nil); err == nil {
		t.Error("no bytes are a tile")
	}
}

func TestDrawings(t *testing.T) {
	for _, f := range Formats {
		golden := filepath.Join("testdata", f.Name+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(f.Text()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != f.Text() {
			t.Errorf("%s:\n%s\nwant\n%s%v", f.Name, f.Text(), want, err)
		}
		svg := f.SVG()
		cells := 0
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(f.Name, err)
			}
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == "title" {
				cells++
			}
		}
		if cells != f.Bytes {
			t.Errorf("%s: %d cells for %d bytes", f.Name, cells, f.Bytes)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(uint8(0), make([]byte, 576))
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		format := Formats[int(which)%len(Formats)]
		tile, err := format.Unpack(data)
		if err == nil && !bytes.Equal(format.Pack(tile), data) {
			t.Errorf("%s: a tile does not come back", format.Name)
		}
	})
}
