package idl

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// Limits on hostile input.
const (
	maxSource  = 1 << 20 // bytes of one file
	maxDepth   = 16      // includes within includes
	maxSources = 64      // files of one unit
)

// Opener finds an included file: name as written, from the path of the file that includes it ("" for the unit
// itself). It returns the path to report in messages.
type Opener func(name, from string) (data []byte, path string, err error)

type kind int

const (
	tokEOF kind = iota
	tokName
	tokNumber
	tokPunct
)

type token struct {
	kind kind
	text string
	pos  Pos
	root bool // of the unit itself, not of an included file
}

func (t token) String() string {
	if t.kind == tokEOF {
		return "end of file"
	}
	return fmt.Sprintf("%q", t.text)
}

// source is one file being read.
type source struct {
	path      string
	data      []byte
	off       int
	line, bol int
	conds     []cond
}

// cond is one #ifdef or #ifndef: whether its present branch is taken, and whether it had its #else.
type cond struct {
	pos     Pos
	taken   bool
	sawElse bool
}

// lexer yields the tokens of a file and of what it includes, with #include, #ifdef, #ifndef, #else, #endif, #define and
// #undef done on the way.
type lexer struct {
	open     Opener
	stack    []*source
	defs     map[string]bool
	opened   int
	includes []string // of the unit itself
}

func newLexer(name string, open Opener) (*lexer, error) {
	l := &lexer{open: open, defs: map[string]bool{}}
	return l, l.push(name, Pos{File: name, Line: 1, Col: 1})
}

func (l *lexer) push(name string, at Pos) error {
	from := ""
	if len(l.stack) > 0 {
		from = l.stack[len(l.stack)-1].path
	}
	if len(l.stack) == maxDepth {
		return &Error{at, fmt.Sprintf("includes nested deeper than %d files", maxDepth)}
	}
	if l.opened++; l.opened > maxSources {
		return &Error{at, fmt.Sprintf("more than %d files are included", maxSources)}
	}
	data, path, err := l.open(name, from)
	if err != nil {
		return &Error{at, err.Error()}
	}
	if len(data) > maxSource {
		return &Error{at, fmt.Sprintf("%s has %d bytes, more than %d", name, len(data), maxSource)}
	}
	l.stack = append(l.stack, &source{path: path, data: data, line: 1})
	return nil
}

func (s *source) pos() Pos { return Pos{s.path, s.line, s.off - s.bol + 1} }

func (s *source) skipping() bool {
	for _, c := range s.conds {
		if !c.taken {
			return true
		}
	}
	return false
}

// next returns the next token of the expanded text.
func (l *lexer) next() (token, error) {
	for {
		s := l.stack[len(l.stack)-1]
		if err := s.space(); err != nil {
			return token{}, err
		}
		if s.off >= len(s.data) {
			if n := len(s.conds); n > 0 {
				return token{}, &Error{s.conds[n-1].pos, "conditional without #endif"}
			}
			if len(l.stack) == 1 {
				return token{kind: tokEOF, pos: s.pos(), root: true}, nil
			}
			l.stack = l.stack[:len(l.stack)-1]
			continue
		}
		if s.data[s.off] == '#' {
			if len(bytes.TrimSpace(s.data[s.bol:s.off])) != 0 {
				return token{}, &Error{s.pos(), "# only starts a directive at the beginning of a line"}
			}
			if err := l.directive(s); err != nil {
				return token{}, err
			}
			continue
		}
		if s.skipping() {
			s.skipLine()
			continue
		}
		return s.token(len(l.stack) == 1)
	}
}

