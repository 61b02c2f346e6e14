// Package calibrate measures the statistics themselves: it simulates runs
// whose truth is known, on a device whose speed drifts, and counts how often
// the verdict is wrong, for hexab's procedure (blocks in balanced random order,
// paired statistics) and for the usual one (AAABBB order, Welch's t-test).
//
// It does no I/O and depends on nothing but its configuration: equal
// configurations give equal tables, on any number of cores.
package calibrate

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"hexab/internal/stat"
)

// Orderer draws the order of launches: for each block a permutation of the arm
// numbers 0 to arms-1, arm 0 being the baseline.
type Orderer func(rng *rand.Rand, blocks, arms int) [][]int

// Config says what to simulate.
type Config struct {
	// Seed is what all random numbers start from. Each row draws from a stream
	// of its own, so that adding rows changes no other row.
	Seed uint64
	// Trials is the number of simulated runs for each row.
	Trials int
	// Rounds lists the numbers of blocks, each from 2.
	Rounds []int
	// Arms lists the numbers of arms, each from 2. Every further arm is
	// compared to the first, and the comparisons make up one table.
	Arms []int
	// Drifts lists how the device's speed changes during a run.
	Drifts []Drift
	// Noises lists how launches differ otherwise.
	Noises []Noise
	// Effects lists the true differences of the second arm as fractions: 0.02
	// is 2 % faster. Zero measures false positives. The other arms equal the
	// first.
	Effects []float64
	// Order draws the order within blocks; nil means BalancedOrder.
	Order Orderer
	// Options are those of the verdict. Power and Bootstrap are ignored.
	Options stat.Options
	// Progress, when set, is called after each finished row setting (one
	// setting has a row for each effect), from one goroutine at a time.
	Progress func(done, total int)
}

// Default gives the configuration of the published table: five drift shapes,
// three kinds of noise, two and three arms, 3, 6 and 10 rounds.
func Default() Config {
	return Config{
		Seed: 1, Trials: 10_000,
		Rounds: []int{3, 6, 10}, Arms: []int{2, 3},
		Drifts: Drifts(), Noises: Noises(),
		Effects: []float64{0, 0.02, 0.05, 0.10},
		Order:   BalancedOrder,
		Options: stat.DefaultOptions(),
	}
}

// Limits of a configuration, which bound time and memory.
const (
	maxTrials = 10_000_000
	maxRounds = 1_000
	maxArms   = 32
)

func (c Config) validate() error {
	switch {
	case c.Trials < 1 || c.Trials > maxTrials:
		return fmt.Errorf("trials: %d is not between 1 and %d", c.Trials, maxTrials)
	case len(c.Rounds) == 0 || len(c.Arms) == 0 || len(c.Drifts) == 0 || len(c.Noises) == 0 || len(c.Effects) == 0:
		return fmt.Errorf("calibration: rounds, arms, drifts, noises and effects need an entry each")
	}
	for _, n := range c.Rounds {
		if n < 2 || n > maxRounds {
			return fmt.Errorf("rounds: %d is not between 2 and %d", n, maxRounds)
		}
	}
	for _, n := range c.Arms {
		if n < 2 || n > maxArms {
			return fmt.Errorf("arms: %d is not between 2 and %d", n, maxArms)
		}
	}
	for _, e := range c.Effects {
		if !(e > -1) || math.IsInf(e, 1) {
			return fmt.Errorf("effect: %v is not a fraction above -1", e)
		}
	}
	for _, d := range c.Drifts {
		if err := d.validate(); err != nil {
			return err
		}
	}
	for _, n := range c.Noises {
		if n.Name == "" || n.Log == nil {
			return fmt.Errorf("noise: %q needs a name and a function", n.Name)
		}
	}
	return c.Options.Validate()
}

