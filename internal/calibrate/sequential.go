package calibrate

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"hexab/internal/stat"
)

// Sequential says what to simulate of runs that stop early: two arms that do
// not differ, so that every difference found is false.
type Sequential struct {
	Seed   uint64
	Trials int
	// MaxRounds is the number of blocks of a run that does not stop before.
	MaxRounds int
	// Cases lists the kinds of noise, each with the width asked for.
	Cases  []WidthCase
	Drifts []Drift
	Order  Orderer
	// Options are those of the verdict; Alpha is what the looks share.
	Options stat.Options
}

// WidthCase is a kind of noise with the half width of intervals, as a fraction,
// at which a run stops.
type WidthCase struct {
	Noise Noise
	Until float64
}

// DefaultSequential gives the configuration of the published table: every
// standard noise, with a width that is reached about half-way.
func DefaultSequential() Sequential {
	noises := Noises()
	o := stat.DefaultOptions()
	o.Resamples = 9_999 // levels of a look are far above 1/10000
	return Sequential{
		Seed: 1, Trials: 2_000, MaxRounds: 30, Order: BalancedOrder, Drifts: Drifts(), Options: o,
		Cases: []WidthCase{{noises[0], 0.01}, {noises[1], 0.02}, {noises[2], 0.40}},
	}
}

// SequentialRow counts the trials of one combination.
type SequentialRow struct {
	Noise, Drift string
	Until        float64
	Trials       int
	// Verdicts and Differs are as in Row, at the look where the run stopped
	// and with that look's level.
	Verdicts, Differs int
	// Misses counts trials whose last interval leaves out the truth.
	Misses int
	// Peeking counts what is found false by looking after every block from the
	// sixth on at the full level, stopping at the first difference.
	Peeking int
	// Early counts trials that stopped before MaxRounds, Rounds sums up their
	// blocks and those of the others.
	Early, Rounds int
}

// SequentialTable is the result.
type SequentialTable struct {
	Sequential
	Looks []stat.Look
	Rows  []SequentialRow
}

// Run simulates every combination.
func (c Sequential) Run() (SequentialTable, error) {
	if c.Order == nil {
		c.Order = BalancedOrder
	}
	c.Options.Power, c.Options.Bootstrap = 0, 0
	table := SequentialTable{Sequential: c}
	if c.Trials < 1 || c.Trials > maxTrials || c.MaxRounds < 2 || c.MaxRounds > maxRounds || len(c.Cases) == 0 || len(c.Drifts) == 0 {
		return table, fmt.Errorf("sequential calibration: %d trials of %d rounds, %d cases and %d drifts", c.Trials, c.MaxRounds, len(c.Cases), len(c.Drifts))
	}
	if err := c.Options.Validate(); err != nil {
		return table, err
	}
	var err error
	if table.Looks, err = stat.Looks(c.MaxRounds, 2, c.Options.Alpha, c.Options.Resamples); err != nil {
		return table, err
	}
	table.Rows = make([]SequentialRow, len(c.Cases)*len(c.Drifts))
	errs := make([]error, len(table.Rows))
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range table.Rows {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			table.Rows[i], errs[i] = c.simulate(c.Cases[i/len(c.Drifts)], c.Drifts[i%len(c.Drifts)], table.Looks)
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return table, err
		}
	}
	return table, nil
}

func (c Sequential) simulate(w WidthCase, drift Drift, looks []stat.Look) (SequentialRow, error) {
	row := SequentialRow{Noise: w.Noise.Name, Drift: drift.Name, Until: w.Until, Trials: c.Trials}
	h := fnv.New64a()
	fmt.Fprintf(h, "sequential, noise %q, drift %q", w.Noise.Name, drift.Name)
	rng := rand.New(rand.NewPCG(c.Seed, h.Sum64()))
	if err := drift.validate(); err != nil {
		return row, err
	}
	for range c.Trials {
		d, err := c.differences(rng, w.Noise, drift)
		if err == nil {
			err = row.add(d, looks, c.Options)
		}
		if err != nil {
			return row, err
		}
	}
	return row, nil
}

// differences gives the log ratio of each block of one run.
func (c Sequential) differences(rng *rand.Rand, noise Noise, drift Drift) ([]float64, error) {
	n := 2 * c.MaxRounds
	levels := noise.Log(rng, n)
	if len(levels) != n {
		return nil, fmt.Errorf("noise %q: %d values for %d launches", noise.Name, len(levels), n)
	}
	for t := range levels {
		levels[t] += math.Log(drift.Speed((float64(t) + 0.5) / float64(n)))
	}
	order := c.Order(rng, c.MaxRounds, 2)
	if err := checkOrder(order, c.MaxRounds, 2); err != nil {
		return nil, err
	}
	byArm := arrange(levels, order)
	d := make([]float64, c.MaxRounds)
	for i := range d {
		d[i] = byArm[1][i] - byArm[0][i]
	}
	return d, nil
}

