package backendops

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Bounds on what is kept of hostile output.
const (
	maxOther = 200
	maxLine  = 64 << 10
	maxCases = 1 << 20
)

// IncompleteError is output that ends before the report does: the program
// crashed, was ended, or its device went away.
type IncompleteError struct {
	// Cases is the number of cases that were reported.
	Cases int
	// Last is the last case that was begun to be printed; its own result and
	// whatever ran after it are lost. Empty when none was.
	Last string
}

func (e *IncompleteError) Error() string {
	if e.Last == "" {
		return fmt.Sprintf("the report ends before its end, after %d cases", e.Cases)
	}
	return fmt.Sprintf("the report ends before its end, after %d cases; the last one named is %s", e.Cases, e.Last)
}

// BackendError is a report in which the wanted backend was not tested.
type BackendError struct {
	Want    string
	Present []string
}

func (e *BackendError) Error() string {
	return fmt.Sprintf("backend %s is not there; there are: %s", e.Want, strings.Join(e.Present, ", "))
}

// NoCasesError is a report without a case: the program takes that for success.
type NoCasesError struct{ Backend string }

func (e *NoCasesError) Error() string { return "no case was run on " + e.Backend }

// ParseError is a line that can not be read.
type ParseError struct {
	Line    int
	Text    string
	Problem string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("line %d: %s: %.200q", e.Line, e.Problem, e.Text)
}

// CountError is a report whose cases do not add up to its own counts.
type CountError struct{ Problem string }

func (e *CountError) Error() string { return "the report contradicts itself: " + e.Problem }

var (
	escapes     = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	backendLine = regexp.MustCompile(`^Backend ([0-9]+)/([0-9]+): (\S.*)$`)
	// A case's line may begin with what was said while it ran, without a line
	// end: the last "  NAME(" is the case.
	caseLine   = regexp.MustCompile(`^(.*)  ([A-Za-z][A-Za-z0-9_+]*)\((.*)\): *(.*)$`)
	testsLine  = regexp.MustCompile(`^  ([0-9]+)/([0-9]+) tests passed$`)
	statusLine = regexp.MustCompile(`^  Backend (\S.*): (OK|FAIL)$`)
	totalLine  = regexp.MustCompile(`^([0-9]+)/([0-9]+) backends passed$`)
	failedLine = regexp.MustCompile(`^  ([A-Za-z][A-Za-z0-9_+]*)\((.*)\)$`)
	unsupport  = regexp.MustCompile(`^not supported(?: \[.*\])?$`)
	perfResult = regexp.MustCompile(`^([0-9]+) runs - +([0-9.]+) us/run - +(?:([0-9.]+) ([kMGT])FLOP/run - +([0-9.]+) ([kMGT])FLOPS|([0-9]+) kB/run - +([0-9.]+) GB/s)$`)
)

// Want says what the output must be of.
type Want struct {
	Mode    Mode
	Backend string
}

// reader keeps the state of reading.
type reader struct {
	want   Want
	report Report
	// in is set in the section of the wanted backend, closed once its status
	// came; listing in the list of failing tests.
	in, closed, listing bool
	statusOK            bool
	passed, total       int
	counted             bool
	listed              []Case
	present             []string
	overall             bool
	// last is the last case named; open is set while its result is missing.
	last string
	open bool
}

// Parse reads the program's standard output. The report is what could be read
// even when the error is not nil. Errors: *ParseError, *IncompleteError,
// *BackendError, *NoCasesError, *CountError.
func Parse(text string, want Want) (Report, error) {
	r := &reader{want: want, report: Report{Mode: want.Mode, Backend: want.Backend}}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimRight(escapes.ReplaceAllString(line, ""), " \r")
		if len(line) > maxLine {
			return r.report, &ParseError{i + 1, line[:200], "the line is too long"}
		}
		if problem := r.line(line); problem != "" {
			return r.report, &ParseError{i + 1, line, problem}
		}
		if len(r.report.Cases) > maxCases {
			return r.report, &ParseError{i + 1, line, "there are too many cases"}
		}
	}
	return r.report, r.finish()
}

