package stat

import (
	"math"
	"testing"
)

// near fails unless got is want within a relative tolerance.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance*max(math.Abs(want), 1e-300) {
		t.Errorf("%s: %.15g, want %.15g", what, got, want)
	}
}

// TestStudentQuantileTable compares with testdata/reference.py (finite sums of
// Abramowitz and Stegun 26.7.3/4, inverted by halving), which agrees with every
// printed table: 12.706, 4.303, 3.182, 2.776, 2.571, ...
func TestStudentQuantileTable(t *testing.T) {
	levels := []float64{0.9, 0.95, 0.975, 0.995, 0.9995}
	table := map[float64][]float64{
		1:   {3.0776835372, 6.3137515147, 12.7062047362, 63.6567411629, 636.6192487687},
		2:   {1.8856180832, 2.9199855804, 4.3026527297, 9.9248432009, 31.5990545764},
		3:   {1.6377443537, 2.3533634348, 3.1824463053, 5.8409093097, 12.9239786367},
		4:   {1.5332062741, 2.1318467863, 2.7764451052, 4.6040948713, 8.6103015814},
		5:   {1.4758840488, 2.0150483733, 2.5705818356, 4.0321429836, 6.8688266259},
		9:   {1.3830287384, 1.8331129327, 2.2621571628, 3.2498355416, 4.7809125859},
		10:  {1.3721836411, 1.8124611228, 2.2281388520, 3.1692726726, 4.5868938587},
		30:  {1.3104150254, 1.6972608866, 2.0422724563, 2.7499956536, 3.6459586350},
		120: {1.2886462337, 1.6576508994, 1.9799304051, 2.6174211451, 3.3734537686},
	}
	for df, row := range table {
		for i, p := range levels {
			near(t, "quantile", StudentQuantile(p, df), row[i], 1e-10)
			near(t, "lower quantile", StudentQuantile(1-p, df), -row[i], 1e-10)
		}
	}
}

// TestStudentCDFFractional: the density integrated by testdata/reference.py.
func TestStudentCDFFractional(t *testing.T) {
	for _, c := range []struct{ t, df, want float64 }{
		{2.0, 2.5, 0.921304252121}, {1.0, 7.3, 0.825350771773}, {3.5, 0.5, 0.829607340028},
		{0.01, 4.2, 0.503760798786}, {2.2, 333.3, 0.985753604198},
	} {
		near(t, "CDF", StudentCDF(c.t, c.df), c.want, 1e-11)
		near(t, "CDF of -t", StudentCDF(-c.t, c.df), 1-c.want, 1e-10)
	}
}

// inside gives P(|T| <= t) for whole df by Abramowitz and Stegun 26.7.3 and
// 26.7.4, which shares nothing with the continued fraction.
func inside(t float64, df int) float64 {
	theta := math.Atan(t / math.Sqrt(float64(df)))
	sin, cos := math.Sincos(theta)
	term, k := 1.0, 1
	if df%2 == 1 {
		term, k = cos, 2
	}
	sum := term
	if df == 1 {
		sum = 0
	}
	for ; k <= df-3; k += 2 {
		term *= cos * cos * float64(k) / float64(k+1)
		sum += term
	}
	if df%2 == 1 {
		return 2 / math.Pi * (theta + sin*sum)
	}
	return sin * sum
}

func TestStudentAgainstFiniteSums(t *testing.T) {
	for df := 1; df <= 60; df++ {
		for _, x := range []float64{1e-6, 0.01, 0.3, 0.9, 1, 1.7, 2.5, 4, 7} {
			near(t, "inside", 1-StudentTwoSided(x, float64(df)), inside(x, df), 1e-9)
			near(t, "CDF", StudentCDF(x, float64(df)), 0.5+inside(x, df)/2, 1e-13)
		}
	}
}

