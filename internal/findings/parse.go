package findings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"hexab/internal/hexclang"
)

// maxBytes bounds the file.
const maxBytes = 1 << 20

// Error is one mistake in the file.
type Error struct {
	File    string
	Line    int
	Message string
}

// Error returns file:line: message.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message) }

// Parse reads the list. The error joins one *Error for each mistake; name is
// the file's name in them.
func Parse(name string, data []byte) (List, error) {
	p := &parser{file: name}
	var l List
	if root := p.document(data); root != nil {
		p.fields(root, "the list", map[string]read{
			"seed":     p.integer(&l.Seed),
			"slices":   list(p, &l.Slices, p.slice),
			"findings": list(p, &l.Findings, p.finding),
		})
		p.consistent(root, l)
	}
	return l, errors.Join(p.errors...)
}

type (
	parser struct {
		file   string
		errors []error
	}
	read func(*yaml.Node)
)

func (p *parser) fail(n *yaml.Node, format string, args ...any) {
	p.errors = append(p.errors, &Error{p.file, max(n.Line, 1), fmt.Sprintf(format, args...)})
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?((?s:.*))$`)

// document returns the root of the file's only document.
func (p *parser) document(data []byte) *yaml.Node {
	start := &yaml.Node{Line: 1}
	if len(data) > maxBytes {
		p.fail(start, "%d bytes are more than %d", len(data), maxBytes)
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			p.fail(start, "the file is empty")
		} else if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			start.Line, _ = strconv.Atoi(m[1])
			p.fail(start, "%s", m[2])
		} else {
			p.fail(start, "%v", err)
		}
		return nil
	}
	if err := decoder.Decode(&next); !errors.Is(err, io.EOF) {
		p.fail(&next, "there is more after the first document")
	}
	p.plain(&doc)
	return doc.Content[0]
}

// plain refuses anchors and aliases, with which a small file becomes a large one.
func (p *parser) plain(n *yaml.Node) {
	if n.Anchor != "" || n.Kind == yaml.AliasNode {
		p.fail(n, "anchors and aliases are not allowed")
		return
	}
	for _, c := range n.Content {
		p.plain(c)
	}
}

// fields reads a mapping that has all of the keys and no others, except that
// keys ending in ? may be missing.
func (p *parser) fields(n *yaml.Node, what string, known map[string]read) {
	if n.Kind != yaml.MappingNode {
		p.fail(n, "%s is not a mapping", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f := known[key.Value]
		if f == nil {
			f = known[key.Value+"?"]
		}
		switch {
		case f == nil:
			p.fail(key, "%s has no key %.60q", what, key.Value)
		case seen[key.Value]:
			p.fail(key, "%s is there twice", key.Value)
		default:
			f(value)
		}
		seen[key.Value] = true
	}
	missing := []string{}
	for key := range known {
		if !strings.HasSuffix(key, "?") && !seen[key] {
			missing = append(missing, key)
		}
	}
	slices.Sort(missing)
	for _, key := range missing {
		p.fail(n, "%s lacks %s", what, key)
	}
}

// list reads a sequence that is not empty.
func list[T any](p *parser, to *[]T, one func(*yaml.Node) T) read {
	return func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
			p.fail(n, "a list is wanted here, with one element at least")
			return
		}
		for _, c := range n.Content {
			*to = append(*to, one(c))
		}
	}
}

func (p *parser) text(to *string, form *regexp.Regexp) read {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || !form.MatchString(n.Value) {
			p.fail(n, "%.80q is not of the form %s", n.Value, form)
			return
		}
		*to = n.Value
	}
}

func (p *parser) integer(to *int64) read {
	return func(n *yaml.Node) {
		v, err := strconv.ParseInt(n.Value, 10, 64)
		if n.Kind != yaml.ScalarNode || err != nil || v < 0 || v > math.MaxInt32 {
			p.fail(n, "%.40q is not a whole number", n.Value)
			return
		}
		*to = v
	}
}

func (p *parser) yes(to *bool) read {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.Value != "true" && n.Value != "false" {
			p.fail(n, "%.40q is neither true nor false", n.Value)
		}
		*to = n.Value == "true"
	}
}

func (p *parser) archs(to *[]int) read {
	return list(p, to, func(n *yaml.Node) int {
		v, err := strconv.Atoi(n.Value)
		if err != nil || !slices.Contains(hexclang.Archs, v) {
			p.fail(n, "%.40q is not one of the architectures %v", n.Value, hexclang.Archs)
		}
		return v
	})
}

var (
	nameForm    = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	faultForm   = regexp.MustCompile(`^(upstream|model)$`)
	summaryForm = regexp.MustCompile(`^\S.{0,300}\.$`)
	placeForm   = regexp.MustCompile(`^[A-Za-z0-9_./-]+:[1-9][0-9]*$`)
	opForm      = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	paramsForm  = regexp.MustCompile(`^[a-zA-Z0-9_]+=[^()]*$`)
)

// pattern reads a regular expression that is to match the whole of a text.
func (p *parser) pattern(to **regexp.Regexp) read {
	return func(n *yaml.Node) {
		re, err := regexp.Compile("^(?:" + n.Value + ")$")
		if n.Kind != yaml.ScalarNode || n.Value == "" || err != nil {
			p.fail(n, "%.80q is not a regular expression: %v", n.Value, err)
			return
		}
		*to = re
	}
}

func (p *parser) slice(n *yaml.Node) (s Slice) {
	p.fields(n, "a slice", map[string]read{
		"op": p.text(&s.Op, opForm), "archs": p.archs(&s.Archs), "long?": p.yes(&s.Long),
		"params?": func(n *yaml.Node) {
			if _, err := regexp.Compile(n.Value); err != nil || n.Kind != yaml.ScalarNode || n.Value == "" {
				p.fail(n, "%.80q is not a regular expression: %v", n.Value, err)
			}
			s.Params = n.Value
		},
	})
	return s
}

func (p *parser) finding(n *yaml.Node) (f Finding) {
	var fault string
	p.fields(n, "a finding", map[string]read{
		"name": p.text(&f.Name, nameForm), "fault": p.text(&fault, faultForm), "summary": p.text(&f.Summary, summaryForm),
		"upstream": list(p, &f.Upstream, func(n *yaml.Node) (place string) { p.text(&place, placeForm)(n); return place }),
		"cases?":   list(p, &f.Cases, p.cases),
		"reports?": list(p, &f.Reports, p.report),
	})
	if n.Kind == yaml.MappingNode && len(f.Cases)+len(f.Reports) == 0 {
		p.fail(n, "a finding has neither cases nor reports")
	}
	f.Fault = Fault(fault)
	return f
}

func (p *parser) cases(n *yaml.Node) (c Cases) {
	var nodes []*yaml.Node
	p.fields(n, "cases", map[string]read{
		"archs": p.archs(&c.Archs), "op": p.text(&c.Op, opForm), "may_fail": p.pattern(&c.MayFail),
		"always_fail?": p.pattern(&c.AlwaysFail),
		"fails?": list(p, &c.Fails, func(n *yaml.Node) (params string) {
			nodes = append(nodes, n)
			p.text(&params, paramsForm)(n)
			return params
		}),
	})
	for i, params := range c.Fails {
		if c.MayFail != nil && params != "" && !c.MayFail.MatchString(params) {
			p.fail(nodes[i], "may_fail does not match %.200q", params)
		}
	}
	return c
}

func (p *parser) report(n *yaml.Node) (r Report) {
	p.fields(n, "a report", map[string]read{
		"archs": p.archs(&r.Archs), "op": p.text(&r.Op, opForm), "params?": p.pattern(&r.Params), "says": p.pattern(&r.Says),
	})
	return r
}

// consistent looks for what no part shows alone: names and cases that are
// there twice, and cases that no slice or more than one runs.
func (p *parser) consistent(root *yaml.Node, l List) {
	names, cases := map[string]bool{}, map[string]string{}
	for _, f := range l.Findings {
		if names[f.Name] {
			p.fail(root, "finding %s is there twice", f.Name)
		}
		names[f.Name] = true
		for _, c := range f.Cases {
			for _, params := range c.Fails {
				for _, arch := range c.Archs {
					key := fmt.Sprintf("v%d %s(%s)", arch, c.Op, params)
					if cases[key] != "" {
						p.fail(root, "%s is in %s and in %s", key, cases[key], f.Name)
					}
					cases[key] = f.Name
					if runs := l.runs(arch, c.Op, params); runs != 1 {
						p.fail(root, "%d slices run %s, want 1", runs, key)
					}
				}
			}
		}
	}
}

// runs counts the slices that run a case.
func (l List) runs(arch int, op, params string) (count int) {
	for _, s := range l.Slices {
		if s.Op != op || !s.Has(arch) {
			continue
		}
		if re, err := regexp.Compile(s.Params); err == nil && re.MatchString(params) {
			count++
		}
	}
	return count
}
