package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/gate"
	"hexab/internal/github/githubtest"
	"hexab/internal/stat"
)

// review compares samples, all of them together.
func review(t *testing.T, conditions string, list ...sample) Review {
	t.Helper()
	r := Review{Head: strings.Repeat("a", 40), Base: strings.Repeat("b", 40)}
	o := stat.DefaultOptions()
	o.Bootstrap = 0
	for _, s := range list {
		run, records := s.build(t)
		if strings.Contains(s.arms, "base:") {
			run.Trees = []bench.Tree{{Name: "base", Commit: r.Base, Of: "hexab"}, {Name: "head", Commit: r.Head, Of: "hexab"}}
			for i := range run.Arms {
				run.Arms[i].Bundle = bench.BundleID(strings.Repeat(fmt.Sprint(i+1), 64))
			}
			if s.id == "same" {
				run.Arms[1].Bundle = run.Arms[0].Bundle
			}
		}
		o.Seed = run.Seed
		parts, err := compare.Parts(run, records, o)
		if err != nil {
			t.Fatal(err)
		}
		r.Parts = append(r.Parts, parts...)
	}
	if err := compare.Adjust(r.Parts, o); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.Gate, err = gate.Parse(conditions); err != nil {
		t.Fatal(err)
	}
	if r.Result, err = r.Gate.Evaluate(r.Parts); err != nil {
		t.Fatal(err)
	}
	return r
}

func pull(id string, models []bench.Model, device bench.Device, effect float64) sample {
	return sample{
		id: id, models: models, arms: "base:dspqueue,head:dspqueue", tests: []string{"pp64", "tg16"}, rounds: 6, noise: 0.004,
		effect: map[string]float64{"head:dspqueue": effect}, device: device,
	}
}

// reviewed keeps what was compared once.
var reviewed map[string]Review

// reviews are those whose whole text is kept as golden files.
func reviews(t *testing.T) map[string]Review {
	if reviewed != nil {
		return reviewed
	}
	all := samples()
	two, eight := all[0].models, all[3].models
	named := func(d bench.Device, model string) bench.Device {
		d.Properties = map[string]string{"model": model}
		return d
	}
	crashing := pull("crashing", two, realPhone(), 1)
	crashing.spoil = func(r *bench.Record) {
		if r.Arm == "head:dspqueue" && r.Model == "qwen2" {
			lose(r, bench.OutcomeCrashed, "signal 11 in ggml_backend_hexagon")
		}
	}
	arms := pull("arms", two, embedded(), 1)
	arms.arms, arms.effect = "base:dspqueue,head:dspqueue,base:fastrpc,head:fastrpc", map[string]float64{"head:fastrpc": 1.1}
	hostile := all[len(all)-1]
	r := map[string]Review{
		"review-slower":   review(t, "tg:-2%", pull("slower", two, realPhone(), 0.9)),
		"review-same":     review(t, "all:-2%", pull("same", two, embedded(), 1)),
		"review-crashing": review(t, "all:-2%", crashing),
		"review-arms":     review(t, "all:-2%", arms),
		"review-fleet":    review(t, "pp:-5%,tg:-2%", pull("a", eight[:4], named(realPhone(), "Phone A"), 1), pull("b", eight[:4], named(realPhone(), "Phone B"), 0.97)),
		"review-hostile":  review(t, "", hostile),
		"review-nothing":  {Head: strings.Repeat("a", 40), Notes: []string{"the run's artifact was refused: |`<b>@x"}},
	}
	reviewed = r
	return r
}

func TestReviewGolden(t *testing.T) {
	for name, r := range reviews(t) {
		golden(t, name+".md", r.Markdown(60_000))
	}
}

func TestReviewIsInert(t *testing.T) {
	for name, r := range reviews(t) {
		for _, limit := range []int{60_000, 4000, 1000} {
			if what := githubtest.Live(string(r.Markdown(limit))); what != "" {
				t.Errorf("%s: %s is live", name, what)
			}
		}
		if !strings.Contains(r.Headline(), "no result") && r.simulated() != strings.Contains(string(r.Markdown(3000)), compare.SimulatedNotice) {
			t.Errorf("%s: the label of simulated figures", name)
		}
	}
}

// Every limit is kept, and what counts stays: the headline, and rows that are
// slower for longer than others.
func TestReviewSheds(t *testing.T) {
	r := reviews(t)["review-fleet"]
	full := len(r.Markdown(1 << 20))
	before := 1 << 30
	for limit := full + 10; limit > 700; limit -= 297 {
		text := string(r.Markdown(limit))
		if len(text) > limit {
			t.Fatalf("%d bytes of %d", len(text), limit)
		}
		if !strings.HasPrefix(text, "### hexab: "+markdown(r.Headline())) {
			t.Fatalf("no headline within %d bytes", limit)
		}
		rows := strings.Count(text, "\n| Phone")
		if rows > before {
			t.Errorf("%d rows within %d bytes, fewer with more room", rows, limit)
		}
		before = rows
		if slower := strings.Count(text, "\n| Phone B"); rows > 0 && rows <= 8 && rows != slower {
			t.Errorf("within %d bytes %d rows stay, %d of them slower", limit, rows, slower)
		}
		if rows < 16 && rows > 0 && !strings.Contains(text, "rows were left out") {
			t.Errorf("%d rows within %d bytes, and no word of the others", rows, limit)
		}
	}
}

// hostileText is what an attacker would try, at random.
func hostileText(rng *rand.Rand) string {
	pieces := []string{"|", "`", "```", "@team", "#12", "GH-3", "<script>", "</details>", "<!--", "-->", "](x)", "![", "https://example.com", "www.example.com", "\n", "\r\n",
		"\x00", "\x1b[31m", "\u202e", "\u2028", "\xff", "\\", "&lt;", "*", "_", "~~", "$", "- ", "# ", "x", "é", "😀", "'", "\"", "{", "}", ";", "%", "||", "\\|"}
	var b strings.Builder
	for range rng.IntN(12) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return b.String()
}

func TestReviewOfHostileTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	base := samples()[len(samples())-1]
	run, records := base.build(t)
	o := stat.DefaultOptions()
	o.Bootstrap, o.Power = 0, 0
	for i := range 100 {
		text := func() string { return hostileText(rng) }
		hostile := run
		hostile.ID, hostile.Command, hostile.Version = text(), text(), text()
		hostile.Device = bench.Device{Serial: text(), Kind: text(), Platform: bench.Platform(text()), Simulated: i%2 == 0, Properties: map[string]string{"model": text(), text(): text()}}
		hostile.Host = map[string]string{text(): text()}
		hostile.Bundles = []bench.BundleInfo{{Source: text(), Compiler: text(), SDK: text()}}
		hostile.Trees = []bench.Tree{{Name: text(), Commit: text()}}
		var some []bench.Record
		for _, r := range records {
			if rng.IntN(2) == 0 {
				r.Outcome, r.Fault, r.Reason, r.Log = bench.OutcomeCrashed, bench.FaultVariant, text(), text()
			}
			some = append(some, r)
		}
		parts, err := compare.Parts(hostile, some, o)
		if err != nil {
			t.Fatal(err)
		}
		r := Review{Parts: parts, Head: text(), Base: text(), Notes: []string{text()}}
		if what := githubtest.Live(string(r.Markdown(60_000))); what != "" {
			t.Fatalf("case %d: %s is live in:\n%s", i, what, r.Markdown(60_000))
		}
	}
}
