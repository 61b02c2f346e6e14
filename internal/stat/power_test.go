package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPowerReference: from testdata/reference.py, which integrates over the
// normal variable instead and has the chi-squared distribution in closed form.
func TestPowerReference(t *testing.T) {
	for _, c := range []struct {
		n           int
		shift, want float64
	}{
		{3, 5.0, 0.7191805354}, {3, 1.0, 0.0913177844}, {5, 3.0, 0.6192575371}, {11, 2.0, 0.4395520636},
		{21, 4.0, 0.9672269579}, {101, 2.8, 0.7919056338}, {3, 0.0, 0.025},
	} {
		// effect - threshold = shift sd/sqrt(n)
		sd := 0.02
		got, err := Power(LogRatio(0.01+c.shift*sd/math.Sqrt(float64(c.n))), 0.01, sd, c.n, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "power", got, c.want, 1e-8)
	}
}

// TestPowerWithoutEffect: with no effect beyond the threshold, half of alpha,
// for every number of blocks, which holds the integration to its word.
func TestPowerWithoutEffect(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 6, 10, 33, 100, 1000, 10_000} {
		for _, alpha := range []float64{0.01, 0.05, 0.2} {
			got, err := Power(0.01, 0.01, 0.3, n, alpha)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "power", got, alpha/2, 1e-6)
		}
	}
	for _, c := range []struct {
		effect LogRatio
		sd     float64
		n      int
		want   float64
	}{{0.02, 0, 2, 1}, {0.01, 0, 2, 0}, {0.5, 0.1, 1, 0}, {5, 0.001, 9, 1}, {-5, 0.001, 9, 0}} {
		if got, err := Power(c.effect, 0.01, c.sd, c.n, 0.05); math.Abs(got-c.want) > 1e-9 || err != nil {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

func TestMinDetectableInvertsPower(t *testing.T) {
	for _, n := range []int{2, 3, 6, 10, 50} {
		for _, power := range []float64{0.5, 0.8, 0.99} {
			effect, err := MinDetectable(0.01, 0.03, n, 0.05, power)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Power(effect, 0.01, 0.03, n, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "power at the smallest detectable effect", got, power, 1e-9)
		}
	}
	if got, err := MinDetectable(0.01, 0, 1, 0.05, 0.8); !math.IsInf(float64(got), 1) || err != nil {
		t.Errorf("one block: %v, %v", got, err)
	}
	if got, err := MinDetectable(0.01, 0, 4, 0.05, 0.8); got != 0.01 || err != nil {
		t.Errorf("no noise: %v, %v", got, err)
	}
}

func TestBlocksNeededIsTheFirst(t *testing.T) {
	for _, sd := range []float64{0.001, 0.01, 0.02, 0.05, 0.2} {
		n, err := BlocksNeeded(0.03, 0.01, sd, 0.05, 0.8)
		if err != nil {
			t.Fatal(err)
		}
		at, _ := Power(0.03, 0.01, sd, n, 0.05)
		before, _ := Power(0.03, 0.01, sd, n-1, 0.05)
		if at < 0.8 || (n > MinBlocks && before >= 0.8) || n < MinBlocks {
			t.Errorf("sd %v: %d blocks have power %v, %d have %v", sd, n, at, n-1, before)
		}
	}
	// The textbook's size for large n: ((1.96 + 0.84) sd / (effect - threshold))^2.
	n, err := BlocksNeeded(0.03, 0.01, 0.4, 0.05, 0.8)
	if want := math.Pow((1.959964+0.841621)*0.4/0.02, 2); err != nil || math.Abs(float64(n)-want) > 4 {
		t.Errorf("%d blocks, want about %v (%v)", n, want, err)
	}
	if n, err := BlocksNeeded(0.011, 0.01, 0.4, 0.05, 0.8); n != 0 || err != nil {
		t.Errorf("beyond reach: %d, %v", n, err)
	}
	// At alpha 0.01 the sign-flip test needs 8 blocks: 2/2^8 < 0.01 < 2/2^7.
	if n, err := BlocksNeeded(0.5, 0.01, 0.001, 0.01, 0.8); n != 8 || err != nil {
		t.Errorf("alpha 0.01: %d, %v", n, err)
	}
}

// TestPlannedPowerIsReal runs what the plan promises: at the smallest
// detectable effect, about 80 of 100 runs must say faster.
func TestPlannedPowerIsReal(t *testing.T) {
	rng := rand.New(rand.NewPCG(80, 0))
	o := DefaultOptions()
	o.Power, o.Bootstrap = 0, 0
	const sd, trials = 0.02, 3000
	for _, n := range []int{3, 6, 10} {
		effect, err := MinDetectable(o.margin(), sd, n, o.Alpha, 0.8)
		if err != nil {
			t.Fatal(err)
		}
		hits := 0
		for range trials {
			d := make([]float64, n)
			for i := range d {
				d[i] = float64(effect) + sd*rng.NormFloat64()
			}
			got, err := Decide(d, o)
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict == Faster {
				hits++
			}
		}
		// The sign-flip condition costs a little at six blocks.
		if rate := float64(hits) / trials; rate < 0.77 || rate > 0.83 {
			t.Errorf("%d blocks: faster in %v of the runs, want 0.8", n, rate)
		}
	}
}
