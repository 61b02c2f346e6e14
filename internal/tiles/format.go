// Package tiles is an executable specification of the tiled weight formats of
// llama.cpp's Hexagon backend: one description of each format, from which
// packing, unpacking, sizes, offsets, dequantisation and drawings follow. The
// descriptions are those of the backend's developer guide ("Tiled Weight
// Formats"); the formats that the pinned backend has are compared with its own
// repacking.
package tiles

import "fmt"

// Rows is the number of rows of a tile, in all formats.
const Rows = 32

// Vector is the size in bytes of an HVX vector.
const Vector = 128

// Plane is a part of a tile that holds the same bits of every quant.
type Plane struct {
	Name string
	// Offset and Bytes are its extent in the tile.
	Offset, Bytes int
	// Low is the lowest bit of a quant that it holds, Bits how many.
	Low, Bits int
	// Formula says in words where the bits of row r and column k are; place
	// computes the byte within the plane and the lowest bit within the byte.
	Formula string
	place   func(row, k int) (offset, bit int)
}

// Field is a part of a tile that holds scales: Entries numbers of Width bytes,
// little endian.
type Field struct {
	Name           string
	Offset         int
	Entries, Width int
	// Formula says which entry belongs to what.
	Formula string
}

// Bytes is the field's size.
func (f Field) Bytes() int { return f.Entries * f.Width }

// Format is one tiled format.
type Format struct {
	Name string
	// Columns is the number of columns of a tile, Bytes its size.
	Columns, Bytes int
	// BlockValues and BlockBytes are the flat format's: a block covers
	// BlockValues / Columns tiles of one row.
	BlockValues, BlockBytes int
	// Bits is a quant's width, Padding the quant of rows that are not there.
	Bits    int
	Padding uint8
	Planes  []Plane
	Fields  []Field
	// Lossless is set where flat blocks can be restored bit by bit; else the
	// tiles hold products of scales, rounded to half precision.
	Lossless bool
	// Value says what a quant stands for.
	Value string
	// Pinned is set for the formats of the pinned backend.
	Pinned bool

	// quant reads element e of a flat block.
	quant func(block []byte, e int) uint8
	// fill writes the fields of the tile that holds part sub of a block for a
	// row.
	fill func(t *Tile, block []byte, sub, row int)
	// value computes an element from the tiles of its block.
	value func(parts []*Tile, sub, row, k int) float32
	// restore writes a row's flat block; nil where that is not possible.
	restore func(block []byte, parts []*Tile, row int)
}

// Parts is the number of tiles of a row that one flat block covers.
func (f *Format) Parts() int { return f.BlockValues / f.Columns }

// Tile is a tile's contents: quants by row and column, and the entries of each
// field.
type Tile struct {
	Quants []uint8
	Fields [][]uint16
}

// NewTile is a tile of a format with all quants at the padding value and all
// entries zero.
func (f *Format) NewTile() *Tile {
	t := &Tile{Quants: make([]uint8, Rows*f.Columns)}
	for i := range t.Quants {
		t.Quants[i] = f.Padding
	}
	for _, field := range f.Fields {
		t.Fields = append(t.Fields, make([]uint16, field.Entries))
	}
	return t
}

// Pack lays a tile out.
func (f *Format) Pack(t *Tile) []byte {
	out := make([]byte, f.Bytes)
	for _, p := range f.Planes {
		for row := range Rows {
			for k := range f.Columns {
				offset, bit := p.place(row, k)
				bits := t.Quants[row*f.Columns+k] >> p.Low & (1<<p.Bits - 1)
				out[p.Offset+offset] |= bits << bit
			}
		}
	}
	for i, field := range f.Fields {
		for e, v := range t.Fields[i] {
			at := field.Offset + e*field.Width
			out[at] = byte(v)
			if field.Width == 2 {
				out[at+1] = byte(v >> 8)
			}
		}
	}
	return out
}

// Unpack reads a tile.
func (f *Format) Unpack(data []byte) (*Tile, error) {
	if len(data) != f.Bytes {
		return nil, fmt.Errorf("a %s tile has %d bytes, not %d", f.Name, f.Bytes, len(data))
	}
	t := &Tile{Quants: make([]uint8, Rows*f.Columns)}
	for _, p := range f.Planes {
		for row := range Rows {
			for k := range f.Columns {
				offset, bit := p.place(row, k)
				t.Quants[row*f.Columns+k] |= data[p.Offset+offset] >> bit & (1<<p.Bits - 1) << p.Low
			}
		}
	}
	for _, field := range f.Fields {
		entries := make([]uint16, field.Entries)
		for e := range entries {
			at := field.Offset + e*field.Width
			entries[e] = uint16(data[at])
			if field.Width == 2 {
				entries[e] |= uint16(data[at+1]) << 8
			}
		}
		t.Fields = append(t.Fields, entries)
	}
	return t, nil
}

