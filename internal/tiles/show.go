package tiles

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// Text draws a format's layout: the table of its parts, and a map of its
// 128-byte vectors, one character for each two bytes.
func (f *Format) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: tiles of %d rows and %d columns, %d bytes (%.4g bits a weight); flat blocks of %d values, %d bytes (%.4g bits)\n",
		f.Name, Rows, f.Columns, f.Bytes, float64(8*f.Bytes)/float64(Rows*f.Columns), f.BlockValues, f.BlockBytes, float64(8*f.BlockBytes)/float64(f.BlockValues))
	fmt.Fprintf(&b, "value: %s\n", f.Value)
	if f.Lossless {
		b.WriteString("lossless: the flat blocks can be restored\n")
	} else {
		b.WriteString("not lossless: products of scales are rounded to half precision\n")
	}
	if f.Parts() > 1 {
		fmt.Fprintf(&b, "a flat block is %d tiles, one after the other\n", f.Parts())
	}
	b.WriteString("\nbytes        part                  where (r row, k column)\n")
	for i, part := range f.parts() {
		fmt.Fprintf(&b, "%4d..%-4d %c %-21s %s\n", part.offset, part.offset+part.bytes-1, letter(i), part.name, part.formula)
	}
	b.WriteString("\nvector  two bytes a character\n")
	for v := 0; v < f.Bytes; v += Vector {
		fmt.Fprintf(&b, "%6d  ", v/Vector)
		for at := v; at < min(v+Vector, f.Bytes); at += 2 {
			b.WriteByte(letter(f.owner(at)))
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nrow 0 and row 1, first columns: byte.bits of each quant\n")
	for row := range 2 {
		fmt.Fprintf(&b, "r=%d", row)
		for k := range 10 {
			var places []string
			for _, p := range f.Planes {
				offset, bit := p.place(row, k)
				places = append(places, fmt.Sprintf("%d.%d", p.Offset+offset, bit))
			}
			fmt.Fprintf(&b, "  k%d %s", k, strings.Join(places, "+"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

type part struct {
	name, formula string
	offset, bytes int
}

func (f *Format) parts() []part {
	var list []part
	for _, p := range f.Planes {
		list = append(list, part{p.Name, p.Formula, p.Offset, p.Bytes})
	}
	for _, field := range f.Fields {
		list = append(list, part{field.Name, field.Formula, field.Offset, field.Bytes()})
	}
	slices.SortFunc(list, func(a, b part) int { return a.offset - b.offset })
	return list
}

// owner is the index of the part that a byte belongs to.
func (f *Format) owner(at int) int {
	for i, p := range f.parts() {
		if at >= p.offset && at < p.offset+p.bytes {
			return i
		}
	}
	return -1
}

func letter(i int) byte { return "?abcdefgh"[i+1] }

// colours of parts, readable on white and for people who do not tell red from
// green (Okabe and Ito, "Color Universal Design", 2008).
var colours = []string{"#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442"}

// SVG draws the same map, one cell for each byte with its row and columns as
// its title; cells of odd rows are darker.
func (f *Format) SVG() string {
	const cell, left, top = 7, 60, 46
	parts := f.parts()
	vectors := (f.Bytes + Vector - 1) / Vector
	height := top + vectors*(cell+5) + 20 + 18*len(parts)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
		left+Vector*cell+10, height, left+Vector*cell+10, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/><text x="10" y="20" font-size="15">%s tile: %d rows, %d columns, %d bytes</text>`+"\n", f.Name, Rows, f.Columns, f.Bytes)
	fmt.Fprintf(&b, `<text x="10" y="38">value: %s</text>`+"\n", html.EscapeString(f.Value))
	owners := f.contents()
	for v := range vectors {
		y := top + v*(cell+5)
		fmt.Fprintf(&b, `<text x="10" y="%d" font-size="9">vec %d</text>`+"\n", y+cell, v)
		for i := range min(Vector, f.Bytes-v*Vector) {
			at := v*Vector + i
			opacity := "1"
			if owners[at].row%2 == 1 {
				opacity = "0.6"
			}
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" fill-opacity="%s"><title>byte %d: %s</title></rect>`+"\n",
				left+i*cell, y, cell-1, cell+2, colours[f.owner(at)%len(colours)], opacity, at, html.EscapeString(owners[at].text))
		}
	}
	y := top + vectors*(cell+5) + 16
	for i, p := range parts {
		fmt.Fprintf(&b, `<rect x="10" y="%d" width="12" height="12" fill="%s"/><text x="28" y="%d">%d..%d %s: %s</text>`+"\n",
			y, colours[i%len(colours)], y+11, p.offset, p.offset+p.bytes-1, html.EscapeString(p.name), html.EscapeString(p.formula))
		y += 18
	}
	b.WriteString("</svg>\n")
	return b.String()
}

type content struct {
	row  int
	text string
}

// contents says what each byte holds.
func (f *Format) contents() []content {
	list := make([]content, f.Bytes)
	for _, p := range f.Planes {
		for row := range Rows {
			columns := map[int][]string{}
			for k := range f.Columns {
				offset, _ := p.place(row, k)
				columns[p.Offset+offset] = append(columns[p.Offset+offset], fmt.Sprint(k))
			}
			for at, ks := range columns {
				if list[at].text != "" {
					list[at].text += "; "
				}
				list[at].row = row
				list[at].text += fmt.Sprintf("%s of row %d, columns %s", p.Name, row, strings.Join(ks, " "))
			}
		}
	}
	for _, field := range f.Fields {
		for e := range field.Entries {
			for i := range field.Width {
				list[field.Offset+e*field.Width+i] = content{e, fmt.Sprintf("%s, entry %d", field.Name, e)}
			}
		}
	}
	return list
}
