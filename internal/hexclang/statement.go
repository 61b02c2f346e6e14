package hexclang

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// split cuts s at sep outside of literals, parentheses, brackets and braces.
func split(s string, sep byte) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			i = literalEnd(s, i) - 1
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == sep && depth == 0:
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return append(out, s[from:])
}

// literalEnd returns the index after the literal that starts at i.
func literalEnd(s string, i int) int {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(s)
}

// translate makes the statement that replaces one of assembly: template, outputs, inputs, clobbers.
func translate(parts []string) (string, []*instruction, error) {
	if len(parts) > 4 {
		return "", nil, fmt.Errorf("%d parts where 4 are known", len(parts))
	}
	template, err := joinLiterals(parts[0])
	if err != nil {
		return "", nil, err
	}
	var lists [2][]string
	for i := range lists {
		if i+1 < len(parts) {
			if lists[i], err = operandList(parts[i+1], []string{"=r", "r"}[i]); err != nil {
				return "", nil, fmt.Errorf("%q: %w", compact(template), err)
			}
		}
	}
	ops := operands{outputs: lists[0], nInputs: len(lists[1])}

	var b strings.Builder
	b.WriteString("do {")
	for i, e := range lists[1] {
		fmt.Fprintf(&b, " const __UINTPTR_TYPE__ _hexsim_%d __attribute__((unused)) = (__UINTPTR_TYPE__) (%s);", i, e)
	}
	packets, err := packetsOf(template)
	if err != nil {
		return "", nil, err
	}
	if len(packets) == 0 { // asm volatile("" ::: "memory") keeps the compiler from moving accesses
		b.WriteString(" __atomic_signal_fence(__ATOMIC_SEQ_CST);")
	}
	var used []*instruction
	for _, p := range packets {
		call, in, err := ops.call(p)
		if err != nil {
			return "", nil, err
		}
		b.WriteString(" " + call)
		used = append(used, in)
	}
	b.WriteString(" } while (0)")
	return b.String(), used, nil
}

// joinLiterals reads adjacent string literals and resolves their escapes.
func joinLiterals(s string) (string, error) {
	var out strings.Builder
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		if s[0] != '"' {
			return "", fmt.Errorf("the template is not a string: %s", s)
		}
		end := literalEnd(s, 0)
		t, err := strconv.Unquote(s[:end])
		if err != nil {
			return "", fmt.Errorf("the template's string %s is not understood", s[:end])
		}
		out.WriteString(t)
		s = s[end:]
	}
	return out.String(), nil
}

var operand = regexp.MustCompile(`(?s)^"([^"\\]*)"\s*\((.*)\)$`)

// operandList reads operands that all have one constraint.
func operandList(s, constraint string) ([]string, error) {
	var out []string
	for _, o := range split(s, ',') {
		o = strings.TrimSpace(o)
		if o == "" {
			if strings.TrimSpace(s) == "" {
				return nil, nil
			}
			return nil, fmt.Errorf("empty operand")
		}
		m := operand.FindStringSubmatch(o)
		if m == nil {
			return nil, fmt.Errorf("operand %s is not \"%s\"(expression)", o, constraint)
		}
		if m[1] != constraint {
			return nil, fmt.Errorf("constraint %q of operand %s: only %q is known", m[1], strings.TrimSpace(m[2]), constraint)
		}
		out = append(out, m[2])
	}
	return out, nil
}

// packetsOf cuts a template into packets of instructions without white space.
func packetsOf(template string) ([][]string, error) {
	var out [][]string
	var packet []string
	inside := false
	add := func(text string) {
		text = strip(text)
		if text == "" {
			return
		}
		if inside {
			packet = append(packet, text)
		} else {
			out = append(out, []string{text})
		}
	}
	from := 0
	for i := range len(template) {
		c := template[i]
		switch c {
		case '\n', ';', '{', '}':
			add(template[from:i])
			from = i + 1
		}
		switch {
		case c == '{' && !inside:
			inside = true
		case c == '}' && inside:
			inside = false
			if len(packet) > 0 {
				out = append(out, packet)
			}
			packet = nil
		case c == '{' || c == '}':
			return nil, fmt.Errorf("%q: braces do not match", compact(template))
		}
	}
	add(template[from:])
	if inside {
		return nil, fmt.Errorf("%q: braces do not match", compact(template))
	}
	return out, nil
}

// strip removes white space.
func strip(s string) string { return strings.Join(strings.Fields(s), "") }

// compact shortens a template for a message.
func compact(s string) string { return strings.Join(strings.Fields(s), " ") }
