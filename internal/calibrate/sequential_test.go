package calibrate

import (
	"bytes"
	"math"
	"testing"
)

// Runs that stop early keep the level, and looking after every block does not.
func TestSequentialKeepsTheLevel(t *testing.T) {
	c := DefaultSequential()
	c.Trials, c.Options.Resamples = 60, 2_000
	table, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	limit := 0.05 + 3*math.Sqrt(0.05*0.95/float64(c.Trials))
	peeking, early := 0, 0
	for _, r := range table.Rows {
		for name, hits := range map[string]int{"verdict": r.Verdicts, "difference": r.Differs, "miss": r.Misses} {
			if float64(hits)/float64(r.Trials) > limit {
				t.Errorf("%s, %s: %d of %d trials have a false %s", r.Noise, r.Drift, hits, r.Trials, name)
			}
		}
		peeking += r.Peeking
		early += r.Early
	}
	trials := len(table.Rows) * c.Trials
	if share := float64(peeking) / float64(trials); share < 0.1 {
		t.Errorf("peeking errs in %v of the trials only: the count proves nothing", share)
	}
	if share := float64(early) / float64(trials); share < 0.1 {
		t.Errorf("only %v of the runs stop early", share)
	}
	again, err := c.Run()
	if err != nil || !bytes.Equal(table.CSV(), again.CSV()) {
		t.Errorf("two runs differ: %v", err)
	}
}

func TestSequentialRefuses(t *testing.T) {
	for name, change := range map[string]func(*Sequential){
		"no trials": func(c *Sequential) { c.Trials = 0 },
		"one round": func(c *Sequential) { c.MaxRounds = 1 },
		"no cases":  func(c *Sequential) { c.Cases = nil },
		"alpha":     func(c *Sequential) { c.Options.Alpha = 0 },
		"drift":     func(c *Sequential) { c.Drifts = []Drift{{Name: "x", Speed: func(float64) float64 { return 0 }}} },
	} {
		c := DefaultSequential()
		c.Trials = 2
		change(&c)
		if _, err := c.Run(); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
