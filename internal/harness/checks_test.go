package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hexab/internal/arm"
	"hexab/internal/backendops"
	"hexab/internal/bench"
)

func TestWithChecks(t *testing.T) {
	for _, test := range []struct{ spec, checks, want string }{
		{"dspqueue", "", "dspqueue"},
		{"dspqueue", "all", "all"},
		{"", "stack", "stack"},
		{"dspqueue:ubatch=64", "dma,vtcm", "dma,vtcm"},
		{"dspqueue", "everything", ""},
	} {
		spec, err := withChecks(test.spec, test.checks)
		if (err == nil) != (test.want != "") {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		if err != nil || test.checks == "" {
			continue
		}
		parsed, err := arm.Parse(spec, []bench.Variant{bench.DSPQueue})
		if err != nil || len(parsed) != 1 || parsed[0].Declared["env.HEXSIM_CHECK"] != test.want {
			t.Errorf("%s: %+v, %v", spec, parsed, err)
		}
	}
}

// A report counts wherever it stands in a line: the program's two outputs share
// the log, and either may come in the middle of the other's line.
func TestCheckerReports(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	text := "ADD(x): OK\nhexsim: dma: relies-on-order: text: 0x10, 8 bytes: b; in op_add, thread t, at f.c:3\r\nhexsim: unknown\n" +
		"  MUL(type=f32): hexsim: stack: too-deep: x\nOK\nhexsim: DSP process 7 ended\n"
	if err := os.WriteFile(log, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := checkerReports(log)
	want := []string{"dma: relies-on-order: text: 0x10, 8 bytes: b; in op_add, thread t, at f.c:3", "stack: too-deep: x"}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("%q, %v", found, err)
	}
}

// TestWriteReports: what a finding explains in a run of its cases is told
// apart; on another architecture, without its cases, and on a device of which
// nothing is expected, it is a fault.
func TestWriteReports(t *testing.T) {
	list := projectFindings(t)
	order := "dma: relies-on-order: a transfer writes what one in flight reads: 0xf8000000, 65536 bytes: VTCM +0x0 of 0x800000; in op_gated_delta_net, thread htp-main, at htp/dma-queue.h:157"
	lost := "coherency: lost-write: a line is written back: 0x3bb9900, 127 bytes: buffer fd 8 +0x209900 of 0x22c000; in l2flush_multi_worker, thread htp-main, at x.h:20"
	run := func(op, params string) backendops.Report {
		return backendops.Report{Mode: backendops.Test, Cases: []backendops.Case{{Op: op, Params: params, Status: backendops.Passed}}}
	}
	v79 := &expectation{list, 79}
	for _, c := range []struct {
		name     string
		expected *expectation
		ran      backendops.Report
		reports  []string
		want     int
		text     string
	}{
		{"none", v79, run("ADD", "type=f32"), nil, 0, "\nReports of the checkers (all): 0, of which 0 expected (sim/findings)\n"},
		{"expected", v79, run("GATED_DELTA_NET", "type=f32"), []string{order}, 0,
			"\nReports of the checkers (all): 1, of which 1 expected (sim/findings)\nExpected reports\n- dma-order: " + order + "\n"},
		{"without its case", v79, run("MUL_MAT_VEC_FUSION", "type=q4_K,glu_op=2,m=2,n=6271,k=256,b=0"), []string{order, lost}, 2,
			"\nReports of the checkers (all): 2, of which 0 expected (sim/findings)\n- " + order + "\n- " + lost + "\n"},
		{"with its case", v79, run("MUL_MAT_VEC_FUSION", "type=q4_K,glu_op=2,m=2,n=6273,k=256,b=0"), []string{lost, order}, 1,
			"\nReports of the checkers (all): 2, of which 1 expected (sim/findings)\n- " + order + "\nExpected reports\n- padded-rows: " + lost + "\n"},
		{"nothing is expected", nil, run("GATED_DELTA_NET", "type=f32"), []string{order}, 1,
			"\nReports of the checkers (all): 1, of which 0 expected (sim/findings)\n- " + order + "\n"},
	} {
		var out strings.Builder
		if got := writeReports(&out, "all", c.reports, c.expected, c.ran); got != c.want || out.String() != c.text {
			t.Errorf("%s: %d, want %d\n%s\nwant\n%s", c.name, got, c.want, out.String(), c.text)
		}
	}
}
