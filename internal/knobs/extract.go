// Package knobs knows the environment variables of llama.cpp's Hexagon
// backend: what each means, what it takes, what holds without it. The table is
// kept true by extracting the same from the sources.
package knobs

import (
	"slices"
	"strconv"
	"strings"

	"hexab/internal/csource"
)

// Read is one place where a source reads a variable of the backend.
type Read struct {
	// Variable is the name, Line where it is read.
	Variable string
	Line     int
	// Local is the variable that receives the text, Option the option that is
	// set from it; empty when there is none.
	Local, Option string
	// Initial is the option's initialiser; Assigned are all assignments to
	// it, in the order of the source. Both as single-spaced source text.
	Initial  string
	Assigned []string
}

// Extract finds the variables that a C++ source reads by getenv, sorted by
// name.
func Extract(source []byte) []Read {
	tokens := csource.Code(csource.Lex(source))
	statements := split(tokens)
	var reads []Read
	for i := range tokens {
		name, ok := getenv(tokens[i:])
		if !ok {
			continue
		}
		read := Read{Variable: name, Line: tokens[i].Line}
		if i >= 2 && tokens[i-1].Is("=") && tokens[i-2].Kind == csource.Identifier {
			read.Local = tokens[i-2].Text
			read.Option = option(statements, read.Local)
		}
		if read.Option != "" {
			read.Initial, read.Assigned = assignments(statements, read.Option)
		}
		reads = append(reads, read)
	}
	slices.SortFunc(reads, func(a, b Read) int { return strings.Compare(a.Variable, b.Variable) })
	return reads
}

// Mentions lists the names with the backend's prefix that a text holds outside
// of the ones read, whether code, script or page. The caller knows which of
// them are variables.
func Mentions(text string) []string {
	var names []string
	for rest := text; ; {
		at := strings.Index(rest, Prefix)
		if at < 0 {
			slices.Sort(names)
			return slices.Compact(names)
		}
		end := at + len(Prefix)
		for end < len(rest) && (rest[end] == '_' || rest[end] >= 'A' && rest[end] <= 'Z' || rest[end] >= '0' && rest[end] <= '9') {
			end++
		}
		names = append(names, strings.TrimRight(rest[at:end], "_"))
		rest = rest[end:]
	}
}

// getenv is the variable's name when the tokens begin with a call that reads
// one of the backend's.
func getenv(tokens []csource.Token) (string, bool) {
	if len(tokens) < 4 || !tokens[0].Is("getenv") || !tokens[1].Is("(") || tokens[2].Kind != csource.String || !tokens[3].Is(")") {
		return "", false
	}
	name, err := strconv.Unquote(tokens[2].Text)
	return name, err == nil && strings.HasPrefix(name, Prefix)
}

// split cuts the tokens at semicolons, braces, labels of cases and directives.
func split(tokens []csource.Token) [][]csource.Token {
	var statements [][]csource.Token
	from, questions := 0, 0
	cut := func(to int) {
		if to > from {
			statements = append(statements, tokens[from:to])
		}
		questions = 0
	}
	for i, t := range tokens {
		switch {
		case t.Directive:
			cut(i)
			from = i + 1
		case t.Is("?"):
			questions++
		case t.Is(":") && questions > 0:
			questions--
		case t.Is(";"), t.Is("{"), t.Is("}"), t.Is(":"):
			cut(i)
			from = i + 1
		}
	}
	cut(len(tokens))
	return statements
}

// option is the left side of the assignment that uses the local, when it is no
// local text itself.
func option(statements [][]csource.Token, local string) string {
	for _, s := range statements {
		if name, value, ok := assignment(s); ok && strings.HasPrefix(name, "opt_") {
			for _, t := range value {
				if t.Is(local) {
					return name
				}
			}
		}
	}
	return ""
}

// assignments gives an option's initialiser and what is assigned to it later.
func assignments(statements [][]csource.Token, option string) (initial string, assigned []string) {
	for _, s := range statements {
		if name, value, ok := assignment(s); ok && name == option {
			assigned = append(assigned, name+" = "+spaced(value))
			continue
		}
		if at := slices.IndexFunc(s, func(t csource.Token) bool { return t.Is("=") }); at > 1 && s[0].Is("static") && s[at-1].Is(option) {
			initial = spaced(s[at+1:])
		}
	}
	return initial, assigned
}

// assignment splits "name = value".
func assignment(s []csource.Token) (string, []csource.Token, bool) {
	if len(s) < 3 || s[0].Kind != csource.Identifier || !s[1].Is("=") {
		return "", nil, false
	}
	return s[0].Text, s[2:], true
}

// spaced writes tokens as one line: blanks around operators, none inside
// calls' parentheses.
func spaced(tokens []csource.Token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && !glued(tokens, i) {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return b.String()
}

// glued tells whether token i follows the one before it without a blank.
func glued(tokens []csource.Token, i int) bool {
	before, t := tokens[i-1], tokens[i]
	switch {
	case before.Is("("), before.Is("["), before.Is("::"), before.Is("!"), before.Is("->"), before.Is("."):
		return true
	case t.Is(")"), t.Is("]"), t.Is("["), t.Is(","), t.Is("::"), t.Is("->"), t.Is("."):
		return true
	}
	return t.Is("(") && before.Kind == csource.Identifier
}

// Drift tells where the table no longer says what the sources do, one line for
// each difference.
func Drift(reads []Read) []string {
	var drift []string
	seen := map[string]bool{}
	for _, read := range reads {
		seen[read.Variable] = true
		v, known := Find(read.Variable)
		if !known {
			drift = append(drift, read.Variable+" is read in line "+strconv.Itoa(read.Line)+" and is not in the table")
			continue
		}
		if read.Initial != v.Initial {
			drift = append(drift, v.Name+": "+read.Option+" starts as "+strconv.Quote(read.Initial)+", the table has "+strconv.Quote(v.Initial))
		}
		if !slices.Equal(read.Assigned, v.Assigned) {
			drift = append(drift, v.Name+": the sources have "+strconv.Quote(strings.Join(read.Assigned, "; "))+", the table "+strconv.Quote(strings.Join(v.Assigned, "; ")))
		}
	}
	for _, v := range Table {
		if !seen[v.Name] {
			drift = append(drift, v.Name+" is in the table and is not read")
		}
	}
	return drift
}
