package stat

import (
	"fmt"
	"math"
)

// TInterval gives the interval mean +- t s/sqrt(n), t the (1+confidence)/2
// quantile of Student's distribution with n-1 degrees of freedom: "Student",
// "The Probable Error of a Mean", Biometrika 6 (1908). One value leaves
// everything open: the bounds are infinite. confidence lies between 0 and 1.
func TInterval(d []float64, confidence float64) (Interval, error) {
	mean, sd, err := checkedMoments("t interval", d)
	if err != nil {
		return Interval{}, err
	}
	if !open(confidence) {
		return Interval{}, fmt.Errorf("t interval: a confidence of %v is not between 0 and 1", confidence)
	}
	return tInterval(mean, sd, len(d), confidence), nil
}

func tInterval(mean, sd float64, n int, confidence float64) Interval {
	if n < 2 {
		return Interval{LogRatio(math.Inf(-1)), LogRatio(math.Inf(1))}
	}
	half := StudentQuantile((1+confidence)/2, float64(n-1)) * sd / math.Sqrt(float64(n))
	return Interval{LogRatio(mean - half), LogRatio(mean + half)}
}

// TTest gives the two-sided p value of the hypothesis that the mean of d is
// zero, by Student's one-sample test with n-1 degrees of freedom. It is 1 for
// one value. Values without any spread give the limit: 0, or 1 when all are
// zero.
func TTest(d []float64) (float64, error) {
	mean, sd, err := checkedMoments("t test", d)
	if err != nil {
		return 0, err
	}
	return tTest(mean, sd, len(d)), nil
}

func tTest(mean, sd float64, n int) float64 {
	if n < 2 || mean == 0 {
		return 1
	}
	return StudentTwoSided(mean/sd*math.Sqrt(float64(n)), float64(n-1))
}

// TOST gives the p value of the hypothesis that the mean of d is -margin or
// less, or margin or more: the larger of two one-sided t tests' values. A small
// value shows equivalence. Source: Schuirmann, "A Comparison of the Two
// One-Sided Tests Procedure...", Journal of Pharmacokinetics and
// Biopharmaceutics 15 (1987). p <= alpha says the same as a (1-2 alpha) t
// interval within the margins. It is 1 for one value and for a margin of zero.
func TOST(d []float64, margin float64) (float64, error) {
	mean, sd, err := checkedMoments("equivalence test", d)
	if err != nil {
		return 0, err
	}
	if !(margin >= 0) || math.IsInf(margin, 1) {
		return 0, fmt.Errorf("equivalence test: a margin of %v is not a number from zero up", margin)
	}
	return tost(mean, sd, len(d), margin), nil
}

func tost(mean, sd float64, n int, margin float64) float64 {
	room := margin - math.Abs(mean) // to the nearer margin, whose test decides
	switch {
	case n < 2 || margin == 0:
		return 1
	case sd == 0 && room <= 0:
		return 1
	}
	return StudentCDF(-room/sd*math.Sqrt(float64(n)), float64(n-1))
}

// WelchTTest gives the two-sided p value of the hypothesis that two independent
// samples have equal means, without assuming equal variances: Welch, "The
// Generalization of 'Student's' Problem...", Biometrika 34 (1947), degrees of
// freedom by Satterthwaite (1946). hexab does not decide by it: it is the usual
// procedure on launches in the order AAABBB, kept for comparison. Each sample
// needs two values.
func WelchTTest(a, b []float64) (float64, error) {
	meanA, sdA, err := checkedMoments("two-sample test", a)
	if err != nil {
		return 0, err
	}
	meanB, sdB, err := checkedMoments("two-sample test", b)
	if err != nil {
		return 0, err
	}
	if len(a) < 2 || len(b) < 2 {
		return 0, fmt.Errorf("two-sample test: a sample of one value has no variance")
	}
	if meanA == meanB {
		return 1, nil
	}
	shareA, shareB := sdA*sdA/float64(len(a)), sdB*sdB/float64(len(b))
	sum := shareA + shareB
	if sum == 0 {
		return 0, nil
	}
	// The shares are scaled so that tiny variances do not vanish when squared.
	wA, wB := shareA/sum, shareB/sum
	df := 1 / (wA*wA/float64(len(a)-1) + wB*wB/float64(len(b)-1))
	return StudentTwoSided((meanB-meanA)/math.Sqrt(sum), df), nil
}
