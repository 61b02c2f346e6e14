package findings

import (
	"fmt"
	"regexp"
	"slices"

	"hexab/internal/backendops"
)

// Fault says whose a finding is.
type Fault string

// The faults.
const (
	// Upstream: the kernel does what its source says, and that fails the case.
	Upstream Fault = "upstream"
	// Model: the simulator differs from the hardware and is to be changed.
	Model Fault = "model"
)

// List is the whole file.
type List struct {
	// Seed is what the data of Fails were drawn from (sim/findings/seed).
	Seed int64
	// Slices are the runs that Fails belongs to.
	Slices   []Slice
	Findings []Finding
}

// Slice is one run of test-backend-ops.
type Slice struct {
	// Op is ggml's name of the operation.
	Op string
	// Params is a regular expression that chooses cases; empty is all.
	Params string
	// Archs are the DSP architectures that it is run for.
	Archs []int
	// Long marks a run of many minutes.
	Long bool
}

// Has tells whether the slice is run for the architecture.
func (s Slice) Has(arch int) bool { return slices.Contains(s.Archs, arch) }

// String is the slice as arguments of test-backend-ops.
func (s Slice) String() string {
	if s.Params == "" {
		return "-o " + s.Op
	}
	return "-o " + s.Op + " -p " + s.Params
}

// Finding is one cause of failures.
type Finding struct {
	// Name is also the folder in sim/findings with the explanation.
	Name string
	// Fault says whose it is.
	Fault Fault
	// Summary is one sentence.
	Summary string
	// Upstream are places in llama.cpp, as path:line.
	Upstream []string
	// Cases are those that it explains, Reports those of the checkers. One of
	// the two may be missing.
	Cases   []Cases
	Reports []Report
}

// Cases are cases of one operation that a finding explains.
type Cases struct {
	Archs []int
	Op    string
	// MayFail matches the parameters, from the first to the last character,
	// of all cases that fail for some data.
	MayFail *regexp.Regexp
	// AlwaysFail matches, in the same way, those that fail for all data; nil:
	// none is known to.
	AlwaysFail *regexp.Regexp
	// Fails are the parameters of those that fail with the list's seed in the
	// list's slices, without checkers.
	Fails []string
}

// Report is a report of the simulator's checkers that a finding explains, in
// runs of one operation.
type Report struct {
	Archs []int
	Op    string
	// Params matches the parameters of a case that has to be in the run, from
	// the first to the last character; nil: any.
	Params *regexp.Regexp
	// Says matches the whole report, which begins with the checker's name.
	Says *regexp.Regexp
}

func (r Report) in(arch int, ran []Outcome) bool {
	return slices.Contains(r.Archs, arch) && slices.ContainsFunc(ran, func(o Outcome) bool {
		return o.Op == r.Op && (r.Params == nil || r.Params.MatchString(o.Params))
	})
}

// ExplainReport returns the finding that explains a checker's report on the
// architecture in a run of such cases.
func (l List) ExplainReport(arch int, ran []Outcome, report string) (Finding, bool) {
	for _, f := range l.Findings {
		for _, r := range f.Reports {
			if r.in(arch, ran) && r.Says.MatchString(report) {
				return f, true
			}
		}
	}
	return Finding{}, false
}

func (c Cases) covers(arch int, op string) bool {
	return c.Op == op && slices.Contains(c.Archs, arch)
}

// Explain returns the finding that explains why a case of the operation fails
// on the architecture, whatever data it had.
func (l List) Explain(arch int, op, params string) (Finding, bool) {
	for _, f := range l.Findings {
		for _, c := range f.Cases {
			if c.covers(arch, op) && c.MayFail.MatchString(params) {
				return f, true
			}
		}
	}
	return Finding{}, false
}

// Explained is a failed case that a finding explains.
type Explained struct {
	Outcome Outcome
	Finding Finding
}

// Judgement is a run with data from any seed, held against the list.
type Judgement struct {
	// Expected are failures that a finding explains.
	Expected []Explained
	// Differences are failures that none explains, and cases that passed
	// although a finding says that they fail for all data.
	Differences []Difference
}

// Judge holds outcomes of a run against the list, whatever data it had: a case
// that fails for some data only is expected to come out in either way.
func (l List) Judge(arch int, outcomes []Outcome) (j Judgement) {
	for _, o := range outcomes {
		f, explained := l.Explain(arch, o.Op, o.Params)
		switch {
		case o.Failed && explained:
			j.Expected = append(j.Expected, Explained{o, f})
		case o.Failed:
			j.Differences = append(j.Differences, Difference{o, "", "fails, and no finding says so"})
		case explained && f.always(arch, o):
			j.Differences = append(j.Differences, Difference{o, f.Name, "passes, but " + f.Name + " says that it fails"})
		}
	}
	return j
}

func (f Finding) always(arch int, o Outcome) bool {
	return slices.ContainsFunc(f.Cases, func(c Cases) bool {
		return c.covers(arch, o.Op) && c.AlwaysFail != nil && c.AlwaysFail.MatchString(o.Params)
	})
}

// Outcome is one case of a run.
type Outcome struct {
	Op, Params string
	Failed     bool
	// Detail is what the program said of a failure.
	Detail string
}

// Outcomes are the cases of a report that the backend supports.
func Outcomes(r backendops.Report) (list []Outcome) {
	for _, c := range r.Cases {
		if c.Status != backendops.Unsupported {
			list = append(list, Outcome{Op: c.Op, Params: c.Params, Failed: c.Status == backendops.Failed, Detail: c.Detail})
		}
	}
	return list
}

// Difference is a case that came out in another way than the list says.
type Difference struct {
	Outcome Outcome
	// Finding is the finding's name, or empty.
	Finding string
	Problem string
}

// String is the difference in one line.
func (d Difference) String() string {
	text := fmt.Sprintf("%s(%s): %s", d.Outcome.Op, d.Outcome.Params, d.Problem)
	if d.Outcome.Detail != "" {
		text += ": " + d.Outcome.Detail
	}
	return text
}

// Compare holds a run of one slice against the list. Cases that the backend
// does not support are left out of outcomes.
func (l List) Compare(arch int, s Slice, outcomes []Outcome) ([]Difference, error) {
	chosen, err := regexp.Compile(s.Params)
	if err != nil {
		return nil, fmt.Errorf("slice %s: %w", s, err)
	}
	wanted := map[string]string{} // parameters to finding
	for _, f := range l.Findings {
		for _, c := range f.Cases {
			for _, params := range c.Fails {
				if c.covers(arch, s.Op) && chosen.MatchString(params) {
					wanted[params] = f.Name
				}
			}
		}
	}
	var differences []Difference
	for _, o := range outcomes {
		name, expected := wanted[o.Params]
		switch {
		case o.Failed && !expected:
			problem := "fails, and no finding says so"
			if f, ok := l.Explain(arch, o.Op, o.Params); ok {
				name, problem = f.Name, "fails with this seed too; "+f.Name+" is to list it"
			}
			differences = append(differences, Difference{o, name, problem})
		case !o.Failed && expected:
			differences = append(differences, Difference{o, name, "passes, but " + name + " says that it fails"})
		}
		delete(wanted, o.Params)
	}
	missing := make([]string, 0, len(wanted))
	for params := range wanted {
		missing = append(missing, params)
	}
	slices.Sort(missing)
	for _, params := range missing {
		differences = append(differences, Difference{Outcome{Op: s.Op, Params: params}, wanted[params], "was not run, but " + wanted[params] + " names it"})
	}
	return differences, nil
}
