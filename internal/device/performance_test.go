package device

import (
	"fmt"
	"math"
	"testing"
	"time"

	"hexab/internal/bench"
)

// Heat makes the work take longer; waiting for a processor that others have is
// none of it, where the device tells.
func TestCanaryTellsHeatFromOthers(t *testing.T) {
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		took, ran, waited time.Duration // of each round
		blind             bool          // no schedstat
		busy              int64         // clock ticks of all cores in each round, of 40
		want              time.Duration
		share             float64 // negative: unknown
	}{
		"alone":                     {100 * ms, 100 * ms, 0, false, 10, 100 * ms, 0},
		"others on the other cores": {100 * ms, 100 * ms, 0, false, 30, 100 * ms, 0.5},
		"others on this core":       {250 * ms, 100 * ms, 150 * ms, false, 40, 100 * ms, 0.75},
		"held back, waits never":    {150 * ms, 100 * ms, 0, false, 10, 150 * ms, 0},
		"held back beside others":   {200 * ms, 100 * ms, 40 * ms, false, 20, 160 * ms, 0.25},
		"lower frequency":           {160 * ms, 160 * ms, 0, false, 16, 160 * ms, 0},
		"late news of the end":      {90 * ms, 100 * ms, 10 * ms, false, 10, 100 * ms, 0},
		"no schedstat":              {150 * ms, 0, 0, true, 35, 150 * ms, 0.5},
		"no accounts":               {100 * ms, 0, 0, true, -1, 100 * ms, -1},
	} {
		now := time.Unix(0, 0)
		w := &canaryWriter{now: func() time.Time { return now }}
		for round := range int64(canaryRounds + 1) {
			schedstat, cpu := "- -", ""
			if !test.blind {
				schedstat = fmt.Sprintf("%d %d", round*int64(test.ran), 7+round*int64(test.waited))
			}
			if test.busy >= 0 {
				cpu = fmt.Sprintf("cpu  %d 0 0 %d 0 0 0 0 0 0", 5+round*test.busy, 9+round*(40-test.busy))
			}
			fmt.Fprintf(w, "@canary %s %s\n", schedstat, cpu)
			now = now.Add(test.took)
		}
		c := w.canary()
		if c.Took != bench.Nanoseconds(test.want) {
			t.Errorf("%s: took %v", name, time.Duration(c.Took))
		}
		switch {
		case (c.OtherCPUShare == nil) != (test.share < 0):
			t.Errorf("%s: %+v", name, c)
		case c.OtherCPUShare != nil && math.Abs(*c.OtherCPUShare-test.share) > 1e-9:
			t.Errorf("%s: others %v", name, *c.OtherCPUShare)
		}
	}
}

func FuzzCanary(f *testing.F) {
	f.Add("@canary 1 2 cpu  1 2 3 4 5\n@canary - - \n@canary 3 4 cpu 2 3 4 5 6\n@canary 9 9\n")
	f.Fuzz(func(t *testing.T, text string) {
		w := &canaryWriter{now: time.Now}
		if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
		if len(w.notes) > canaryRounds+1 {
			t.Fatalf("%d lines are kept", len(w.notes))
		}
		if len(w.notes) == canaryRounds+1 {
			if c := w.canary(); c.OtherCPUShare != nil && !(*c.OtherCPUShare >= 0 && *c.OtherCPUShare <= 1) {
				t.Errorf("%q: share %v", text, *c.OtherCPUShare)
			}
		}
	})
}
