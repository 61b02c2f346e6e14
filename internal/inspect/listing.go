package inspect

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
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
}

// maxLine bounds the length of a listing's line in bytes; C++ names are long.
const maxLine = 1 << 20

// parseListing reads what llvm-objdump -d prints for a Hexagon ELF. Lines that
// are no words and no symbols are passed over; a line that looks like a word
// and is none is an error.
func parseListing(listing io.Reader) ([]listed, error) {
	var functions []listed
	lines := bufio.NewScanner(listing)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	number := 0
	for lines.Scan() {
		number++
		line := lines.Bytes()
		if len(line) == 0 {
			continue
		}
		if line[0] != ' ' {
			if name, addr, ok := symbolLine(line); ok {
				functions = append(functions, listed{name: name, addr: addr})
			}
			continue
		}
		w, ok, err := wordLine(line)
		if err != nil {
			return nil, fmt.Errorf("listing:%d: %w", number, err)
		}
		if ok && len(functions) > 0 {
			f := &functions[len(functions)-1]
			f.words = append(f.words, w)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("listing:%d: %w", number+1, err)
	}
	return functions, nil
}

// symbolLine reads "0006f8c0 <op_softmax>:".
func symbolLine(line []byte) (string, uint32, bool) {
	open := bytes.IndexByte(line, '<')
	if open != 9 || !bytes.HasSuffix(line, []byte(">:")) {
		return "", 0, false
	}
	addr, ok := hexadecimal(line[:8])
	return string(line[open+1 : len(line)-2]), addr, ok
}

// wordLine reads "   6f8c4:\t10 1d f4 eb\tebf41d10 { \tr16 = r0 } ".
func wordLine(line []byte) (word, bool, error) {
	colon := bytes.IndexByte(line, ':')
	if colon < 0 || colon > 20 {
		return word{}, false, nil
	}
	addr, ok := hexadecimal(bytes.TrimLeft(line[:colon], " "))
	if !ok {
		return word{}, false, nil
	}
	rest := line[colon+1:]
	// The vendor's tool separates by blanks where LLVM's uses tabs.
	rest = bytes.TrimLeft(rest, " \t")
	if len(rest) < 11 || rest[2] != ' ' || rest[5] != ' ' || rest[8] != ' ' {
		return word{}, false, fmt.Errorf("%q holds no word", line)
	}
	w := word{addr: addr}
	for i := range 4 {
		b, ok := hexadecimal(rest[3*i : 3*i+2])
		if !ok {
			return word{}, false, fmt.Errorf("%q holds no word", line)
		}
		w.code |= b << (8 * i)
	}
	rest = bytes.TrimLeft(rest[11:], " \t")
	if n := len(rest); n >= 8 { // the word again, as a number
		if _, ok := hexadecimal(rest[:8]); ok && (n == 8 || rest[8] == ' ' || rest[8] == '\t') {
			rest = rest[8:]
		}
	}
	w.text = instructionText(rest)
	return w, true, nil
}

// instructionText takes braces, loop marks and blanks from around a word's
// instructions.
func instructionText(text []byte) string {
	text = bytes.TrimLeft(text, " \t{")
	for {
		text = bytes.TrimRight(text, " \t}")
		if n := len(text) - len(":endloopN"); n >= 0 && string(text[n:n+8]) == ":endloop" {
			text = text[:n]
			continue
		}
		if n := len(text) - len(":endloop01"); n >= 0 && string(text[n:]) == ":endloop01" {
			text = text[:n]
			continue
		}
		return string(text)
	}
}

func hexadecimal(text []byte) (uint32, bool) {
	if len(text) == 0 || len(text) > 8 {
		return 0, false
	}
	var n uint32
	for _, b := range text {
		switch {
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
