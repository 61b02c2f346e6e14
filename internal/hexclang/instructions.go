package hexclang

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// argument is how an operand or an immediate reaches a function.
type argument int

const (
	pointer      argument = iota // address of something the instruction changes or starts
	constPointer                 // address of something it reads
	word                         // 32-bit number
)

func (a argument) ctype() string {
	return [...]string{"void *", "const void *", "__UINT32_TYPE__"}[a]
}

// instruction is one form of assembly and the function that stands for it. ASM.md of the simulated SDK is the same
// table in prose; the functions are declared in its hexsim_asm.h.
type instruction struct {
	// text is the instruction without white space, or the instructions of one packet. %o is the output operand, %n
	// the n-th argument as an input operand, #n as an immediate, $n as a number that is part of a register's name.
	text   []string
	fn     string
	result string // C type, "" for none
	args   []argument
	max    int // largest immediate

	match []*regexp.Regexp // made of text
	slots [][]slot         // of each text: what each group is
}

// slot is what a group of a match stands for.
type slot struct {
	kind byte // 'o' output operand, '%' input operand, '#' number
	arg  int
}

const (
	u32 = "__UINT32_TYPE__"
	u64 = "__UINT64_TYPE__"
)

var instructions = []*instruction{
	{text: []string{"syncht"}, fn: "hexsim_syncht"},
	{text: []string{"pause(#1)"}, fn: "hexsim_pause", args: []argument{word}, max: 1023},
	{text: []string{"release(%1):at"}, fn: "hexsim_release_at", args: []argument{constPointer}},
	{text: []string{"%o=c15:14"}, fn: "hexsim_upcycle", result: u64},
	{text: []string{"%o=c19:18"}, fn: "hexsim_pktcount", result: u64},
	{text: []string{"%o=upmucnt$1"}, fn: "hexsim_upmucnt", result: u32, args: []argument{word}, max: 7},
	{text: []string{"dmstart(%1)"}, fn: "hexsim_dmstart", args: []argument{pointer}},
	{text: []string{"dmlink(%1,%2)"}, fn: "hexsim_dmlink", args: []argument{pointer, pointer}},
	{text: []string{"%o=dmpoll"}, fn: "hexsim_dmpoll", result: u32},
	{text: []string{"%o=dmwait"}, fn: "hexsim_dmwait", result: u32},
	{text: []string{"mxclracc.hf"}, fn: "hexsim_hmx_clracc_hf"},
	{text: []string{"bias=mxmem2(%1)"}, fn: "hexsim_hmx_set_bias", args: []argument{constPointer}},
	{
		text: []string{"activation.hf=mxmem(%1,%2)", "weight.hf=mxmem(%3,%4)"},
		fn:   "hexsim_hmx_mpy_hf", args: []argument{constPointer, word, constPointer, word},
	},
	{
		text: []string{"activation.hf=mxmem(%1,%2):deep", "weight.hf=mxmem(%3,%4)"},
		fn:   "hexsim_hmx_mpy_deep_hf", args: []argument{constPointer, word, constPointer, word},
	},
	{text: []string{"mxmem(%1,%2):after.hf=acc"}, fn: "hexsim_hmx_store_after_hf", args: []argument{pointer, word}},
}

var (
	placeholder = regexp.MustCompile(`[%#$][o1-9]`)
	groupOf     = map[byte]string{'%': `%([0-9]+)`, '#': `#(-?[0-9a-fA-Fx]+)`, '$': `([0-9]+)`}
)

func init() {
	for _, in := range instructions {
		for _, t := range in.text {
			expr, last := "^", 0
			var slots []slot
			for _, m := range placeholder.FindAllStringIndex(t, -1) {
				kind, which := t[m[0]], t[m[0]+1]
				expr += regexp.QuoteMeta(t[last:m[0]]) + groupOf[kind]
				last = m[1]
				switch {
				case which == 'o':
					slots = append(slots, slot{kind: 'o'})
				case kind == '%':
					slots = append(slots, slot{'%', int(which - '1')})
				default:
					slots = append(slots, slot{'#', int(which - '1')})
				}
			}
			in.match = append(in.match, regexp.MustCompile(expr+regexp.QuoteMeta(t[last:])+"$"))
			in.slots = append(in.slots, slots)
		}
	}
}

// prototype declares the function in types that need no header.
func (in *instruction) prototype() string {
	result := in.result
	if result == "" {
		result = "void"
	}
	params := "void"
	if len(in.args) > 0 {
		var ps []string
		for _, a := range in.args {
			ps = append(ps, a.ctype())
		}
		params = strings.Join(ps, ", ")
	}
	return fmt.Sprintf("%s %s(%s);", result, in.fn, params)
}

// operands of one assembly statement.
type operands struct {
	outputs []string // lvalues
	nInputs int
}

// call translates one instruction, or one packet of them, or says why it can not.
func (ops *operands) call(packet []string) (string, *instruction, error) {
	for _, in := range instructions {
		if len(in.text) != len(packet) {
			continue
		}
		groups := make([][]string, len(packet))
		for i, re := range in.match {
			groups[i] = re.FindStringSubmatch(packet[i])
		}
		if !all(groups) {
			continue
		}
		s, err := ops.fill(in, groups, packet)
		return s, in, err
	}
	if len(packet) == 1 {
		return "", nil, fmt.Errorf("unknown instruction %q", packet[0])
	}
	return "", nil, fmt.Errorf("unknown packet { %s }", strings.Join(packet, "; "))
}

func all(groups [][]string) bool {
	for _, g := range groups {
		if g == nil {
			return false
		}
	}
	return true
}

func (ops *operands) fill(in *instruction, groups [][]string, packet []string) (string, error) {
	args := make([]string, len(in.args))
	out := ""
	for i, slots := range in.slots {
		for j, s := range slots {
			n, err := strconv.ParseInt(groups[i][j+1], 0, 32)
			if err != nil {
				return "", fmt.Errorf("%q: %q is not a number", packet[i], groups[i][j+1])
			}
			switch s.kind {
			case 'o':
				if n >= int64(len(ops.outputs)) {
					return "", fmt.Errorf("%q: %%%d is not an output operand", packet[i], n)
				}
				out = "(" + ops.outputs[n] + ") = "
			case '%':
				k := n - int64(len(ops.outputs))
				if k < 0 || k >= int64(ops.nInputs) {
					return "", fmt.Errorf("%q: %%%d is not an input operand", packet[i], n)
				}
				args[s.arg] = fmt.Sprintf("(%s) _hexsim_%d", in.args[s.arg].ctype(), k)
			default:
				if n < 0 || n > int64(in.max) {
					return "", fmt.Errorf("%q: immediate %d is not between 0 and %d", packet[i], n, in.max)
				}
				args[s.arg] = strconv.FormatInt(n, 10)
			}
		}
	}
	return fmt.Sprintf("%s%s(%s);", out, in.fn, strings.Join(args, ", ")), nil
}
