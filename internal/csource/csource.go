// Package csource splits C and C++ sources into tokens with their places. It
// knows comments, literals, preprocessor lines and line splices; it neither
// preprocesses nor parses, which is what checks on sources need: they look at
// what is written, not at what one configuration makes of it.
package csource

import (
	"bytes"
	"sort"
)

// Kind is what a token is.
type Kind uint8

// The kinds. A byte that starts no token, such as a stray quote, is Other.
const (
	Identifier Kind = iota
	Number
	String
	Char
	Punctuation
	Comment
	Other
)

// Token is one token. Its text has the line splices taken out.
type Token struct {
	Kind Kind
	Text string
	// Start and End are byte offsets in the source as it was given.
	Start, End int
	// Line is the 1-based line of Start.
	Line int
	// Directive is set for tokens of a preprocessor line.
	Directive bool
	// Opens is set for the # that begins a preprocessor line.
	Opens bool
}

// Is tells whether the token is this very punctuation or word.
func (t Token) Is(text string) bool {
	return t.Text == text && (t.Kind == Punctuation || t.Kind == Identifier)
}

// Lex splits a source. Any bytes are accepted; an unterminated literal ends at
// its line's end, an unterminated comment at the source's end.
func Lex(source []byte) []Token {
	l := lexer{lines: lineStarts(source), freshLine: true}
	l.text, l.place = splice(source)
	for l.at < len(l.text) {
		l.next()
	}
	return l.tokens
}

// Code is the tokens without the comments.
func Code(tokens []Token) []Token {
	code := make([]Token, 0, len(tokens))
	for _, t := range tokens {
		if t.Kind != Comment {
			code = append(code, t)
		}
	}
	return code
}

type lexer struct {
	text  []byte // without splices
	place []int  // offset of each byte of text in the source, and of its end
	lines []int
	at    int

	tokens               []Token
	freshLine, directive bool
}

// splice takes out each backslash before a line's end, with blanks between the
// two, as compilers do.
func splice(source []byte) ([]byte, []int) {
	text, place := make([]byte, 0, len(source)), make([]int, 0, len(source)+1)
	for i := 0; i < len(source); i++ {
		if source[i] == '\\' {
			end := i + 1
			for end < len(source) && (source[end] == ' ' || source[end] == '\t' || source[end] == '\r') {
				end++
			}
			if end < len(source) && source[end] == '\n' {
				i = end
				continue
			}
		}
		text, place = append(text, source[i]), append(place, i)
	}
	return text, append(place, len(source))
}

func lineStarts(source []byte) []int {
	starts := []int{0}
	for i, b := range source {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func (l *lexer) next() {
	switch b := l.text[l.at]; {
	case b == '\n':
		l.freshLine, l.directive = true, false
		l.at++
		return
	case b == ' ' || b == '\t' || b == '\r' || b == '\f' || b == '\v':
		l.at++
		return
	case b == '#' && l.freshLine:
		l.directive = true
		l.emit(Punctuation, 1)
		l.tokens[len(l.tokens)-1].Opens = true
	case b == '/' && l.peek(1) == '/':
		l.emit(Comment, l.until(2, "\n"))
		return
	case b == '/' && l.peek(1) == '*':
		fresh := l.freshLine
		n := l.until(2, "*/")
		if l.at+n < len(l.text) {
			n += 2
		}
		l.emit(Comment, n)
		l.freshLine = fresh
		return
	case letter(b):
		l.word()
	case digit(b) || (b == '.' && digit(l.peek(1))):
		l.emit(Number, l.number())
	case b == '"' || b == '\'':
		l.literal(0)
	default:
		l.emit(l.punctuation())
	}
	l.freshLine = false
}

func (l *lexer) emit(kind Kind, n int) {
	n = min(max(n, 1), len(l.text)-l.at)
	start := l.place[l.at]
	l.tokens = append(l.tokens, Token{
		Kind: kind, Text: string(l.text[l.at : l.at+n]), Start: start, End: l.place[l.at+n-1] + 1,
		Line: sort.SearchInts(l.lines, start+1), Directive: l.directive,
	})
	l.at += n
}

func (l *lexer) peek(n int) byte {
	if l.at+n < len(l.text) {
		return l.text[l.at+n]
	}
	return 0
}

// until counts the bytes up to the given end, not including it.
func (l *lexer) until(from int, end string) int {
	if from := l.at + from; from <= len(l.text) {
		if n := bytes.Index(l.text[from:], []byte(end)); n >= 0 {
			return from + n - l.at
		}
	}
	return len(l.text) - l.at
}

// word is an identifier, or the prefix of a literal.
func (l *lexer) word() {
	n := 1
	for letter(l.peek(n)) || digit(l.peek(n)) {
		n++
	}
	switch prefix := string(l.text[l.at : l.at+n]); prefix {
	case "L", "u", "U", "u8":
		if quote := l.peek(n); quote == '"' || quote == '\'' {
			l.literal(n)
			return
		}
	case "R", "LR", "uR", "UR", "u8R":
		if l.peek(n) == '"' && l.raw(n) {
			return
		}
	}
	l.emit(Identifier, n)
}

func (l *lexer) literal(prefix int) {
	quote := l.peek(prefix)
	kind := String
	if quote == '\'' {
		kind = Char
	}
	for n := prefix + 1; l.at+n < len(l.text); n++ {
		switch l.peek(n) {
		case '\\':
			n++
		case quote:
			l.emit(kind, n+1)
			return
		case '\n':
			l.emit(Other, n)
			return
		}
	}
	l.emit(Other, len(l.text)-l.at)
}

// raw is a C++ raw string; false when its opening is malformed.
func (l *lexer) raw(prefix int) bool {
	open := l.until(prefix+1, "(")
	if open-prefix-1 > 16 || l.at+open >= len(l.text) {
		return false
	}
	end := ")" + string(l.text[l.at+prefix+1:l.at+open]) + `"`
	n := l.until(open+1, end)
	if l.at+n < len(l.text) {
		n += len(end)
	}
	l.emit(String, n)
	return true
}

// number is a preprocessing number: 1e+5, 0x1p-3, 1'000, 2.f.
func (l *lexer) number() int {
	n := 1
	for {
		b, before := l.peek(n), l.peek(n-1)
		switch {
		case letter(b) || digit(b) || b == '.':
		case b == '\'' && (letter(l.peek(n+1)) || digit(l.peek(n+1))):
		case (b == '+' || b == '-') && (before|0x20 == 'e' || before|0x20 == 'p') && !(before|0x20 == 'e' && l.peek(1)|0x20 == 'x'):
		default:
			return n
		}
		n++
	}
}

var operators = []string{
	"<<=", ">>=", "...", "->*", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", "::",
}

func (l *lexer) punctuation() (Kind, int) {
	rest := l.text[l.at:min(l.at+3, len(l.text))]
	for _, operator := range operators {
		if len(rest) >= len(operator) && string(rest[:len(operator)]) == operator {
			return Punctuation, len(operator)
		}
	}
	if rest[0] > ' ' && rest[0] < 0x7f && rest[0] != '\\' && rest[0] != '`' && rest[0] != '@' {
		return Punctuation, 1
	}
	return Other, 1
}

func letter(b byte) bool {
	return b == '_' || b == '$' || (b|0x20 >= 'a' && b|0x20 <= 'z') || b >= 0x80
}

func digit(b byte) bool { return b >= '0' && b <= '9' }
