package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/plan"
	"hexab/internal/stat"
)

const sampleSeed = 20261130

// sample is a run to be made up: what each arm's speed is, how noisy, and what
// goes wrong.
type sample struct {
	id     string
	models []bench.Model
	arms   string
	tests  []string
	rounds int
	noise  float64            // of the logarithm, by launch
	effect map[string]float64 // factor on the speed, by arm label
	device bench.Device
	spoil  func(r *bench.Record) // changes records
	until  int                   // the run ends before this launch; zero: never
}

func realPhone() bench.Device {
	return bench.Device{
		Serial: "R5CT1", Kind: "adb", Platform: bench.AndroidArm64,
		Properties: map[string]string{"soc": "SM8750", "android": "16", "cores": "8"},
	}
}

func embedded() bench.Device {
	return bench.Device{Serial: "hexab-5601", Kind: "embedded", Platform: bench.Sim, Simulated: true, Properties: map[string]string{"cores": "2"}}
}

func model(alias, family string, standIn bool) bench.Model {
	return bench.Model{
		Alias: alias, File: alias + "-Q4_0.gguf", SHA256: strings.Repeat("0123456789abcdef", 4),
		Size: 47_500_000, Family: family, StandIn: standIn,
	}
}

// build makes run and records; equal samples give equal bytes.
func (s sample) build(t *testing.T) (bench.Run, []bench.Record) {
	t.Helper()
	specs, err := arm.Parse(s.arms, []bench.Variant{bench.CPU, bench.DSPQueue, bench.FastRPC})
	if err != nil {
		t.Fatal(err)
	}
	arms := arm.Resolve(specs, arm.Context{})
	run := bench.Run{
		Schema: bench.SchemaVersion, ID: s.id, Created: time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC), Version: "devel",
		Command: fmt.Sprintf("go tool mage abtest -arms=%s -rounds=%d -seed=%d", s.arms, s.rounds, sampleSeed),
		Seed:    sampleSeed, Rounds: s.rounds, Repetitions: 3, Threshold: 0.01, Arms: arms, Baseline: arms[0].Label,
		Models: s.models, Device: s.device, Host: map[string]string{"os": "linux"},
	}
	for i := range run.Arms {
		run.Arms[i].Bundle = bench.BundleID(strings.Repeat(fmt.Sprintf("%x", len(run.Arms[i].Variant)), 64))
	}
	for _, name := range s.tests {
		test, err := bench.ParseTest(name)
		if err != nil {
			t.Fatal(err)
		}
		run.Tests = append(run.Tests, test)
	}
	var aliases, labels []string
	for _, m := range s.models {
		aliases = append(aliases, m.Alias)
	}
	for _, a := range arms {
		labels = append(labels, a.Label)
	}
	if run.Plan, err = plan.New(sampleSeed, s.rounds, aliases, labels); err != nil {
		t.Fatal(err)
	}
	rng := plan.Source(sampleSeed, "sample", s.id)
	var records []bench.Record
	for _, launch := range run.Plan {
		r := bench.Record{Launch: launch, Attempt: 1, Outcome: bench.OutcomeOK, Log: fmt.Sprintf("logs/%03d.log", launch.Seq)}
		for _, test := range run.Tests {
			speed := 40.0
			if test.Gen == 0 {
				speed = 310
			}
			if factor, ok := s.effect[launch.Arm]; ok {
				speed *= factor
			}
			speed *= math.Exp(s.noise * rng.NormFloat64())
			result := bench.Result{Test: test}
			for range run.Repetitions {
				ns := 1e9 * float64(test.Tokens()) / (speed * math.Exp(s.noise/4*rng.NormFloat64()))
				result.SamplesNs = append(result.SamplesNs, bench.Nanoseconds(ns))
			}
			r.Results = append(r.Results, result)
		}
		if s.spoil != nil {
			s.spoil(&r)
		}
		if s.until == 0 || launch.Seq < s.until {
			records = append(records, r)
		}
	}
	return run, records
}