// line reads one line and tells what is wrong with it.
func (r *reader) line(line string) string {
	if m := backendLine.FindStringSubmatch(line); m != nil {
		r.present = append(r.present, m[3])
		r.in, r.listing = m[3] == r.want.Backend, false
		return ""
	}
	if totalLine.MatchString(line) {
		r.in, r.overall = false, true
		return ""
	}
	if !r.in || r.closed {
		r.other(line)
		return ""
	}
	if m := testsLine.FindStringSubmatch(line); m != nil && r.want.Mode == Test {
		r.passed, r.total, r.counted = number(m[1]), number(m[2]), true
		return ""
	}
	if m := statusLine.FindStringSubmatch(line); m != nil {
		r.closed, r.statusOK = true, m[2] == "OK"
		return ""
	}
	if line == "Failing tests:" {
		r.listing = true
		return ""
	}
	if m := failedLine.FindStringSubmatch(line); m != nil && r.listing {
		r.listed = append(r.listed, Case{Op: m[1], Params: m[2], Status: Failed})
		return ""
	}
	if text, ok := strings.CutPrefix(line, "  Device description: "); ok && len(r.report.Cases) == 0 {
		r.report.Description = text
		return ""
	}
	if m := caseLine.FindStringSubmatch(line); m != nil {
		return r.result(m[1], m[2], m[3], m[4])
	}
	r.other(line)
	return ""
}

// result reads what stands behind a case.
func (r *reader) result(before, op, params, text string) string {
	c := Case{Op: op, Params: params}
	if r.open {
		return "a case follows " + r.last + ", which has no result"
	}
	r.last = c.String()
	if r.open = text == ""; r.open {
		return "" // cut off in the middle of its line, if nothing follows
	}
	switch speed := perfResult.FindStringSubmatch(text); {
	case text == "OK" && r.want.Mode == Test:
		c.Status = Passed
	case text == "FAIL" && r.want.Mode == Test:
		c.Status, c.Detail = Failed, strings.TrimSpace(before)
	case unsupport.MatchString(text):
		c.Status = Unsupported
	case speed != nil && r.want.Mode == Perf:
		c.Status = Passed
		if c.Speed = measured(speed); c.Speed == nil {
			return "a measurement out of range"
		}
	default:
		return fmt.Sprintf("a case of the mode %s without a result that is known", r.want.Mode)
	}
	r.report.Cases = append(r.report.Cases, c)
	return ""
}

// measured reads the groups of perfResult; nil when a number is none.
func measured(m []string) *Speed {
	s := &Speed{Runs: number(m[1]), Microseconds: decimal(m[2])}
	if m[5] != "" {
		s.FLOPS = decimal(m[5]) * map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[m[6]]
	} else {
		s.GiBPerSecond = decimal(m[8])
	}
	if s.Runs < 1 || math.IsNaN(s.Microseconds+s.FLOPS+s.GiBPerSecond) {
		return nil
	}
	return s
}

func (r *reader) other(line string) {
	if line != "" && len(r.report.Other) < maxOther {
		r.report.Other = append(r.report.Other, line)
	}
}

// finish checks the report against its own counts.
func (r *reader) finish() error {
	if len(r.present) > 0 && !contains(r.present, r.want.Backend) {
		return &BackendError{r.want.Backend, r.present}
	}
	if r.open || !r.closed || !r.overall || (r.want.Mode == Test && !r.counted) {
		return &IncompleteError{len(r.report.Cases), r.last}
	}
	// A case whose tensors could not be allocated has no line of its own.
	seen := map[string]int{}
	for _, c := range r.report.Failures() {
		seen[c.String()]++
	}
	for _, c := range r.listed {
		if seen[c.String()]--; seen[c.String()] < 0 {
			c.Detail = "no result of its own: its tensors could not be allocated"
			r.report.Cases = append(r.report.Cases, c)
		}
	}
	total := r.report.Total()
	switch {
	case len(r.report.Cases) == 0:
		return &NoCasesError{r.want.Backend}
	case r.want.Mode == Test && (total.Passed != r.passed || total.Passed+total.Failed != r.total):
		return &CountError{fmt.Sprintf("%d passed and %d failed by its lines, %d of %d passed by its summary", total.Passed, total.Failed, r.passed, r.total)}
	case r.statusOK != (total.Failed == 0):
		return &CountError{fmt.Sprintf("%d cases failed, and the backend's status is %s", total.Failed, map[bool]string{true: "OK", false: "FAIL"}[r.statusOK])}
	}
	return nil
}

func contains(list []string, text string) bool {
	for _, one := range list {
		if one == text {
			return true
		}
	}
	return false
}

// number reads digits that a pattern matched; -1 when they are too many.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

// decimal reads a number that a pattern matched; NaN when it is none.
func decimal(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(x, 0) {
		return math.NaN()
	}
	return x
}
