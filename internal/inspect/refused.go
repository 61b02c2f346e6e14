package inspect

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// LLVM's disassembler refuses a packet when it does not know one of its
// instructions, and lists the first word only. The other words are taken from
// the library here, and each is shown to the disassembler once more, alone.

// unknown is what stands for a word that the disassembler does not know.
const unknown = "<unknown>"

// endOfPacket are a word's parse bits when it is the packet's last one.
const endOfPacket = 0xc000

// Disassembler gives the listing of llvm-objdump -d for a library's bytes.
type Disassembler func(library []byte) (listing string, err error)

// code is an executable section.
type code struct {
	addr uint32
	data []byte
}

// word reads the word at an address.
func (s *Symbols) word(addr uint32) (uint32, bool) {
	for _, c := range s.code {
		if at := addr - c.addr; addr >= c.addr && uint64(at)+4 <= uint64(len(c.data)) {
			return binary.LittleEndian.Uint32(c.data[at:]), true
		}
	}
	return 0, false
}

// fill adds to a function the words of refused packets that the listing leaves
// out.
func (s *Symbols) fill(f *listed) {
	at := slices.IndexFunc(f.words, func(w word) bool { return w.text == unknown })
	if at < 0 {
		return
	}
	words := slices.Clone(f.words[:at])
	for i, w := range f.words[at:] {
		words = append(words, w)
		next := ^uint32(0)
		if at+i+1 < len(f.words) {
			next = f.words[at+i+1].addr
		}
		for n := 1; w.text == unknown && !w.last() && n < maxPacket && w.addr+4 < next; n++ {
			more, ok := s.word(w.addr + 4)
			if !ok {
				break
			}
			w = word{addr: w.addr + 4, code: more, text: unknown}
			words = append(words, w)
		}
	}
	f.words = words
}

// maxPacket bounds a packet's words: four instructions, each with an extender.
const maxPacket = 8

// last tells whether a word ends its packet (parse bits 11, or 00 in a word of
// two instructions).
func (w word) last() bool {
	parse := w.code >> 14 & 3
	return parse == 3 || parse == 0
}

// extends tells whether a word holds the upper bits of the next one's constant.
func (w word) extends() bool { return w.code>>28 == 0 && w.code>>14&3 != 0 }

// alone shows the words of refused packets to the disassembler, each as a
// packet of its own, and takes over what it knows. What takes its operand from
// another instruction of the packet stays unknown.
func alone(functions []listed, disassemble Disassembler) error {
	var refused []*word
	var packet []uint32 // address of the packet that each was in
	for i := range functions {
		words := functions[i].words
		start, begins := uint32(0), true
		for j := range words {
			w := &words[j]
			if begins {
				start = w.addr
			}
			begins = w.last()
			if w.text == unknown {
				refused, packet = append(refused, w), append(packet, start)
			}
		}
	}
	if len(refused) == 0 {
		return nil
	}
	var text []byte
	for i, w := range refused {
		bits := w.code | endOfPacket
		switch {
		case w.code>>14&3 == 0:
			bits = w.code
		case w.extends() && i+1 < len(refused) && refused[i+1].addr == w.addr+4:
			bits = w.code&^uint32(endOfPacket) | 0x4000
		}
		text = binary.LittleEndian.AppendUint32(text, bits)
	}
	listing, err := disassemble(library(text))
	if err != nil {
		return err
	}
	alone := Symbols{code: []code{{0, text}}}
	again, err := parseListing(listing, alone.word)
	if err != nil {
		return fmt.Errorf("single instructions: %w", err)
	}
	for _, f := range again {
		for n, w := range f.words {
			i := int(w.addr / 4)
			if w.text == unknown || w.addr%4 != 0 || i >= len(refused) {
				continue
			}
			from := w.addr // what targets are relative to
			if n > 0 && f.words[n-1].extends() {
				from -= 4
			}
			refused[i].text = moved(w.text, packet[i]-from)
		}
	}
	return nil
}

// moved adds a distance to the address in a jump, a call or a loop's start.
func moved(text string, distance uint32) string {
	if !strings.Contains(text, "jump") && !strings.Contains(text, "call") && !strings.Contains(text, "loop") {
		return text
	}
	at := strings.LastIndex(text, "0x")
	if open := strings.Index(text, "(0x"); open >= 0 && strings.Contains(text, "loop") {
		at = open + 1 // the count stands behind it
	}
	if at < 0 {
		return text
	}
	end := at + 2
	for end < len(text) && (isDigit(text[end]) || text[end] >= 'a' && text[end] <= 'f') {
		end++
	}
	target, ok := number(text[at:end])
	if !ok {
		return text
	}
	return fmt.Sprintf("%s0x%x%s", text[:at], target+distance, text[end:])
}

// library is an ELF library of Hexagon that holds nothing but code at address
// zero.
func library(text []byte) []byte {
	const header, entry = 52, 40
	names := "\x00.text\x00.shstrtab\x00"
	after := uint32(header + len(text) + len(names))
	var out bytes.Buffer
	put := func(v any) { _ = binary.Write(&out, binary.LittleEndian, v) } // to memory: never fails
	put(elf.Header32{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS32), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_QDSP6), Version: uint32(elf.EV_CURRENT),
		Shoff: after, Ehsize: header, Shentsize: entry, Shnum: 3, Shstrndx: 2,
	})
	out.Write(text)
	out.WriteString(names)
	put([3]elf.Section32{
		1: {Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint32(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Off: header, Size: uint32(len(text)), Addralign: 4},
		2: {Name: 7, Type: uint32(elf.SHT_STRTAB), Off: uint32(header + len(text)), Size: uint32(len(names)), Addralign: 1},
	})
	return out.Bytes()
}
