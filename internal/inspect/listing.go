package inspect

import (
	"fmt"
	"strconv"
	"strings"
)

// word is one 32-bit word of a listing.
type word struct {
	addr, code uint32
	// text is its instructions without the packet's braces, separated by
	// semicolons; "<unknown>" where the disassembler knows none.
	text string
}

// listed is one function of a listing.
type listed struct {
	name  string
	addr  uint32
	words []word
	first int // among the listing's words
}

// MaxListing bounds the size of a listing in bytes: that of a library of
// MaxLibrary has about eight bytes for each of the library's.
const MaxListing = 2 << 30

// bytesOfLine is about what a line has at least.
const bytesOfLine = 28

// parseListing reads what llvm-objdump -d prints for a Hexagon ELF, with the
// words or without (--no-show-raw-insn, a third shorter); codeAt gives a word
// that the listing leaves out, and may be nil. Lines that are no words and no
// symbols are passed over; a line that looks like a word and is none is an error.
func parseListing(listing string, codeAt func(addr uint32) (uint32, bool)) ([]listed, error) {
	var functions []listed
	words := make([]word, 0, len(listing)/bytesOfLine) // of all functions
	for number := 1; listing != ""; number++ {
		var line string
		line, listing, _ = strings.Cut(listing, "\n")
		if line == "" {
			continue
		}
		if line[0] != ' ' {
			if name, addr, ok := symbolLine(line); ok {
				functions = append(functions, listed{name: name, addr: addr, first: len(words)})
			}
			continue
		}
		w, ok, err := wordLine(line, codeAt)
		if err != nil {
			return nil, fmt.Errorf("listing:%d: %w", number, err)
		}
		if ok && len(functions) > 0 {
			words = append(words, w)
		}
	}
	for i := range functions {
		end := len(words)
		if i+1 < len(functions) {
			end = functions[i+1].first
		}
		functions[i].words = words[functions[i].first:end:end]
	}
	return functions, nil
}

// symbolLine reads "0006f8c0 <op_softmax>:".
func symbolLine(line string) (string, uint32, bool) {
	open := strings.IndexByte(line, '<')
	if open != 9 || !strings.HasSuffix(line, ">:") {
		return "", 0, false
	}
	addr, ok := hexadecimal(line[:8])
	return line[open+1 : len(line)-2], addr, ok
}

// wordLine reads "   6f8c4:\t10 1d f4 eb\tebf41d10 { \tr16 = r0 } ", or
// "   6f8c4: { \tr16 = r0 } ".
func wordLine(line string, codeAt func(uint32) (uint32, bool)) (word, bool, error) {
	colon := strings.IndexByte(line, ':')
	if colon < 0 || colon > 20 {
		return word{}, false, nil
	}
	addr, ok := hexadecimal(afterBlanks(line[:colon]))
	if !ok {
		return word{}, false, nil
	}
	w := word{addr: addr}
	// The vendor's tool separates by blanks where LLVM's uses tabs.
	rest := afterBlanks(line[colon+1:])
	if after, ok := w.bytes(rest); ok {
		rest = after
	} else if codeAt == nil {
		return word{}, false, fmt.Errorf("%q holds no word", line)
	} else if w.code, ok = codeAt(addr); !ok {
		return word{}, false, fmt.Errorf("%q is no place of code in the library", line)
	}
	w.text = instructionText(rest)
	return w, true, nil
}

// bytes reads "10 1d f4 eb\tebf41d10" at a line's beginning, or the first half
// of it alone.
func (w *word) bytes(text string) (after string, ok bool) {
	if len(text) < 11 || text[2] != ' ' || text[5] != ' ' || text[8] != ' ' {
		return text, false
	}
	var code uint32
	for i := range 4 {
		b, ok := hexadecimal(text[3*i : 3*i+2])
		if !ok {
			return text, false
		}
		code |= b << (8 * i)
	}
	w.code = code
	after = afterBlanks(text[11:])
	if n := len(after); n >= 8 { // the word again, as a number
		if _, ok := hexadecimal(after[:8]); ok && (n == 8 || after[8] == ' ' || after[8] == '\t') {
			after = after[8:]
		}
	}
	return after, true
}

// afterBlanks is the text without the blanks at its beginning.
func afterBlanks(text string) string {
	for text != "" && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	return text
}

// instructionText takes braces, loop marks and blanks from around a word's
// instructions.
func instructionText(text string) string {
	for text != "" && (text[0] == ' ' || text[0] == '\t' || text[0] == '{') {
		text = text[1:]
	}
	for {
		for n := len(text); n > 0 && (text[n-1] == ' ' || text[n-1] == '\t' || text[n-1] == '}'); n-- {
			text = text[:n-1]
		}
		switch n := len(text); {
		case n >= len(":endloopN") && text[n-len(":endloopN"):n-1] == ":endloop":
			text = text[:n-len(":endloopN")]
		case strings.HasSuffix(text, ":endloop01"):
			text = text[:n-len(":endloop01")]
		default:
			return text
		}
	}
}

func hexadecimal(text string) (uint32, bool) {
	if len(text) == 0 || len(text) > 8 {
		return 0, false
	}
	var n uint32
	for i := range len(text) {
		switch b := text[i]; {
		case b >= '0' && b <= '9':
			n = n<<4 | uint32(b-'0')
		case b >= 'a' && b <= 'f':
			n = n<<4 | uint32(b-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// number reads "0x1f", "#0x10" or "##-4" as far as it goes.
func number(text string) (uint32, bool) {
	text = strings.TrimLeft(text, "# ")
	end := 0
	for end < len(text) && (text[end] == 'x' || text[end] >= '0' && text[end] <= '9' || text[end] >= 'a' && text[end] <= 'f') {
		end++
	}
	n, err := strconv.ParseUint(text[:end], 0, 32)
	return uint32(n), err == nil
}
