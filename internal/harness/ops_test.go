package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hexab/internal/backendops"
	"hexab/internal/bench"
	"hexab/internal/device"
	"hexab/internal/findings"
)

func TestOpsOnThePhone(t *testing.T) {
	heavy(t)
	out := t.TempDir()
	if err := Ops(t.Context(), OpsOptions{Mode: backendops.Test, Op: "SOFTCAP,SCALE", Device: "sim:cool+cr+noise:program=test-backend-ops", Out: out}); err != nil {
		t.Error(err)
	}
	if err := Ops(t.Context(), OpsOptions{Mode: backendops.Perf, Op: "ADD", Params: `ne=\[4096,1,1,1\],nr=\[1,1,`, Device: "sim:old", Out: out}); err != nil {
		t.Error(err)
	}
	var broken *OpsError
	if err := Ops(t.Context(), OpsOptions{Mode: backendops.Test, Op: "NOOP", Device: "sim", Out: out}); !errors.As(err, &broken) || broken.Outcome != bench.OutcomeMissingTest {
		t.Errorf("%v", err)
	}
	logs, err := filepath.Glob(filepath.Join(out, "*.log"))
	if err != nil || len(logs) != 3 {
		t.Error(logs, err)
	}
}

// Failures that sim/findings explains do not fail the simulated NPU's run.
func TestOpsExpectedFailures(t *testing.T) {
	heavy(t)
	for _, o := range []OpsOptions{
		{Op: "GATED_DELTA_NET", Params: "head_size=64,n_seq_tokens=(63|64|65),", Arm: "dspqueue"},
		{Op: "GATED_DELTA_NET", Params: "head_size=64,n_seq_tokens=(63|64|65),", Arm: "fastrpc"},
		{Op: "DIV", Params: `type=f(16|32),ne=\[1280,16,16,1\]`, Arm: "dspqueue:env.HEXSIM_SOC=SM8650"},
	} {
		o.Mode, o.Device, o.Out = backendops.Test, "sim", t.TempDir()
		if err := Ops(t.Context(), o); err != nil {
			t.Errorf("%s %s: %v", o.Arm, o.Op, err)
		}
	}
}

