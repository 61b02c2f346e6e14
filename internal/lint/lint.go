// Package lint holds the sources of llama.cpp's Hexagon backend against the
// rules of its developer guide (docs/backend/snapdragon/developer.md) that a
// reader of tokens can decide. It does not preprocess: a rule speaks of what
// is written, in all configurations.
package lint

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"hexab/internal/csource"
)

// Rule is one rule of the guide.
type Rule struct {
	// Name identifies the rule, Section is the guide's heading, Asks says what
	// it asks for.
	Name, Section, Asks string
	check               func(*tree) []Finding
}

// Rules are all rules, in the order of the guide.
var Rules = []Rule{
	{"kernel-params", "Host-Side Precomputation via kernel_params", "what the host computes is read by the kernel, and what the kernel reads is computed by the host", kernelParams},
	{"trace", "Tracing Instrumentation", "every worker of an operation traces its compute section, and every event that starts also stops", traces},
	{"null-check", "Avoid Redundant Defensive NULL Checks", "ctx, octx, kparams and a worker's data are never checked: they are invariants", nullChecks},
	{"supports-op", "supports_op Independence from Buffer and Repack State", "supports_op looks at types, shapes, strides and parameters, never at buffers or data", supportsOp},
	{"partition", "Partitioning Helpers in htp-tensor.h", "an operation that may run on several devices divides its rows by htp_tensor_mdev_partition", partitions},
	{"flatten", "Flatten Outer Dimensions Globally", "rows are divided over all outer dimensions together, never over ne01 alone", flattened},
	{"slice-state", "Stateless Starting Coordinates", "a worker computes its starting coordinates from its first row; it does not count from 0", sliceState},
	{"mdev-prefix", "Clean Range Encapsulation", "workers and their contexts know nothing of devices: no mdev_ in their fields and parameters", mdevPrefix},
}

// Finding is one place that breaks a rule.
type Finding struct {
	Rule string
	// File is the path as it was given, Line where to look.
	File string
	Line int
	// Where is the function or structure, Subject what in it breaks the rule;
	// with rule and file name they identify the finding across line changes.
	Where, Subject string
	// Text says what is wrong.
	Text string
}

// Key identifies the finding in a baseline.
func (f Finding) Key() string {
	return strings.Join([]string{f.Rule, path.Base(f.File), f.Where, f.Subject}, " ")
}

func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s [%s]", f.File, f.Line, f.Rule, f.Text, f.section())
}

func (f Finding) section() string {
	for _, r := range Rules {
		if r.Name == f.Rule {
			return r.Section
		}
	}
	return ""
}

// File is one source handed in.
type File struct {
	Path string
	Text []byte
}

// Check applies the rules to a set of sources, which is seen as one backend.
// Findings are sorted by file and line.
func Check(files []File) []Finding {
	t := &tree{}
	for _, f := range files {
		t.files = append(t.files, parse(f))
	}
	var findings []Finding
	for _, r := range Rules {
		for _, f := range r.check(t) {
			f.Rule = r.Name
			findings = append(findings, f)
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Key(), b.Key()))
	})
	return slices.CompactFunc(findings, func(a, b Finding) bool { return a == b })
}

// Baseline is a set of known findings.
type Baseline map[string]int // key to line of the baseline's file

// ParseBaseline reads a baseline: one finding's key on each line, blank lines
// and lines that begin with # left out.
func ParseBaseline(name string, text []byte) (Baseline, error) {
	b := Baseline{}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rule, _, _ := strings.Cut(line, " ")
		if !slices.ContainsFunc(Rules, func(r Rule) bool { return r.Name == rule }) || len(strings.Fields(line)) != 4 {
			return nil, fmt.Errorf("%s:%d: %q is not of the form RULE FILE FUNCTION SUBJECT", name, i+1, line)
		}
		b[line] = i + 1
	}
	return b, nil
}

// Split parts the findings that a baseline does not know from those it does,
// and lists what it knows and is no longer found.
func (b Baseline) Split(findings []Finding) (fresh, known []Finding, gone []string) {
	seen := map[string]bool{}
	for _, f := range findings {
		if _, ok := b[f.Key()]; ok {
			known = append(known, f)
			seen[f.Key()] = true
		} else {
			fresh = append(fresh, f)
		}
	}
	for key := range b {
		if !seen[key] {
			gone = append(gone, key)
		}
	}
	slices.Sort(gone)
	return fresh, known, gone
}

// tree is the sources as one backend.
type tree struct{ files []*source }

// kernel tells whether a file runs on the DSP, header whether host and DSP
// share it.
func (s *source) kernel() bool { return path.Ext(s.path) == ".c" }
func (s *source) header() bool { return strings.HasPrefix(path.Ext(s.path), ".h") }

// operation tells whether a file implements operations: it defines op_NAME on
// a context of operations.
func (s *source) operation() bool {
	return s.kernel() && slices.ContainsFunc(s.functions, func(f *function) bool { return f.entry() })
}

// entry tells whether a function is the entry of an operation.
func (f *function) entry() bool {
	return strings.HasPrefix(f.name, "op_") && !f.static && mentions(f.params, "htp_ops_context")
}

// worker tells whether a function has the signature of a work queue's
// callback: (unsigned int n, unsigned int i, void * data).
func (f *function) worker() bool {
	var types []string
	for _, p := range splitAt(f.params, ",") {
		if len(p) < 2 {
			return false
		}
		var words []string
		for _, token := range p[:len(p)-1] {
			words = append(words, token.Text)
		}
		types = append(types, strings.Join(words, " "))
	}
	whole := []string{"unsigned int", "uint32_t", "unsigned"}
	return len(types) == 3 && slices.Contains(whole, types[0]) && slices.Contains(whole, types[1]) && types[2] == "void *"
}

func mentions(tokens []csource.Token, word string) bool {
	return slices.ContainsFunc(tokens, func(t csource.Token) bool { return t.Is(word) })
}
