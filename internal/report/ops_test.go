package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/backendops"
	"hexab/internal/compare"
)

func operations(t *testing.T, name string, want backendops.Want) backendops.Report {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "backendops", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := backendops.Parse(string(text), want)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOperationsGolden(t *testing.T) {
	fail := operations(t, "fail.txt", backendops.Want{Mode: backendops.Test, Backend: "HTP0"})
	perf := operations(t, "perf.txt", backendops.Want{Mode: backendops.Perf, Backend: "CPU"})
	for width, suffix := range map[int]string{0: "0", 80: "80"} {
		golden(t, "ops-fail-"+suffix+".txt", Operations(fail, nil, "test of dspqueue on sim", true, Options{Width: width}))
		known := &KnownFailures{
			Findings: []KnownFailure{{"nan-norm", "The kernel divides zero by zero.", fail.Failures()[1:2]}},
			Passing:  []string{"ADD(type=f32,ne=[1,1,8,1]): passes, but half-sum says that it fails"},
		}
		golden(t, "ops-known-"+suffix+".txt", Operations(fail, known, "test of dspqueue on sim", true, Options{Width: width}))
		golden(t, "ops-perf-"+suffix+".txt", Operations(perf, nil, "speed of cpu on sim", true, Options{Width: width}))
	}
	if text := string(Operations(perf, nil, "t", false, Options{})); strings.Contains(text, compare.SimulatedNotice) {
		t.Errorf("a real device's figures are labelled as simulated:\n%s", text)
	}
}
