package across

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/stat"
)

func set(name string, figures ...Figure) Set {
	return Set{Name: name, Device: "phone", Method: "llama-bench", Facts: map[string]string{"hexab": "1"}, Figures: figures}
}

func figure(model, test, arm string, speed float64) Figure {
	return Figure{Model: model, SHA256: "aa", Test: test, Arm: arm, Settings: map[string]string{"threads": "6"},
		Speed: bench.TokensPerSecond(speed), HalfWidth: 0.03, Launches: 6}
}

func TestTwoRuns(t *testing.T) {
	a := set("a", figure("llama3", "pp512", "dspqueue", 100), figure("llama3", "pp512", "fastrpc", 120), figure("llama3", "tg128", "cpu", 9))
	b := set("b", figure("llama3", "pp512", "dspqueue", 110), figure("llama3", "pp512", "fastrpc", 121), figure("qwen1", "pp512", "cpu", 9))
	got := Sets(a, b)
	if len(got.Rows) != 2 || len(got.OnlyA) != 1 || got.OnlyA[0].Place() != "llama3 tg128 cpu" || len(got.OnlyB) != 1 || got.OnlyB[0].Place() != "qwen1 pp512 cpu" {
		t.Fatalf("%+v", got)
	}
	r := got.Rows[0]
	if !r.Comparable || math.Abs(float64(r.Difference)-math.Log(1.1)) > 1e-12 || math.Abs(float64(r.HalfWidth)-0.03*math.Sqrt2) > 1e-12 {
		t.Errorf("%+v", r)
	}
	w := got.Within
	if len(w) != 1 || w[0].Arm != "fastrpc" || w[0].Baseline != "dspqueue" || math.Abs(float64(w[0].A)-math.Log(1.2)) > 1e-12 || math.Abs(float64(w[0].B)-math.Log(1.1)) > 1e-12 {
		t.Errorf("%+v", w)
	}
	if len(got.Differs) != 1 || !strings.HasPrefix(got.Differs[0], "time: ") {
		t.Errorf("%q", got.Differs)
	}
}

// What was not measured alike gets no difference, and the reason is named.
func TestNotComparable(t *testing.T) {
	base := figure("llama3", "pp512", "cpu", 100)
	for why, change := range map[string]func(*Set, *Figure){
		"other device":                           func(s *Set, _ *Figure) { s.Device = "another" },
		"one of the two is simulated":            func(s *Set, _ *Figure) { s.Simulated = true },
		"a stand-in and the real model":          func(_ *Set, f *Figure) { f.StandIn, f.SHA256 = true, "bb" },
		"the model's file is another one":        func(_ *Set, f *Figure) { f.SHA256 = "bb" },
		"other device, other method":             func(s *Set, _ *Figure) { s.Published = true },
		`settings differ: threads ("6" and "4")`: func(_ *Set, f *Figure) { f.Settings = map[string]string{"threads": "4"} },
	} {
		f := base
		b := set("b")
		change(&b, &f)
		b.Figures = []Figure{f}
		got := Sets(set("a", base), b)
		if len(got.Rows) != 1 || got.Rows[0].Comparable || got.Rows[0].Difference != 0 || got.Rows[0].Why[0] != why {
			t.Errorf("%s: %+v", why, got.Rows)
		}
		if why != "a stand-in and the real model" && why != "the model's file is another one" && len(got.Differs) == 0 {
			t.Errorf("%s: nothing differs", why)
		}
	}
	unknown := base
	unknown.HalfWidth = stat.LogRatio(math.NaN())
	if r := Sets(set("a", base), set("b", unknown)).Rows[0]; r.HalfWidth != 0 || !r.Comparable {
		t.Errorf("%+v", r)
	}
}

func published(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "results", "published", "fastrpc-fork.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestPublishedFigures(t *testing.T) {
	s, err := ParsePublished("fastrpc-fork", published(t))
	if err != nil || len(s.Figures) != 32 || !s.Published || s.Simulated {
		t.Fatal(len(s.Figures), err)
	}
	run := set("run", figure("minicpm5-1b", "tg128", "fastrpc", 50), figure("minicpm5-1b", "tg128", "dspqueue", 40))
	got := Sets(run, s)
	if len(got.Rows) != 2 || got.Rows[0].Comparable || got.Rows[0].B.Speed != 51.95 || got.Rows[0].B.Test != "tg256" || len(got.Within) != 1 {
		t.Errorf("%+v", got.Rows)
	}
}

func TestBadPublishedFigures(t *testing.T) {
	text := string(published(t))
	for _, test := range []struct{ from, to, want string }{
		{"schema: 1", "schema: 2", "schema 2"},
		{"schema: 1", "schema: 1\nschema: 1", "already defined"},
		{"method: llama", "methods: llama", "line 7: field methods not found"},
		{"read: 2026-11-30", "read: 2026-13-30", "is not a date"},
		{"- https://github", "- http://github", "not an https address"},
		{"{model: qwen3-2b, date", "{model: Qwen/3, date", `:14: model "Qwen/3"`},
		{"test: pp,", "test: xx,", `:14: test "xx"`},
		{"rounds: 3, test: pp,", "rounds: 3, speed: 1, test: pp,", "line 14: unknown key \"speed\""},
		{"fastrpc: 501.7", "fastrpc: -1", ":14: qwen3-2b: -1"},
		{"fastrpc: 501.7", "fastrpc: .inf", ":14: qwen3-2b: +Inf"},
		{"fastrpc: 501.7", "fastrpc: fast", "line 14"},
		{"test: tg256,", "test: pp,", ":15: pp of qwen3-2b is there already, at line 14"},
		{"27642\", test", "27643\", test", "is not among the file's sources"},
		{"figures:", "figures: []\nother:", "other"},
		{text, "", "is empty"},
		{"schema: 1", "a: &a [1]\nschema: 1", "field a not found"},
	} {
		bad := strings.Replace(text, test.from, test.to, 1)
		if _, err := ParsePublished("p.yaml", []byte(bad)); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "p.yaml") {
			t.Errorf("%q: %v", test.to, err)
		}
	}
}

func FuzzParsePublished(f *testing.F) {
	f.Add(published(f)[:2000])
	f.Add([]byte("schema: 1\nfigures: [{}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParsePublished("f", data)
		if err != nil {
			return
		}
		for _, g := range s.Figures {
			if !(g.Speed > 0) || g.kind() != "pp" && g.kind() != "tg" {
				t.Errorf("%+v", g)
			}
		}
		Sets(s, s)
	})
}
