package gate

import (
	"math"
	"strings"
	"testing"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/plan"
	"hexab/internal/stat"
)

func TestParse(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""}, {" ", ""}, {"tg:-2%", "tg:-2%"}, {"pp:-5%, tg:-2.5%", "pp:-5%,tg:-2.5%"}, {"all:0%", "all:-0%"},
		{"llama3/tg128@4096:-1.125%", "llama3/tg128@d4096:-1.125%"}, {"pg512+128:-10%", "pg512+128:-10%"}, {"tg:-0%", "tg:-0%"},
	} {
		g, err := Parse(test.text)
		if err != nil || g.String() != test.want {
			t.Errorf("%q: %q, %v", test.text, g, err)
		}
	}
	for _, test := range []struct{ text, want string }{
		{"tg", "not of the form"}, {"tg:2%", "write tg:-2%"}, {"tg:-2", "not of the form"}, {"tg:-95%", "more than 90"}, {"tg:-2%,", "not of the form"},
		{"xx:-2%", "want ppN"}, {"tg:-2%,tg:-3%", "selects the same"}, {"tg:--2%", "not of the form"}, {"tg:-NaN%", "not of the form"}, {"tg:-1e1%", "not of the form"},
		{"../tg:-2%", "not of the form"}, {strings.Repeat("tg:-2%,", 200), "more than 1024"}, {"tg128@d4096:-2%,tg128@4096:-2%", "selects the same"},
	} {
		if g, err := Parse(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q reads as %v, %v; want %q", test.text, g, err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"tg:-2%", "llama3/pp512@d4096:-1.5%,all:-90%", "pg1+1:0%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(g.String())
		if err != nil || again.String() != g.String() {
			t.Errorf("%q: %q reads back as %q, %v", text, g, again, err)
		}
		for _, c := range g {
			if !(c.Loss >= 0 && c.Loss <= MaxPercent/100.0) {
				t.Errorf("%q: loss %v", text, c.Loss)
			}
		}
	})
}

var tests = []bench.Test{{Prompt: 64}, {Gen: 16}}

// made is a run of base:cpu against head:cpu whose head runs at a factor.
type made struct {
	rounds int
	factor float64
	noise  float64
	same   bool // both trees build the same files
	spoil  func(r *bench.Record)
}

