package hexclang

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// AsmError is an assembly statement that can not be simulated.
type AsmError struct {
	File string
	Line int
	Msg  string
}

func (e *AsmError) Error() string {
	return fmt.Sprintf("%s:%d: error: inline assembly can not be simulated: %s", e.File, e.Line, e.Msg)
}

// Rewrite replaces the assembly statements of preprocessed C or C++ by calls and returns the text with the number of
// statements. Statements in system headers, as the line markers name them, and assembler names of declarations stay.
// name is the file in messages before the first line marker.
func Rewrite(src []byte, name string, cxx bool) ([]byte, int, error) {
	r := &rewriter{src: src, file: name, line: 1}
	if err := r.run(); err != nil {
		return nil, 0, err
	}
	if r.count == 0 {
		return src, 0, nil
	}
	return append(r.prologue(name, cxx), r.out.Bytes()...), r.count, nil
}

type rewriter struct {
	src    []byte
	i      int
	out    bytes.Buffer
	copied int // src[:copied] is in out, replaced where need be

	file   string
	line   int
	system bool
	bol    bool // nothing but white space on this line so far

	depth int    // of braces
	prev  string // token before: a word, or one character
	count int
	used  []*instruction
}

// prologue declares the functions that are called.
func (r *rewriter) prologue(name string, cxx bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# 1 %s\n# 1 \"<inline assembly>\" 1 3\n", strconv.Quote(name))
	if cxx {
		b.WriteString("extern \"C\" {\n")
	}
	for _, in := range r.used {
		fmt.Fprintln(&b, in.prototype())
	}
	if cxx {
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "# 1 %s 2\n", strconv.Quote(name))
	return b.Bytes()
}

func (r *rewriter) run() error {
	r.bol = true
	for r.i < len(r.src) {
		c := r.src[r.i]
		switch {
		case c == '\n':
			r.newline()
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			r.i++
		case c == '#' && r.bol:
			r.marker()
		case c == '"' || c == '\'':
			r.literal()
			r.prev, r.bol = "literal", false
		case isWordStart(c):
			if err := r.word(); err != nil {
				return err
			}
		case c >= '0' && c <= '9':
			for r.i < len(r.src) && (isWord(r.src[r.i]) || r.src[r.i] == '.' || r.src[r.i] == '\'') {
				r.i++
			}
			r.prev, r.bol = "number", false
		default:
			switch c {
			case '{':
				r.depth++
			case '}':
				r.depth--
			}
			r.prev, r.bol = string(c), false
			r.i++
		}
	}
	r.out.Write(r.src[r.copied:])
	return nil
}

func isWordStart(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 || c == '$'
}
func isWord(c byte) bool { return isWordStart(c) || c >= '0' && c <= '9' }

func (r *rewriter) newline() {
	r.i++
	r.line++
	r.bol = true
}

var lineMarker = regexp.MustCompile(`^#[ \t]*(?:line[ \t]+)?([0-9]+)[ \t]+("(?:[^"\\]|\\.)*")((?:[ \t]+[0-9]+)*)`)

// marker reads a line that starts with #: a line marker, or a pragma, which is left alone.
func (r *rewriter) marker() {
	end := bytes.IndexByte(r.src[r.i:], '\n')
	if end < 0 {
		end = len(r.src) - r.i
	}
	if m := lineMarker.FindSubmatch(r.src[r.i : r.i+end]); m != nil {
		if f, err := strconv.Unquote(string(m[2])); err == nil {
			r.file = f
		}
		// The marker counts the line after it.
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			r.line = n - 1
		}
		r.system = slices.Contains(strings.Fields(string(m[3])), "3")
	}
	r.i += end
}

// literal skips a string or character literal, of the ordinary kind.
func (r *rewriter) literal() {
	quote := r.src[r.i]
	for r.i++; r.i < len(r.src); r.i++ {
		switch r.src[r.i] {
		case '\\':
			r.i++
		case '\n': // unfinished: the compiler will say so
			return
		case quote:
			r.i++
			return
		}
	}
	r.i = min(r.i, len(r.src))
}