// Run simulates every combination of the configuration.
func Run(c Config) (Table, error) {
	if c.Order == nil {
		c.Order = BalancedOrder
	}
	if err := c.validate(); err != nil {
		return Table{}, err
	}
	c.Options.Power, c.Options.Bootstrap = 0, 0
	settings := c.settings()
	rows := make([][]Row, len(settings))
	errs := make([]error, len(settings))
	var wait sync.WaitGroup
	var lock sync.Mutex
	done := 0
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(settings)) {
		wait.Go(func() {
			for i := range next {
				rows[i], errs[i] = c.simulate(settings[i])
				lock.Lock()
				done++
				if c.Progress != nil {
					c.Progress(done, len(settings))
				}
				lock.Unlock()
			}
		})
	}
	for i := range settings {
		next <- i
	}
	close(next)
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return Table{}, err
		}
	}
	return Table{Seed: c.Seed, Trials: c.Trials, Options: c.Options, Noises: describe(c.Noises), Rows: slices.Concat(rows...)}, nil
}

// setting is what the rows of all effects share.
type setting struct {
	arms, rounds int
	noise        Noise
	drift        Drift
}

func (c Config) settings() []setting {
	var all []setting
	for _, arms := range c.Arms {
		for _, noise := range c.Noises {
			for _, drift := range c.Drifts {
				for _, rounds := range c.Rounds {
					all = append(all, setting{arms, rounds, noise, drift})
				}
			}
		}
	}
	return all
}

// source gives the setting's own stream of random numbers.
func (s setting) source(seed uint64) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d arms, %d rounds, noise %q, drift %q", s.arms, s.rounds, s.noise.Name, s.drift.Name)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// simulate runs the trials of a setting. Every effect and both orders see the
// same noise and the same drift, launch by launch, so that rows differ by
// nothing but what they are about.
func (c Config) simulate(s setting) ([]Row, error) {
	rng := s.source(c.Seed)
	rows := make([]Row, len(c.Effects))
	for i, effect := range c.Effects {
		rows[i] = Row{Arms: s.arms, Noise: s.noise.Name, Drift: s.drift.Name, Rounds: s.rounds, Effect: effect, Trials: c.Trials}
	}
	launches := s.arms * s.rounds
	drift := make([]float64, launches)
	for t := range drift {
		drift[t] = math.Log(s.drift.Speed((float64(t) + 0.5) / float64(launches)))
	}
	for range c.Trials {
		levels := s.noise.Log(rng, launches)
		if len(levels) != launches {
			return nil, fmt.Errorf("noise %q: %d values for %d launches", s.noise.Name, len(levels), launches)
		}
		for t := range levels {
			levels[t] += drift[t]
		}
		order := c.Order(rng, s.rounds, s.arms)
		if err := checkOrder(order, s.rounds, s.arms); err != nil {
			return nil, err
		}
		blocks, grouped := arrange(levels, order), group(levels, s.arms)
		for i := range rows {
			if err := rows[i].add(blocks, grouped, c.Options); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// checkOrder holds an Orderer to its word.
func checkOrder(order [][]int, blocks, arms int) error {
	if len(order) != blocks {
		return fmt.Errorf("order: %d blocks instead of %d", len(order), blocks)
	}
	for _, block := range order {
		var seen uint64
		for _, arm := range block {
			if arm < 0 || arm >= arms || seen>>arm&1 == 1 {
				return fmt.Errorf("order: block %v is not an order of %d arms", block, arms)
			}
			seen |= 1 << arm
		}
		if len(block) != arms {
			return fmt.Errorf("order: block %v is not an order of %d arms", block, arms)
		}
	}
	return nil
}

// arrange gives the log speeds of each arm, block by block, when launches run
// in the given order.
func arrange(levels []float64, order [][]int) [][]float64 {
	byArm := make([][]float64, len(order[0]))
	t := 0
	for _, block := range order {
		for _, arm := range block {
			byArm[arm] = append(byArm[arm], levels[t])
			t++
		}
	}
	return byArm
}

// group gives the same for the order AAABBB: all launches of one arm, then all
// of the next.
func group(levels []float64, arms int) [][]float64 {
	byArm := make([][]float64, arms)
	rounds := len(levels) / arms
	for arm := range byArm {
		byArm[arm] = levels[arm*rounds : (arm+1)*rounds]
	}
	return byArm
}
