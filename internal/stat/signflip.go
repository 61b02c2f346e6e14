package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// MaxExactPairs is the largest number of pairs whose sign patterns are all
// looked at; 2^16 patterns take less than a millisecond.
const MaxExactPairs = 16

// streamSignFlip and streamBootstrap keep the two uses of one seed apart.
const (
	streamSignFlip  = 0x7369676e666c6970
	streamBootstrap = 0x626f6f7473747261
)

// SignFlip gives the two-sided p value of the hypothesis that each difference
// was as likely to come out with the opposite sign: the share of sign patterns
// whose |sum| is at least the observed one. Beyond that symmetry, which the
// drawn order within blocks provides, it assumes no distribution.
//
// The statistic is |sum d|, since it asks the interval's question: flipping
// signs leaves the sum of squares as it is, so |sum| orders the patterns just
// as Student's |t| does. Source: Fisher, The Design of Experiments (1935),
// section 21; Pitman, "Significance Tests Which May be Applied to Samples From
// any Populations", JRSS Supplement 4 (1937).
//
// Up to [MaxExactPairs] pairs all 2^n patterns are counted and exact is true.
// Above, resamples patterns are drawn from the seed and the observed one counts
// as one more, (hits+1)/(resamples+1), so that the test keeps its level
// (Phipson and Smyth, "Permutation p-values Should Never Be Zero", 2010). p is
// never zero.
//
// Sums that differ by rounding only, 1e-12 of sum |d|, count as ties.
func SignFlip(d []float64, resamples int, seed uint64) (p float64, exact bool, err error) {
	if err := finite("sign-flip test", d); err != nil {
		return 0, false, err
	}
	if len(d) <= MaxExactPairs {
		return signFlipExact(d), true, nil
	}
	if resamples < 1 {
		return 0, false, fmt.Errorf("sign-flip test: %d resamples for %d pairs, more than %d", resamples, len(d), MaxExactPairs)
	}
	return signFlipSampled(d, resamples, rand.New(rand.NewPCG(seed, streamSignFlip))), false, nil
}

// SmallestP gives the smallest p value that [SignFlip] can give for n pairs:
// 2/2^n, the pattern observed and its mirror image; above [MaxExactPairs] not
// less than 1/(resamples+1).
func SmallestP(n, resamples int) float64 {
	if n < 1 {
		return 1
	}
	smallest := math.Ldexp(1, 1-n)
	if n > MaxExactPairs {
		smallest = max(smallest, 1/(float64(resamples)+1))
	}
	return smallest
}

// reach gives the |sum| from which a pattern counts as no less extreme.
func reach(d []float64) float64 {
	var sum, size float64
	for _, v := range d {
		sum += v
		size += math.Abs(v)
	}
	return math.Abs(sum) - 1e-12*size
}

// signFlipExact adds the sums of every pattern of one half of the differences
// to those of the other: few roundings, and no list of 2^n.
func signFlipExact(d []float64) float64 {
	limit := reach(d)
	left, right := patternSums(d[:len(d)/2]), patternSums(d[len(d)/2:])
	hits := 0
	for _, l := range left {
		for _, r := range right {
			if math.Abs(l+r) >= limit {
				hits++
			}
		}
	}
	return math.Ldexp(float64(hits), -len(d))
}

// patternSums lists the sums of d under all 2^len(d) sign patterns.
func patternSums(d []float64) []float64 {
	sums := make([]float64, 1, 1<<len(d))
	for _, v := range d {
		for i := range len(sums) {
			sums = append(sums, sums[i]-v)
			sums[i] += v
		}
	}
	return sums
}

func signFlipSampled(d []float64, resamples int, rng *rand.Rand) float64 {
	limit := reach(d)
	hits := 0
	for range resamples {
		var sum float64
		var bits uint64
		for i, v := range d {
			if i%64 == 0 {
				bits = rng.Uint64()
			}
			if bits&1 == 1 {
				v = -v
			}
			sum += v
			bits >>= 1
		}
		if math.Abs(sum) >= limit {
			hits++
		}
	}
	return float64(hits+1) / float64(resamples+1)
}
