package harness

import (
	"reflect"
	"strings"
	"testing"

	"hexab/internal/bench"
)

// The official backend runs on the simulated NPU over adb; the run proves that
// the NPU did the work, and equal launches cost it the same.
func TestNPUComparison(t *testing.T) {
	heavy(t)
	run, records, _, err := compareHere(t, t.Context(), Options{Arms: "cpu,dspqueue", Models: "minicpm5-1b", Rounds: 2, Seed: "7", Device: "sim", Tests: "pp16,tg4"})
	if err != nil {
		t.Fatal(err)
	}
	var counted []map[string]uint64
	for _, r := range records {
		if r.Outcome != bench.OutcomeOK {
			t.Errorf("launch %d: %+v", r.Seq, r)
		}
		if r.Arm == "cpu" {
			if len(r.Counters) > 0 {
				t.Errorf("launch %d: the CPU has NPU counters: %v", r.Seq, r.Counters)
			}
			continue
		}
		if !provesNPU(r.Proof) {
			t.Errorf("launch %d: no buffer on the NPU: %v", r.Seq, r.Proof)
		}
		counted = append(counted, r.Counters)
	}
	if len(counted) != 2 || counted[0]["packets"] == 0 || !reflect.DeepEqual(counted[0], counted[1]) {
		t.Errorf("counters of equal launches: %v", counted)
	}
	if len(run.Placements) != 1 || run.Placements[0].Nodes["HTP0"]["MUL_MAT"] == 0 || run.Placements[0].Nodes["CPU"]["MUL_MAT"] != 0 {
		t.Errorf("placement: %+v", run.Placements)
	}
}

func provesNPU(proof map[string]string) bool {
	for key := range proof {
		if strings.HasPrefix(key, "HTP0") {
			return true
		}
	}
	return false
}

// A DSP process that dies in the middle costs its launches, says why, and
// neither the other arm nor the run.
func TestDSPDies(t *testing.T) {
	heavy(t)
	for _, fault := range []string{"crash:3", "exit:3"} {
		t.Run(fault, func(t *testing.T) {
			_, records, _, err := compareHere(t, t.Context(), Options{
				Arms: "cpu,dspqueue:env.HEXSIM_FAULT=" + fault, Models: "minicpm5-1b", Rounds: 2, Seed: "7", Device: "sim", Tests: "pp16,tg4",
			})
			if ExitStatus(err) != 1 {
				t.Fatalf("%v", err)
			}
			if len(records) != 4 {
				t.Fatalf("%d records", len(records))
			}
			for _, r := range records {
				switch {
				case r.Arm == "cpu" && r.Outcome != bench.OutcomeOK:
					t.Errorf("the CPU's launch %d: %+v", r.Seq, r)
				case r.Arm != "cpu" && (r.Outcome != bench.OutcomeSessionError || !strings.Contains(r.Reason, "DSP process died") || len(r.Evidence) == 0):
					t.Errorf("launch %d: %+v", r.Seq, r)
				}
			}
		})
	}
}
