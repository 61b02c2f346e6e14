package inspect

import "strings"

// operation is what one instruction does, as far as the checks need it.
type operation struct {
	text string
	// vector and matrix tell which unit it runs on.
	vector, matrix bool
	// memory is set for a load or store, with its base register (-1 for none);
	// wide for one of a vector.
	memory, store, wide bool
	base                int8
	// branch is set for a jump, conditional where it may fall through; target
	// is its address, 0 for one that a register holds. call and back mark
	// calls and returns.
	branch, conditional, call, back bool
	target                          uint32
	// loop is 1 for loop0 and 2 for loop1; target is the start, trips the
	// count as written.
	loop  int8
	trips string
	// defined is the set of scalar registers written. Where what is written is
	// a copy or a sum, sum are the registers that it is made from, and upper
	// those of the upper register of a pair.
	defined, sum, upper uint32
	// promotes and divides mark arithmetic in double precision, and the
	// reciprocal that begins a division.
	promotes, divides, dma bool
}

const (
	stackPointer = 29
	framePointer = 30
)

// decode reads one instruction's text.
func (op *operation) decode(text string) {
	*op = operation{text: text, base: -1}
	op.conditional = strings.HasPrefix(text, "if ")
	body := text
	if op.conditional {
		body = strings.TrimLeft(text[parenthesis(text, 3):], " ")
	}
	op.words(text)
	op.registers(body)
	switch {
	case strings.HasPrefix(body, "call"):
		op.call = true
		op.target = firstAddress(body)
	case strings.HasPrefix(body, "jump"):
		op.branch = true
		op.target = firstAddress(body)
		op.back = strings.HasPrefix(body, "jumpr") && strings.HasSuffix(body, " r31")
	case strings.HasPrefix(body, "v"): // no vector instruction is any of these
	case strings.Contains(body, "jump_r31"), strings.Contains(body, "dealloc_return"):
		op.branch, op.back = true, true
	case strings.HasPrefix(body, "loop"), strings.Contains(body, "loop0("):
		op.loopStart(body)
	}
}

// condition is what stands in the parentheses of a conditional instruction.
func (op *operation) condition() string {
	const open = len("if ")
	if end := parenthesis(op.text, open); op.conditional && end > open+2 {
		return op.text[open+1 : end-1]
	}
	return ""
}

// opposite is the condition that holds where another one does not.
func opposite(condition string) string {
	if rest, negated := strings.CutPrefix(condition, "!"); negated {
		return rest
	}
	return "!" + condition
}

