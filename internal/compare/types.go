package compare

import (
	"hexab/internal/bench"
	"hexab/internal/stat"
)

// SchemaVersion is the version of the JSON form of Comparisons. It grows when
// a reader of the old form would misread the new one.
const SchemaVersion = 1

// SimulatedNotice is what must stand beside every figure of a run on a
// simulated device.
const SimulatedNotice = "simulated / embedded phone: figures say nothing about a real phone"

// Comparisons is all that a run says.
type Comparisons struct {
	Schema int `json:"schema"`
	// Run is the run's id.
	Run string `json:"run"`
	// Simulated is set when the figures say nothing of a real phone; Notice is
	// then the sentence to show.
	Simulated bool   `json:"simulated"`
	Notice    string `json:"notice,omitempty"`
	// Baseline is the label of the arm that the others are compared to.
	Baseline string `json:"baseline"`
	// Limits are what the verdicts rest on.
	Limits Limits `json:"limits"`
	// Complete tells whether nothing is missing: every cell has a verdict
	// (inconclusive is one) and there is no hole.
	Complete bool `json:"complete"`
	// Speeds has an entry for each model, test and arm, in the run's order.
	Speeds []Speed `json:"speeds"`
	// Cells has an entry for each model, test and arm other than the
	// baseline, in the run's order.
	Cells []Cell `json:"cells"`
	// Holes are the planned launches that do not count, in the plan's order.
	Holes []Hole `json:"holes"`
	// Outcomes counts the planned launches by how they ended.
	Outcomes map[bench.Outcome]int `json:"outcomes"`
	// Warnings are reasons to be careful, grouped by kind in the order of Kinds.
	Warnings []Warning `json:"warnings"`
	// Pairs has an entry for each head:X with its own base:X, adjusted as one
	// table, where a run has several of them: there the cells above, all to one
	// baseline, do not say what a change did.
	Pairs []Comparisons `json:"pairs,omitempty"`
}

// Limits are the options of the statistics; see stat.Options.
type Limits struct {
	// Threshold is the practical threshold as a fraction: 0.01 is 1 %.
	Threshold float64 `json:"threshold"`
	// Alpha is the level of the tests; intervals have confidence 1-Alpha.
	Alpha float64 `json:"alpha"`
	// Power is what MinDetectable and BlocksNeeded are for; zero: not asked.
	Power float64 `json:"power"`
	// Effect is the difference, as a fraction, that BlocksNeeded is for.
	Effect float64 `json:"effect"`
	// Resamples, Bootstrap and Seed are those of the random draws.
	Resamples int    `json:"resamples"`
	Bootstrap int    `json:"bootstrap"`
	Seed      uint64 `json:"seed"`
}

// Speed is how fast one arm ran one test of one model.
type Speed struct {
	Model string     `json:"model"`
	Test  bench.Test `json:"test"`
	Arm   string     `json:"arm"`
	// Launches is the number of launches that count.
	Launches int `json:"launches"`
	// Median is that of the launches' observations; zero without a launch.
	Median bench.TokensPerSecond `json:"median_tokens_per_second"`
	// HalfWidth is half the width of the t interval of the mean logarithm of
	// the observations: about the relative error of the speed. It is NaN
	// (null in JSON) for fewer than two launches.
	HalfWidth stat.LogRatio `json:"half_width"`
}

// Cell is the comparison of one arm with the baseline on one test of one model.
type Cell struct {
	Model string `json:"model"`
	// StandIn is set for a small random-weight model in the real one's place.
	StandIn bool       `json:"stand_in,omitempty"`
	Test    bench.Test `json:"test"`
	// Arm is compared to Baseline.
	Arm      string `json:"arm"`
	Baseline string `json:"baseline"`
	// AA is set when both are the same: a test of the method itself, which
	// should come out undecided or equivalent.
	AA bool `json:"aa,omitempty"`
	// Pairs are the blocks that count, in order.
	Pairs []Pair `json:"pairs"`
	// Decision is the verdict with its numbers; nil without a pair, and
	// NoVerdict then says why.
	Decision  *stat.Decision `json:"decision,omitempty"`
	NoVerdict string         `json:"no_verdict,omitempty"`
}

