package stat

import (
	"fmt"
	"math"
	"slices"
)

// MinBlocks is the number of blocks from which a verdict can do without the
// assumption of normality: 2/2^6 is the first value below 0.05.
const MinBlocks = 6

// largestLogRatio is just above the logarithm of the largest number over the
// smallest one.
const largestLogRatio = 1455

// Verdict is the answer to a comparison.
type Verdict string

// The verdicts, of the new arm against the baseline.
const (
	Faster       Verdict = "faster"
	Slower       Verdict = "slower"
	Equivalent   Verdict = "equivalent"
	Inconclusive Verdict = "inconclusive"
)

// Reason says why a comparison is inconclusive.
type Reason string

// The reasons, of which the first that applies is given.
const (
	// ReasonNone is that of every other verdict.
	ReasonNone Reason = ""
	// ReasonOneBlock: a single block says nothing of its own noise.
	ReasonOneBlock Reason = "one-block"
	// ReasonNoise: the interval holds zero and reaches beyond the threshold;
	// even the direction is open.
	ReasonNoise Reason = "noise"
	// ReasonNearThreshold: the interval leaves zero out, but the difference
	// may be smaller or larger than the threshold.
	ReasonNearThreshold Reason = "near-threshold"
	// ReasonTest: the interval is clear of the threshold, or within it, but a
	// test, adjusted for the length of the table, is not convinced.
	ReasonTest Reason = "test"
	// ReasonSkewed: interval and estimate contradict each other, since a few
	// blocks pull the mean far from the middle.
	ReasonSkewed Reason = "skewed"
)

// Options are the limits that a verdict keeps.
type Options struct {
	// Threshold is the practical threshold as a fraction, from 0 to below 1:
	// 0.01 means that less than 1 % does not matter. In logarithms it is
	// symmetric, +- ln(1 + Threshold), so that swapping the arms mirrors the
	// verdict.
	Threshold float64
	// Alpha is the level of the tests; intervals have confidence 1-Alpha.
	Alpha float64
	// Power is the probability that MinDetectable and BlocksNeeded are for.
	// Zero leaves both out, which saves most of the time a decision takes.
	Power float64
	// Effect is the difference, as a fraction, that BlocksNeeded is for. Zero
	// means twice the threshold.
	Effect float64
	// Resamples is the number of sign patterns drawn above MaxExactPairs.
	Resamples int
	// Bootstrap is the number of resamples of the check interval; zero leaves
	// it out.
	Bootstrap int
	// Seed is what random draws start from.
	Seed uint64
}

// DefaultOptions gives a threshold of 1 %, alpha 0.05, power 0.8 for twice the
// threshold, and seed 1.
func DefaultOptions() Options {
	return Options{Threshold: 0.01, Alpha: 0.05, Power: 0.8, Resamples: 99_999, Bootstrap: 2_000, Seed: 1}
}

// Validate reports the first option that is out of its range.
func (o Options) Validate() error {
	switch {
	case !(o.Threshold >= 0 && o.Threshold < 1):
		return fmt.Errorf("threshold: %v is not a fraction from 0 to below 1", o.Threshold)
	case !open(o.Alpha):
		return fmt.Errorf("alpha: %v is not between 0 and 1", o.Alpha)
	case !(o.Power >= 0 && o.Power < 1):
		return fmt.Errorf("power: %v is not from 0 to below 1", o.Power)
	case o.Effect != 0 && !(o.Effect > o.Threshold && o.Effect <= 100):
		return fmt.Errorf("effect: %v is not a fraction beyond the threshold of %v", o.Effect, o.Threshold)
	case o.Resamples < 1 || o.Resamples > MaxResamples:
		return fmt.Errorf("resamples: %d is not between 1 and %d", o.Resamples, MaxResamples)
	case o.Bootstrap < 0 || o.Bootstrap > MaxResamples:
		return fmt.Errorf("bootstrap: %d is not between 0 and %d", o.Bootstrap, MaxResamples)
	}
	return nil
}

func (o Options) margin() LogRatio { return FromFraction(o.Threshold) }

