package lint

import (
	"regexp"
	"slices"
	"strings"

	"hexab/internal/csource"
)

// source is one file cut into functions and structures.
type source struct {
	path       string
	tokens     []csource.Token // without comments
	functions  []*function
	structures []*structure
}

// function is a definition, or the part of a macro that makes one.
type function struct {
	file *source
	// name is as written; in a macro it may hold ##, and then pattern matches
	// what it makes.
	name    string
	pattern *regexp.Regexp
	line    int
	params  []csource.Token
	body    []csource.Token
	// macro is set for what a macro's text defines.
	macro, static bool
}

// structure is a struct's definition.
type structure struct {
	file *source
	name string
	line int
	body []csource.Token
}

func parse(f File) *source {
	s := &source{path: f.Path, tokens: csource.Code(csource.Lex(f.Text))}
	var plain []csource.Token
	for i := 0; i < len(s.tokens); {
		if !s.tokens[i].Opens {
			plain = append(plain, s.tokens[i])
			i++
			continue
		}
		end := i + 1
		for end < len(s.tokens) && s.tokens[end].Directive && !s.tokens[end].Opens {
			end++
		}
		if i+2 < end && s.tokens[i+1].Is("define") {
			s.macro(s.tokens[i+2 : end])
		}
		i = end
	}
	s.scan(plain, false)
	return s
}

// macro takes the functions out of a macro's text, or the whole text as one
// when it defines none.
func (s *source) macro(text []csource.Token) {
	before := len(s.functions)
	body := text[1:]
	if len(body) > 0 && body[0].Is("(") && body[0].Start == text[0].End {
		body = body[min(closing(body, 0)+1, len(body)):]
	}
	s.scan(body, true)
	if len(s.functions) == before && len(body) > 0 {
		s.functions = append(s.functions, &function{file: s, name: text[0].Text, line: text[0].Line, body: body, macro: true})
	}
}

// scan finds definitions at the outermost level; it looks into namespaces,
// structures and blocks of linkage.
func (s *source) scan(tokens []csource.Token, macro bool) {
	start := 0
	for i := 0; i < len(tokens); i++ {
		switch t := tokens[i]; {
		case t.Is(";"), t.Is("}"):
			start = i + 1
		case t.Is("("), t.Is("["):
			i = closing(tokens, i)
		case t.Is("{"):
			head := tokens[start:i]
			end := closing(tokens, i)
			switch {
			case s.define(head, tokens[i:min(end+1, len(tokens))], macro):
			case transparent(head):
				s.structure(head, tokens[i+1:min(end, len(tokens))])
				start = i + 1
				continue
			}
			i, start = end, end+1
		}
	}
}

// define records a function when the tokens before a brace are the head of
// one.
func (s *source) define(head, body []csource.Token, macro bool) bool {
	if mentions(head, "=") || len(body) < 2 {
		return false
	}
	i, end := signature(head)
	if i < 0 {
		return false
	}
	f := &function{file: s, line: head[i-1].Line, params: head[i+1 : end], body: body[1 : len(body)-1], macro: macro, static: mentions(head, "static")}
	from := i - 1
	for from >= 2 && head[from-1].Is("##") {
		from -= 2
	}
	for _, t := range head[from:i] {
		f.name += t.Text
	}
	if strings.Contains(f.name, "##") {
		f.pattern = madeNames(head[from:i])
	}
	s.functions = append(s.functions, f)
	return true
}

// signature finds the parentheses of a function's parameters in the tokens
// before its body: the last ones, unless an initialiser list follows. Uses of
// macros without a semicolon may stand before them.
func signature(head []csource.Token) (open, end int) {
	open = -1
	for i := 1; i < len(head); i++ {
		if !head[i].Is("(") {
			continue
		}
		shut := closing(head, i)
		if shut >= len(head) {
			return -1, -1
		}
		if head[i-1].Kind == csource.Identifier && !slices.Contains(noNames, head[i-1].Text) {
			open, end = i, shut
			if shut+1 < len(head) && head[shut+1].Is(":") {
				break
			}
		}
		i = shut
	}
	return open, end
}

