package report

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/compare"
)

// The picture is sound XML whatever the names hold, has a point for each test
// of each launch that counts, and says that it is simulated.
func TestCourse(t *testing.T) {
	began := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	test := bench.Test{Prompt: 64}
	run := bench.Run{ID: "r<&>", Arms: []bench.Arm{{Label: "cpu"}, {Label: `x"<script>`}}}
	var records []bench.Record
	for i := range 6 {
		arm := run.Arms[i%2].Label
		ns := bench.Nanoseconds(1000 + 100*i)
		records = append(records, bench.Record{
			Launch: bench.Launch{Seq: i, Block: i / 2, Model: "m", Arm: arm}, Started: began.Add(time.Duration(i) * time.Minute), Outcome: bench.OutcomeOK,
			Results: []bench.Result{{Test: test, SamplesNs: []bench.Nanoseconds{ns, ns, ns}}},
			Before:  &bench.Sensors{Temperatures: map[string]bench.Celsius{"a": 30 + bench.Celsius(i), "b": 20}},
		})
	}
	records[3].Marks = []bench.Mark{bench.MarkHot}
	records[4].Outcome = bench.OutcomeCrashed
	text := string(Course(compare.Comparisons{Simulated: true}, run, records))
	d := xml.NewDecoder(strings.NewReader(text))
	circles := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if s, ok := token.(xml.StartElement); ok && s.Name.Local == "circle" {
			circles++
		} else if ok && s.Name.Local == "script" {
			t.Error("a label became markup")
		}
	}
	if want := 5 + 6 + len(run.Arms); circles != want {
		t.Errorf("%d points, want %d", circles, want)
	}
	for _, want := range []string{compare.SimulatedNotice, `fill="none" stroke="#d55e00"`, "launch 3, m pp64"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q", want)
		}
	}
	if empty := string(Course(compare.Comparisons{}, bench.Run{}, nil)); !strings.Contains(empty, "no launch counts") || !strings.Contains(empty, "no temperature is known") {
		t.Error(empty)
	}
}