// add lets one run go on until it stops.
func (r *SequentialRow) add(d []float64, looks []stat.Look, o stat.Options) error {
	for i, look := range looks {
		at := o
		at.Alpha = look.Alpha
		decision, err := stat.Decide(d[:look.Blocks], at)
		if err != nil {
			return err
		}
		last := i == len(looks)-1
		if !last && !stat.Narrow([]stat.Decision{decision}, r.Until) {
			continue
		}
		r.Verdicts += one(decision.Verdict == stat.Faster || decision.Verdict == stat.Slower)
		r.Differs += one(decision.Differs(at.Alpha) != 0)
		r.Misses += one(!decision.Interval.Contains(0))
		r.Early += one(!last)
		r.Rounds += look.Blocks
		break
	}
	for n := stat.MinBlocks; n <= len(d); n++ {
		p, err := stat.TTest(d[:n])
		if err != nil {
			return err
		}
		if p <= o.Alpha {
			r.Peeking++
			break
		}
	}
	return nil
}

func (r SequentialRow) percent(hits int) string {
	return Row{Trials: r.Trials}.percent(hits)
}

// CSV gives one line for each combination, rates as fractions.
func (t SequentialTable) CSV() []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write([]string{"seed", "alpha", "threshold", "max_rounds", "noise", "drift", "until", "trials", // a buffer takes all
		"verdict", "differs", "interval_misses", "peeking_differs", "stopped_early", "mean_rounds"})
	for _, r := range t.Rows {
		rate := func(hits int) string { return fmt.Sprintf("%.5f", float64(hits)/float64(r.Trials)) }
		_ = w.Write([]string{strconv.FormatUint(t.Seed, 10), short(t.Options.Alpha), short(t.Options.Threshold), strconv.Itoa(t.MaxRounds),
			r.Noise, r.Drift, short(r.Until), strconv.Itoa(r.Trials), rate(r.Verdicts), rate(r.Differs), rate(r.Misses), rate(r.Peeking), rate(r.Early),
			fmt.Sprintf("%.2f", float64(r.Rounds)/float64(r.Trials))})
	}
	w.Flush()
	return out.Bytes()
}

// Markdown gives the table for readers.
func (t SequentialTable) Markdown() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Calibration of sequential stopping\n\nSimulated A/A runs (no arm differs); no device was measured. Seed %d, %d trials a row, at most %d rounds, threshold %s %%, alpha %s in all.\n\n",
		t.Seed, t.Trials, t.MaxRounds, short(100*t.Options.Threshold), short(t.Options.Alpha))
	out.WriteString("A run may stop at these looks, each with its share of alpha (linear spending, each increment to itself):")
	for _, l := range t.Looks {
		fmt.Fprintf(&out, " %d rounds at %.4f;", l.Blocks, l.Alpha)
	}
	out.Truncate(out.Len() - 1)
	fmt.Fprintf(&out, `. It stops when the interval is narrower than asked to either side.

All but the last column are percentages of trials with their Monte Carlo standard error, and false by construction:

- **verdict**: faster or slower, at the look where the run stopped.
- **differs**: any difference found, whatever the threshold; to be held against %s %%.
- **misses**: the interval shown leaves out the truth.
- **peeking**: the usual habit for comparison: a t test at the full level after every block from the sixth on, stopping at the first difference.

`, short(100*t.Options.Alpha))
	out.WriteString("| noise | until | drift | verdict | differs | misses | peeking | stopped early | mean rounds |\n|---|--:|---|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range t.Rows {
		fmt.Fprintf(&out, "| %s | %s %% | %s | %s | %s | %s | %s | %s | %.1f |\n", r.Noise, short(100*r.Until), r.Drift, r.percent(r.Verdicts), r.percent(r.Differs),
			r.percent(r.Misses), r.percent(r.Peeking), r.percent(r.Early), float64(r.Rounds)/float64(r.Trials))
	}
	out.WriteString("\nNoise:\n\n")
	for _, about := range describe(noisesOf(t.Cases)) {
		fmt.Fprintf(&out, "- %s\n", about)
	}
	return out.Bytes()
}

func noisesOf(cases []WidthCase) []Noise {
	var list []Noise
	for _, w := range cases {
		if !slices.ContainsFunc(list, func(n Noise) bool { return n.Name == w.Noise.Name }) {
			list = append(list, w.Noise)
		}
	}
	return list
}