// noNames are words before a parenthesis that name no function.
var noNames = []string{"__attribute__", "static_assert", "_Static_assert", "if", "for", "while", "switch", "sizeof", "alignas", "decltype", "return", "catch"}

// madeNames matches the names that a pasted name can become: its literal parts
// are kept, single words between ## may be parameters.
func madeNames(tokens []csource.Token) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	for _, t := range tokens {
		switch {
		case t.Is("##"):
		case strings.Contains(t.Text, "_") && len(t.Text) > 4:
			b.WriteString(regexp.QuoteMeta(strings.ToValidUTF8(t.Text, "\uFFFD"))) // a pattern has no other bytes
		default:
			b.WriteString(`\w+`)
		}
	}
	b.WriteString("$")
	return regexp.MustCompile(b.String())
}

func transparent(head []csource.Token) bool {
	return slices.ContainsFunc(head, func(t csource.Token) bool {
		return t.Is("struct") || t.Is("class") || t.Is("union") || t.Is("namespace") || t.Is("extern")
	}) && !mentions(head, "=")
}

func (s *source) structure(head, body []csource.Token) {
	for i := 0; i+1 < len(head); i++ {
		if head[i].Is("struct") && head[i+1].Kind == csource.Identifier {
			s.structures = append(s.structures, &structure{file: s, name: head[i+1].Text, line: head[i+1].Line, body: body})
			return
		}
	}
}

// closing is the index of the bracket that closes the one at i, or the number
// of tokens when there is none.
func closing(tokens []csource.Token, i int) int {
	pairs := map[string]string{"(": ")", "{": "}", "[": "]"}
	open, shut := tokens[i].Text, pairs[tokens[i].Text]
	depth := 0
	for ; i < len(tokens); i++ {
		if tokens[i].Kind != csource.Punctuation {
			continue
		}
		switch tokens[i].Text {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(tokens)
}

// arguments are what stands between a parenthesis and the one that closes it, by
// commas; none for a call of nothing.
func arguments(tokens []csource.Token, open int) [][]csource.Token {
	return splitAt(tokens[open+1:min(closing(tokens, open), len(tokens))], ",")
}

// splitAt cuts tokens at a separator outside brackets.
func splitAt(tokens []csource.Token, separator string) [][]csource.Token {
	var parts [][]csource.Token
	start := 0
	for i := 0; i < len(tokens); i++ {
		switch t := tokens[i]; {
		case t.Is("("), t.Is("{"), t.Is("["):
			i = min(closing(tokens, i), len(tokens)-1)
		case t.Is(separator):
			parts = append(parts, tokens[start:i])
			start = i + 1
		}
	}
	if start < len(tokens) || parts != nil {
		parts = append(parts, tokens[start:])
	}
	return parts
}

// reach gives a function and all that it calls or names, directly or not,
// among the given ones.
func reach(from *function, all map[string][]*function, made []*function) []*function {
	seen := map[*function]bool{from: true}
	list := []*function{from}
	for i := 0; i < len(list); i++ {
		for _, t := range list[i].body {
			if t.Kind != csource.Identifier {
				continue
			}
			called := all[t.Text]
			if called == nil {
				for _, m := range made {
					if m.pattern != nil && m.pattern.MatchString(t.Text) {
						called = append(called, m)
					}
				}
			}
			for _, f := range called {
				if !seen[f] {
					seen[f] = true
					list = append(list, f)
				}
			}
		}
	}
	return list
}

// index gives the functions of files by name, and those whose names a macro
// pastes.
func index(files ...*source) (all map[string][]*function, made []*function) {
	all = map[string][]*function{}
	for _, s := range files {
		for _, f := range s.functions {
			if strings.Contains(f.name, "##") {
				made = append(made, f)
			} else {
				all[f.name] = append(all[f.name], f)
			}
		}
	}
	return all, made
}
