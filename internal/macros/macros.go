// Package macros finds and mends multi-line macros whose trailing backslashes
// are not in one column. It moves blanks before and after backslashes and
// nothing else: line ends, encodings, tabs inside lines and every token stay.
package macros

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"hexab/internal/csource"
)

// Mode chooses the column of a mended macro's backslashes.
type Mode string

// The modes: the least column that leaves a blank after the longest line, the
// greatest column in use, or the one most lines use. The last two give way to
// the least column where a line is too long for them.
const (
	Least    Mode = "min"
	Greatest Mode = "max"
	Majority Mode = "majority"
)

// TabWidth is the distance of tab stops in which columns are counted.
const TabWidth = 8

// MaxColumn bounds the column of backslashes. Macros that would need more are
// left alone: they are tables or data.
const MaxColumn = 1000

// Finding is one macro whose backslashes are not aligned.
type Finding struct {
	// Name is the macro's, Line and End its first and last line.
	Name      string
	Line, End int
	// Columns counts the lines by their backslash's column, from 1.
	Columns map[int]int
	// Trailing lists the lines with blanks after the backslash.
	Trailing []int
	// Target is the column the backslashes belong in.
	Target int
}

// String describes the finding in one line without a file name.
func (f Finding) String() string {
	var columns []string
	for _, column := range slices.Sorted(maps.Keys(f.Columns)) {
		columns = append(columns, fmt.Sprintf("%d (%d)", column, f.Columns[column]))
	}
	text := fmt.Sprintf("%s: backslashes in columns %s", f.Name, strings.Join(columns, ", "))
	if len(columns) == 1 {
		text = f.Name + ": backslashes aligned"
	}
	if f.Trailing != nil {
		text += fmt.Sprintf("; blanks after the backslash in line %s", strings.Trim(fmt.Sprint(f.Trailing), "[]"))
	}
	return text + fmt.Sprintf("; belong in column %d", f.Target)
}

// Count is the number of multi-line macros in a source.
func Count(source []byte) int { return len(find(source)) }

// Align mends a source and tells what it mended. An aligned macro is left as
// it is, so mending twice changes nothing more. It refuses, with an error, to
// return anything that has other tokens than the source.
func Align(source []byte, mode Mode) ([]byte, []Finding, error) {
	if !slices.Contains([]Mode{Least, Greatest, Majority}, mode) {
		return nil, nil, fmt.Errorf("mode %q is none of min, max, majority", mode)
	}
	var findings []Finding
	out := make([]byte, 0, len(source))
	at := 0
	for _, m := range find(source) {
		finding, off := m.judge(mode)
		if !off {
			continue
		}
		findings = append(findings, finding)
		for _, l := range m.lines {
			if l.backslash < 0 || l.fixed {
				continue
			}
			out = append(out, source[at:l.contentEnd]...)
			out = append(out, bytes.Repeat([]byte{' '}, finding.Target-1-l.width)...)
			out = append(out, '\\')
			at = l.end
		}
	}
	out = append(out, source[at:]...)
	if err := sameTokens(source, out); err != nil {
		return nil, findings, err
	}
	return out, findings, nil
}

// macro is a definition of several lines.
type macro struct {
	name  string
	first int // line number
	lines []line
}

// line is one line of a macro, by offsets in the source.
type line struct {
	start int
	// contentEnd is behind the last byte that is no blank before the
	// backslash, backslash its offset or -1, end behind the blanks after it:
	// where the line's end begins.
	contentEnd, backslash, end int
	// width is the content's in columns, column the backslash's, from 1.
	width, column int
	// fixed is set where the backslash splits a literal, whose blanks count.
	fixed bool
}

// judge tells whether a macro needs mending, and to which column.
func (m macro) judge(mode Mode) (Finding, bool) {
	f := Finding{Name: m.name, Line: m.first, End: m.first + len(m.lines) - 1, Columns: map[int]int{}}
	longest := 0
	for i, l := range m.lines {
		longest = max(longest, l.width)
		if l.backslash < 0 || l.fixed {
			continue
		}
		f.Columns[l.column]++
		if l.end > l.backslash+1 {
			f.Trailing = append(f.Trailing, m.first+i)
		}
	}
	f.Target = max(longest+2, wanted(f.Columns, mode))
	return f, (len(f.Columns) > 1 || f.Trailing != nil) && f.Target <= MaxColumn
}

