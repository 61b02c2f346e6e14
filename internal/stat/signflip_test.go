package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// bruteSignFlip counts in whole numbers, pattern by pattern.
func bruteSignFlip(d []int) int {
	sum := 0
	for _, v := range d {
		sum += v
	}
	hits := 0
	for pattern := range 1 << len(d) {
		flipped := 0
		for i, v := range d {
			if pattern>>i&1 == 1 {
				v = -v
			}
			flipped += v
		}
		if max(flipped, -flipped) >= max(sum, -sum) {
			hits++
		}
	}
	return hits
}

// TestSignFlipExhaustive goes through all sign patterns of the observed values
// for up to ten pairs: each p value must be the brute-force one, and over all
// patterns, of which each is as likely under the hypothesis, p <= alpha must
// never be more frequent than alpha. Sizes are tenths, which have no exact
// representation, with ties and zeros.
func TestSignFlipExhaustive(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	for n := 1; n <= 10; n++ {
		sizes := make([]int, n)
		for i := range sizes {
			sizes[i] = rng.IntN(8)
		}
		count := make(map[float64]int)
		for pattern := range 1 << n {
			whole, d := make([]int, n), make([]float64, n)
			for i, v := range sizes {
				if pattern>>i&1 == 1 {
					v = -v
				}
				whole[i], d[i] = v, float64(v)/10
			}
			p, exact, err := SignFlip(d, 0, 0)
			if err != nil || !exact {
				t.Fatal(exact, err)
			}
			if want := math.Ldexp(float64(bruteSignFlip(whole)), -n); p != want {
				t.Fatalf("%v: p %v, want %v", d, p, want)
			}
			if p < SmallestP(n, 0) {
				t.Fatalf("%v: p %v is below the smallest, %v", d, p, SmallestP(n, 0))
			}
			count[p]++
		}
		for alpha := range count {
			hits := 0
			for p, c := range count {
				if p <= alpha {
					hits += c
				}
			}
			if rate := math.Ldexp(float64(hits), -n); rate > alpha {
				t.Errorf("sizes %v: p <= %v in %v of the patterns", sizes, alpha, rate)
			}
		}
	}
}

func TestSignFlipClosedForms(t *testing.T) {
	for n := 1; n <= MaxExactPairs; n++ {
		same, zero := make([]float64, n), make([]float64, n)
		for i := range same {
			same[i] = 0.1 + 0.01*float64(i)
		}
		if p, _, _ := SignFlip(same, 0, 0); p != math.Ldexp(1, 1-n) {
			t.Errorf("%d of one sign: %v", n, p)
		}
		if p, _, _ := SignFlip(zero, 0, 0); p != 1 {
			t.Errorf("%d zeros: %v", n, p)
		}
	}
	// Equal sizes: the sum counts signs, so that p is the binomial sign test's.
	// 8 of 10 positive: 2 (C(10,8) + C(10,9) + C(10,10)) / 1024 = 112/1024.
	d := []float64{0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, -0.3, -0.3}
	if p, _, _ := SignFlip(d, 0, 0); p != 112.0/1024 {
		t.Errorf("8 of 10: %v", p)
	}
	// From testdata/reference.py.
	if p, _, _ := SignFlip([]float64{3, -1, 4, 1, 5, -9, 2, 6}, 0, 0); p != 124.0/256 {
		t.Errorf("reference: %v", p)
	}
}

func TestSignFlipSampled(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	const resamples = 40_000
	for _, shift := range []float64{0, 0.4, 1} {
		d := make([]float64, 14)
		for i := range d {
			d[i] = shift + rng.NormFloat64()
		}
		want := signFlipExact(d)
		got := signFlipSampled(d, resamples, rng)
		if limit := 4*math.Sqrt(want*(1-want)/resamples) + 1.0/resamples; math.Abs(got-want) > limit {
			t.Errorf("sampled p %v, exact %v", got, want)
		}
	}
	// More than 64 pairs need more than one word of random bits.
	long := make([]float64, 150)
	for i := range long {
		long[i] = 1
	}
	p, exact, err := SignFlip(long, 999, 3)
	if p != 0.001 || exact || err != nil {
		t.Errorf("150 of one sign: %v %v %v", p, exact, err)
	}
	if SmallestP(150, 999) != 0.001 || SmallestP(17, 99_999_999) != math.Ldexp(1, -16) || SmallestP(0, 9) != 1 {
		t.Error("smallest p")
	}
	// The seed decides, and equal seeds agree.
	for i := range long {
		long[i] = rng.NormFloat64()
	}
	first, _, _ := SignFlip(long, 999, 3)
	again, _, _ := SignFlip(long, 999, 3)
	other, _, _ := SignFlip(long, 999, 4)
	if first != again || first == other {
		t.Errorf("seeds: %v, %v, %v", first, again, other)
	}
	var heads float64
	for range 2000 {
		heads += signFlipSampled([]float64{1, 1, 1, 1, 1, 1, 1, 1}, 1, rng)
	}
	// One resample of 8: p is 1 with probability 2/256, else 1/2.
	if mean := heads / 2000; math.Abs(mean-(0.5+0.5/128)) > 0.006 {
		t.Errorf("mean p of one resample: %v", mean)
	}
}
