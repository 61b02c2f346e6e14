package stat

import (
	"fmt"
	"math"
)

// MaxBlocks is the largest number of blocks that [BlocksNeeded] names.
const MaxBlocks = 10_000

// Power gives the probability that a run of so many blocks finds its whole
// (1-alpha) t interval above the threshold when the true log ratio is effect
// and the differences are normal with standard deviation sd: the probability
// that a noncentral t variable with n-1 degrees of freedom and noncentrality
// (effect-threshold) sqrt(n)/sd exceeds the 1-alpha/2 quantile of Student's t.
// Source: Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions
// 2 (1995), chapter 31. effect and threshold are log ratios, threshold from
// zero up.
func Power(effect, threshold LogRatio, sd float64, blocks int, alpha float64) (float64, error) {
	switch {
	case math.IsNaN(float64(effect)) || math.IsInf(float64(effect), 0):
		return 0, fmt.Errorf("power: an effect of %v", effect)
	case !(threshold >= 0) || math.IsInf(float64(threshold), 0):
		return 0, fmt.Errorf("power: a threshold of %v", threshold)
	case !(sd >= 0) || math.IsInf(sd, 0):
		return 0, fmt.Errorf("power: a standard deviation of %v", sd)
	case !open(alpha):
		return 0, fmt.Errorf("power: an alpha of %v is not between 0 and 1", alpha)
	case blocks < 2:
		return 0, nil
	case sd == 0 && effect > threshold:
		return 1, nil
	case sd == 0:
		return 0, nil
	}
	df := float64(blocks - 1)
	shift := float64(effect-threshold) / sd * math.Sqrt(float64(blocks))
	return noncentralUpper(StudentQuantile(1-alpha/2, df), df, shift), nil
}

// noncentralUpper gives P(T > c) for noncentral T = (Z + shift)/U, where Z is
// standard normal and U^2 is chi-squared over its df degrees of freedom: the
// integral over u of the density of U times P(Z > c u - shift), by Simpson's
// rule over nine standard deviations of U to both sides, but not beyond where
// the second factor is down to P(Z > 9).
func noncentralUpper(c, df, shift float64) float64 {
	const steps = 400
	spread := 9 / math.Sqrt(2*df)
	lo, hi := max(0, 1-spread), min(1+spread, (shift+9)/c)
	if hi <= lo {
		return 0
	}
	gamma, _ := math.Lgamma(df / 2)
	logScale := math.Ln2 + df/2*math.Log(df/2) - gamma
	density := func(u float64) float64 {
		if u == 0 {
			if df == 1 {
				return math.Exp(logScale)
			}
			return 0
		}
		return math.Exp(logScale + (df-1)*math.Log(u) - df*u*u/2)
	}
	step := (hi - lo) / steps
	var sum float64
	for i := 0; i <= steps; i++ {
		u := lo + float64(i)*step
		weight := 2.0
		switch {
		case i == 0 || i == steps:
			weight = 1
		case i%2 == 1:
			weight = 4
		}
		sum += weight * density(u) * NormalCDF(shift-c*u)
	}
	return min(max(sum*step/3, 0), 1)
}

// MinDetectable gives the smallest true log ratio that a run of so many blocks,
// whose differences have standard deviation sd, calls faster with the wished
// power: threshold + delta sd/sqrt(n), delta the noncentrality at which [Power]
// is just that. It is infinite for one block. sd is itself an estimate: from
// three blocks it is good to a factor of two or so.
func MinDetectable(threshold LogRatio, sd float64, blocks int, alpha, power float64) (LogRatio, error) {
	if !open(power) {
		return 0, fmt.Errorf("smallest detectable effect: a power of %v is not between 0 and 1", power)
	}
	if _, err := Power(0, threshold, sd, blocks, alpha); err != nil {
		return 0, fmt.Errorf("smallest detectable effect: %w", err)
	}
	if blocks < 2 {
		return LogRatio(math.Inf(1)), nil
	}
	df := float64(blocks - 1)
	critical := StudentQuantile(1-alpha/2, df)
	lo, hi := -10.0, critical+10
	for noncentralUpper(critical, df, hi) < power && hi < 1e12 {
		hi *= 2
	}
	for range 60 {
		mid := (lo + hi) / 2
		if noncentralUpper(critical, df, mid) < power {
			lo = mid
		} else {
			hi = mid
		}
	}
	return threshold + LogRatio(hi*sd/math.Sqrt(float64(blocks))), nil
}

// BlocksNeeded gives the smallest number of blocks with which a true effect
// beyond the threshold is called faster with the wished power, and not merely
// indicatively: it is never below the number at which the sign-flip test alone
// can reach alpha. It is 0 when more than [MaxBlocks] would be needed.
func BlocksNeeded(effect, threshold LogRatio, sd, alpha, power float64) (int, error) {
	if !open(power) {
		return 0, fmt.Errorf("blocks needed: a power of %v is not between 0 and 1", power)
	}
	if _, err := Power(effect, threshold, sd, 2, alpha); err != nil {
		return 0, fmt.Errorf("blocks needed: %w", err)
	}
	if !(effect > threshold) {
		return 0, fmt.Errorf("blocks needed: an effect of %.3g %% is not beyond the threshold of %.3g %%", effect.Percent(), threshold.Percent())
	}
	enough := func(n int) bool {
		p, err := Power(effect, threshold, sd, n, alpha)
		return err == nil && p >= power
	}
	lo := MinBlocks
	for lo < MaxBlocks && math.Ldexp(1, 1-lo) > alpha {
		lo++
	}
	if enough(lo) {
		return lo, nil
	}
	if !enough(MaxBlocks) {
		return 0, nil
	}
	// Power grows with n, so halving the range finds the first that is enough.
	hi := MaxBlocks
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}
