package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func meanOf(x []float64) float64 { m, _ := moments(x); return m }

// TestBCaFormula sets the resamples by hand: 0..1000 with 600 observed (600
// below, one tie) and jackknifed estimates 0 0 0 4. The bounds are from
// testdata/reference.py.
func TestBCaFormula(t *testing.T) {
	b := &Bootstrap{observed: 600, jackknifed: []float64{0, 0, 0, 4}}
	for i := range 1001 {
		b.sorted = append(b.sorted, float64(i))
	}
	interval, err := b.BCa(0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "lower", float64(interval.Lo), 36.78929309101133, 1e-9)
	near(t, "upper", float64(interval.Hi), 981.1272478044699, 1e-9)
	// Without bias and acceleration it is the percentile interval.
	b.observed, b.jackknifed = 500, []float64{1, 2, 3}
	bca, _ := b.BCa(0.9)
	percentile, err := b.Percentile(0.9)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "percentile", float64(percentile.Lo), 50, 1e-12)
	near(t, "no correction", float64(bca.Lo), 50, 1e-9)
	near(t, "no correction", float64(bca.Hi), 950, 1e-9)
	for _, call := range []func(float64) (Interval, error){b.BCa, b.Percentile} {
		if _, err := call(0); err == nil {
			t.Error("a confidence of zero was accepted")
		}
	}
}

// TestBootstrapExhaustive compares the resamples' means of three values with
// all 27 resamples there are.
func TestBootstrapExhaustive(t *testing.T) {
	x := []float64{0, 1, 5}
	share := make(map[float64]float64)
	for i := range 27 {
		share[meanOf([]float64{x[i%3], x[i/3%3], x[i/9]})] += 1.0 / 27
	}
	const resamples = 60_000
	b, err := NewBootstrap(x, meanOf, resamples, 4)
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range share {
		hits := 0
		for _, v := range b.sorted {
			if math.Abs(v-value) < 1e-9 {
				hits++
			}
		}
		// Sums of the same numbers in another order may differ in the last
		// digit and share a count; none of these do by more than that.
		got := float64(hits) / resamples
		var all float64
		for other, s := range share {
			if math.Abs(other-value) < 1e-9 {
				all += s
			}
		}
		if math.Abs(got-all) > 4*math.Sqrt(all/resamples) {
			t.Errorf("mean %v: %v of the resamples, want %v (of which %v alone)", value, got, all, want)
		}
	}
	if !slices.Equal(b.jackknifed, []float64{3, 2.5, 0.5}) {
		t.Errorf("jackknife: %v", b.jackknifed)
	}
}

func TestBootstrapSeedAndTies(t *testing.T) {
	d := sleepDifferences()
	means := make([][]float64, 3)
	for i, seed := range []uint64{1, 1, 2} {
		b, err := NewBootstrap(d, meanOf, 200, seed)
		if err != nil {
			t.Fatal(err)
		}
		means[i] = b.sorted
	}
	if !slices.Equal(means[0], means[1]) || slices.Equal(means[0], means[2]) {
		t.Error("the seed, and nothing else, must decide the resamples")
	}
	b, err := NewBootstrap([]float64{0.2, 0.2, 0.2}, hodgesLehmann, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := b.BCa(0.95); got != (Interval{0.2, 0.2}) {
		t.Errorf("equal values: %v", got)
	}
	if _, err := NewBootstrap(d, func([]float64) float64 { return math.NaN() }, 10, 1); err == nil {
		t.Error("a statistic of NaN was accepted")
	}
}

// TestBootstrapCoverage: at 20 normal values the interval holds the truth
// about as often as it says.
func TestBootstrapCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 0))
	const trials = 400
	hits := 0
	for seed := range trials {
		x := make([]float64, 20)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		b, err := NewBootstrap(x, meanOf, 400, uint64(seed))
		if err != nil {
			t.Fatal(err)
		}
		if interval, _ := b.BCa(0.9); interval.Contains(0) {
			hits++
		}
	}
	if rate := float64(hits) / trials; rate < 0.82 || rate > 0.95 {
		t.Errorf("90 %% intervals held the truth in %v", rate)
	}
}

// TestBenjaminiHochbergPaper: the p values of the 1995 paper's example (section
// 4.1), of which it rejects the first four at 0.05; the q values by hand.
func TestBenjaminiHochbergPaper(t *testing.T) {
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0}
	want := []float64{0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.0298 * 15 / 7, 0.0298 * 15 / 7, 0.0645, 0.0765,
		0.486, 0.4262 * 15 / 11, 0.5719 * 15 / 12, 0.6528 * 15 / 13, 0.7590 * 15 / 14, 1}
	q, err := BenjaminiHochberg(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range q {
		near(t, "q", q[i], want[i], 1e-12)
	}
	if q, err := BenjaminiHochberg(nil); len(q) != 0 || err != nil {
		t.Errorf("no p values: %v, %v", q, err)
	}
}

