package stat

import (
	"fmt"
	"math"
	"slices"
)

// Lag1Autocorrelation gives r_1 = sum (x_t - m)(x_{t+1} - m) / sum (x_t - m)^2
// of values in time order: Box, Jenkins and Reinsel, Time Series Analysis
// (1994), 2.1. Independent values give about -1/n, give or take 1/sqrt(n); a
// value well above says that blocks share noise and that the interval is too
// narrow. Three values with some spread are needed.
func Lag1Autocorrelation(x []float64) (float64, error) {
	if err := finite("autocorrelation", x); err != nil {
		return 0, err
	}
	if len(x) < 3 {
		return 0, fmt.Errorf("autocorrelation: %d values, at least 3 are needed", len(x))
	}
	mean, sd := moments(x)
	if sd == 0 {
		return 0, fmt.Errorf("autocorrelation: all values are equal")
	}
	var products, squares float64
	for i, v := range x {
		u := (v - mean) / sd
		squares += u * u
		if i > 0 {
			products += u * (x[i-1] - mean) / sd
		}
	}
	return products / squares, nil
}

// Drift is a trend of levels over blocks.
type Drift struct {
	// Slope is the change from one value to the next.
	Slope float64 `json:"slope"`
	// Total is Slope times the number of steps. For logarithms of speed it is
	// the log ratio of the end to the start.
	Total LogRatio `json:"total"`
	// P is the two-sided p value of there being no trend.
	P float64 `json:"p"`
}

// maxExactTrend is where the exact distribution of Kendall's S gives way to
// the normal one, which is long good by then.
const maxExactTrend = 60

// Trend tests values in time order, one a block (for example the mean logarithm
// of the block's speeds over all arms), for a steady rise or fall: Mann,
// "Nonparametric Tests Against Trend", Econometrica 13 (1945). The p value is
// exact up to 60 values without ties, from the distribution of Kendall's S
// (Kendall 1938), else the normal approximation with the correction for ties
// and continuity (Kendall, Rank Correlation Methods, 1975). The slope is the
// median of all pairwise slopes: Sen, JASA 63 (1968). Three values are needed,
// and the smallest p at n values is 2/n!: 0.33, 0.083, 0.017 for 3, 4, 5.
func Trend(x []float64) (Drift, error) {
	if err := finite("trend", x); err != nil {
		return Drift{}, err
	}
	n := len(x)
	if n < 3 {
		return Drift{}, fmt.Errorf("trend: %d values, at least 3 are needed", n)
	}
	if n > MaxBlocks {
		return Drift{}, fmt.Errorf("trend: %d values are more than %d", n, MaxBlocks)
	}
	rises, falls := 0, 0
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range x {
		for j := i + 1; j < n; j++ {
			slopes = append(slopes, (x[j]-x[i])/float64(j-i))
			switch {
			case x[j] > x[i]:
				rises++
			case x[j] < x[i]:
				falls++
			}
		}
	}
	slices.Sort(slopes)
	slope := quantileSorted(slopes, 0.5)
	score := rises - falls
	p := trendNormal(x, score)
	if n <= maxExactTrend && rises+falls == len(slopes) {
		p = trendExact(n, score)
	}
	return Drift{Slope: slope, Total: LogRatio(slope * float64(n-1)), P: p}, nil
}

// trendExact gives P(|S| >= |score|) over all orders of n distinct values. The
// number of falls of a random order is a sum of independent uniform variables
// on 0..k-1, k = 1..n, whose distribution is built up here.
func trendExact(n, score int) float64 {
	pairs := n * (n - 1) / 2
	chance := make([]float64, 1, pairs+1)
	chance[0] = 1
	for k := 2; k <= n; k++ {
		next := make([]float64, len(chance)+k-1)
		for falls, c := range chance {
			for more := range k {
				next[falls+more] += c / float64(k)
			}
		}
		chance = next
	}
	if score < 0 {
		score = -score
	}
	var p float64
	for falls, c := range chance {
		if s := pairs - 2*falls; s >= score || -s >= score {
			p += c
		}
	}
	return min(p, 1)
}

func trendNormal(x []float64, score int) float64 {
	n := float64(len(x))
	variance := n * (n - 1) * (2*n + 5)
	sorted := slices.Sorted(slices.Values(x))
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		t := float64(j - i)
		variance -= t * (t - 1) * (2*t + 5)
		i = j
	}
	distance := math.Abs(float64(score)) - 1
	if distance <= 0 || variance <= 0 {
		return 1
	}
	return math.Erfc(distance / math.Sqrt(variance/18) / math.Sqrt2)
}