func wanted(columns map[int]int, mode Mode) int {
	column := 0
	for _, c := range slices.Sorted(maps.Keys(columns)) {
		switch {
		case mode == Greatest, mode == Majority && columns[c] >= columns[column]:
			column = c
		}
	}
	return column
}

// find gives the multi-line macros of a source.
func find(source []byte) []macro {
	tokens := csource.Lex(source)
	var found []macro
	for i := 0; i+2 < len(tokens); i++ {
		if !tokens[i].Opens || !tokens[i+1].Is("define") || !tokens[i+2].Directive {
			continue
		}
		m := macro{name: tokens[i+2].Text, first: tokens[i].Line}
		start := bytes.LastIndexByte(source[:tokens[i].Start], '\n') + 1
		for {
			l := split(source, start)
			m.lines = append(m.lines, l)
			next := bytes.IndexByte(source[start:], '\n')
			if l.backslash < 0 || next < 0 {
				break
			}
			start += next + 1
		}
		if len(m.lines) > 1 {
			m.fixLiterals(tokens[i:])
			found = append(found, m)
		}
	}
	return found
}

// fixLiterals marks the lines whose backslash stands inside a token.
func (m macro) fixLiterals(tokens []csource.Token) {
	at := 0
	for i := range m.lines {
		l := &m.lines[i]
		for at < len(tokens) && tokens[at].End <= l.backslash {
			at++
		}
		if at < len(tokens) && l.backslash >= 0 {
			t := tokens[at]
			l.fixed = t.Start < l.backslash && t.Kind != csource.Comment
		}
		if at > 0 && at <= len(tokens) && openLiteral(tokens[at-1]) {
			l.fixed = true // it takes in every blank up to the line's end
		}
	}
}

// openLiteral tells whether a literal has no closing quote.
func openLiteral(t csource.Token) bool {
	return t.Kind == csource.Other && strings.ContainsAny(t.Text, "\"'")
}

// split reads the line that starts at an offset.
func split(source []byte, start int) line {
	end := len(source)
	if n := bytes.IndexByte(source[start:], '\n'); n >= 0 {
		end = start + n
	}
	l := line{start: start, end: end, backslash: -1}
	for l.end > start && source[l.end-1] == '\r' {
		l.end--
	}
	at := l.end
	for at > start && blank(source[at-1]) {
		at--
	}
	l.contentEnd = at
	if at > start && source[at-1] == '\\' && end < len(source) {
		l.backslash = at - 1
		l.column = width(source[start:l.backslash]) + 1
		for at--; at > start && blank(source[at-1]); at-- {
		}
		l.contentEnd = at
	}
	l.width = width(source[start:l.contentEnd])
	return l
}

func blank(b byte) bool { return b == ' ' || b == '\t' }

// width is the number of columns that a text takes from the line's start: tabs
// reach to the next stop, everything else takes one each. Invalid UTF-8 counts
// by bytes.
func width(text []byte) int {
	columns := 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if r == '\t' {
			columns += TabWidth - columns%TabWidth
		} else {
			columns++
		}
	}
	return columns
}

// sameTokens tells where two sources differ in what a compiler sees.
func sameTokens(before, after []byte) error {
	a, b := csource.Code(csource.Lex(before)), csource.Code(csource.Lex(after))
	for i := range min(len(a), len(b)) {
		if a[i].Text != b[i].Text || a[i].Kind != b[i].Kind || a[i].Line != b[i].Line {
			return fmt.Errorf("line %d: mending would change %q to %q", a[i].Line, a[i].Text, b[i].Text)
		}
	}
	if len(a) != len(b) {
		return fmt.Errorf("mending would leave %d tokens of %d", len(b), len(a))
	}
	return nil
}