func (m made) parts(t *testing.T) []compare.Part {
	t.Helper()
	specs, err := arm.Parse("base:cpu,head:cpu", []bench.Variant{bench.CPU})
	if err != nil {
		t.Fatal(err)
	}
	run := bench.Run{ID: "made", Rounds: m.rounds, Repetitions: 1, Tests: tests, Arms: arm.Resolve(specs, arm.Context{}), Models: []bench.Model{{Alias: "llama3"}}, Threshold: 0.01}
	run.Baseline = run.Arms[0].Label
	run.Arms[0].Bundle, run.Arms[1].Bundle = "a", "b"
	if m.same {
		run.Arms[1].Bundle = "a"
	}
	if run.Plan, err = plan.New(1, m.rounds, []string{"llama3"}, []string{"base:cpu", "head:cpu"}); err != nil {
		t.Fatal(err)
	}
	rng := plan.Source(5, "gate")
	var records []bench.Record
	for _, l := range run.Plan {
		r := bench.Record{Launch: l, Attempt: 1, Outcome: bench.OutcomeOK}
		for _, test := range tests {
			speed := 100 * math.Exp(m.noise*rng.NormFloat64())
			if l.Arm == "head:cpu" && test.Gen > 0 {
				speed *= m.factor
			}
			r.Results = append(r.Results, bench.Result{Test: test, SamplesNs: []bench.Nanoseconds{bench.Nanoseconds(float64(test.Tokens()) * 1e9 / speed)}})
		}
		if m.spoil != nil {
			m.spoil(&r)
		}
		records = append(records, r)
	}
	o := stat.DefaultOptions()
	o.Bootstrap, o.Power = 0, 0
	parts, err := compare.Parts(run, records, o)
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

func crash(arm string, blocks int) func(*bench.Record) {
	return func(r *bench.Record) {
		if r.Arm == arm && r.Block < blocks {
			r.Outcome, r.Fault, r.Reason, r.Results = bench.OutcomeCrashed, bench.FaultVariant, "signal 11", nil
		}
	}
}

func TestEvaluate(t *testing.T) {
	for _, test := range []struct {
		name, gate string
		made       made
		want       State
		reason     string
	}{
		{"a loss beyond it", "tg:-2%", made{rounds: 6, factor: 0.9, noise: 0.005}, Fail, "between -1"},
		{"a loss that may be smaller", "tg:-2%", made{rounds: 6, factor: 0.98, noise: 0.005}, Neutral, "can not tell"},
		{"a loss that is smaller", "tg:-5%", made{rounds: 6, factor: 0.98, noise: 0.005}, Pass, "between"},
		{"no loss", "tg:-2%", made{rounds: 6, factor: 1, noise: 0.005}, Pass, "between"},
		{"a gain", "tg:-2%", made{rounds: 6, factor: 1.2, noise: 0.005}, Pass, "between"},
		{"noise", "tg:-2%", made{rounds: 6, factor: 1, noise: 0.2}, Neutral, "can not tell"},
		{"a loss in noise", "tg:-2%", made{rounds: 6, factor: 0.9, noise: 0.2}, Neutral, "can not tell"},
		{"too few blocks", "tg:-2%", made{rounds: 5, factor: 0.5, noise: 0.001}, Neutral, "5 blocks"},
		{"another test's loss", "pp:-2%", made{rounds: 6, factor: 0.5, noise: 0.005}, Pass, "between"},
		{"all tests", "all:-2%", made{rounds: 6, factor: 0.5, noise: 0.005}, Fail, "between"},
		{"one model's test", "llama3/tg16:-2%", made{rounds: 6, factor: 0.5, noise: 0.005}, Fail, "between"},
		{"the same files", "tg:-2%", made{rounds: 6, factor: 1, noise: 0.005, same: true}, Pass, "same files"},
		{"the same files, yet slower", "tg:-2%", made{rounds: 6, factor: 0.5, noise: 0.005, same: true}, Neutral, "the setup itself"},
		{"head crashes", "tg:-2%", made{rounds: 6, factor: 1, noise: 0.005, spoil: crash("head:cpu", 6)}, Fail, "does not run: crashed: signal 11"},
		{"base crashes", "tg:-2%", made{rounds: 6, factor: 1, noise: 0.005, spoil: crash("base:cpu", 6)}, Neutral, "no launch of base:cpu"},
		{"head crashes now and then", "tg:-2%", made{rounds: 8, factor: 1, noise: 0.005, spoil: crash("head:cpu", 1)}, Neutral, "some launches"},
		{"lost and crashing", "tg:-2%", made{rounds: 8, factor: 0.5, noise: 0.005, spoil: crash("head:cpu", 1)}, Fail, "between"},
		{"the phone was lost", "tg:-2%", made{rounds: 6, factor: 0.5, noise: 0.005, spoil: func(r *bench.Record) {
			r.Outcome, r.Fault, r.Results = bench.OutcomeTransportLost, bench.FaultInfrastructure, nil
		}}, Neutral, "no launch"},
		{"no gate", "", made{rounds: 6, factor: 0.5, noise: 0.005}, Pass, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, err := Parse(test.gate)
			if err != nil {
				t.Fatal(err)
			}
			result, err := g.Evaluate(test.made.parts(t))
			if err != nil || result.State != test.want {
				t.Fatalf("%+v, %v; want %s", result, err, test.want)
			}
			said := test.reason == ""
			for _, f := range result.Findings {
				said = said || f.State == test.want && strings.Contains(f.Reason, test.reason)
			}
			if !said {
				t.Errorf("no finding says %q: %+v", test.reason, result.Findings)
			}
		})
	}
}

// A condition about nothing is an error, before and after measuring.
func TestNothingSelected(t *testing.T) {
	for _, text := range []string{"pg:-2%", "qwen2/tg:-2%", "tg128:-2%"} {
		g, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Evaluate(made{rounds: 6, factor: 1, noise: 0.01}.parts(t)); err == nil {
			t.Errorf("%s passes without looking at anything", text)
		}
		if err := g.Check([]bench.Model{{Alias: "llama3"}}, tests); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// How often the gate fails a change that costs nothing: never more than its
// level, also in noise that is far from normal and over many runs.
func TestFalseAlarms(t *testing.T) {
	rng := plan.Source(11, "false alarms")
	g, _ := Parse("all:-2%")
	o := stat.DefaultOptions()
	o.Bootstrap, o.Power = 0, 0
	runs, alarms := 2000, 0
	for range runs {
		var table [][]float64
		for range 4 {
			d := make([]float64, 6)
			for i := range d {
				d[i] = 0.03 * rng.NormFloat64()
				if rng.IntN(10) == 0 {
					d[i] *= 8
				}
			}
			table = append(table, d)
		}
		decisions, err := stat.DecideTable(table, o)
		if err != nil {
			t.Fatal(err)
		}
		part := compare.Part{}
		for i := range decisions {
			part.Comparisons.Cells = append(part.Comparisons.Cells, compare.Cell{Model: "m", Test: bench.Test{Gen: i + 1}, Decision: &decisions[i]})
		}
		result, err := g.Evaluate([]compare.Part{part})
		if err != nil {
			t.Fatal(err)
		}
		if result.State == Fail {
			alarms++
		}
	}
	if share := float64(alarms) / float64(runs); share > 0.03 {
		t.Errorf("%d of %d runs without any loss fail", alarms, runs)
	} else {
		t.Logf("%d of %d", alarms, runs)
	}
}
