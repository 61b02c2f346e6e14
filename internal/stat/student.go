package stat

import "math"

// NormalCDF gives the probability that a standard normal variable is at most z.
func NormalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// NormalQuantile gives the z with NormalCDF(z) = p, infinite at 0 and 1; NaN
// outside 0 to 1.
func NormalQuantile(p float64) float64 {
	switch {
	case !(p >= 0 && p <= 1):
		return math.NaN()
	case p < 0.5:
		return -normalUpper(2 * p)
	}
	return normalUpper(2 * (1 - p))
}

// normalUpper gives the z >= 0 beyond which, to both sides, lies tail. The
// standard library's Erfcinv has no digits left for small tails. The logarithm
// of the tail is a concave falling function of z, and the tail is at most
// exp(-z^2/2); so Newton's steps from there go down to the root and never past
// it.
func normalUpper(tail float64) float64 {
	if tail <= 0 {
		return math.Inf(1)
	}
	z := math.Sqrt(-2 * math.Log(min(tail, 1)))
	for range 50 {
		now := math.Erfc(z / math.Sqrt2)
		slope := math.Sqrt(2/math.Pi) * math.Exp(-z*z/2) / now
		step := math.Log(now/tail) / slope
		if !(step < -1e-15*z) {
			break
		}
		z += step
	}
	return z
}

// manyDegrees is where Student's distribution is the normal one to within
// 1e-7 and the gamma functions start to lose digits.
const manyDegrees = 1e7

// StudentTwoSided gives the probability that Student's t with df degrees of
// freedom (any positive number) is at least as far from zero as t:
// I_x(df/2, 1/2) with x = df/(df+t^2), Abramowitz and Stegun 26.7.1 and 26.5.27.
// Small probabilities keep their digits. It is NaN when t is NaN or df is not
// positive.
func StudentTwoSided(t, df float64) float64 {
	switch {
	case math.IsNaN(t) || !(df > 0):
		return math.NaN()
	case math.IsInf(t, 0):
		return 0
	case df >= manyDegrees:
		return math.Erfc(math.Abs(t) / math.Sqrt2)
	}
	// Both x and 1-x are formed directly: either may be tiny. Squares of huge
	// t overflow to a share of exactly zero, which is the right limit.
	share := t * t / df
	if math.IsInf(share, 1) {
		return 0
	}
	return incompleteBeta(df/2, 0.5, 1/(1+share), share/(1+share))
}

// StudentCDF gives the probability that Student's t with df degrees of freedom
// is at most t. NaN as for [StudentTwoSided].
func StudentCDF(t, df float64) float64 {
	half := StudentTwoSided(t, df) / 2
	if t > 0 {
		return 1 - half
	}
	return half
}

// StudentQuantile gives the t with StudentCDF(t, df) = p, infinite at 0 and 1.
// It is NaN when p is outside 0 to 1 or df is not positive.
func StudentQuantile(p, df float64) float64 {
	switch {
	case !(p >= 0 && p <= 1) || !(df > 0):
		return math.NaN()
	case p == 0.5:
		return 0
	case p < 0.5:
		return -studentUpper(2*p, df)
	}
	return studentUpper(2*(1-p), df)
}

// studentUpper gives the t >= 0 whose two-sided tail is tail. The tail is a
// convex falling function of t, and t is at least the normal quantile; so
// Newton's steps from there go up to the root and never past it.
func studentUpper(tail, df float64) float64 {
	switch {
	case tail <= 0:
		return math.Inf(1)
	case df == 1: // Cauchy
		return 1 / math.Tan(tail*math.Pi/2)
	case df == 2: // CDF = 1/2 + t / (2 sqrt(2+t^2)), solved for t
		return (1 - tail) * math.Sqrt(2/(tail*(2-tail)))
	}
	t := normalUpper(tail)
	if df >= manyDegrees {
		return t
	}
	upper, _ := math.Lgamma((df + 1) / 2)
	lower, _ := math.Lgamma(df / 2)
	scale := 2 * math.Exp(upper-lower) / math.Sqrt(df*math.Pi)
	for range 500 {
		slope := scale * math.Exp(-(df+1)/2*math.Log1p(t*t/df))
		step := (StudentTwoSided(t, df) - tail) / slope
		if !(step > 1e-15*t) {
			break
		}
		t += step
	}
	return t
}

// incompleteBeta gives the regularised incomplete beta function I_x(a, b) with
// y = 1-x, by the continued fraction DLMF 8.17.22, evaluated by Lentz's method
// (Press et al., Numerical Recipes, 6.4).
func incompleteBeta(a, b, x, y float64) float64 {
	switch {
	case x <= 0:
		return 0
	case y <= 0:
		return 1
	}
	both, _ := math.Lgamma(a + b)
	first, _ := math.Lgamma(a)
	second, _ := math.Lgamma(b)
	// The logarithm of the one of x, y that is near one comes from the other.
	logX, logY := math.Log(x), math.Log(y)
	if x > 0.5 {
		logX = math.Log1p(-y)
	} else {
		logY = math.Log1p(-x)
	}
	front := math.Exp(both - first - second + a*logX + b*logY)
	if x < (a+1)/(a+b+2) {
		return front * betaFraction(a, b, x) / a
	}
	return 1 - front*betaFraction(b, a, y)/b
}

func betaFraction(a, b, x float64) float64 {
	const tiny = 1e-300
	nonZero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c := 1.0
	d := 1 / nonZero(1-(a+b)*x/(a+1))
	h := d
	// It takes about sqrt(max(a, b)) terms: a few thousand at the most.
	for m := 1.0; m < 20_000; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / nonZero(1+even*d)
		c = nonZero(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / nonZero(1+odd*d)
		c = nonZero(1 + odd/c)
		h *= d * c
		if math.Abs(d*c-1) < 1e-16 {
			break
		}
	}
	return h
}
