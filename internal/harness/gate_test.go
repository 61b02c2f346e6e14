package harness

import (
	"context"
	"testing"
)

// A gate that fails ends with status 3, one about nothing with 2 before
// anything is measured.
func TestGateOfARun(t *testing.T) {
	heavy(t)
	o := Options{Arms: "cpu,dspqueue", Models: "minicpm5-1b", Seed: "7", Device: "sim", Tests: "pp64", Gate: "pp:-3%"}
	run, records, _, err := compareHere(t, t.Context(), o)
	if ExitStatus(err) != 3 {
		t.Errorf("%v; the simulated NPU is not slower than the host?", err)
	}
	if run.Rounds != 6 || len(records) != 12 {
		t.Errorf("%d rounds, %d records", run.Rounds, len(records))
	}
	o.Gate, o.Out = "tg:-3%", t.TempDir()
	if err := ABTest(context.Background(), o); ExitStatus(err) != 2 {
		t.Errorf("a gate about nothing: %v", err)
	}
}