// parenthesis is the place behind the parenthesis that closes the one at open,
// or the text's end.
func parenthesis(text string, open int) int {
	depth := 0
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

func firstAddress(text string) uint32 {
	if n := strings.Index(text, "0x"); n >= 0 {
		addr, _ := number(text[n:])
		return addr
	}
	return 0
}

// loopStart reads "loop0(0x27a4,#0x10)" and "p3 = sp1loop0(0x27a4,r2)".
func (op *operation) loopStart(body string) {
	at := strings.Index(body, "loop")
	open := strings.IndexByte(body, '(')
	if at < 0 || open < at+5 || open < 0 {
		return
	}
	switch body[at+4] {
	case '0':
		op.loop = 1
	case '1':
		op.loop = 2
	default:
		return
	}
	op.target = firstAddress(body[open:])
	if comma := strings.IndexByte(body, ','); comma > open {
		op.trips = strings.Trim(body[comma+1:], "#) ")
	}
}

// words looks at each word of the text once.
func (op *operation) words(text string) {
	for i := 0; i < len(text); {
		if !isWord(text[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(text) && isWord(text[end]) {
			end++
		}
		op.word(text, i, end)
		i = end
	}
}

func (op *operation) word(text string, start, end int) {
	word := text[start:end]
	switch c := word[0]; {
	case (c == 'v' || c == 'w' || c == 'q') && len(word) > 1 && isDigit(word[1]):
		op.vector = true
	case c == 'v' && (strings.HasPrefix(word, "vmem") || word == "vtmp"):
		op.vector, op.wide = true, op.wide || word != "vtmp"
		op.access(text, end)
	case c == 'm' && strings.HasPrefix(word, "mxmem"), c == 'm' && strings.HasPrefix(word, "mxclr"), word == "cvt":
		op.matrix = true
	case c == 'm' && strings.HasPrefix(word, "mem"):
		op.access(text, end)
	case c == 'd':
		op.dma = op.dma || strings.HasPrefix(word, "dmlink") || strings.HasPrefix(word, "dmstart") || word == "dmpoll" || word == "dmwait" || word == "dmresume"
		op.promotes = op.promotes || strings.HasPrefix(word, "dfadd") || strings.HasPrefix(word, "dfsub") || strings.HasPrefix(word, "dfmpy") || strings.HasPrefix(word, "dfcmp")
	case c == 'c':
		op.promotes = op.promotes || word == "convert_sf2df" || word == "convert_df2sf"
	case c == 's':
		op.divides = op.divides || word == "sfrecipa"
	}
}

// access reads the base and direction of a load or store whose name ends at
// the given place.
func (op *operation) access(text string, end int) {
	if end >= len(text) || text[end] != '(' {
		return
	}
	op.memory = true
	op.base = register(text[end+1:])
	op.store = strings.IndexByte(text[parenthesis(text, end):], '=') >= 0
}

// registers finds the scalar registers that the instruction writes, and for an
// addition those it adds.
func (op *operation) registers(body string) {
	equals := strings.IndexByte(body, '=')
	if equals <= 0 || body[0] != 'r' {
		return
	}
	first := register(body)
	if first < 0 {
		return
	}
	op.defined = 1 << first
	left := strings.TrimRight(body[:equals], " +-&|^")
	if n := strings.IndexByte(left, ':'); n >= 0 && n+1 < len(left) { // a pair is written r17:16
		second := register("r" + left[n+1:])
		if second >= 0 {
			op.defined |= 1 << second
		}
	}
	op.made(strings.TrimLeft(body[equals+1:], " "))
}

// made reads what a register or a pair is made from, if that is a copy or a sum.
func (op *operation) made(right string) {
	pair := op.defined&(op.defined-1) != 0
	if r := register(right); r >= 0 && len(right) <= 3 && !pair {
		op.sum = 1 << r
		return
	}
	name, inside, ok := strings.Cut(right, "(")
	if !ok || pair != (name == "combine") { // of a pair's sum neither half is an address
		return
	}
	operands := strings.SplitN(strings.TrimRight(inside, ") "), ",", 3)
	from := func(i int) uint32 {
		if i < len(operands) {
			if r := register(strings.TrimLeft(operands[i], " ")); r >= 0 {
				return 1 << r
			}
		}
		return 0
	}
	switch name {
	case "add":
		op.sum = from(0) | from(1)
	case "addasl":
		op.sum = from(0)
	case "mux":
		op.sum = from(1) | from(2)
	case "combine":
		op.upper, op.sum = from(0), from(1)
	}
}

// frame gives the registers that point into the stack frame because of the
// operation, where those of in do before its packet.
func (op *operation) frame(in uint32) uint32 {
	lower := op.defined & -op.defined
	var out uint32
	if op.sum&in != 0 {
		out = lower
	}
	if op.upper&in != 0 {
		out |= op.defined &^ lower
	}
	return out
}

// register reads "r29" at the text's beginning; -1 when it is none.
func register(text string) int8 {
	if len(text) < 2 || text[0] != 'r' || !isDigit(text[1]) {
		return -1
	}
	n := int8(text[1] - '0')
	if len(text) > 2 && isDigit(text[2]) {
		n = 10*n + int8(text[2]-'0')
	}
	if n > 31 {
		return -1
	}
	return n
}

func isWord(b byte) bool {
	return b == '_' || isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'z'
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
