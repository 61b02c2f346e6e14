package harness

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"hexab/internal/backendops"
	"hexab/internal/bench"
	"hexab/internal/findings"
)

// checkers are those of the simulated NPU (HEXSIM_CHECK).
var checkers = []string{"coherency", "dma", "vtcm", "sharing", "window", "stack", "all"}

// withChecks adds the switch of the checkers to an arm's specification.
func withChecks(spec, checks string) (string, error) {
	if checks == "" {
		return spec, nil
	}
	if spec == "" {
		spec = string(bench.DSPQueue)
	}
	for _, name := range strings.Split(checks, ",") {
		if !slices.Contains(checkers, name) {
			return "", fmt.Errorf("check: %q is no checker; there are %s", name, strings.Join(checkers, ", "))
		}
	}
	separator := ":"
	if strings.Contains(spec, ":") {
		separator = ","
	}
	return spec + separator + "env.HEXSIM_CHECK=" + strings.ReplaceAll(checks, ",", `\,`), nil
}

// checkerLine is a report in a log. It may stand behind what the program had
// written without a line end: the two outputs share the log.
var checkerLine = regexp.MustCompile(`hexsim: ((?:coherency|dma|vtcm|sharing|window|stack): .*)`)

// checkerReports are the reports in a log, without "hexsim: ".
func checkerReports(log string) (found []string, err error) {
	f, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := checkerLine.FindStringSubmatch(lines.Text()); m != nil {
			found = append(found, strings.TrimSpace(m[1]))
		}
	}
	return found, lines.Err()
}

// writeReports prints the checkers' reports, those that a finding explains
// apart, and counts the others. expected is nil where none is.
func writeReports(to io.Writer, checks string, reports []string, expected *expectation, r backendops.Report) (unexplained int) {
	var known, unknown strings.Builder
	ran := findings.Outcomes(r)
	for _, report := range reports {
		if name := expected.explains(ran, report); name != "" {
			fmt.Fprintf(&known, "- %s: %s\n", name, report)
		} else {
			fmt.Fprintf(&unknown, "- %s\n", report)
			unexplained++
		}
	}
	fmt.Fprintf(to, "\nReports of the checkers (%s): %d, of which %d expected (sim/findings)\n%s", checks, len(reports), len(reports)-unexplained, unknown.String())
	if known.Len() > 0 {
		fmt.Fprintf(to, "Expected reports\n%s", known.String())
	}
	return unexplained
}
