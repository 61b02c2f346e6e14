// Package plan orders launches: seeded, in blocks, balanced over positions.
//
// Speed drifts while a run goes on: the device heats up, other work comes and
// goes. Two arms can be compared all the same when they run next to each
// other in time (a block) and when neither always runs first. Each model
// therefore gets blocks that hold every arm once, and the orders within its
// blocks come from Latin squares: over as many blocks as there are arms each
// arm stands at each position once, and no order repeats before all have been
// used. Which order comes when is drawn from the seed.
//
// Rounds go over all models before the next block of the first one, so that a
// run that is cut short has about as many blocks of each model, and so that
// the blocks of one model are far apart in time and nearly independent.
package plan

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"hexab/internal/bench"
)

// Limits of a plan, far above any sensible use; they bound memory when an
// argument is mistyped.
const (
	MaxRounds   = 10_000
	MaxArms     = 32
	MaxLaunches = 1_000_000
)

// New makes the order of launches: rounds blocks for each model, each block
// holding every arm once. Equal arguments give equal plans. Labels and models
// must be unique.
func New(seed uint64, rounds int, models, arms []string) ([]bench.Launch, error) {
	if err := check(rounds, models, arms); err != nil {
		return nil, err
	}
	orders := make([][][]int, len(models))
	for i, model := range models {
		orders[i] = Orders(Source(seed, "plan", model), rounds, len(arms))
	}
	launches := make([]bench.Launch, 0, rounds*len(models)*len(arms))
	for block := range rounds {
		for i, model := range models {
			for position, arm := range orders[i][block] {
				launches = append(launches, bench.Launch{
					Seq: len(launches), Block: block, Position: position, Model: model, Arm: arms[arm],
				})
			}
		}
	}
	return launches, nil
}

func check(rounds int, models, arms []string) error {
	switch {
	case rounds < 1 || rounds > MaxRounds:
		return fmt.Errorf("rounds: %d is not between 1 and %d", rounds, MaxRounds)
	case len(models) == 0:
		return fmt.Errorf("plan: no model")
	case len(arms) == 0:
		return fmt.Errorf("plan: no arm")
	case len(arms) > MaxArms:
		return fmt.Errorf("plan: %d arms are more than %d", len(arms), MaxArms)
	case rounds*len(models)*len(arms) > MaxLaunches:
		return fmt.Errorf("plan: %d rounds of %d models and %d arms are more than %d launches", rounds, len(models), len(arms), MaxLaunches)
	}
	for _, list := range [][]string{models, arms} {
		seen := make(map[string]bool, len(list))
		for _, name := range list {
			if seen[name] {
				return fmt.Errorf("plan: %q stands twice", name)
			}
			seen[name] = true
		}
	}
	return nil
}

// Source is a stream of random numbers that depends on the seed and on what
// it is for, so that adding a model changes no other model's order.
func Source(seed uint64, purpose ...string) *rand.Rand {
	h := fnv.New64a()
	for _, p := range purpose {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// Orders draws the order of n arms for each of so many blocks. Consecutive
// groups of n blocks, counted from the start, are Latin squares: each arm
// stands at each position once. The squares are the cosets of the cyclic
// rotations, which partition all n! orders, and none repeats before all were
// used.
func Orders(rng *rand.Rand, blocks, n int) [][]int {
	orders := make([][]int, 0, blocks+n)
	next := squares(rng, n)
	for len(orders) < blocks {
		base := next()
		for _, shift := range rng.Perm(n) {
			row := make([]int, n)
			for position := range row {
				row[position] = base[(position+shift)%n]
			}
			orders = append(orders, row)
		}
	}
	return orders[:blocks]
}

// maxEnumerated is the largest number of arms whose (n-1)! squares are listed
// in full. Above it, squares are drawn at random: no run is long enough to see
// one twice by more than chance.
const maxEnumerated = 6

// squares returns a function that yields one representative of each square in
// random order, and starts over with a fresh order when all were given.
func squares(rng *rand.Rand, n int) func() []int {
	if n > maxEnumerated {
		return func() []int { return rng.Perm(n) }
	}
	// Every square holds exactly one order that begins with arm 0.
	all := permutations(n - 1)
	at := len(all)
	var shuffled []int
	return func() []int {
		if at == len(all) {
			shuffled, at = rng.Perm(len(all)), 0
		}
		base := make([]int, 1, n)
		for _, arm := range all[shuffled[at]] {
			base = append(base, arm+1)
		}
		at++
		return base
	}
}

// permutations lists all orders of 0..n-1; there is one order of nothing.
func permutations(n int) [][]int {
	if n <= 0 {
		return [][]int{{}}
	}
	var all [][]int
	for _, shorter := range permutations(n - 1) {
		for at := 0; at <= len(shorter); at++ {
			order := append(append(append([]int(nil), shorter[:at]...), n-1), shorter[at:]...)
			all = append(all, order)
		}
	}
	return all
}
