package harness

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"hexab/internal/bench"
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

// checkerLine is one finding in a log.
var checkerLine = regexp.MustCompile(`^hexsim: (coherency|dma|vtcm|sharing|window|stack): `)

// checkerFindings are the findings in a log, each with its line end.
func checkerFindings(log string) (found []string, err error) {
	f, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if checkerLine.MatchString(lines.Text()) {
			found = append(found, strings.TrimSpace(lines.Text())+"\n")
		}
	}
	return found, lines.Err()
}
