package harness

import (
	"fmt"
	"strings"
	"testing"

	"hexab/internal/bench"
)

// speak makes the scripted device report a time of its own for each launch.
func (d *scripted) speak(ns func(launch int) int) {
	d.row = func() string {
		n := ns(d.launches)
		return fmt.Sprintf(`{"n_prompt": 16, "n_gen": 0, "n_depth": 0, "samples_ns": [%d, %d, %d]}`, n, n, n)
	}
}

// A run with -until stops at a look, judges by that look's level, and a report
// made later, or a resumed run, comes to the same end.
func TestUntil(t *testing.T) {
	for _, test := range []struct {
		name   string
		spread int // of the launches' times, in parts per thousand
		rounds int
	}{{"quiet", 1, 8}, {"noisy", 400, 20}} {
		d := &scripted{}
		d.speak(func(launch int) int { return 1_000_000 + (launch*7919%101-50)*test.spread*20 })
		s, _ := onScripted(t, d, 20)
		head := s.run
		head.ID, head.Until, head.MaxRounds, head.Threshold = "until", 0.02, 20, 0.01
		s.replaceArchive(t, head)
		if err := s.launches(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d.launches != 2*test.rounds {
			t.Errorf("%s: %d launches", test.name, d.launches)
		}
		run, records, err := sofar(s.archive)
		if err != nil || run.Rounds != test.rounds || len(records) != 2*test.rounds {
			t.Fatalf("%s: %d rounds, %d records, %v", test.name, run.Rounds, len(records), err)
		}
		c, err := judge(run, records)
		if err != nil || !c.Complete || len(c.Holes) > 0 {
			t.Errorf("%s: %+v, %v", test.name, c.Holes, err)
		}
		if list, _ := looks(run); c.Limits.Alpha >= 0.05 || len(list) < 2 {
			t.Errorf("%s: level %v of looks %v", test.name, c.Limits.Alpha, list)
		}
		if err := s.launches(t.Context()); err != nil || d.launches != 2*test.rounds {
			t.Errorf("%s: resumed, %d launches, %v", test.name, d.launches, err)
		}
	}
}

// What is not complete is judged at the look that it was on the way to.
func TestUntilInterrupted(t *testing.T) {
	d := &scripted{ends: strings.Fields("ok ok ok gone")}
	s, _ := onScripted(t, d, 20)
	head := s.run
	head.ID, head.Until, head.MaxRounds = "until", 0.02, 20
	s.replaceArchive(t, head)
	if err := s.launches(t.Context()); err == nil {
		t.Fatal("the device is gone")
	}
	run, records, err := sofar(s.archive)
	if err != nil || run.Rounds != 8 || len(records) != 4 {
		t.Errorf("%d rounds, %d records, %v", run.Rounds, len(records), err)
	}
	fixed := bench.Run{Rounds: 3, Plan: s.run.Plan}
	if same, _, err := ended(fixed, nil); err != nil || len(same.Plan) != len(fixed.Plan) {
		t.Errorf("%+v, %v", same, err)
	}
}

func TestCareOptions(t *testing.T) {
	for _, o := range []Options{
		{Cool: "cold"}, {Busy: "maybe"}, {Fixed: "on"}, {Ceiling: "hot"}, {Ceiling: "20"}, {Ceiling: "NaN"}, {Until: "0"}, {Until: "x"}, {Until: "NaN"},
		{Until: "60%"}, {MaxRounds: 5}, {MaxRounds: -1, Until: "1"}, {Until: "1%", Rounds: 3},
	} {
		if _, err := o.understandCare(); ExitStatus(err) != 2 {
			t.Errorf("%+v: %v", o, err)
		}
	}
	c, err := Options{Cool: "mark", Ceiling: "90", Busy: "refuse", Fixed: "off", Until: "1%", MaxRounds: 12}.understandCare()
	if err != nil || c.wait || c.fixed || c.until != 0.01 || c.maxRounds != 12 || c.words() != " -cool=mark -ceiling=90 -fixed=off" {
		t.Errorf("%+v, %v", c, err)
	}
}
