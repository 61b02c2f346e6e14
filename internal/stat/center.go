package stat

import (
	"fmt"
	"math"
	"slices"
)

// Mean gives the arithmetic mean. The values must be finite.
func Mean(x []float64) (float64, error) {
	mean, _, err := checkedMoments("mean", x)
	return mean, err
}

// StandardDeviation gives the square root of the sum of squared deviations
// from the mean over n-1; at least two finite values are needed.
func StandardDeviation(x []float64) (float64, error) {
	_, sd, err := checkedMoments("standard deviation", x)
	if err == nil && len(x) < 2 {
		err = fmt.Errorf("standard deviation: one value has none")
	}
	return sd, err
}

// checkedMoments gives the moments of values that are finite and not so large
// that their sums of squares overflow.
func checkedMoments(name string, x []float64) (mean, sd float64, err error) {
	if err := finite(name, x); err != nil {
		return 0, 0, err
	}
	mean, sd = moments(x)
	if math.IsInf(mean, 0) || math.IsNaN(mean) || math.IsInf(sd, 0) || math.IsNaN(sd) {
		return 0, 0, fmt.Errorf("%s: the values are too large", name)
	}
	return mean, sd, nil
}

// moments gives mean and standard deviation of checked values, in two passes
// so that a large common level costs no digits. Equal values have a standard
// deviation of exactly zero. The standard deviation of one value is zero.
func moments(x []float64) (mean, sd float64) {
	origin := x[0]
	for _, v := range x {
		mean += v - origin
	}
	mean = origin + mean/float64(len(x))
	if len(x) < 2 {
		return mean, 0
	}
	var squares float64
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / float64(len(x)-1))
}

// Median gives the middle value, or the mean of the two middle ones. The
// values must be finite; their order is left alone.
func Median(x []float64) (float64, error) { return Quantile(x, 0.5) }

// Quantile gives the p quantile, p from 0 to 1, by linear interpolation
// between order statistics at position (n-1)p: definition 7 of Hyndman and Fan,
// "Sample Quantiles in Statistical Packages", The American Statistician 50
// (1996). The values must be finite; their order is left alone.
func Quantile(x []float64, p float64) (float64, error) {
	if err := finite("quantile", x); err != nil {
		return 0, err
	}
	if !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("quantile: %v is not between 0 and 1", p)
	}
	return quantileSorted(slices.Sorted(slices.Values(x)), p), nil
}

func quantileSorted(x []float64, p float64) float64 {
	position := p * float64(len(x)-1)
	below := int(position)
	if below >= len(x)-1 {
		return x[len(x)-1]
	}
	// Weights, not a difference, so that large values can not overflow.
	weight := position - float64(below)
	return (1-weight)*x[below] + weight*x[below+1]
}

// HodgesLehmann gives the one-sample location estimate: the median of the
// n(n+1)/2 Walsh averages (x[i]+x[j])/2, i <= j. One wild value in ten hardly
// moves it, and for normal data its variance is only about 5 % above the
// mean's. Source: Hodges and Lehmann, "Estimates of Location Based on Rank
// Tests", Annals of Mathematical Statistics 34 (1963). The values must be
// finite.
func HodgesLehmann(x []float64) (float64, error) {
	if err := finite("Hodges-Lehmann estimate", x); err != nil {
		return 0, err
	}
	return hodgesLehmann(slices.Sorted(slices.Values(x))), nil
}

// hodgesLehmann works on sorted values. The averages are counted, not listed:
// ten thousand blocks have fifty million of them, and a bootstrap asks
// thousands of times.
func hodgesLehmann(x []float64) float64 {
	n := len(x)
	pairs := n * (n + 1) / 2
	lower := walshOrder(x, (pairs+1)/2)
	if pairs%2 == 1 {
		return lower
	}
	return lower/2 + walshOrder(x, pairs/2+1)/2
}

// walshOrder gives the k-th smallest Walsh average of sorted values: the
// smallest number v with at least k averages at or below it, found by halving
// the range of representable numbers, so that the result is exact.
func walshOrder(x []float64, k int) float64 {
	lo, hi := orderedBits(x[0]), orderedBits(x[len(x)-1])
	for lo < hi {
		mid := lo + (hi-lo)/2
		if walshCount(x, fromOrderedBits(mid)) >= k {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return fromOrderedBits(lo) + 0 // no negative zero
}

// walshCount counts the Walsh averages at or below v in one pass: as i grows,
// the largest fitting j only falls.
func walshCount(x []float64, v float64) int {
	count, j := 0, len(x)-1
	for i := range x {
		for j >= i && x[i]/2+x[j]/2 > v {
			j--
		}
		if j < i {
			break
		}
		count += j - i + 1
	}
	return count
}

// orderedBits maps numbers to integers in the same order.
func orderedBits(v float64) uint64 {
	bits := math.Float64bits(v)
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

func fromOrderedBits(bits uint64) float64 {
	if bits>>63 == 1 {
		return math.Float64frombits(bits &^ (1 << 63))
	}
	return math.Float64frombits(^bits)
}