func TestStudentRoundTrip(t *testing.T) {
	for _, df := range []float64{0.7, 1, 1.5, 2, 3, 4.4, 9, 50, 1e3, 1e6, 1e8, math.Inf(1)} {
		for _, p := range []float64{1e-12, 1e-4, 0.025, 0.3, 0.499, 0.5, 0.7, 0.975, 0.9999} {
			near(t, "CDF of the quantile", StudentCDF(StudentQuantile(p, df), df), p, 1e-8)
		}
	}
}

func TestStudentLimits(t *testing.T) {
	// Far out, the Cauchy tail is 2/(pi t).
	near(t, "Cauchy tail", StudentTwoSided(1e10, 1), 2/math.Pi*1e-10, 1e-12)
	near(t, "normal limit", StudentTwoSided(1.96, 1e9), math.Erfc(1.96/math.Sqrt2), 1e-12)
	near(t, "nearly normal", StudentTwoSided(1.96, 9e6), math.Erfc(1.96/math.Sqrt2), 1e-6)
	near(t, "normal quantile", NormalQuantile(0.975), 1.959963984540054, 1e-14)
	// Wichura's AS 241 gives this value as its own check.
	near(t, "far normal quantile", NormalQuantile(1e-20), -9.262340089798408, 1e-12)
	near(t, "normal CDF", NormalCDF(-1.959963984540054), 0.025, 1e-13)
	for what, pair := range map[string][2]float64{
		"two-sided at 0":        {StudentTwoSided(0, 3), 1},
		"two-sided at infinity": {StudentTwoSided(math.Inf(-1), 3), 0},
		"two-sided, overflow":   {StudentTwoSided(1e300, 1), 0},
		"CDF at -infinity":      {StudentCDF(math.Inf(-1), 3), 0},
		"CDF at infinity":       {StudentCDF(math.Inf(1), 3), 1},
		"quantile at 0":         {StudentQuantile(0, 3), math.Inf(-1)},
		"quantile at 1":         {StudentQuantile(1, 3), math.Inf(1)},
		"quantile at half":      {StudentQuantile(0.5, 3), 0},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
	nan := math.NaN()
	for what, v := range map[string]float64{
		"t": StudentCDF(nan, 3), "df": StudentCDF(1, nan), "df 0": StudentTwoSided(1, 0), "df < 0": StudentQuantile(0.9, -1),
		"p": StudentQuantile(nan, 3), "p > 1": StudentQuantile(1.1, 3), "p < 0": StudentQuantile(-0.1, 3), "z": NormalQuantile(2),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s out of range: %v, want NaN", what, v)
		}
	}
}

// sleep is Student's own example (1908): hours of sleep gained under two drugs.
var (
	sleepA = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	sleepB = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

func sleepDifferences() []float64 {
	d := make([]float64, len(sleepA))
	for i := range d {
		d[i] = sleepB[i] - sleepA[i]
	}
	return d
}

// TestSleepData: all values from testdata/reference.py.
func TestSleepData(t *testing.T) {
	d := sleepDifferences()
	p, err := TTest(d)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "paired t", p, 0.0028328901973884157, 1e-9)
	interval, err := TInterval(d, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "lower bound", float64(interval.Lo), 0.7001142367230176, 1e-10)
	near(t, "upper bound", float64(interval.Hi), 2.4598857632769824, 1e-10)
	if p, err = TOST(d, 2.5); err != nil {
		t.Fatal(err)
	}
	near(t, "TOST", p, 0.021116860246492175, 1e-9)
	if p, err = WelchTTest(sleepA, sleepB); err != nil {
		t.Fatal(err)
	}
	near(t, "Welch", p, 0.0793941401873548, 1e-9)
	p, exact, err := SignFlip(d, 0, 0)
	if err != nil || !exact {
		t.Fatal(exact, err)
	}
	near(t, "sign flip", p, 4.0/1024, 0)
	hl, err := HodgesLehmann(d)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Hodges-Lehmann", hl, 1.3, 1e-14)
}
