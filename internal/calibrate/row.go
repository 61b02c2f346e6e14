package calibrate

import (
	"math"

	"hexab/internal/stat"
)

// Row counts the outcomes of the trials of one combination. Where Effect is
// zero, every difference that a trial reports is false, and a trial counts when
// any of its comparisons reports one. Else a trial counts when the comparison
// of the second arm to the first reports a difference in the true direction.
type Row struct {
	Arms   int
	Noise  string
	Drift  string
	Rounds int
	// Effect is the true difference of the second arm as a fraction.
	Effect float64
	Trials int
	// Verdicts counts hexab's verdicts faster and slower, at the threshold.
	Verdicts int
	// Differs counts trials whose tests and interval leave out zero, whatever
	// the threshold: the rate to hold against alpha and against Grouped.
	Differs int
	// Wrong counts verdicts against the truth where there is an effect: the
	// other direction, or any difference of an arm that has none.
	Wrong int
	// Equivalent counts trials that call the second arm equivalent.
	Equivalent int
	// Grouped counts the differences that the order AAABBB with Welch's t-test
	// reports, at the same alpha and with the same adjustment over the table.
	Grouped int
}

// Rate gives hits/trials.
func (r Row) Rate(hits int) float64 { return float64(hits) / float64(r.Trials) }

// StandardError gives the Monte Carlo standard error of a rate,
// sqrt(p(1-p)/trials) with p = (hits+1/2)/(trials+1), so that it is not zero
// where nothing was hit.
func (r Row) StandardError(hits int) float64 {
	p := (float64(hits) + 0.5) / (float64(r.Trials) + 1)
	return math.Sqrt(p * (1 - p) / float64(r.Trials))
}

// add judges one trial. Both arguments hold log speeds by arm; the second arm's
// effect is not in them yet.
func (r *Row) add(blocks, grouped [][]float64, o stat.Options) error {
	effect := math.Log1p(r.Effect)
	table := make([][]float64, r.Arms-1)
	for arm := 1; arm < r.Arms; arm++ {
		d := make([]float64, r.Rounds)
		for i := range d {
			d[i] = blocks[arm][i] - blocks[0][i]
			if arm == 1 {
				d[i] += effect
			}
		}
		table[arm-1] = d
	}
	decisions, err := stat.DecideTable(table, o)
	if err != nil {
		return err
	}
	r.count(decisions, o)
	return r.addGrouped(grouped, effect, o)
}

func (r *Row) count(decisions []stat.Decision, o stat.Options) {
	truth := direction(r.Effect)
	var verdict, differs, wrong bool
	for i, d := range decisions {
		called, found := 0, d.Differs(o.Alpha)
		switch d.Verdict {
		case stat.Faster:
			called = 1
		case stat.Slower:
			called = -1
		}
		if truth == 0 {
			verdict, differs = verdict || called != 0, differs || found != 0
		} else if i == 0 {
			verdict, differs, wrong = called == truth, found == truth, called == -truth
		} else {
			wrong = wrong || called != 0
		}
	}
	r.Verdicts += one(verdict)
	r.Differs += one(differs)
	r.Wrong += one(wrong)
	r.Equivalent += one(decisions[0].Verdict == stat.Equivalent)
}

// addGrouped judges the same launches in the order AAABBB.
func (r *Row) addGrouped(logs [][]float64, effect float64, o stat.Options) error {
	speeds := make([][]float64, len(logs))
	means := make([]float64, len(logs))
	for arm := range logs {
		speeds[arm] = make([]float64, len(logs[arm]))
		for i, v := range logs[arm] {
			if arm == 1 {
				v += effect
			}
			speeds[arm][i] = math.Exp(v)
		}
		var err error
		if means[arm], err = stat.Mean(speeds[arm]); err != nil {
			return err
		}
	}
	p := make([]float64, len(logs)-1)
	for i := range p {
		var err error
		if p[i], err = stat.WelchTTest(speeds[0], speeds[i+1]); err != nil {
			return err
		}
	}
	q, err := stat.BenjaminiHochberg(p)
	if err != nil {
		return err
	}
	truth, hit := direction(r.Effect), false
	for i := range q {
		if q[i] > o.Alpha {
			continue
		}
		if truth == 0 || i == 0 && direction(means[1]-means[0]) == truth {
			hit = true
		}
	}
	r.Grouped += one(hit)
	return nil
}

func direction(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
