package backendops

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
)

// Mode is what test-backend-ops does.
type Mode string

// The modes that are read.
const (
	// Test compares an operation's results with those of the CPU backend.
	Test Mode = "test"
	// Perf measures operations.
	Perf Mode = "perf"
)

// Status is how a case came out.
type Status string

// The outcomes of a case.
const (
	Passed Status = "passed"
	Failed Status = "failed"
	// Unsupported: one of the two backends does not take the case.
	Unsupported Status = "unsupported"
)

// Speed is what a case of the mode Perf was measured at.
type Speed struct {
	// Runs is the number of runs that were averaged.
	Runs int `json:"runs"`
	// Microseconds is the mean time of a run.
	Microseconds float64 `json:"microseconds"`
	// FLOPS are floating-point operations a second; zero where the program
	// reports bandwidth instead.
	FLOPS float64 `json:"flops,omitempty"`
	// GiBPerSecond is the bandwidth; the program divides by 2^30 and prints
	// GB/s. Zero where it reports FLOPS.
	GiBPerSecond float64 `json:"gib_per_second,omitempty"`
}

// Case is one case of an operation.
type Case struct {
	// Op is ggml's name of the operation, such as MUL_MAT.
	Op string `json:"op"`
	// Params are the case's parameters as the program prints them.
	Params string `json:"params"`
	Status Status `json:"status"`
	// Detail is what the program said of a failure, such as
	// "[MUL_MAT] ERR = 0.2 > 0.0005".
	Detail string `json:"detail,omitempty"`
	// Speed is set for a case that was measured.
	Speed *Speed `json:"speed,omitempty"`
}

// String is the case as test-backend-ops takes it with -o.
func (c Case) String() string { return c.Op + "(" + c.Params + ")" }

// Report is one run of the program on one backend.
type Report struct {
	Mode Mode `json:"mode"`
	// Backend is the device under test, Description what it says of itself.
	Backend     string `json:"backend"`
	Description string `json:"description,omitempty"`
	Cases       []Case `json:"cases"`
	// Other are lines that are no part of the report, up to maxOther of them.
	Other []string `json:"-"`
}

// Summary counts the cases of one operation.
type Summary struct {
	Op                          string
	Passed, Failed, Unsupported int
}

// ByOp counts the cases by operation, sorted by name.
func (r Report) ByOp() []Summary {
	index := map[string]int{}
	var list []Summary
	for _, c := range r.Cases {
		i, ok := index[c.Op]
		if !ok {
			i = len(list)
			index[c.Op] = i
			list = append(list, Summary{Op: c.Op})
		}
		switch c.Status {
		case Passed:
			list[i].Passed++
		case Failed:
			list[i].Failed++
		case Unsupported:
			list[i].Unsupported++
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Op < list[j].Op })
	return list
}

// Total counts all cases; its Op is empty.
func (r Report) Total() Summary {
	var total Summary
	for _, s := range r.ByOp() {
		total.Passed += s.Passed
		total.Failed += s.Failed
		total.Unsupported += s.Unsupported
	}
	return total
}

// Failures are the cases that failed, in the order they ran.
func (r Report) Failures() []Case {
	var list []Case
	for _, c := range r.Cases {
		if c.Status == Failed {
			list = append(list, c)
		}
	}
	return list
}

// MaxFilter bounds the text of an operation filter.
const MaxFilter = 4096

// filterText is what a filter may hold: names, regular expressions on names
// and whole cases. It is passed as one quoted word.
var filterText = regexp.MustCompile(`^[A-Za-z0-9_.*+?|^$(){}\[\],=:/ -]+$`)

// Arguments are the program's arguments: a mode, the backend under test, and a
// filter on operations (names, regular expressions, whole cases, joined by
// commas) or nothing for all of them; params is a regular expression on the
// cases' parameters, or empty.
func Arguments(mode Mode, backend, filter, params string) ([]string, error) {
	args := []string{string(mode), "-b", backend, "--output", "console"}
	for _, f := range []struct{ flag, text, what string }{{"-o", filter, "operation"}, {"-p", params, "parameters"}} {
		if f.text == "" {
			continue
		}
		if strings.HasPrefix(f.text, "-") || len(f.text) > MaxFilter {
			return nil, fmt.Errorf("%s: %.80q can not be a filter", f.what, f.text)
		}
		if f.flag == "-o" && !filterText.MatchString(f.text) {
			return nil, fmt.Errorf("%s: %q is neither ggml's name of an operation, such as MUL_MAT, nor a case or pattern of such names", f.what, f.text)
		}
		args = append(args, f.flag, f.text)
	}
	return args, nil
}