// compared keeps what was compared once: power and bootstrap take their time.
var compared = map[string]compare.Comparisons{}

func (s sample) compare(t *testing.T) (compare.Comparisons, bench.Run) {
	t.Helper()
	run, records := s.build(t)
	if c, ok := compared[s.id]; ok {
		return c, run
	}
	o := stat.DefaultOptions()
	o.Threshold, o.Seed = run.Threshold, run.Seed
	c, err := compare.Compare(run, records, o)
	if err != nil {
		t.Fatal(err)
	}
	compared[s.id] = c
	return c, run
}

func lose(r *bench.Record, outcome bench.Outcome, reason string) {
	r.Outcome, r.Fault, r.Reason, r.Results = outcome, outcome.Fault(), reason, nil
}

// samples are the runs whose whole reports are kept as golden files.
func samples() []sample {
	eight := []bench.Model{
		model("llama3", "llama", true), model("qwen2", "qwen2", true), model("qwen35-08", "qwen35", true), model("qwen35-2", "qwen35", true),
		model("qwen35-4", "qwen35", true), model("gemma4-e2", "gemma4", true), model("gemma4-e4", "gemma4", true), model("nanbeige", "nanbeige", true),
	}
	two := []bench.Model{model("llama3", "llama", false), model("qwen2", "qwen2", false)}
	return []sample{
		{id: "quiet", models: two, arms: "cpu,cpu:threads=1", tests: []string{"pp512", "tg128"}, rounds: 8,
			noise: 0.004, effect: map[string]float64{"cpu:threads=1": 0.55}, device: realPhone()},
		{id: "aa", models: two[:1], arms: "cpu,cpu", tests: []string{"pp512", "tg128"}, rounds: 6, noise: 0.03, device: realPhone()},
		{id: "holes", models: two, arms: "dspqueue,fastrpc", tests: []string{"pp512", "tg128"}, rounds: 6, noise: 0.01,
			effect: map[string]float64{"fastrpc": 1.2}, device: realPhone(), until: 23,
			spoil: func(r *bench.Record) {
				switch {
				case r.Model == "qwen2" && r.Arm == "fastrpc":
					lose(r, bench.OutcomeSessionError, "the DSP session could not be opened: 0x8000040d; is the skel signed?")
				case r.Seq == 0:
					lose(r, bench.OutcomeTransportLost, "the device left the bus; check the cable")
					r.Attempt = 3
				case r.Seq == 4:
					r.Results = r.Results[:1]
				case r.Seq == 9:
					r.Marks = []bench.Mark{bench.MarkHot, bench.MarkDisturbed}
				}
			}},
		{id: "wide", models: eight, arms: "cpu,dspqueue,fastrpc", tests: []string{"pp64", "tg16"}, rounds: 3, noise: 0.02,
			effect: map[string]float64{"dspqueue": 3, "fastrpc": 2.7}, device: embedded()},
		{id: "simulated", models: eight[:2], arms: "cpu,cpu:threads=1", tests: []string{"pp64", "tg16"}, rounds: 1, noise: 0.02, device: embedded()},
		{id: "hostile", models: []bench.Model{
			model("a|b`c`<script>alert(1)</script>@everyone\n# head", "llama", false),
			model("\x1b[31mred\u202egnp\x00"+strings.Repeat("long", 40), "llama", false),
		},
			arms:  "cpu,cpu:env.X=" + strings.Repeat("|@`<b>", 12) + "https://example.com/#1",
			tests: []string{"pp64"}, rounds: 2, noise: 0.02,
			device: bench.Device{Serial: "x\r\n|", Kind: "adb", Properties: map[string]string{"soc": "</details>*_"}},
			spoil: func(r *bench.Record) {
				if r.Seq == 1 {
					lose(r, bench.OutcomeCrashed, "```\n@team see #1 \x1b]0;title\x07")
				}
			}},
	}
}