// rawLiteral skips a C++ raw string; r.i is at its quote.
func (r *rewriter) rawLiteral() {
	open := bytes.IndexByte(r.src[r.i:], '(')
	if open < 1 || open > 17 {
		r.literal()
		return
	}
	end := append(append([]byte(")"), r.src[r.i+1:r.i+open]...), '"')
	n := bytes.Index(r.src[r.i+open:], end)
	if n < 0 {
		r.i = len(r.src)
		return
	}
	stop := r.i + open + n + len(end)
	r.line += bytes.Count(r.src[r.i:stop], []byte("\n"))
	r.i = stop
}

func (r *rewriter) word() error {
	start := r.i
	for r.i < len(r.src) && isWord(r.src[r.i]) {
		r.i++
	}
	w := string(r.src[start:r.i])
	r.bol = false
	if r.i < len(r.src) && r.src[r.i] == '"' && (w == "R" || w == "LR" || w == "uR" || w == "UR" || w == "u8R") {
		r.rawLiteral()
		r.prev = "literal"
		return nil
	}
	if !r.system && (w == "asm" || w == "__asm__" || w == "__asm") {
		return r.statement(start)
	}
	r.prev = w
	return nil
}

// statement handles what starts with asm at start.
func (r *rewriter) statement(start int) error {
	at := AsmError{File: r.file, Line: r.line}
	fail := func(format string, args ...any) error {
		at.Msg = fmt.Sprintf(format, args...)
		return &at
	}
	before := r.prev
	isVolatile := false
	for {
		r.space()
		if r.i < len(r.src) && r.src[r.i] == '(' {
			break
		}
		w := r.i
		for r.i < len(r.src) && isWord(r.src[r.i]) {
			r.i++
		}
		switch q := string(r.src[w:r.i]); q {
		case "volatile", "__volatile__", "__volatile", "inline", "__inline__":
			isVolatile = true
		case "goto":
			return fail("asm goto")
		default:
			return fail("expected ( after asm")
		}
	}
	body, ok := r.parens()
	if !ok {
		return fail("no ) at the end")
	}
	parts := split(body, ':')
	label := len(parts) == 1 && !isVolatile
	if r.depth <= 0 {
		if label && (before == ")" || isName(before)) {
			r.prev = ")"
			return nil // the assembler's name of a declaration
		}
		return fail("assembly at file scope")
	}
	if label && isName(before) && before != "else" && before != "do" {
		return fail("register or assembler name of the local declaration of %s", before)
	}
	text, used, err := translate(parts)
	if err != nil {
		return fail("%v", err)
	}
	r.replace(start, text)
	r.count++
	for _, in := range used {
		if !slices.Contains(r.used, in) {
			r.used = append(r.used, in)
		}
	}
	r.prev = ")"
	return nil
}

func isName(s string) bool {
	return s != "literal" && s != "number" && s != "" && isWordStart(s[0])
}

// replace writes text in place of src[start:r.i], and a line marker when lines went with it.
func (r *rewriter) replace(start int, text string) {
	r.out.Write(r.src[r.copied:start])
	r.out.WriteString(text)
	if bytes.IndexByte(r.src[start:r.i], '\n') >= 0 {
		fmt.Fprintf(&r.out, "\n# %d %s\n", r.line, strconv.Quote(r.file))
	}
	r.copied = r.i
}

// space skips white space and line markers.
func (r *rewriter) space() {
	for r.i < len(r.src) {
		switch c := r.src[r.i]; {
		case c == '\n':
			r.newline()
		case c == ' ' || c == '\t' || c == '\r':
			r.i++
		case c == '#' && r.bol:
			r.marker()
		default:
			r.bol = false
			return
		}
	}
}

// parens reads from ( to its ) and returns what is between, without the line markers.
func (r *rewriter) parens() (string, bool) {
	var b strings.Builder
	r.i++
	from := r.i
	for depth := 1; r.i < len(r.src); {
		switch c := r.src[r.i]; {
		case c == '\n':
			b.Write(r.src[from:r.i])
			b.WriteByte(' ')
			r.newline()
			from = r.i
		case c == '#' && r.bol:
			r.marker()
			from = r.i
		case c == '"' || c == '\'':
			r.bol = false
			r.literal()
		default:
			if c != ' ' && c != '\t' {
				r.bol = false
			}
			r.i++
			switch c {
			case '(':
				depth++
			case ')':
				if depth--; depth == 0 {
					b.Write(r.src[from : r.i-1])
					return b.String(), true
				}
			}
		}
	}
	return "", false
}
