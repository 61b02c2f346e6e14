package harness

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"hexab/internal/backendops"
	"hexab/internal/device"
	"hexab/internal/findings"
	"hexab/internal/report"
)

// casesError is for a whole report: whether cases failed that were not expected
// to, or passed that were expected to fail.
func casesError(r backendops.Report, known *report.KnownFailures, backend string) error {
	total := r.Total()
	failed, passing := total.Failed, 0
	if known != nil {
		for _, f := range known.Findings {
			failed -= len(f.Cases)
		}
		passing = len(known.Passing)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cases failed on %s", failed, total.Passed+total.Failed, backend)
	}
	if passing > 0 {
		return fmt.Errorf("%d cases passed on %s that %s says fail for all data: correct the list", passing, backend, findingsFile)
	}
	return nil
}

const (
	// findingsFile lists the failures expected of the simulated NPU, from the
	// checkout's root.
	findingsFile = "sim/findings/expected.yaml"
	// defaultSoC is the chip that the simulated NPU is without HEXSIM_SOC.
	defaultSoC = "SM8750"
)

// expectation is the list of expected failures, for the architecture that a
// report is of. Nil expects none.
type expectation struct {
	list findings.List
	arch int
}

// expected is what is expected of the simulated NPU; nil on all else: what a
// real device fails is never excused.
func (s *single) expected(r backendops.Report) (*expectation, error) {
	if r.Mode != backendops.Test || !s.counted(s.arm) {
		return nil, nil
	}
	soc := cmp.Or(s.arm.Settings["env.HEXSIM_SOC"], defaultSoC)
	arch := device.HexagonArch(soc)
	if arch == 0 {
		return nil, nil // the run has failed already
	}
	data, err := os.ReadFile(filepath.Join(s.w.Root, findingsFile))
	if err != nil {
		return nil, err
	}
	list, err := findings.Parse(findingsFile, data)
	if err != nil {
		return nil, err
	}
	return &expectation{list, arch}, nil
}

// explains gives the name of the finding that explains a checker's report in
// a run of such cases; empty when there is none.
func (e *expectation) explains(ran []findings.Outcome, report string) string {
	if e == nil {
		return ""
	}
	f, _ := e.list.ExplainReport(e.arch, ran, report)
	return f.Name
}

// failures holds a report against the list.
func (e *expectation) failures(r backendops.Report) *report.KnownFailures {
	if e == nil {
		return nil
	}
	judgement, known := e.list.Judge(e.arch, findings.Outcomes(r)), &report.KnownFailures{}
	for _, f := range e.list.Findings {
		entry := report.KnownFailure{Name: f.Name, Summary: f.Summary}
		for _, e := range judgement.Expected {
			if e.Finding.Name == f.Name {
				entry.Cases = append(entry.Cases, backendops.Case{Op: e.Outcome.Op, Params: e.Outcome.Params})
			}
		}
		if len(entry.Cases) > 0 {
			known.Findings = append(known.Findings, entry)
		}
	}
	for _, d := range judgement.Differences {
		if !d.Outcome.Failed {
			known.Passing = append(known.Passing, d.String())
		}
	}
	return known
}
