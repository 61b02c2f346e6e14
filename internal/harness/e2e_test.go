package harness

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/store"
)

func TestMain(m *testing.M) {
	if child := os.Getenv(childOptions); child != "" {
		os.Exit(runChild(child))
	}
	dir, err := os.MkdirTemp("", "hexab-harness-")
	if err != nil {
		panic(err)
	}
	phoneHome = dir
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// heavy tests run a real build of llama.cpp on the embedded phone over the real
// adb.
func heavy(t *testing.T) {
	t.Helper()
	if os.Getenv("HEXAB_HEAVY") == "" {
		t.Skip("HEXAB_HEAVY is not set: this builds and runs llama.cpp")
	}
}

// compareHere runs a comparison and gives its archive.
func compareHere(t *testing.T, ctx context.Context, o Options) (bench.Run, []bench.Record, string, error) {
	t.Helper()
	if o.Out == "" {
		o.Out = t.TempDir()
	}
	failure := ABTest(ctx, o)
	dir, err := store.Find(o.Out, "latest")
	if err != nil {
		t.Fatal(failure, err)
	}
	run, records, _, err := store.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run, records, dir, failure
}

func TestComparison(t *testing.T) {
	heavy(t)
	run, records, dir, err := compareHere(t, t.Context(), Options{Arms: "cpu,cpu", Models: "minicpm5-1b", Rounds: 2, Seed: "7", Device: "sim", Tests: "pp16,tg4"})
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 4 || len(run.Plan) != 4 || !run.Device.Simulated {
		t.Errorf("%d records, %+v", len(records), run)
	}
	for _, r := range records {
		if r.Outcome != bench.OutcomeOK || len(r.Results) != 2 || r.Before == nil || r.After == nil || r.OtherCPUShare == nil || len(r.Proof) == 0 {
			t.Errorf("launch %d: %+v", r.Seq, r)
		}
	}
	for _, name := range []string{"comparisons.json", "table.md", "table.csv"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(strings.ToLower(string(text)), "simulated") {
			t.Errorf("%s: %v; simulated figures must be labelled", name, err)
		}
	}
	var c struct{ Cells []struct{ AA bool } }
	text, _ := os.ReadFile(filepath.Join(dir, "comparisons.json"))
	if err := json.Unmarshal(text, &c); err != nil || len(c.Cells) != 2 || !c.Cells[0].AA {
		t.Errorf("%+v, %v", c, err)
	}
}

// A phone that mangles its output and drops off once costs an attempt and no
// sample.
func TestFaultsOfThePhone(t *testing.T) {
	heavy(t)
	run, records, _, err := compareHere(t, t.Context(), Options{
		Arms: "cpu,cpu", Models: "minicpm5-1b", Rounds: 1, Seed: "3", Tests: "pp16,tg4", Device: "sim:cool+cr+noise+drop:after=launch,nth=2",
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 3 || records[1].Outcome != bench.OutcomeTransportLost || records[1].Fault != bench.FaultInfrastructure {
		t.Fatalf("%d records, %+v", len(records), records)
	}
	if last := records[2]; last.Seq != records[1].Seq || last.Attempt != 2 || last.Outcome != bench.OutcomeOK {
		t.Errorf("%+v", last)
	}
	if !strings.Contains(run.Command, "drop:after=launch") {
		t.Errorf("the profile is not in %s", run.Command)
	}
}

func TestInterruptedRunResumes(t *testing.T) {
	heavy(t)
	out := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	inJournal := 0
	o := Options{Arms: "cpu,cpu:threads=1", Models: "minicpm5-1b", Rounds: 3, Seed: "7", Device: "sim", Tests: "pp16,tg4", Out: out, Recorded: func(bench.Record) {
		if inJournal++; inJournal == 2 {
			cancel()
		}
	}}
	run, before, _, err := compareHere(t, ctx, o)
	if err == nil || !strings.Contains(err.Error(), "-resume="+filepath.Join(out, run.ID)) {
		t.Fatalf("%v", err)
	}
	if len(before) != 2 {
		t.Fatalf("%d launches before the interruption", len(before))
	}
	leftOnPhone(t, "interrupted")
	_, after, _, err := compareHere(t, t.Context(), Options{Resume: run.ID, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]int{}
	for _, r := range after {
		seen[r.Seq]++
	}
	for seq := range run.Plan {
		if seen[seq] != 1 {
			t.Errorf("launch %d was recorded %d times", seq, seen[seq])
		}
	}
}

func TestBadArgumentsAreUsageErrors(t *testing.T) {
	for _, o := range []Options{
		{Arms: "gpu,cpu"}, {Arms: "cpu"}, {Models: "llama4"}, {Models: "llama3,llama3"}, {Rounds: -1}, {Tests: "pp"}, {Seed: "x"},
		{Threshold: "-1"}, {Threshold: "x"}, {Progress: "loud"}, {Resume: "nothing", Out: t.TempDir()},
		{Gate: "tg:2%"}, {Gate: "tg:-2%", Rounds: 3},
	} {
		if err := ABTest(t.Context(), o); ExitStatus(err) != 2 {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestOwnCPU(t *testing.T) {
	for _, test := range []struct {
		log  string
		want float64
		ok   bool
	}{
		{"x\n0m0.01s 0m0.02s\n1m2.50s 0m0.25s\n", 62.75, true},
		{"0m0,01s 0m0,02s\n0m1,50s 0m0,50s\n", 2, true},
		{"no times", 0, false},
	} {
		if got, ok := ownCPU(test.log); got != test.want || ok != test.ok {
			t.Errorf("%q: %v, %v", test.log, got, ok)
		}
	}
}
