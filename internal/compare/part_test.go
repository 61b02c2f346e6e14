package compare

import (
	"reflect"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/stat"
)

// A run that is one part says what Compare says of it.
func TestOnePart(t *testing.T) {
	run, records := sampleRun(t, "cpu,cpu:threads=1", 4, noisy(0.05, nil))
	parts, err := Parts(run, records, options())
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	if want := mustCompare(t, run, records); !reflect.DeepEqual(parts[0].Comparisons, want) {
		t.Errorf("got\n%+v\nwant\n%+v", parts[0].Comparisons, want)
	}
}

// Each head is compared to its own base only.
func TestPartsOfTrees(t *testing.T) {
	speed := noisy(0.001, map[string]float64{"base:dspqueue": 3, "head:dspqueue": 3, "head:cpu": 0.5})
	run, records := sampleRun(t, "base:cpu,head:cpu,base:dspqueue,head:dspqueue", 6, speed)
	parts, err := Parts(run, records, options())
	if err != nil || len(parts) != 2 {
		t.Fatal(parts, err)
	}
	for i, want := range []struct {
		arm, baseline string
		verdict       stat.Verdict
	}{{"head:cpu", "base:cpu", stat.Slower}, {"head:dspqueue", "base:dspqueue", stat.Equivalent}} {
		c := parts[i].Comparisons
		if len(c.Cells) != 2 || !c.Complete || len(parts[i].Run.Plan) != 12 {
			t.Fatalf("part %d: %+v", i, c)
		}
		for _, cell := range c.Cells {
			if cell.Arm != want.arm || cell.Baseline != want.baseline || cell.Decision.Verdict != want.verdict {
				t.Errorf("part %d: %s to %s: %s", i, cell.Arm, cell.Baseline, cell.Decision.Verdict)
			}
		}
	}
	// All four comparisons are one table.
	alone, some := restrict(run, records, []string{"base:cpu", "head:cpu"})
	if c := mustCompare(t, alone, some); c.Cells[0].Decision.Q == parts[0].Comparisons.Cells[0].Decision.Q {
		t.Error("q is not adjusted over all parts")
	}
}

// A run's comparisons hold each pair where there are several, and only there.
func TestWithPairs(t *testing.T) {
	steady := func(bench.Launch, bench.Test) float64 { return 100 }
	for arms, want := range map[string][]string{
		"base:cpu,head:cpu,base:fastrpc,head:fastrpc": {"base:cpu head:cpu", "base:fastrpc head:fastrpc"},
		"base:cpu,head:cpu":                           nil,
		"base:cpu,head:cpu,cpu":                       nil,
		"cpu,cpu:threads=1":                           nil,
	} {
		run, records := sampleRun(t, arms, 6, steady)
		c, err := WithPairs(run, records, options())
		if err != nil {
			t.Fatal(arms, err)
		}
		var got []string
		for _, pair := range c.Pairs {
			for _, cell := range pair.Cells {
				if cell.Decision == nil {
					t.Errorf("%s: %+v", arms, cell)
				}
			}
			got = append(got, pair.Baseline+" "+pair.Cells[0].Arm)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: pairs %q, want %q", arms, got, want)
		}
		if c.Pairs = nil; !reflect.DeepEqual(c, mustCompare(t, run, records)) {
			t.Errorf("%s: another comparison than without pairs", arms)
		}
	}
}

func TestPartsRefuse(t *testing.T) {
	steady := func(bench.Launch, bench.Test) float64 { return 100 }
	for _, arms := range []string{"base:cpu,head:cpu:threads=1", "head:cpu,cpu", "base:cpu,head:cpu,cpu", "base:cpu,head:cpu,base:dspqueue"} {
		run, records := sampleRun(t, arms, 2, steady)
		if parts, err := Parts(run, records, options()); err == nil {
			t.Errorf("%s: %d parts", arms, len(parts))
		}
	}
}