// TestBenjaminiHochbergStepUp compares with the procedure in its own words: the
// largest k with p_(k) <= k alpha/m, and all below, are rejected.
func TestBenjaminiHochbergStepUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 0))
	for range 2000 {
		p := make([]float64, 1+rng.IntN(12))
		for i := range p {
			p[i] = math.Pow(rng.Float64(), 3)
			if i > 0 && rng.IntN(4) == 0 {
				p[i] = p[i-1]
			}
		}
		q, err := BenjaminiHochberg(p)
		if err != nil {
			t.Fatal(err)
		}
		alpha := 0.01 + 0.2*rng.Float64()
		cut := -1.0
		for rank, v := range slices.Sorted(slices.Values(p)) {
			if v <= float64(rank+1)*alpha/float64(len(p)) {
				cut = v
			}
		}
		for i := range p {
			if (q[i] <= alpha) != (p[i] <= cut) || q[i] < p[i] || q[i] > 1 {
				t.Fatalf("p %v, q %v, alpha %v, cut %v", p, q, alpha, cut)
			}
		}
	}
}

func TestLag1Autocorrelation(t *testing.T) {
	// 1 2 3 4 5: deviations -2 -1 0 1 2, products 2+0+0+2 = 4, squares 10.
	for _, c := range []struct {
		x    []float64
		want float64
	}{{[]float64{1, 2, 3, 4, 5}, 0.4}, {[]float64{1, -1, 1, -1}, -0.75}, {[]float64{1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4}, 0.4}} {
		got, err := Lag1Autocorrelation(c.x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "lag 1", got, c.want, 1e-12)
	}
	// A long series with a known correlation of 0.43.
	rng := rand.New(rand.NewPCG(43, 0))
	x := make([]float64, 20_000)
	for i := range x {
		x[i] = rng.NormFloat64()
		if i > 0 {
			x[i] += 0.43 * x[i-1]
		}
	}
	if got, _ := Lag1Autocorrelation(x); math.Abs(got-0.43) > 0.03 {
		t.Errorf("lag 1 of a process with 0.43: %v", got)
	}
}

func TestTrend(t *testing.T) {
	for _, c := range []struct {
		x        []float64
		slope, p float64
	}{
		{[]float64{3, 2, 1}, -1, 2.0 / 6},
		{[]float64{1, 2, 3, 4, 5}, 1, 2.0 / 120},
		// Counts of 10/120 and 152/5040 from testdata/reference.py.
		{[]float64{1, 3, 2, 4, 5}, 1, 10.0 / 120},
		{[]float64{2, 1, 4, 3, 6, 5, 7}, 1, 152.0 / 5040},
		{[]float64{5, 5, 5, 5}, 0, 1},
		// Ties: S = 5, variance (4*3*13 - 2*1*9)/18 = 23/3, z = 4/sqrt(23/3).
		{[]float64{1, 2, 2, 4}, 1, math.Erfc(4 / math.Sqrt(23.0/3) / math.Sqrt2)},
	} {
		got, err := Trend(c.x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "slope", got.Slope, c.slope, 1e-12)
		near(t, "total", float64(got.Total), c.slope*float64(len(c.x)-1), 1e-12)
		near(t, "p", got.P, c.p, 1e-12)
	}
}

// TestTrendExhaustive goes through all orders of up to seven values.
func TestTrendExhaustive(t *testing.T) {
	for n := 3; n <= 7; n++ {
		scores := make(map[int]int)
		total := 0
		var visit func(x []float64, rest int)
		visit = func(x []float64, rest int) {
			if rest == 0 {
				score := 0
				for i := range x {
					for j := i + 1; j < n; j++ {
						if x[j] > x[i] {
							score++
						} else {
							score--
						}
					}
				}
				scores[score]++
				total++
				return
			}
			for v := range n {
				if !slices.Contains(x, float64(v)) {
					visit(append(x, float64(v)), rest-1)
				}
			}
		}
		visit(make([]float64, 0, n), n)
		for score := range scores {
			hits := 0
			for other, c := range scores {
				if max(other, -other) >= max(score, -score) {
					hits += c
				}
			}
			near(t, "p", trendExact(n, score), float64(hits)/float64(total), 1e-12)
		}
	}
	// Where the exact distribution ends, the approximation is close to it.
	x := make([]float64, maxExactTrend)
	for i := range x {
		x[i] = float64(i)
	}
	for _, score := range []int{40, 200, 320, 400} {
		exact, normal := trendExact(maxExactTrend, score), trendNormal(x, score)
		if math.Abs(exact-normal) > 0.002 {
			t.Errorf("S = %d: exact %v, normal %v", score, exact, normal)
		}
	}
}
