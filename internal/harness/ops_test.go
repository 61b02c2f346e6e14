package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/backendops"
	"hexab/internal/bench"
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
