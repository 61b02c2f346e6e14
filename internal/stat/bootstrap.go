package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// MaxResamples bounds the work of a bootstrap or a sampled test.
const MaxResamples = 10_000_000

// Bootstrap holds the estimates of a statistic on resamples drawn with
// replacement.
type Bootstrap struct {
	sorted     []float64 // the resamples' estimates
	observed   float64
	jackknifed []float64 // the estimate without the i-th value
}

// NewBootstrap draws resamples of the values from the seed and keeps the
// statistic of each: Efron, "Bootstrap Methods: Another Look at the Jackknife",
// Annals of Statistics 7 (1979). The statistic gets sorted values, which it may
// not change or keep, and must give finite numbers. Two values are needed. With
// fewer than about eight values a bootstrap interval is too narrow: it is a
// check on the t interval there, not a replacement.
func NewBootstrap(x []float64, statistic func(sorted []float64) float64, resamples int, seed uint64) (*Bootstrap, error) {
	if err := finite("bootstrap", x); err != nil {
		return nil, err
	}
	if len(x) < 2 {
		return nil, fmt.Errorf("bootstrap: one value can not be resampled")
	}
	if resamples < 1 || resamples > MaxResamples {
		return nil, fmt.Errorf("bootstrap: %d resamples are not between 1 and %d", resamples, MaxResamples)
	}
	sorted := slices.Sorted(slices.Values(x))
	b := &Bootstrap{observed: statistic(sorted), sorted: make([]float64, resamples)}
	rng := rand.New(rand.NewPCG(seed, streamBootstrap))
	draw := make([]float64, len(sorted))
	for i := range b.sorted {
		for j := range draw {
			draw[j] = sorted[rng.IntN(len(sorted))]
		}
		slices.Sort(draw)
		b.sorted[i] = statistic(draw)
	}
	slices.Sort(b.sorted)
	for i := range sorted {
		b.jackknifed = append(b.jackknifed, statistic(append(append(draw[:0], sorted[:i]...), sorted[i+1:]...)))
	}
	if err := finite("bootstrap: the statistic's values", append(b.jackknifed, b.sorted[0], b.sorted[resamples-1], b.observed)); err != nil {
		return nil, err
	}
	return b, nil
}

// Percentile gives the interval between the (1-confidence)/2 and
// (1+confidence)/2 quantiles of the resamples' estimates: Efron and Tibshirani,
// An Introduction to the Bootstrap (1993), 13.3.
func (b *Bootstrap) Percentile(confidence float64) (Interval, error) {
	if !open(confidence) {
		return Interval{}, fmt.Errorf("bootstrap: a confidence of %v is not between 0 and 1", confidence)
	}
	return b.between((1-confidence)/2, (1+confidence)/2), nil
}

// BCa gives the bias-corrected and accelerated interval: Efron, "Better
// Bootstrap Confidence Intervals", JASA 82 (1987); the acceleration is the
// jackknife's, Efron and Tibshirani (1993), 14.3. Resamples equal to the
// observed estimate count half in the bias correction.
func (b *Bootstrap) BCa(confidence float64) (Interval, error) {
	if !open(confidence) {
		return Interval{}, fmt.Errorf("bootstrap: a confidence of %v is not between 0 and 1", confidence)
	}
	below, _ := slices.BinarySearch(b.sorted, b.observed)
	ties := 0
	for _, v := range b.sorted[below:] {
		if v != b.observed {
			break
		}
		ties++
	}
	n := float64(len(b.sorted))
	share := (float64(below) + float64(ties)/2) / n
	bias := NormalQuantile(min(max(share, 0.5/n), 1-0.5/n))
	acceleration := b.acceleration()
	level := func(p float64) float64 {
		z := bias + NormalQuantile(p)
		return NormalCDF(bias + z/(1-acceleration*z))
	}
	return b.between(level((1-confidence)/2), level((1+confidence)/2)), nil
}

// acceleration gives sum u^3 / (6 (sum u^2)^1.5) with u the mean of the
// jackknifed estimates less each; zero when they do not differ. It is at most
// a third in size, far from where the interval's formula has its pole for
// confidences in use.
func (b *Bootstrap) acceleration() float64 {
	mean, sd := moments(b.jackknifed)
	if sd == 0 {
		return 0
	}
	var squares, cubes float64
	for _, v := range b.jackknifed {
		u := (mean - v) / sd
		squares += u * u
		cubes += u * u * u
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}

func (b *Bootstrap) between(lo, hi float64) Interval {
	return Interval{LogRatio(quantileSorted(b.sorted, lo)), LogRatio(quantileSorted(b.sorted, hi))}
}
