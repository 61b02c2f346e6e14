package compare

import (
	"fmt"
	"math"
	"slices"

	"hexab/internal/bench"
	"hexab/internal/stat"
)

// marks says which kind of warning a launch's mark becomes.
var marks = map[bench.Mark]Kind{
	bench.MarkDisturbed: KindDisturbed,
	bench.MarkHot:       KindHot,
	bench.MarkThrottled: KindThrottled,
	bench.MarkRetried:   KindRetried,
}

// warn collects the reasons to be careful, in the order of Kinds.
func (c *Comparisons) warn(run bench.Run, final map[int]bench.Record, seen observed) {
	if c.Simulated {
		c.add(Warning{Kind: KindSimulated})
	}
	for _, model := range run.Models {
		if model.StandIn {
			c.add(Warning{Kind: KindStandIn, Model: model.Alias})
		}
	}
	lost := map[int]bool{}
	for _, h := range c.Holes {
		lost[h.Seq] = true
	}
	c.warnLaunches(run, KindHole, func(seq int) bool { return lost[seq] })
	for _, cell := range c.Cells {
		if cell.Decision != nil {
			c.warnCell(cell)
		}
	}
	c.warnDrift(run, seen)
	for mark, kind := range marks {
		c.warnLaunches(run, kind, func(seq int) bool { return slices.Contains(final[seq].Marks, mark) })
	}
	c.sortWarnings()
}

func (c *Comparisons) sortWarnings() {
	slices.SortStableFunc(c.Warnings, func(a, b Warning) int {
		return slices.Index(Kinds, a.Kind) - slices.Index(Kinds, b.Kind)
	})
}

func (c *Comparisons) add(w Warning) { c.Warnings = append(c.Warnings, w) }

// warnLaunches sums the launches concerned up by model and arm.
func (c *Comparisons) warnLaunches(run bench.Run, kind Kind, concerned func(seq int) bool) {
	type series struct{ model, arm string }
	planned, found := map[series]int{}, map[series][]int{}
	for _, l := range run.Plan {
		s := series{l.Model, l.Arm}
		planned[s]++
		if concerned(l.Seq) {
			found[s] = append(found[s], l.Seq)
		}
	}
	for _, model := range run.Models {
		for _, a := range run.Arms {
			s := series{model.Alias, a.Label}
			if launches := found[s]; launches != nil {
				c.add(Warning{
					Kind: kind, Model: model.Alias, Arm: a.Label, Launches: launches,
					Detail: fmt.Sprintf("%d of %d launches", len(launches), planned[s]),
				})
			}
		}
	}
}

// warnCell says what to know of one comparison's verdict.
func (c *Comparisons) warnCell(cell Cell) {
	d := cell.Decision
	at := func(kind Kind, format string, args ...any) {
		c.add(Warning{Kind: kind, Model: cell.Model, Test: cell.Test.String(), Arm: cell.Arm, Detail: fmt.Sprintf(format, args...)})
	}
	if d.Blocks < stat.MinBlocks {
		at(KindFewBlocks, "blocks: %d", d.Blocks)
	}
	if d.Indicative && d.Verdict != stat.Inconclusive {
		at(KindIndicative, "%s", d.Verdict)
	}
	if cell.AA && d.Differs(c.Limits.Alpha) != 0 {
		at(KindAAViolated, "%+.2g %%", d.Estimate.Percent())
	}
	if d.Verdict == stat.Inconclusive {
		switch d.Reason {
		case stat.ReasonNearThreshold:
			at(KindNearThreshold, "threshold %.3g %%", 100*c.Limits.Threshold)
		case stat.ReasonSkewed:
			at(KindSkewed, "mean %+.2g %%, estimate %+.2g %%", d.Mean.Percent(), d.Estimate.Percent())
		}
		at(KindInconclusive, "%s", c.outlook(*d))
	}
	if len(cell.Pairs) >= stat.MinBlocks {
		n := float64(len(cell.Pairs))
		// Independent values give -1/n, give or take 1/sqrt(n).
		if r, err := stat.Lag1Autocorrelation(cell.ratios()); err == nil && r > 2/math.Sqrt(n)-1/n {
			at(KindAutocorrelation, "lag-1 correlation %.2f", r)
		}
	}
}

// outlook says why a comparison is open, what the run could have seen, and
// what it would take.
func (c *Comparisons) outlook(d stat.Decision) string {
	text := string(d.Reason)
	switch d.Reason {
	case stat.ReasonOneBlock:
		return "one block says nothing of its own noise"
	case stat.ReasonTest:
		text = "the tests, adjusted for the table's length, are not convinced"
	case stat.ReasonNearThreshold:
		text = "near the threshold"
	}
	if m := float64(d.MinDetectable); m > 0 && !math.IsInf(m, 0) && !math.IsNaN(m) {
		text += fmt.Sprintf("; this run could have seen %.2g %%", d.MinDetectable.Percent())
		if d.BlocksNeeded > 0 {
			text += fmt.Sprintf(", %d blocks could see %.2g %%", d.BlocksNeeded, 100*c.Limits.Effect)
		} else {
			text += fmt.Sprintf(", no affordable number of blocks could see %.2g %%", 100*c.Limits.Effect)
		}
	}
	return text
}

// warnDrift tests the baseline's speed over the blocks for a trend. The level
// is that of one test: with many models a chance finding or two is expected.
func (c *Comparisons) warnDrift(run bench.Run, seen observed) {
	for _, model := range run.Models {
		for _, test := range run.Tests {
			drift, err := stat.Trend(logs(seen.series(key{model.Alias, test, run.Baseline})))
			if err != nil || drift.P > c.Limits.Alpha {
				continue // fewer than three blocks have no trend
			}
			c.add(Warning{
				Kind: KindDrift, Model: model.Alias, Test: test.String(), Arm: run.Baseline,
				Detail: fmt.Sprintf("%+.2g %% from first to last block, p = %.2g", drift.Total.Percent(), drift.P),
			})
		}
	}
}
