package harness

import (
	"math"
	"testing"
	"time"

	"hexab/internal/phone"
)

// A/A runs on the hot phone: hexab keeps its level, AAABBB does not, and the
// gate takes the drift away.
func TestHotPhoneKeepsTheLevel(t *testing.T) {
	h, err := calibrateHot(calibrationSeed)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range h.tables {
		worst, bias := 0.0, 0.0
		for _, r := range table.Rows {
			rate := 0.05
			if r.Noise == "tg" {
				rate = 0.065 // neighbours share noise, see package calibrate
			}
			limit := rate + 3*math.Sqrt(rate*(1-rate)/float64(r.Trials))
			if got := r.Rate(r.Differs); got > limit || r.Rate(r.Verdicts) > limit {
				t.Errorf("%d runs, %s, %s: differs in %v", r.Trials, r.Noise, r.Drift, got)
			}
			worst = max(worst, r.Rate(r.Grouped))
		}
		for _, d := range h.drifts {
			bias = min(bias, groupedBias(d))
		}
		if worst < 0.1 || bias > -0.1 {
			t.Errorf("%d runs: the hot phone does not mislead AAABBB (%v, %v): this proves nothing", table.Trials, worst, bias)
		}
	}
}

func TestHotSpeeds(t *testing.T) {
	straight := hotSpeeds(phone.HotModel(), 12, 20*time.Second, false)
	gated := hotSpeeds(phone.HotModel(), 12, 20*time.Second, true)
	if straight[0] < straight[11]*1.05 {
		t.Errorf("no drift: %v", straight)
	}
	for i, v := range gated[1:] {
		if math.Abs(v/gated[1]-1) > 0.01 {
			t.Errorf("launch %d drifts behind the gate: %v", i+1, gated)
		}
	}
}
