package compare

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/plan"
	"hexab/internal/stat"
)

var (
	pp = bench.Test{Prompt: 100}
	tg = bench.Test{Gen: 10}
)

func options() stat.Options {
	o := stat.DefaultOptions()
	o.Bootstrap, o.Power = 0, 0
	return o
}

// sampleRun has one model, rounds blocks and a record for each launch, whose
// speed in tokens a second speed gives.
func sampleRun(t *testing.T, arms string, rounds int, speed func(l bench.Launch, test bench.Test) float64) (bench.Run, []bench.Record) {
	t.Helper()
	specs, err := arm.Parse(arms, []bench.Variant{bench.CPU, bench.DSPQueue, bench.FastRPC})
	if err != nil {
		t.Fatal(err)
	}
	run := bench.Run{
		ID: "run", Rounds: rounds, Repetitions: 1, Tests: []bench.Test{pp, tg}, Arms: arm.Resolve(specs, arm.Context{}),
		Models: []bench.Model{{Alias: "m"}},
	}
	run.Baseline = run.Arms[0].Label
	var labels []string
	for _, a := range run.Arms {
		labels = append(labels, a.Label)
	}
	if run.Plan, err = plan.New(1, rounds, []string{"m"}, labels); err != nil {
		t.Fatal(err)
	}
	var records []bench.Record
	for _, l := range run.Plan {
		r := bench.Record{Launch: l, Attempt: 1, Outcome: bench.OutcomeOK}
		for _, test := range run.Tests {
			r.Results = append(r.Results, bench.Result{Test: test, SamplesNs: []bench.Nanoseconds{span(test, speed(l, test))}})
		}
		records = append(records, r)
	}
	return run, records
}

func span(test bench.Test, speed float64) bench.Nanoseconds {
	return bench.Nanoseconds(math.Round(float64(test.Tokens()) * 1e9 / speed))
}

// noisy is 100 t/s with noise, times the arm's factor.
func noisy(sd float64, factors map[string]float64) func(bench.Launch, bench.Test) float64 {
	rng := plan.Source(7, "noise")
	return func(l bench.Launch, _ bench.Test) float64 {
		speed := 100 * math.Exp(sd*rng.NormFloat64())
		if f, ok := factors[l.Arm]; ok {
			speed *= f
		}
		return speed
	}
}

