package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"hexab/internal/csource"
)

// field is one field of a structure of kernel parameters, and who uses it.
type field struct {
	name string
	line int
	// hostWrite and kernelRead are the first places found, empty for none;
	// kernelWrite is where the kernel sets the field itself.
	hostWrite, kernelRead, kernelWrite string
}

// kernelParams finds fields that only one side knows.
func kernelParams(t *tree) []Finding {
	var findings []Finding
	hostReach, kernelReach := t.sharedBy(func(s *source) bool { return !s.kernel() && !s.header() }), t.sharedBy((*source).kernel)
	for _, s := range t.files {
		for _, st := range s.structures {
			if !strings.HasPrefix(st.name, "htp_") || !strings.HasSuffix(st.name, "_kernel_params") {
				continue
			}
			fields := fieldsOf(st.body)
			t.uses(st.name, fields, hostReach, kernelReach)
			for _, f := range fields {
				if text := f.verdict(); text != "" {
					findings = append(findings, Finding{File: s.path, Line: f.line, Where: st.name, Subject: f.name, Text: st.name + "." + f.name + " is " + text})
				}
			}
		}
	}
	return findings
}

// verdict says what is wrong with a field; empty when nothing is.
func (f *field) verdict() string {
	switch {
	case f.hostWrite != "" && f.kernelRead == "":
		return "computed by the host (" + f.hostWrite + ") and never read by the kernel"
	case f.hostWrite == "" && f.kernelRead != "":
		return "read by the kernel (" + f.kernelRead + ") and never computed by the host"
	case f.hostWrite == "":
		return "neither computed by the host nor read by the kernel"
	}
	return ""
}

// fieldsOf lists the leaves of a structure, those of unions inside it too.
func fieldsOf(body []csource.Token) []*field {
	var fields []*field
	for _, statement := range splitAt(body, ";") {
		open := slices.IndexFunc(statement, func(t csource.Token) bool { return t.Is("{") })
		if open >= 0 {
			fields = append(fields, fieldsOf(statement[open+1:min(closing(statement, open), len(statement))])...)
			continue
		}
		for _, part := range splitAt(statement, ",") {
			for len(part) > 0 && part[len(part)-1].Is("]") {
				at := slices.IndexFunc(part, func(t csource.Token) bool { return t.Is("[") })
				part = part[:max(at, 0)]
			}
			if n := len(part); n > 0 && part[n-1].Kind == csource.Identifier {
				fields = append(fields, &field{name: part[n-1].Text, line: part[n-1].Line})
			}
		}
	}
	return fields
}

// sharedBy gives the functions of headers that the chosen files use, directly
// or through others.
func (t *tree) sharedBy(chosen func(*source) bool) map[*function]bool {
	var headers []*source
	for _, s := range t.files {
		if s.header() {
			headers = append(headers, s)
		}
	}
	all, made := index(headers...)
	used := map[*function]bool{}
	for _, s := range t.files {
		if chosen(s) {
			for _, f := range reach(&function{body: s.tokens}, all, made)[1:] {
				used[f] = true
			}
		}
	}
	return used
}

// uses records who writes and reads the fields of a structure.
func (t *tree) uses(name string, fields []*field, hostReach, kernelReach map[*function]bool) {
	for _, s := range t.files {
		members := map[string]bool{}
		for _, st := range s.structures {
			declared(st.body, name, members)
		}
		for _, f := range s.functions {
			names := map[string]bool{}
			declared(f.params, name, names)
			declared(f.body, name, names)
			host := !s.kernel() && !s.header() || s.header() && hostReach[f]
			kernel := s.kernel() || s.header() && kernelReach[f]
			for i := range f.body {
				if i+1 < len(f.body) && (f.body[i].Is("->") || f.body[i].Is(".")) && refers(f.body, i, names, members) {
					record(f, i+1, fields, host, kernel)
				}
			}
		}
	}
}

// declared adds the variables that are declared with a structure's type.
func declared(tokens []csource.Token, name string, into map[string]bool) {
	for i, t := range tokens {
		if !t.Is(name) {
			continue
		}
		for i++; i < len(tokens) && (tokens[i].Is("*") || tokens[i].Is("&") || tokens[i].Is("const") || tokens[i].Is("restrict")); i++ {
		}
		if i < len(tokens) && tokens[i].Kind == csource.Identifier {
			into[tokens[i].Text] = true
		}
	}
}

// refers tells whether the chain of fields that ends at the arrow or dot at i
// begins with, or goes through, a variable of the structure's type.
func refers(body []csource.Token, i int, names, members map[string]bool) bool {
	for at := i - 1; at >= 0 && body[at].Kind == csource.Identifier; at -= 2 {
		inChain := at > 0 && (body[at-1].Is("->") || body[at-1].Is("."))
		if inChain && members[body[at].Text] || !inChain && names[body[at].Text] {
			return true
		}
		if !inChain {
			return false
		}
	}
	return false
}

// record notes the use of the field named at i.
func record(f *function, i int, fields []*field, host, kernel bool) {
	at := slices.IndexFunc(fields, func(x *field) bool { return x.name == f.body[i].Text })
	if at < 0 {
		return
	}
	x, place := fields[at], fmt.Sprintf("%s:%d", path.Base(f.file.path), f.body[i].Line)
	var next csource.Token
	after := i + 1
	for after < len(f.body) && f.body[after].Is("[") {
		after = closing(f.body, after) + 1
	}
	if after < len(f.body) {
		next = f.body[after]
	}
	address := addressed(f.body, i)
	assigned := next.Is("=")
	changed := next.Kind == csource.Punctuation && strings.HasSuffix(next.Text, "=") && !slices.Contains([]string{"=", "==", "!=", "<=", ">="}, next.Text) || next.Is("++") || next.Is("--")
	if (assigned || changed || address) && host && x.hostWrite == "" {
		x.hostWrite = place
	}
	if (assigned || changed) && kernel && x.kernelWrite == "" {
		x.kernelWrite = place
	}
	if !assigned && kernel && x.kernelRead == "" {
		x.kernelRead = place
	}
}

// addressed tells whether the address of the field named at i is taken.
func addressed(body []csource.Token, i int) bool {
	first := i
	for first >= 2 && (body[first-1].Is("->") || body[first-1].Is(".")) {
		first -= 2
	}
	return first > 0 && body[first-1].Is("&") && (first < 2 || body[first-2].Kind == csource.Punctuation && !body[first-2].Is(")"))
}
