package compare

import (
	"fmt"
	"math"
	"sort"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/stat"
)

// key names one series of observations.
type key struct {
	model string
	test  bench.Test
	arm   string
}

// observed holds the observations of each series by block.
type observed map[key]map[int]bench.TokensPerSecond

// Compare judges a run by its records. Of several attempts at a launch the
// last one counts, whatever the order of the records. Errors: a run whose
// arms may not be compared (arm.Comparable), a run or records that contradict
// themselves, options out of range.
func Compare(run bench.Run, records []bench.Record, o stat.Options) (Comparisons, error) {
	if err := o.Validate(); err != nil {
		return Comparisons{}, fmt.Errorf("compare: %w", err)
	}
	if err := check(run); err != nil {
		return Comparisons{}, fmt.Errorf("compare: run %q: %w", run.ID, err)
	}
	final, err := lastAttempts(run, records)
	if err != nil {
		return Comparisons{}, fmt.Errorf("compare: run %q: %w", run.ID, err)
	}
	c := Comparisons{
		Schema: SchemaVersion, Run: run.ID, Simulated: run.Simulated(), Baseline: run.Baseline,
		Limits: Limits{
			Threshold: o.Threshold, Alpha: o.Alpha, Power: o.Power, Effect: o.Effect,
			Resamples: o.Resamples, Bootstrap: o.Bootstrap, Seed: o.Seed,
		},
		Holes: []Hole{}, Warnings: []Warning{}, Outcomes: map[bench.Outcome]int{},
	}
	if c.Limits.Effect == 0 {
		c.Limits.Effect = 2 * o.Threshold
	}
	if c.Simulated {
		c.Notice = SimulatedNotice
	}
	seen := c.observe(run, final)
	if err := c.speeds(run, seen, o.Alpha); err != nil {
		return Comparisons{}, fmt.Errorf("compare: run %q: %w", run.ID, err)
	}
	if err := c.decide(run, seen, o); err != nil {
		return Comparisons{}, fmt.Errorf("compare: run %q: %w", run.ID, err)
	}
	c.Complete = len(c.Holes) == 0 && len(c.Cells) > 0
	for _, cell := range c.Cells {
		c.Complete = c.Complete && cell.Decision != nil
	}
	c.warn(run, final, seen)
	return c, nil
}

// check reports what contradicts itself in a run's head.
func check(run bench.Run) error {
	arms, models, tests := map[string]bench.Arm{}, map[string]bool{}, map[bench.Test]bool{}
	for _, a := range run.Arms {
		if _, twice := arms[a.Label]; twice {
			return fmt.Errorf("two arms are called %q", a.Label)
		}
		arms[a.Label] = a
	}
	baseline, ok := arms[run.Baseline]
	if !ok {
		return fmt.Errorf("the baseline %q is not among its arms", run.Baseline)
	}
	for _, a := range run.Arms {
		if err := arm.Comparable(baseline, a); err != nil {
			return err
		}
	}
	for _, m := range run.Models {
		if models[m.Alias] {
			return fmt.Errorf("two models are called %q", m.Alias)
		}
		models[m.Alias] = true
	}
	for _, t := range run.Tests {
		if tests[t] {
			return fmt.Errorf("test %s is listed twice", t)
		}
		tests[t] = true
	}
	if len(tests) == 0 || len(models) == 0 {
		return fmt.Errorf("there are %d models and %d tests: nothing to compare", len(models), len(tests))
	}
	type place struct {
		model, arm string
		block      int
	}
	seqs, places := map[int]bool{}, map[place]bool{}
	for _, l := range run.Plan {
		p := place{l.Model, l.Arm, l.Block}
		if _, known := arms[l.Arm]; !known || !models[l.Model] {
			return fmt.Errorf("launch %d of the plan: no model %q or no arm %q", l.Seq, l.Model, l.Arm)
		}
		if seqs[l.Seq] || places[p] {
			return fmt.Errorf("launch %d of the plan (%s, %s, block %d) is planned twice", l.Seq, l.Model, l.Arm, l.Block)
		}
		seqs[l.Seq], places[p] = true, true
	}
	return nil
}

// lastAttempts gives the record that counts for each planned launch.
func lastAttempts(run bench.Run, records []bench.Record) (map[int]bench.Record, error) {
	planned := make(map[int]bench.Launch, len(run.Plan))
	for _, l := range run.Plan {
		planned[l.Seq] = l
	}
	final := make(map[int]bench.Record, len(records))
	for i, r := range records {
		if want, ok := planned[r.Seq]; !ok || want != r.Launch {
			return nil, fmt.Errorf("record %d: launch %d (%s, %s, block %d) is not the plan's", i+1, r.Seq, r.Model, r.Arm, r.Block)
		}
		if !r.Outcome.Valid() {
			return nil, fmt.Errorf("record %d: launch %d: %q is not an outcome", i+1, r.Seq, r.Outcome)
		}
		if before, ok := final[r.Seq]; !ok || r.Attempt >= before.Attempt {
			final[r.Seq] = r
		}
	}
	return final, nil
}

