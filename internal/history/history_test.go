package history

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/stat"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs (%v); run with -update and read the change:\n%s", path, err, got)
	}
}

// entries is a series of speeds, one a day.
func entries(model string, speeds ...float64) []Entry {
	var list []Entry
	for i, speed := range speeds {
		width := 0.01
		list = append(list, Entry{
			Schema: Schema, Time: time.Date(2026, 11, 1+i, 2, 0, 0, 0, time.UTC), Commit: fmt.Sprintf("%02x", i+1) + strings.Repeat("c", 38), Run: fmt.Sprint("run", i), Device: "Embedded Phone sim", Simulated: true,
			Model: model, StandIn: true, Test: bench.Test{Gen: 16}, Arm: "cpu", Median: bench.TokensPerSecond(speed), HalfWidth: &width, Launches: 6,
		})
	}
	return list
}

var drop = []float64{100, 101, 99.5, 100.4, 100.1, 99.8, 90.2, 90, 89.9, 90.3}

func TestChanges(t *testing.T) {
	for _, test := range []struct {
		name   string
		speeds []float64
		want   []Change
	}{
		{"steady", []float64{100, 101, 99, 100, 101, 99, 100}, nil},
		{"a drop that stays", drop, []Change{{At: 6, Confirmed: true}}},
		{"one bad night", []float64{100, 101, 99.5, 100.4, 100.1, 80, 99.8, 100}, nil},
		{"a drop that is new", []float64{100, 101, 99.5, 100.4, 100.1, 80}, []Change{{At: 5}}},
		{"one bad night, then a good one", []float64{100, 101, 99.5, 100.4, 100.1, 80, 120, 100}, nil},
		{"down and up again", []float64{100, 101, 99.5, 100.4, 80, 80.2, 80.1, 79.9, 100, 100.2}, []Change{{At: 4, Confirmed: true}, {At: 8, Confirmed: true}}},
		{"too few to tell", []float64{100, 50, 50}, nil},
		{"below the threshold", []float64{100, 100, 100, 100, 98, 98, 98}, nil},
		{"none", nil, nil},
	} {
		var values []float64
		for _, s := range test.speeds {
			values = append(values, math.Log(s))
		}
		got := Changes(values, 0.03)
		for i := range got {
			if got[i].Ratio == 0 {
				t.Errorf("%s: no ratio", test.name)
			}
			got[i].Ratio = 0
		}
		if !reflect.DeepEqual(got, test.want) && len(got)+len(test.want) > 0 {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// A hundred nights of noise with bad nights among them are almost never called
// a change.
func TestFewFalseChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(20261130, 3))
	called, runs := 0, 300
	for range runs {
		values := make([]float64, 100)
		for i := range values {
			values[i] = 0.01 * rng.NormFloat64()
			if rng.IntN(20) == 0 {
				values[i] -= 0.2 * rng.Float64()
			}
		}
		for _, c := range Changes(values, 0.03) {
			if c.Confirmed {
				called++
			}
		}
	}
	if called > runs/10 {
		t.Errorf("%d changes in %d series of 100 without one", called, runs)
	}
	t.Logf("%d changes in %d series without one (seed 20261130)", called, runs)
}

func TestDraw(t *testing.T) {
	list := Split(append(entries("llama3", drop...), entries("qwen2", 50, 50.2, 49.9, 50.1, 50, 70)...), 0.03)
	golden(t, "trend.txt", Terminal(list))
	golden(t, "trend.svg", SVG(list))
	if list[0].Suspect() != nil || list[1].Suspect() == nil {
		t.Errorf("%+v, %+v", list[0].Changes, list[1].Changes)
	}
}

func TestHostileNames(t *testing.T) {
	list := entries("<script>&\"\x1b[31m\u202e", drop...)
	series := Split(list, 0.03)
	decoder := xml.NewDecoder(bytes.NewReader(SVG(series)))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "script" {
			t.Error("a live element")
		}
	}
	if text := string(Terminal(series)); strings.ContainsAny(text, "\x1b\u202e") {
		t.Errorf("%q", text)
	}
}

func TestReadsBack(t *testing.T) {
	list := entries("llama3", drop...)
	text, err := Write(list)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("h.jsonl", text)
	if err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("%+v, %v", got, err)
	}
	if again := Add(got, list); len(again) != len(list) {
		t.Errorf("%d entries after adding the same", len(again))
	}
	for _, bad := range []string{"{}", "x", `{"schema":2}`, `{"schema":1,"x":1}`, string(text[:len(text)/3]), strings.Repeat("x", 100_000)} {
		if _, err := Parse("h.jsonl", append(bytes.Clone(text[:0]), "\n"+bad...)); err == nil || !strings.Contains(err.Error(), "h.jsonl:2") && len(bad) < 1000 && bad[0] != text[0] {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	text, _ := Write(entries("llama3", drop...))
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Parse("x", text)
		if err != nil {
			return
		}
		series := Split(list, 0.03)
		Terminal(series)
		SVG(series)
	})
}

// The entries of a run of two trees are those of two commits.
func TestOfARun(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	run := bench.Run{
		ID: "r", Created: time.Date(2026, 11, 30, 1, 2, 3, 4, time.UTC), Trees: []bench.Tree{{Name: "base", Commit: b}, {Name: "head", Commit: a}},
		Arms: []bench.Arm{{Label: "base:cpu", Tree: "base"}, {Label: "head:cpu", Tree: "head"}}, Models: []bench.Model{{Alias: "m", StandIn: true}}, Device: bench.Device{Serial: "S"},
	}
	test := bench.Test{Gen: 1}
	part := compare.Part{Run: run, Comparisons: compare.Comparisons{
		Speeds: []compare.Speed{{Model: "m", Test: test, Arm: "base:cpu", Launches: 6, Median: 10}, {Model: "m", Test: test, Arm: "head:cpu", Launches: 6, Median: 9, HalfWidth: stat.LogRatio(math.NaN())}, {Model: "m", Test: test, Arm: "x"}},
		Cells:  []compare.Cell{{Model: "m", Test: test, Arm: "head:cpu", Baseline: "base:cpu", Decision: &stat.Decision{Verdict: stat.Slower, Estimate: -0.1}}},
	}}
	list, err := Of([]compare.Part{part}, "")
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if list[0].Commit != b || list[1].Commit != a || list[0].Arm != "cpu" || list[1].Verdict != "slower" || list[1].HalfWidth != nil || list[0].Key() != list[1].Key() {
		t.Errorf("%+v", list)
	}
	part.Run.Trees = nil
	if _, err := Of([]compare.Part{part}, ""); err == nil {
		t.Error("no commit, no complaint")
	}
}