// space skips white space and comments.
func (s *source) space() error {
	for s.off < len(s.data) {
		switch c := s.data[s.off]; {
		case c == '\n':
			s.off++
			s.line, s.bol = s.line+1, s.off
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			s.off++
		case bytes.HasPrefix(s.data[s.off:], []byte("//")):
			s.skipLine()
		case bytes.HasPrefix(s.data[s.off:], []byte("/*")):
			at := s.pos()
			n := bytes.Index(s.data[s.off+2:], []byte("*/"))
			if n < 0 {
				return &Error{at, "comment without end"}
			}
			for end := s.off + n + 4; s.off < end; s.off++ {
				if s.data[s.off] == '\n' {
					s.line, s.bol = s.line+1, s.off+1
				}
			}
		default:
			return nil
		}
	}
	return nil
}

func (s *source) skipLine() {
	for s.off < len(s.data) && s.data[s.off] != '\n' {
		s.off++
	}
}

func (s *source) token(root bool) (token, error) {
	t := token{pos: s.pos(), root: root}
	start := s.off
	c := s.data[s.off]
	switch {
	case isLetter(c):
		t.kind = tokName
		for s.off < len(s.data) && (isLetter(s.data[s.off]) || isDigit(s.data[s.off])) {
			s.off++
		}
	case isDigit(c):
		t.kind = tokNumber
		for s.off < len(s.data) && (isLetter(s.data[s.off]) || isDigit(s.data[s.off])) {
			s.off++
		}
	case strings.IndexByte("{}()<>[]:;,=-", c) >= 0:
		t.kind = tokPunct
		s.off++
	default:
		return token{}, &Error{t.pos, fmt.Sprintf("unexpected character %q", rune(c))}
	}
	t.text = string(s.data[start:s.off])
	return t, nil
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// directive reads one line that starts with #.
func (l *lexer) directive(s *source) error {
	at := s.pos()
	start := s.off
	s.skipLine()
	line := string(s.data[start+1 : s.off])
	if i := strings.Index(line, "//"); i >= 0 {
		line = line[:i]
	}
	if i := strings.Index(line, "/*"); i >= 0 {
		if !strings.Contains(line[i:], "*/") {
			return &Error{at, "comment over several lines after a directive"}
		}
		line = line[:i]
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(line, "\t", " ")), " ")
	rest = strings.TrimSpace(rest)

	if word == "ifdef" || word == "ifndef" {
		if !isName(rest) {
			return &Error{at, fmt.Sprintf("#%s needs one name, has %q", word, rest)}
		}
		s.conds = append(s.conds, cond{pos: at, taken: l.defs[rest] == (word == "ifdef")})
		return nil
	}
	if word == "else" || word == "endif" {
		n := len(s.conds)
		if n == 0 {
			return &Error{at, fmt.Sprintf("#%s without #ifdef or #ifndef", word)}
		}
		if word == "endif" {
			s.conds = s.conds[:n-1]
			return nil
		}
		if s.conds[n-1].sawElse {
			return &Error{at, "second #else"}
		}
		s.conds[n-1].sawElse, s.conds[n-1].taken = true, !s.conds[n-1].taken
		return nil
	}
	if s.skipping() {
		return nil
	}
	switch word {
	case "define", "undef":
		name, value, _ := strings.Cut(rest, " ")
		if !isName(name) || strings.TrimSpace(value) != "" {
			return &Error{at, fmt.Sprintf("#%s takes one name and no value (use const), has %q", word, rest)}
		}
		l.defs[name] = word == "define"
	case "include":
		n := len(rest)
		if n < 3 || !(rest[0] == '"' && rest[n-1] == '"' || rest[0] == '<' && rest[n-1] == '>') {
			return &Error{at, fmt.Sprintf("#include needs \"file\" or <file>, has %q", rest)}
		}
		name := rest[1 : n-1]
		if filepath.Ext(name) != ".idl" {
			return &Error{at, fmt.Sprintf("#include of %q: only .idl files", name)}
		}
		if len(l.stack) == 1 {
			l.includes = append(l.includes, name)
		}
		return l.push(name, at)
	default:
		return &Error{at, fmt.Sprintf("unsupported directive #%s", word)}
	}
	return nil
}

func isName(s string) bool {
	if s == "" || isDigit(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}