// TestKnownFailures: an expected failure is none; an unexpected one, and an
// expected one that passes, are.
func TestKnownFailures(t *testing.T) {
	list, err := findings.Parse("list.yaml", []byte(`seed: 1
slices: [{op: DIV, archs: [75]}]
findings:
  - name: half-inverse
    fault: upstream
    summary: The inverse is coarse.
    upstream: [ggml/src/a.h:10]
    cases: [{archs: [75], op: DIV, may_fail: 'type=f16,.*', always_fail: 'type=f16,n=100', fails: ["type=f16,n=100"]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	always := backendops.Case{Op: "DIV", Params: "type=f16,n=100", Status: backendops.Failed}
	some := backendops.Case{Op: "DIV", Params: "type=f16,n=1", Status: backendops.Failed}
	other := backendops.Case{Op: "DIV", Params: "type=f32,n=1", Status: backendops.Failed}
	as := func(c backendops.Case, s backendops.Status) backendops.Case {
		c.Status = s
		return c
	}
	for _, test := range []struct {
		name  string
		arch  int
		cases []backendops.Case
		want  string // the error
	}{
		{"all as expected", 75, []backendops.Case{always, some, as(other, backendops.Passed)}, ""},
		{"may pass", 75, []backendops.Case{always, as(some, backendops.Passed)}, ""},
		{"not supported", 75, []backendops.Case{as(always, backendops.Unsupported)}, ""},
		{"unexpected", 75, []backendops.Case{always, other}, "1 of 2 cases failed on HTP0"},
		{"starts to pass", 75, []backendops.Case{as(always, backendops.Passed), some}, "1 cases passed on HTP0 that sim/findings/expected.yaml says fail"},
		{"another architecture", 79, []backendops.Case{always, some}, "2 of 2 cases failed on HTP0"},
	} {
		r := backendops.Report{Mode: backendops.Test, Backend: "HTP0", Cases: test.cases}
		err := casesError(r, (&expectation{list, test.arch}).failures(r), "HTP0")
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if err := casesError(r, nil, "HTP0"); (err != nil) != (r.Total().Failed > 0) {
			t.Errorf("%s on a real device: %v", test.name, err)
		}
	}
}

func projectFindings(t *testing.T) findings.List {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(findingsFile)))
	if err != nil {
		t.Fatal(err)
	}
	list, err := findings.Parse(findingsFile, data)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestKnownFailuresOfTheProject: what the simulated NPU reported, with random
// data, is as the project's list says.
func TestKnownFailuresOfTheProject(t *testing.T) {
	list := projectFindings(t)
	text, err := os.ReadFile(filepath.Join("testdata", "ops-gated-delta-net-v79.txt"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := backendops.Parse(string(text), backendops.Want{Mode: backendops.Test, Backend: "HTP0"})
	if err != nil {
		t.Fatal(err)
	}
	known := (&expectation{list, 79}).failures(r)
	if err := casesError(r, known, "HTP0"); err != nil || len(known.Findings) != 1 || len(known.Findings[0].Cases) != 7 {
		t.Errorf("%v, %+v", err, known)
	}
	for i := range r.Cases { // the day the kernel is mended
		r.Cases[i].Status = backendops.Passed
	}
	if err := casesError(r, (&expectation{list, 79}).failures(r), "HTP0"); err == nil || !strings.Contains(err.Error(), "7 cases passed") {
		t.Error(err)
	}
}

// A process that is ended in the middle is no pass.
func TestOpsKilledInTheMiddle(t *testing.T) {
	heavy(t)
	err := Ops(t.Context(), OpsOptions{Mode: backendops.Test, Op: "ADD,MUL_MAT", Out: t.TempDir(),
		Device: "sim:cool+lowmem:program=test-backend-ops,after=output,lines=20"})
	var broken *OpsError
	if !errors.As(err, &broken) || broken.Outcome != bench.OutcomeKilled || !strings.Contains(err.Error(), "the report ends before its end") || !exists(broken.Log) {
		t.Errorf("%v", err)
	}
}

func TestOpsArguments(t *testing.T) {
	for _, o := range []OpsOptions{{Mode: backendops.Test, Op: "A;rm -rf /"}, {Mode: backendops.Perf, Op: "-h"}, {Mode: backendops.Test, Arm: "gpu"}, {Mode: backendops.Test, Arm: "cpu,cpu"}} {
		if err := Ops(t.Context(), o); ExitStatus(err) != 2 {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestOpsVerdict(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "backendops", "testdata", "fail.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := backendops.Want{Mode: backendops.Test, Backend: "HTP0"}
	whole, _ := backendops.Parse(string(text), want)
	if err := opsVerdict(whole, 1, "", nil); err != nil {
		t.Error(err) // failing cases are told by the report
	}
	for _, test := range []struct {
		backend string
		text    string
		status  int
		log     string
		outcome bench.Outcome
		says    string
	}{
		{"HTP0", string(text), 0, "", bench.OutcomeParseError, "ended with status 0"},
		{"HTP1", string(text), 1, "ggml-hex: failed to open session 0 : error 0x80000406", bench.OutcomeSessionError, "HTP1 is not there"},
		{"HTP0", string(text)[:400], 134, "GGML_ASSERT(x) failed", bench.OutcomeCrashed, "an assertion of ggml failed"},
		{"HTP0", string(text)[:400], 139, "", bench.OutcomeCrashed, "SIGSEGV"},
		{"HTP0", string(text)[:400], 0, "", bench.OutcomeParseError, "ends before its end"},
		{"HTP0", "", 127, "CANNOT LINK EXECUTABLE", bench.OutcomeLinkError, "dynamic linker"},
	} {
		r, parse := backendops.Parse(test.text, backendops.Want{Mode: backendops.Test, Backend: test.backend})
		err := opsVerdict(r, test.status, test.log, parse)
		var broken *OpsError
		if !errors.As(err, &broken) || broken.Outcome != test.outcome || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v", test.status, err)
		}
	}
}

// TestDefaultSoC: the chip that is assumed here is the one that the simulated
// NPU takes by itself, and of the same Hexagon version there.
func TestDefaultSoC(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "sim", "npu", "runtime", "wire", "soc.c"))
	if err != nil {
		t.Fatal(err)
	}
	taken := regexp.MustCompile(`getenv\("HEXSIM_SOC"\);\s+if \(!name \|\| !\*name\) {\s+name = "(\w+)";`).FindSubmatch(text)
	if taken == nil || string(taken[1]) != defaultSoC {
		t.Errorf("the runtime takes %q, here it is %s", taken, defaultSoC)
	}
	if row := fmt.Sprintf(`{"%s", %d, `, defaultSoC, device.HexagonArch(defaultSoC)); !strings.Contains(string(text), row) {
		t.Errorf("the runtime's table has no %s", row)
	}
}