// Find gives a format by name, such as Q4_0.
func Find(name string) (*Format, error) {
	for _, f := range Formats {
		if f.Name == name {
			return f, nil
		}
	}
	names := ""
	for _, f := range Formats {
		names += " " + f.Name
	}
	return nil, fmt.Errorf("%q is no tiled format; there are%s", name, names)
}

// Size is the size in bytes of a matrix of rows of the given number of values.
func (f *Format) Size(columns, rows int) (int, error) {
	if columns < 1 || rows < 1 || columns%f.BlockValues != 0 {
		return 0, fmt.Errorf("%s: %d columns are not whole blocks of %d", f.Name, columns, f.BlockValues)
	}
	return columns / f.Columns * ((rows + Rows - 1) / Rows) * f.Bytes, nil
}

// Offset is the place of the tile of column tile kt and row tile ct in a matrix
// of the given number of columns.
func (f *Format) Offset(columns, kt, ct int) int {
	return (ct*(columns/f.Columns) + kt) * f.Bytes
}

// maxMatrix bounds a matrix in bytes, flat or tiled.
const maxMatrix = 1 << 30

// PackMatrix turns flat blocks, row after row, into tiles.
func (f *Format) PackMatrix(flat []byte, columns, rows int) ([]byte, error) {
	size, err := f.Size(columns, rows)
	if err != nil {
		return nil, err
	}
	rowBytes := columns / f.BlockValues * f.BlockBytes
	if len(flat) != rows*rowBytes || size > maxMatrix {
		return nil, fmt.Errorf("%s: %d rows of %d columns are %d bytes, not %d", f.Name, rows, columns, rows*rowBytes, len(flat))
	}
	out := make([]byte, 0, size)
	for first := 0; first < rows; first += Rows {
		for kt := range columns / f.Columns {
			t := f.NewTile()
			sub, block := kt%f.Parts(), kt/f.Parts()
			for row := range min(Rows, rows-first) {
				at := (first+row)*rowBytes + block*f.BlockBytes
				data := flat[at : at+f.BlockBytes]
				for k := range f.Columns {
					t.Quants[row*f.Columns+k] = f.quant(data, sub*f.Columns+k)
				}
				f.fill(t, data, sub, row)
			}
			out = append(out, f.Pack(t)...)
		}
	}
	return out, nil
}

// UnpackMatrix restores the flat blocks of a lossless format.
func (f *Format) UnpackMatrix(tiled []byte, columns, rows int) ([]byte, error) {
	if f.restore == nil {
		return nil, fmt.Errorf("%s: the tiles hold products of scales, flat blocks can not be restored", f.Name)
	}
	rowBytes := columns / f.BlockValues * f.BlockBytes
	flat := make([]byte, rows*rowBytes)
	err := f.eachBlock(tiled, columns, rows, func(parts []*Tile, block, row, local int) {
		at := row*rowBytes + block*f.BlockBytes
		f.restore(flat[at:at+f.BlockBytes], parts, local)
	})
	return flat, err
}

// Dequantize computes the values of a matrix, row after row, as the kernels do.
func (f *Format) Dequantize(tiled []byte, columns, rows int) ([]float32, error) {
	values := make([]float32, columns*rows)
	err := f.eachBlock(tiled, columns, rows, func(parts []*Tile, block, row, local int) {
		for e := range f.BlockValues {
			values[row*columns+block*f.BlockValues+e] = f.value(parts, e/f.Columns, local, e%f.Columns)
		}
	})
	return values, err
}

// eachBlock hands out the tiles of each block of each row.
func (f *Format) eachBlock(tiled []byte, columns, rows int, visit func(parts []*Tile, block, row, local int)) error {
	size, err := f.Size(columns, rows)
	if err != nil {
		return err
	}
	if len(tiled) != size || size > maxMatrix {
		return fmt.Errorf("%s: %d rows of %d columns are %d bytes of tiles, not %d", f.Name, rows, columns, size, len(tiled))
	}
	for first := 0; first < rows; first += Rows {
		for block := range columns / f.BlockValues {
			var parts []*Tile
			for sub := range f.Parts() {
				at := f.Offset(columns, block*f.Parts()+sub, first/Rows)
				t, err := f.Unpack(tiled[at : at+f.Bytes])
				if err != nil {
					return err
				}
				parts = append(parts, t)
			}
			for local := range min(Rows, rows-first) {
				visit(parts, block, first+local, local)
			}
		}
	}
	return nil
}