// Decision is what the blocks say of one pair of arms. Ratios are new arm to
// baseline.
type Decision struct {
	// Blocks is the number of pairs.
	Blocks int `json:"blocks"`
	// Estimate is the Hodges-Lehmann estimate.
	Estimate LogRatio `json:"estimate"`
	// Interval is the t interval of confidence 1-Alpha; infinite for one block.
	Interval Interval `json:"interval"`
	// Check is the BCa bootstrap interval of Estimate, nil when not asked for
	// or for one block. The verdict does not rest on it.
	Check *Interval `json:"check,omitempty"`
	// Mean and SD are mean and standard deviation of the log ratios.
	Mean LogRatio `json:"mean"`
	SD   float64  `json:"sd"`
	// P is the sign-flip test's p value, Q the same adjusted over the table.
	// Exact is set when all sign patterns were counted.
	P     float64 `json:"p"`
	Q     float64 `json:"q"`
	Exact bool    `json:"exact"`
	// SmallestP is the smallest P that this number of blocks can give.
	SmallestP float64 `json:"smallest_p"`
	// PNormal and QNormal are the same of the t test, which assumes normality.
	PNormal float64 `json:"p_normal"`
	QNormal float64 `json:"q_normal"`
	// PEquivalent and QEquivalent are the same of the equivalence test (TOST).
	PEquivalent float64 `json:"p_equivalent"`
	QEquivalent float64 `json:"q_equivalent"`
	// Reachable tells whether Q could have reached Alpha: whether it would
	// have, with the other comparisons as they are, had P been SmallestP. For
	// one comparison: whether 2/2^n <= Alpha.
	Reachable bool `json:"reachable"`
	// Verdict is the answer, and Reason says why there is none.
	Verdict Verdict `json:"verdict"`
	Reason  Reason  `json:"reason,omitempty"`
	// Indicative marks a verdict that rests on the assumption of normality.
	Indicative bool `json:"indicative"`
	// MinDetectable is the smallest difference that this run could be expected
	// to call; zero when not asked for.
	MinDetectable LogRatio `json:"min_detectable"`
	// BlocksNeeded is the number of blocks that it takes to call Effect with
	// this run's noise; zero when unknown or above MaxBlocks.
	BlocksNeeded int `json:"blocks_needed"`
}

// ShownP gives the pair of p and q values that the verdict rests on: the t
// test's for an indicative verdict, else the sign-flip test's.
func (d Decision) ShownP() (p, q float64) {
	if d.Indicative {
		return d.PNormal, d.QNormal
	}
	return d.P, d.Q
}

// Decide judges one comparison on its own: d holds the log ratio of each block,
// in time order. The package comment states the rule.
func Decide(d []float64, o Options) (Decision, error) {
	decisions, err := DecideTable([][]float64{d}, o)
	if err != nil {
		return Decision{}, err
	}
	return decisions[0], nil
}

// DecideTable judges the comparisons of a table together: the p values are
// adjusted over all of them. A comparison without any block has no place in it.
func DecideTable(table [][]float64, o Options) ([]Decision, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	decisions := make([]Decision, len(table))
	for i, d := range table {
		var err error
		if decisions[i], err = measure(d, o); err != nil {
			if len(table) > 1 {
				err = fmt.Errorf("comparison %d: %w", i, err)
			}
			return nil, err
		}
	}
	if err := Adjust(decisions, o); err != nil {
		return nil, err
	}
	return decisions, nil
}

// measure fills in all that one comparison can know by itself.
func measure(d []float64, o Options) (Decision, error) {
	if err := finite("log ratios", d); err != nil {
		return Decision{}, err
	}
	n := len(d)
	if n > MaxBlocks {
		return Decision{}, fmt.Errorf("log ratios: %d blocks are more than %d", n, MaxBlocks)
	}
	for i, v := range d {
		if math.Abs(v) > largestLogRatio {
			return Decision{}, fmt.Errorf("log ratios: value %d is %v, beyond the logarithm of any ratio", i, v)
		}
	}
	mean, sd := moments(d)
	out := Decision{
		Blocks: n, Mean: LogRatio(mean), SD: sd,
		Estimate:    LogRatio(hodgesLehmann(slices.Sorted(slices.Values(d)))),
		Interval:    tInterval(mean, sd, n, 1-o.Alpha),
		PNormal:     tTest(mean, sd, n),
		PEquivalent: tost(mean, sd, n, float64(o.margin())),
		SmallestP:   SmallestP(n, o.Resamples),
	}
	var err error
	if out.P, out.Exact, err = SignFlip(d, o.Resamples, o.Seed); err != nil {
		return Decision{}, err
	}
	if o.Bootstrap > 0 && n > 1 {
		b, err := NewBootstrap(d, hodgesLehmann, o.Bootstrap, o.Seed)
		if err != nil {
			return Decision{}, err
		}
		check, err := b.BCa(1 - o.Alpha)
		if err != nil {
			return Decision{}, err
		}
		out.Check = &check
	}
	if o.Power > 0 {
		err = out.plan(o)
	}
	return out, err
}