// Pair is one block of a comparison.
type Pair struct {
	Block    int                   `json:"block"`
	Baseline bench.TokensPerSecond `json:"baseline_tokens_per_second"`
	Arm      bench.TokensPerSecond `json:"arm_tokens_per_second"`
	// LogRatio is ln(Arm/Baseline).
	LogRatio stat.LogRatio `json:"log_ratio"`
}

// Hole is a planned launch that does not count, wholly or for one test.
type Hole struct {
	bench.Launch
	// Attempts is the number of tries; zero when it was never started.
	Attempts int `json:"attempts"`
	// Outcome is how the last try ended.
	Outcome bench.Outcome `json:"outcome"`
	Fault   bench.Fault   `json:"fault,omitempty"`
	// Test is set when only this test is missing from a launch that ended well.
	Test string `json:"test,omitempty"`
	// Reason is one line for people.
	Reason string `json:"reason"`
	// Log is the launch's log, relative to the archive.
	Log string `json:"log,omitempty"`
}

// Kind is a kind of warning.
type Kind string

// The kinds of warning.
const (
	KindSimulated       Kind = "simulated"
	KindStandIn         Kind = "stand-in"
	KindHole            Kind = "hole"
	KindFewBlocks       Kind = "few-blocks"
	KindIndicative      Kind = "indicative"
	KindInconclusive    Kind = "inconclusive"
	KindNearThreshold   Kind = "near-threshold"
	KindSkewed          Kind = "skewed"
	KindAAViolated      Kind = "aa-differs"
	KindDrift           Kind = "drift"
	KindAutocorrelation Kind = "autocorrelation"
	KindDisturbed       Kind = "disturbed"
	KindHot             Kind = "hot"
	KindThrottled       Kind = "throttled"
	KindRetried         Kind = "retried"
)

// Kinds lists every kind, in the order in which reports show them.
var Kinds = []Kind{
	KindSimulated, KindStandIn, KindHole, KindAAViolated, KindFewBlocks, KindIndicative, KindInconclusive,
	KindNearThreshold, KindSkewed, KindDrift, KindAutocorrelation,
	KindDisturbed, KindHot, KindThrottled, KindRetried,
}

// Explain says in one line what the kind means to a reader of the figures.
func (k Kind) Explain() string {
	switch k {
	case KindSimulated:
		return SimulatedNotice
	case KindStandIn:
		return "small random-weight models stand for the real ones; their speeds are their own"
	case KindHole:
		return "planned launches are missing from the figures"
	case KindFewBlocks:
		return "fewer than 6 blocks can not decide without assuming normality; more rounds can"
	case KindIndicative:
		return "the verdict assumes normally distributed differences; more rounds lift that"
	case KindInconclusive:
		return "this run could not tell"
	case KindNearThreshold:
		return "there is a difference, but it may be smaller or larger than the threshold"
	case KindSkewed:
		return "a few blocks pull the mean away from the middle"
	case KindAAViolated:
		return "the same arm differs from itself; chance does that about 5 times in 100, else something other than the arms is measured"
	case KindDrift:
		return "the baseline's speed changed over the run; pairs within a block cancel most of it"
	case KindAutocorrelation:
		return "neighbouring blocks share noise; intervals may be too narrow"
	case KindDisturbed:
		return "other processes took a large share of the device's CPU time"
	case KindHot:
		return "launches began outside the temperature window"
	case KindThrottled:
		return "the device throttled"
	case KindRetried:
		return "launches were repeated after an infrastructure fault"
	}
	return string(k)
}

// Warning is one reason to be careful. Model, Test and Arm say where, as far
// as it is a matter of one place.
type Warning struct {
	Kind  Kind   `json:"kind"`
	Model string `json:"model,omitempty"`
	Test  string `json:"test,omitempty"`
	Arm   string `json:"arm,omitempty"`
	// Detail is the particular of this place, for people.
	Detail string `json:"detail,omitempty"`
	// Launches are the launches concerned, by their place in the plan.
	Launches []int `json:"launches,omitempty"`
}