// observe reduces each launch to an observation for each test, and lists what
// is missing.
func (c *Comparisons) observe(run bench.Run, final map[int]bench.Record) observed {
	seen := observed{}
	for _, launch := range run.Plan {
		r, ok := final[launch.Seq]
		if !ok {
			c.Outcomes[bench.OutcomeNotRun]++
			c.Holes = append(c.Holes, Hole{Launch: launch, Outcome: bench.OutcomeNotRun, Reason: "no record: the run ended before this launch"})
			continue
		}
		c.Outcomes[r.Outcome]++
		hole := Hole{Launch: launch, Attempts: r.Attempt, Outcome: r.Outcome, Fault: r.Fault, Reason: r.Reason, Log: r.Log}
		if r.Outcome != bench.OutcomeOK {
			if hole.Reason == "" {
				hole.Reason = "no reason was recorded"
			}
			c.Holes = append(c.Holes, hole)
			continue
		}
		for _, test := range run.Tests {
			speed, reason := observation(r, test, run.Repetitions)
			if reason != "" {
				hole.Test, hole.Reason = test.String(), reason
				c.Holes = append(c.Holes, hole)
				continue
			}
			k := key{launch.Model, test, launch.Arm}
			if seen[k] == nil {
				seen[k] = map[int]bench.TokensPerSecond{}
			}
			seen[k][launch.Block] = speed
		}
	}
	return seen
}

// observation is the median speed of a launch's samples of one test, or the
// reason why there is none.
func observation(r bench.Record, test bench.Test, repetitions int) (bench.TokensPerSecond, string) {
	result, ok := r.Result(test)
	switch {
	case !ok || len(result.SamplesNs) == 0:
		return 0, fmt.Sprintf("%s is not among the results", test)
	case len(result.SamplesNs) < repetitions:
		return 0, fmt.Sprintf("%s has %d of %d samples", test, len(result.SamplesNs), repetitions)
	}
	speeds := make([]float64, 0, len(result.SamplesNs))
	for i, ns := range result.SamplesNs {
		if ns <= 0 {
			return 0, fmt.Sprintf("%s: sample %d took %d ns", test, i+1, ns)
		}
		speeds = append(speeds, float64(bench.Throughput(test.Tokens(), ns)))
	}
	median, err := stat.Median(speeds)
	if err != nil {
		return 0, fmt.Sprintf("%s: %v", test, err)
	}
	return bench.TokensPerSecond(median), ""
}

// speeds summarises every series.
func (c *Comparisons) speeds(run bench.Run, seen observed, alpha float64) error {
	for _, model := range run.Models {
		for _, test := range run.Tests {
			for _, a := range run.Arms {
				s := Speed{Model: model.Alias, Test: test, Arm: a.Label, HalfWidth: stat.LogRatio(math.NaN())}
				values := seen.series(key{model.Alias, test, a.Label})
				s.Launches = len(values)
				if len(values) > 0 {
					median, err := stat.Median(values)
					if err != nil {
						return err
					}
					s.Median = bench.TokensPerSecond(median)
				}
				if len(values) > 1 {
					interval, err := stat.TInterval(logs(values), 1-alpha)
					if err != nil {
						return err
					}
					s.HalfWidth = (interval.Hi - interval.Lo) / 2
				}
				c.Speeds = append(c.Speeds, s)
			}
		}
	}
	return nil
}

// decide pairs the arms within blocks and judges all cells as one table.
func (c *Comparisons) decide(run bench.Run, seen observed, o stat.Options) error {
	var table [][]float64
	var cells []int
	for _, model := range run.Models {
		for _, test := range run.Tests {
			for _, a := range run.Arms {
				if a.Label == run.Baseline {
					continue
				}
				cell := Cell{
					Model: model.Alias, StandIn: model.StandIn, Test: test, Arm: a.Label,
					Baseline: run.Baseline, AA: run.AA(run.Baseline, a.Label),
				}
				base, other := seen[key{model.Alias, test, run.Baseline}], seen[key{model.Alias, test, a.Label}]
				cell.Pairs = pairs(base, other)
				if len(cell.Pairs) == 0 {
					cell.NoVerdict = noPair(run.Baseline, a.Label, len(base), len(other))
				} else {
					table = append(table, cell.ratios())
					cells = append(cells, len(c.Cells))
				}
				c.Cells = append(c.Cells, cell)
			}
		}
	}
	if len(table) == 0 {
		return nil
	}
	decisions, err := stat.DecideTable(table, o)
	if err != nil {
		return err
	}
	for i := range decisions {
		c.Cells[cells[i]].Decision = &decisions[i]
	}
	return nil
}

func noPair(baseline, arm string, base, other int) string {
	switch {
	case base == 0 && other == 0:
		return fmt.Sprintf("no pair: no launch of %s or %s counts", baseline, arm)
	case base == 0:
		return fmt.Sprintf("no pair: no launch of %s counts", baseline)
	case other == 0:
		return fmt.Sprintf("no pair: no launch of %s counts", arm)
	}
	return "no pair: no block has both arms"
}

func pairs(base, other map[int]bench.TokensPerSecond) []Pair {
	list := []Pair{}
	for _, block := range blocks(base) {
		if b, ok := other[block]; ok {
			ratio := math.Log(float64(b) / float64(base[block]))
			list = append(list, Pair{Block: block, Baseline: base[block], Arm: b, LogRatio: stat.LogRatio(ratio)})
		}
	}
	return list
}

// ratios gives the cell's log ratios in the order of the blocks.
func (cell Cell) ratios() []float64 {
	d := make([]float64, len(cell.Pairs))
	for i, p := range cell.Pairs {
		d[i] = float64(p.LogRatio)
	}
	return d
}

// series gives a series' observations in the order of the blocks.
func (o observed) series(k key) []float64 {
	var values []float64
	for _, block := range blocks(o[k]) {
		values = append(values, float64(o[k][block]))
	}
	return values
}

func blocks(m map[int]bench.TokensPerSecond) []int {
	list := make([]int, 0, len(m))
	for block := range m {
		list = append(list, block)
	}
	sort.Ints(list)
	return list
}

func logs(values []float64) []float64 {
	list := make([]float64, len(values))
	for i, v := range values {
		list[i] = math.Log(v)
	}
	return list
}
