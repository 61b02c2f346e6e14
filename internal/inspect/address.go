package inspect

import (
	"fmt"
	"regexp"
	"strconv"
)

// Place is where an address lies in a library.
type Place struct {
	Addr uint32
	// Function and Offset are empty where no function holds the address, File
	// and Line where the library has no line table.
	Function string
	Offset   uint32
	File     string
	Line     int
}

func (p Place) String() string {
	text := fmt.Sprintf("0x%x", p.Addr)
	if p.Function == "" {
		return text + " is in no function"
	}
	text += fmt.Sprintf(" %s+0x%x", p.Function, p.Offset)
	if p.File != "" {
		text += fmt.Sprintf(" %s:%d", p.File, p.Line)
	}
	return text
}

// Resolve finds the place of an address.
func (s *Symbols) Resolve(addr uint32) Place {
	p := Place{Addr: addr}
	if name, offset, ok := s.function(addr); ok {
		p.Function, p.Offset = name, offset
		p.File, p.Line, _ = s.line(addr)
	}
	return p
}

// addressForms are how logs write a program counter, the surest first: after
// pc or ip, behind a library's name and a plus, as a number of its own.
var addressForms = []*regexp.Regexp{
	regexp.MustCompile(`\b(?:pc|PC|ip|IP|lr|LR|ra|RA)\s*[=: ]\s*(?:0x)?([0-9a-fA-F]{3,8})\b`),
	regexp.MustCompile(`\+\s*0x([0-9a-fA-F]{3,8})\b`),
	regexp.MustCompile(`\b0x([0-9a-fA-F]{3,8})\b`),
	regexp.MustCompile(`^\s*([0-9a-fA-F]{3,8})\s*$`),
}

// Addresses finds the code addresses in a line of a log, each once.
func Addresses(line string) []uint32 {
	var list []uint32
	seen := map[uint32]bool{}
	for _, form := range addressForms {
		for _, match := range form.FindAllStringSubmatch(line, -1) {
			n, err := strconv.ParseUint(match[1], 16, 32)
			if err == nil && !seen[uint32(n)] {
				seen[uint32(n)] = true
				list = append(list, uint32(n))
			}
		}
		if list != nil {
			break
		}
	}
	return list
}
