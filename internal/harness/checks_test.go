package harness

import (
	"os"
	"path/filepath"
	"testing"

	"hexab/internal/arm"
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

func TestCheckerFindings(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	text := "ADD(x): OK\nhexsim: dma: relies-on-order: text: 0x10, 8 bytes: b; in op_add, thread t, at f.c:3\r\nhexsim: unknown\nhexsim: stack: too-deep: x\n"
	if err := os.WriteFile(log, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := checkerFindings(log)
	if err != nil || len(found) != 2 || found[1] != "hexsim: stack: too-deep: x\n" {
		t.Errorf("%q, %v", found, err)
	}
}