// plan fills in what the run could have seen and what it would take.
func (d *Decision) plan(o Options) (err error) {
	if d.MinDetectable, err = MinDetectable(o.margin(), d.SD, d.Blocks, o.Alpha, o.Power); err != nil {
		return err
	}
	effect := FromFraction(o.Effect)
	if o.Effect == 0 {
		effect = FromFraction(2 * o.Threshold)
	}
	if d.Blocks > 1 && effect > o.margin() {
		d.BlocksNeeded, err = BlocksNeeded(effect, o.margin(), d.SD, o.Alpha, o.Power)
	}
	return err
}

// Adjust sets the q values, Reachable, Verdict, Reason and Indicative of all
// decisions from their p values, as one table. Use it where comparisons that
// were measured apart are shown together.
func Adjust(table []Decision, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	var exact, normal, equivalent []float64
	for i := range table {
		exact = append(exact, table[i].P)
		normal = append(normal, table[i].PNormal)
		equivalent = append(equivalent, table[i].PEquivalent)
	}
	for _, list := range [][]float64{exact, normal, equivalent} {
		if _, err := BenjaminiHochberg(list); err != nil {
			return err
		}
	}
	q, qNormal, qEquivalent := adjusted(exact), adjusted(normal), adjusted(equivalent)
	for i := range table {
		d := &table[i]
		d.Q, d.QNormal, d.QEquivalent = q[i], qNormal[i], qEquivalent[i]
		best := slices.Clone(exact)
		best[i] = d.SmallestP
		d.Reachable = adjusted(best)[i] <= o.Alpha
		d.Verdict, d.Reason = d.judge(o)
		d.Indicative = d.Blocks < MinBlocks || d.directed() && !d.Reachable
	}
	return nil
}

func (d Decision) directed() bool { return d.Verdict == Faster || d.Verdict == Slower }

// judge applies the rule of the package comment.
func (d Decision) judge(o Options) (Verdict, Reason) {
	margin := o.margin()
	above, below := d.Interval.Lo > margin, d.Interval.Hi < -margin
	within := d.PEquivalent <= o.Alpha
	switch {
	case d.Blocks < 2:
		return Inconclusive, ReasonOneBlock
	case above && d.Estimate <= margin, below && d.Estimate >= -margin, within && math.Abs(float64(d.Estimate)) >= float64(margin):
		return Inconclusive, ReasonSkewed
	case above && d.convincing(o.Alpha):
		return Faster, ReasonNone
	case below && d.convincing(o.Alpha):
		return Slower, ReasonNone
	case within && d.QEquivalent <= o.Alpha:
		return Equivalent, ReasonNone
	case above || below || within:
		return Inconclusive, ReasonTest
	case d.Interval.Contains(0):
		return Inconclusive, ReasonNoise
	}
	return Inconclusive, ReasonNearThreshold
}

// convincing applies conditions 2 and 3 of the rule.
func (d Decision) convincing(alpha float64) bool {
	if d.QNormal > alpha {
		return false
	}
	if d.Reachable {
		return d.Q <= alpha
	}
	return d.P <= max(alpha, d.SmallestP)
}

// Differs tells whether the comparison differs from zero at all, whatever the
// threshold, by the same tests: +1 for faster, -1 for slower, 0 for open. alpha
// is that of the decision.
func (d Decision) Differs(alpha float64) int {
	switch {
	case d.Blocks < 2 || d.Interval.Contains(0) || !d.convincing(alpha):
		return 0
	case d.Interval.Lo > 0 && d.Estimate > 0:
		return 1
	case d.Interval.Hi < 0 && d.Estimate < 0:
		return -1
	}
	return 0
}
