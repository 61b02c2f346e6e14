package inspect

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path"
	"sort"
)

// Symbols are a library's functions, the names behind its linkage table, and
// its line table where it has one.
type Symbols struct {
	functions []symbol
	plt       map[uint32]string
	lines     []lineEntry
	code      []code
}

type symbol struct {
	addr, size uint32
	name       string
}

type lineEntry struct {
	addr uint32
	file string
	line int
	end  bool
}

// MaxLibrary bounds the size of a library in bytes.
const MaxLibrary = 256 << 20

// ReadSymbols reads a Hexagon ELF library. A library without line table is
// none the worse.
func ReadSymbols(library []byte) (s *Symbols, err error) {
	defer func() {
		// debug/elf and debug/dwarf promise no panic on hostile input, but the
		// library is not ours.
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("malformed ELF: %v", r)
		}
	}()
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		return nil, err
	}
	if f.Machine != elf.EM_QDSP6 || f.Class != elf.ELFCLASS32 {
		return nil, fmt.Errorf("an ELF for %v, not for Hexagon", f.Machine)
	}
	s = &Symbols{plt: map[uint32]string{}}
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	dynamic, err := f.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	for _, y := range append(symbols, dynamic...) {
		if elf.ST_TYPE(y.Info) == elf.STT_FUNC && y.Section != elf.SHN_UNDEF && y.Name != "" {
			s.functions = append(s.functions, symbol{uint32(y.Value), uint32(y.Size), y.Name})
		}
	}
	sort.SliceStable(s.functions, func(i, j int) bool { return s.functions[i].addr < s.functions[j].addr })
	if err := s.linkage(f, dynamic); err != nil {
		return nil, err
	}
	for _, section := range f.Sections {
		if section.Type == elf.SHT_PROGBITS && section.Flags&elf.SHF_EXECINSTR != 0 {
			data, err := section.Data()
			if err != nil {
				return nil, err
			}
			s.code = append(s.code, code{uint32(section.Addr), data})
		}
	}
	s.lineTable(f)
	return s, nil
}

// linkage names the entries of the procedure linkage table: one of 16 bytes
// for each relocation, at the table's end.
func (s *Symbols) linkage(f *elf.File, dynamic []elf.Symbol) error {
	plt, relocations := f.Section(".plt"), f.Section(".rela.plt")
	if plt == nil || relocations == nil {
		return nil
	}
	data, err := relocations.Data()
	if err != nil {
		return err
	}
	const relocation, entry = 12, 16
	n := len(data) / relocation
	if uint64(n)*entry > plt.Size {
		return fmt.Errorf("%d relocations for a linkage table of %d bytes", n, plt.Size)
	}
	first := uint32(plt.Addr+plt.Size) - uint32(n)*entry
	for i := range n {
		index := int(f.ByteOrder.Uint32(data[i*relocation+4:]) >> 8)
		if index >= 1 && index <= len(dynamic) {
			s.plt[first+uint32(i)*entry] = dynamic[index-1].Name
		}
	}
	return nil
}

func (s *Symbols) lineTable(f *elf.File) {
	data, err := f.DWARF()
	if err != nil {
		return
	}
	for r := data.Reader(); ; {
		unit, err := r.Next()
		if err != nil || unit == nil {
			break
		}
		if unit.Tag != dwarf.TagCompileUnit {
			r.SkipChildren()
			continue
		}
		if lines, err := data.LineReader(unit); err == nil && lines != nil {
			s.addLines(lines)
		}
		r.SkipChildren()
	}
	sort.SliceStable(s.lines, func(i, j int) bool {
		a, b := s.lines[i], s.lines[j]
		return a.addr < b.addr || a.addr == b.addr && a.end && !b.end
	})
}

func (s *Symbols) addLines(lines *dwarf.LineReader) {
	var entry dwarf.LineEntry
	for {
		if err := lines.Next(&entry); err != nil {
			if !errors.Is(err, io.EOF) {
				return
			}
			return
		}
		file := ""
		if entry.File != nil {
			file = path.Clean(entry.File.Name)
		}
		s.lines = append(s.lines, lineEntry{uint32(entry.Address), file, entry.Line, entry.EndSequence})
	}
}

// Cuts are starts of functions that divide the library's largest section of code
// into about n equal parts, rising: what lies between two can be disassembled by
// itself.
func (s *Symbols) Cuts(n int) []uint32 {
	var largest code
	for _, c := range s.code {
		if len(c.data) > len(largest.data) {
			largest = c
		}
	}
	var cuts []uint32
	for part := 1; part < n; part++ {
		at := largest.addr + uint32(uint64(len(largest.data))*uint64(part)/uint64(n))
		i := sort.Search(len(s.functions), func(i int) bool { return s.functions[i].addr >= at })
		if i == len(s.functions) || uint64(s.functions[i].addr-largest.addr) >= uint64(len(largest.data)) {
			break
		}
		if cut := s.functions[i].addr; cut > largest.addr && (len(cuts) == 0 || cut > cuts[len(cuts)-1]) {
			cuts = append(cuts, cut)
		}
	}
	return cuts
}

// linked is the name behind an entry of the linkage table, or of a function
// that begins at the address; empty when there is none.
func (s *Symbols) linked(addr uint32) string {
	if s == nil {
		return ""
	}
	if name := s.plt[addr]; name != "" {
		return name
	}
	if f, offset, ok := s.function(addr); ok && offset == 0 {
		return f
	}
	return ""
}

// function is the function that holds an address.
func (s *Symbols) function(addr uint32) (name string, offset uint32, ok bool) {
	for i := sort.Search(len(s.functions), func(i int) bool { return s.functions[i].addr > addr }) - 1; i >= 0; i-- {
		f := s.functions[i]
		if addr-f.addr < f.size {
			return f.name, addr - f.addr, true
		}
		if addr-f.addr > 1<<20 {
			break
		}
	}
	return "", 0, false
}

// line is the source line of an address.
func (s *Symbols) line(addr uint32) (file string, line int, ok bool) {
	i := sort.Search(len(s.lines), func(i int) bool { return s.lines[i].addr > addr }) - 1
	if i < 0 || s.lines[i].end {
		return "", 0, false
	}
	return s.lines[i].file, s.lines[i].line, true
}
