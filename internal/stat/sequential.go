package stat

import (
	"fmt"
	"math"
)

// Look is one of the points, declared before a run, at which it may stop.
type Look struct {
	// Blocks is the number of blocks done by then.
	Blocks int `json:"blocks"`
	// Alpha is the level that this look's tests and intervals have: what the
	// spending function allows since the look before.
	Alpha float64 `json:"alpha"`
}

// lookGrowth is by how much the blocks grow from look to look: seldom enough
// that each look has a level worth having.
const lookGrowth = 1.5

// Looks plans the looks of a run of at most so many blocks, each at a multiple
// of step (the number of arms, so that positions are balanced) but for the
// last, which is at the end.
//
// The error alpha is spent in proportion to the blocks, alpha(t) = alpha t:
// Lan and DeMets, "Discrete sequential boundaries for clinical trials",
// Biometrika 70 (1983), with the linear function of Kim and DeMets (1987).
// Each look has the increment to itself, without credit for the correlation
// between looks: by the union bound the chance that any look errs is then at
// most alpha whatever the rule to stop, be it the width of an interval or the
// sight of a result. The first look is where the sign-flip test can reach the
// look's level at all.
func Looks(blocks, step int, alpha float64, resamples int) ([]Look, error) {
	switch {
	case blocks < 1 || blocks > MaxBlocks:
		return nil, fmt.Errorf("looks: %d blocks are not between 1 and %d", blocks, MaxBlocks)
	case step < 1:
		return nil, fmt.Errorf("looks: a step of %d blocks", step)
	case !open(alpha):
		return nil, fmt.Errorf("alpha: %v is not between 0 and 1", alpha)
	}
	share := func(n int) float64 { return alpha * float64(n) / float64(blocks) }
	var looks []Look
	spent := 0
	up := func(n int) int { return (n + step - 1) / step * step }
	for n := up(MinBlocks); 6*n <= 5*blocks; { // a look just before the end is of no use
		if SmallestP(n, resamples) > share(n-spent) {
			n = up(n + 1)
			continue
		}
		looks = append(looks, Look{n, share(n - spent)})
		spent, n = n, up(int(math.Ceil(float64(n)*lookGrowth)))
	}
	return append(looks, Look{blocks, share(blocks - spent)}), nil
}

// Narrow tells whether every interval is at most so wide to either side, as a
// fraction: 0.01 is 1 %. An interval that is not finite is not.
func Narrow(decisions []Decision, fraction float64) bool {
	limit := FromFraction(fraction)
	for _, d := range decisions {
		if half := (d.Interval.Hi - d.Interval.Lo) / 2; !(half <= limit) {
			return false
		}
	}
	return true
}