func mustCompare(t *testing.T, run bench.Run, records []bench.Record) Comparisons {
	t.Helper()
	c, err := Compare(run, records, options())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func has(c Comparisons, kind Kind) bool {
	return slices.ContainsFunc(c.Warnings, func(w Warning) bool { return w.Kind == kind })
}

func TestVerdicts(t *testing.T) {
	run, records := sampleRun(t, "cpu,dspqueue,fastrpc", 8, noisy(0.002, map[string]float64{"dspqueue": 2, "fastrpc": 0.5}))
	c := mustCompare(t, run, records)
	if !c.Complete || len(c.Holes) != 0 || len(c.Cells) != 4 || len(c.Speeds) != 6 || c.Outcomes[bench.OutcomeOK] != 24 {
		t.Fatalf("complete %v, %d holes, %d cells, %d speeds, outcomes %v", c.Complete, len(c.Holes), len(c.Cells), len(c.Speeds), c.Outcomes)
	}
	for _, cell := range c.Cells {
		want := map[string]stat.Verdict{"dspqueue": stat.Faster, "fastrpc": stat.Slower}[cell.Arm]
		if cell.Decision.Verdict != want || cell.Decision.Indicative || cell.AA || len(cell.Pairs) != 8 {
			t.Errorf("%s %s: %+v", cell.Arm, cell.Test, cell.Decision)
		}
	}
	// All cells are one table: with q adjusted over four, none is below its p.
	for _, cell := range c.Cells {
		if cell.Decision.Q < cell.Decision.P {
			t.Errorf("q %v below p %v", cell.Decision.Q, cell.Decision.P)
		}
	}
}

// The observation is the median of the samples, a pair stays in its block.
func TestPairsWithinBlocks(t *testing.T) {
	run, records := sampleRun(t, "cpu,dspqueue", 3, func(l bench.Launch, _ bench.Test) float64 {
		speed := float64(int(1) << l.Block) // 1, 2, 4
		if l.Arm == "dspqueue" {
			speed *= 2
		}
		return speed
	})
	run.Repetitions = 3
	for i := range records {
		for j := range records[i].Results {
			ns := records[i].Results[j].SamplesNs[0]
			records[i].Results[j].SamplesNs = []bench.Nanoseconds{1, ns, 100 * ns}
		}
	}
	slices.Reverse(records) // their order says nothing
	for _, cell := range mustCompare(t, run, records).Cells {
		for block, p := range cell.Pairs {
			if want := bench.TokensPerSecond(int(1) << block); p.Block != block || p.Baseline != want || p.Arm != 2*want || math.Abs(float64(p.LogRatio)-math.Ln2) > 1e-12 {
				t.Errorf("%s: block %d: %+v", cell.Test, block, p)
			}
		}
	}
}

func TestLastAttemptCounts(t *testing.T) {
	run, records := sampleRun(t, "cpu,dspqueue", 3, noisy(0.01, nil))
	lost := records[2]
	lost.Outcome, lost.Reason, lost.Results = bench.OutcomeTransportLost, "gone", nil
	records[2].Attempt, records[2].Marks = 2, []bench.Mark{bench.MarkRetried}
	for _, list := range [][]bench.Record{append([]bench.Record{lost}, records...), append(slices.Clone(records), lost)} {
		c := mustCompare(t, run, list)
		if !c.Complete || c.Outcomes[bench.OutcomeOK] != 6 || c.Outcomes[bench.OutcomeTransportLost] != 0 || !has(c, KindRetried) {
			t.Errorf("complete %v, outcomes %v", c.Complete, c.Outcomes)
		}
	}
}

func TestHoles(t *testing.T) {
	for _, test := range []struct {
		name   string
		spoil  func(r *bench.Record) // the first launch of dspqueue
		reason string
		tests  []string
		blocks []int // of pp, tg
	}{
		{"failed", func(r *bench.Record) { r.Outcome, r.Reason = bench.OutcomeCrashed, "signal 11" }, "signal 11", []string{""}, []int{2, 2}},
		{"throttled does not count", func(r *bench.Record) { r.Outcome = bench.OutcomeThrottled }, "no reason was recorded", []string{""}, []int{2, 2}},
		{"one test", func(r *bench.Record) { r.Results = r.Results[:1] }, "tg10 is not among the results", []string{"tg10"}, []int{3, 2}},
		{"no samples", func(r *bench.Record) { r.Results[0].SamplesNs = nil }, "pp100 is not among the results", []string{"pp100"}, []int{2, 3}},
		{"no time", func(r *bench.Record) { r.Results[1].SamplesNs[0] = 0 }, "tg10: sample 1 took 0 ns", []string{"tg10"}, []int{3, 2}},
		{"negative time", func(r *bench.Record) { r.Results[1].SamplesNs[0] = -5 }, "tg10: sample 1 took -5 ns", []string{"tg10"}, []int{3, 2}},
		{"empty record", func(r *bench.Record) { r.Results = nil }, "pp100 is not among the results", []string{"pp100", "tg10"}, []int{2, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			run, records := sampleRun(t, "cpu,dspqueue", 3, noisy(0.01, nil))
			i := slices.IndexFunc(records, func(r bench.Record) bool { return r.Arm == "dspqueue" })
			test.spoil(&records[i])
			c := mustCompare(t, run, records)
			var tests []string
			for _, h := range c.Holes {
				tests = append(tests, h.Test)
				if h.Launch != records[i].Launch {
					t.Errorf("hole at %+v", h.Launch)
				}
			}
			if c.Complete || !reflect.DeepEqual(tests, test.tests) || c.Holes[0].Reason != test.reason || !has(c, KindHole) {
				t.Errorf("complete %v, holes %+v", c.Complete, c.Holes)
			}
			if got := []int{len(c.Cells[0].Pairs), len(c.Cells[1].Pairs)}; !reflect.DeepEqual(got, test.blocks) {
				t.Errorf("%v blocks, want %v", got, test.blocks)
			}
			for _, cell := range c.Cells {
				if cell.Decision == nil {
					t.Errorf("%s: no verdict: %s", cell.Test, cell.NoVerdict)
				}
			}
		})
	}
}

func TestNoPair(t *testing.T) {
	lose := func(keep func(r bench.Record) bool) []string {
		run, records := sampleRun(t, "cpu,dspqueue", 2, noisy(0.01, nil))
		c := mustCompare(t, run, slices.DeleteFunc(records, func(r bench.Record) bool { return !keep(r) }))
		var reasons []string
		for _, cell := range c.Cells {
			if cell.Decision != nil || c.Complete || cell.Pairs == nil {
				t.Errorf("%+v", cell)
			}
			reasons = append(reasons, cell.NoVerdict)
		}
		return slices.Compact(reasons)
	}
	for _, test := range []struct {
		keep func(bench.Record) bool
		want string
	}{
		{func(bench.Record) bool { return false }, "no pair: no launch of cpu or dspqueue counts"},
		{func(r bench.Record) bool { return r.Arm == "cpu" }, "no pair: no launch of dspqueue counts"},
		{func(r bench.Record) bool { return r.Arm == "dspqueue" }, "no pair: no launch of cpu counts"},
		{func(r bench.Record) bool { return (r.Arm == "cpu") == (r.Block == 0) }, "no pair: no block has both arms"},
	} {
		if got := lose(test.keep); !reflect.DeepEqual(got, []string{test.want}) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestAA(t *testing.T) {
	run, records := sampleRun(t, "cpu,cpu", 8, func(l bench.Launch, _ bench.Test) float64 {
		if l.Arm == "cpu" {
			return 100
		}
		return 100 * math.Exp([]float64{-0.02, 0.03, -0.03, 0.02}[l.Block%4])
	})
	c := mustCompare(t, run, records)
	for _, cell := range c.Cells {
		if !cell.AA || cell.Arm != "cpu#2" {
			t.Errorf("%+v", cell)
		}
	}
	if has(c, KindAAViolated) {
		t.Errorf("warnings %+v", c.Warnings)
	}
	run, records = sampleRun(t, "cpu,cpu", 8, noisy(0.001, map[string]float64{"cpu#2": 1.5}))
	if c := mustCompare(t, run, records); !has(c, KindAAViolated) {
		t.Errorf("an A/A that differs: %+v", c.Warnings)
	}
}

func TestWarnings(t *testing.T) {
	quiet := noisy(0.0005, nil)
	for _, test := range []struct {
		kind   Kind
		rounds int
		speed  func(bench.Launch, bench.Test) float64
		change func(run *bench.Run, records []bench.Record)
	}{
		{kind: KindSimulated, change: func(run *bench.Run, _ []bench.Record) { run.Device.Simulated = true }},
		{kind: KindStandIn, change: func(run *bench.Run, _ []bench.Record) { run.Models[0].StandIn = true }},
		{kind: KindDisturbed, change: func(_ *bench.Run, r []bench.Record) { r[3].Marks = []bench.Mark{bench.MarkDisturbed} }},
		{kind: KindHot, change: func(_ *bench.Run, r []bench.Record) { r[3].Marks = []bench.Mark{bench.MarkHot} }},
		{kind: KindThrottled, change: func(_ *bench.Run, r []bench.Record) { r[3].Marks = []bench.Mark{bench.MarkThrottled} }},
		{kind: KindRetried, change: func(_ *bench.Run, r []bench.Record) { r[3].Marks = []bench.Mark{bench.MarkRetried} }},
		{kind: KindHole, change: func(_ *bench.Run, r []bench.Record) { r[3].Outcome = bench.OutcomeKilled }},
		{kind: KindFewBlocks, rounds: 3},
		{kind: KindIndicative, rounds: 3, speed: noisy(0.0005, map[string]float64{"dspqueue": 2})},
		{kind: KindInconclusive, speed: noisy(0.2, nil)},
		{kind: KindNearThreshold, speed: noisy(0.002, map[string]float64{"dspqueue": 1.01})},
		{kind: KindDrift, speed: func(l bench.Launch, _ bench.Test) float64 { return 100 - 3*float64(l.Block) }},
		{kind: KindAutocorrelation, rounds: 12, speed: func(l bench.Launch, _ bench.Test) float64 {
			if l.Arm == "cpu" {
				return 100
			}
			return 100 + 10*math.Sin(float64(l.Block)*math.Pi/6)
		}},
	} {
		t.Run(string(test.kind), func(t *testing.T) {
			if test.rounds == 0 {
				test.rounds = 8
			}
			if test.speed == nil {
				test.speed = quiet
			}
			run, records := sampleRun(t, "cpu,dspqueue", test.rounds, test.speed)
			if test.change != nil {
				test.change(&run, records)
			}
			c := mustCompare(t, run, records)
			if !has(c, test.kind) {
				t.Errorf("not in %+v", c.Warnings)
			}
			for _, w := range c.Warnings {
				if !slices.Contains(Kinds, w.Kind) || w.Kind.Explain() == string(w.Kind) {
					t.Errorf("%q is not explained", w.Kind)
				}
			}
		})
	}
	run, records := sampleRun(t, "cpu,dspqueue", 8, quiet)
	if c := mustCompare(t, run, records); len(c.Warnings) > 0 {
		t.Errorf("a quiet run has warnings: %+v", c.Warnings)
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name, want string
		change     func(run *bench.Run, records []bench.Record, o *stat.Options)
	}{
		{"settings", "neither declares", func(run *bench.Run, _ []bench.Record, _ *stat.Options) { run.Arms[1].Settings["ubatch"] = "7" }},
		{"baseline", `"nope" is not among`, func(run *bench.Run, _ []bench.Record, _ *stat.Options) { run.Baseline = "nope" }},
		{"arms", "two arms", func(run *bench.Run, _ []bench.Record, _ *stat.Options) { run.Arms[1].Label = "cpu" }},
		{"models", "two models", func(run *bench.Run, _ []bench.Record, _ *stat.Options) {
			run.Models = append(run.Models, run.Models[0])
		}},
		{"tests", "listed twice", func(run *bench.Run, _ []bench.Record, _ *stat.Options) { run.Tests[1] = run.Tests[0] }},
		{"no tests", "nothing to compare", func(run *bench.Run, _ []bench.Record, _ *stat.Options) { run.Tests = nil }},
		{"plan", `no model "x"`, func(run *bench.Run, _ []bench.Record, _ *stat.Options) { run.Plan[1].Model = "x" }},
		{"plan twice", "planned twice", func(run *bench.Run, _ []bench.Record, _ *stat.Options) { run.Plan[1] = run.Plan[0] }},
		{"record", "record 2: launch 99", func(_ *bench.Run, r []bench.Record, _ *stat.Options) { r[1].Seq = 99 }},
		{"other record", "is not the plan's", func(_ *bench.Run, r []bench.Record, _ *stat.Options) { r[1].Block = 2 }},
		{"outcome", `"fine" is not an outcome`, func(_ *bench.Run, r []bench.Record, _ *stat.Options) { r[1].Outcome = "fine" }},
		{"options", "", func(_ *bench.Run, _ []bench.Record, o *stat.Options) { o.Alpha = 2 }},
	} {
		run, records := sampleRun(t, "cpu,dspqueue", 3, noisy(0.01, nil))
		o := options()
		test.change(&run, records, &o)
		if _, err := Compare(run, records, o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// Infinite bounds of one block and unknown widths survive as null.
func TestJSON(t *testing.T) {
	for _, rounds := range []int{1, 3} {
		run, records := sampleRun(t, "cpu,dspqueue", rounds, noisy(0.01, nil))
		o := stat.DefaultOptions()
		c, err := Compare(run, records, o)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back Comparisons
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil || string(again) != string(text) {
			t.Errorf("read back and written again: %v\n%s\n%s", err, text, again)
		}
	}
}
