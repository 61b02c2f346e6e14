package stat

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func decide(t *testing.T, d []float64, o Options) Decision {
	t.Helper()
	got, err := Decide(d, o)
	if err != nil {
		t.Fatalf("%v: %v", d, err)
	}
	return got
}

func TestDecideVerdicts(t *testing.T) {
	o := DefaultOptions()
	noisy := []float64{0.3, -0.2, 0.1, -0.4, 0.25, 0.05, -0.15, 0.2}
	for _, c := range []struct {
		name       string
		d          []float64
		verdict    Verdict
		reason     Reason
		indicative bool
		reachable  bool
	}{
		{"faster", []float64{0.10, 0.11, 0.09, 0.10, 0.12, 0.08}, Faster, ReasonNone, false, true},
		{"slower", []float64{-0.10, -0.11, -0.09, -0.10, -0.12, -0.08}, Slower, ReasonNone, false, true},
		{"faster by three", []float64{0.10, 0.11, 0.09}, Faster, ReasonNone, true, false},
		{"faster by two", []float64{0.100, 0.1001}, Faster, ReasonNone, true, false},
		{"equivalent", []float64{0.001, -0.002, 0.002, 0, -0.001, 0.001}, Equivalent, ReasonNone, false, true},
		{"equivalent by three", []float64{0.001, -0.001, 0}, Equivalent, ReasonNone, true, false},
		{"real and too small", []float64{0.003, 0.004, 0.0035, 0.003, 0.004, 0.0035}, Equivalent, ReasonNone, false, true},
		{"noise", noisy, Inconclusive, ReasonNoise, false, true},
		{"noise in three", noisy[:3], Inconclusive, ReasonNoise, true, false},
		{"one block", []float64{0.5}, Inconclusive, ReasonOneBlock, true, false},
		{"around the threshold", []float64{0.008, 0.012, 0.010, 0.009, 0.011, 0.010}, Inconclusive, ReasonNearThreshold, false, true},
		{"no spread", []float64{0.05, 0.05, 0.05, 0.05, 0.05, 0.05}, Faster, ReasonNone, false, true},
		{"all the same", []float64{0, 0, 0, 0, 0, 0}, Equivalent, ReasonNone, false, true},
		// One opposite sign among six: the sign-flip p is at least 4/64, above
		// 0.05, though the t interval is clear.
		{"test not convinced", []float64{-0.0001, 0.1, 0.11, 0.1, 0.09, 0.1}, Inconclusive, ReasonTest, false, true},
	} {
		got := decide(t, c.d, o)
		if got.Verdict != c.verdict || got.Reason != c.reason || got.Indicative != c.indicative || got.Reachable != c.reachable {
			t.Errorf("%s: %s %q, indicative %v, reachable %v; interval %+v, p %v, p of t %v",
				c.name, got.Verdict, got.Reason, got.Indicative, got.Reachable, got.Interval, got.P, got.PNormal)
		}
	}
}

// TestDecideSkewed: a tight middle near zero and a few large values put the
// mean's interval above the threshold and the Hodges-Lehmann estimate below.
func TestDecideSkewed(t *testing.T) {
	d := make([]float64, 60)
	for i := range d {
		d[i] = 0.0001
		if i%4 == 0 {
			d[i] = 0.2
		}
	}
	got := decide(t, d, DefaultOptions())
	if got.Verdict != Inconclusive || got.Reason != ReasonSkewed {
		t.Errorf("%s %q: %+v", got.Verdict, got.Reason, got)
	}
}

func TestDecideFields(t *testing.T) {
	o := DefaultOptions()
	d := []float64{0.10, 0.12, 0.07, 0.11, 0.13, 0.09, 0.10}
	got := decide(t, d, o)
	interval, _ := TInterval(d, 0.95)
	p, _ := TTest(d)
	if got.Blocks != 7 || got.Interval != interval || got.PNormal != p || got.P != 2.0/128 || got.Q != got.P || !got.Exact {
		t.Errorf("%+v", got)
	}
	if got.Check == nil || !got.Check.Contains(got.Estimate) {
		t.Errorf("check interval %+v of %v", got.Check, got.Estimate)
	}
	if got.MinDetectable <= o.margin() || got.BlocksNeeded < 7 {
		t.Errorf("plan: %v, %d blocks", got.MinDetectable, got.BlocksNeeded)
	}
	if p, q := got.ShownP(); p != got.P || q != got.Q {
		t.Errorf("shown: %v %v", p, q)
	}
	few := decide(t, d[:3], o)
	if p, q := few.ShownP(); p != few.PNormal || q != few.QNormal {
		t.Errorf("shown of three: %v %v", p, q)
	}
	o.Bootstrap, o.Power = 0, 0
	if bare := decide(t, d, o); bare.Check != nil || bare.MinDetectable != 0 || bare.BlocksNeeded != 0 || bare.Verdict != got.Verdict {
		t.Errorf("without extras: %+v", bare)
	}
	one := decide(t, []float64{0.1}, DefaultOptions())
	if one.P != 1 || one.PNormal != 1 || one.PEquivalent != 1 || !math.IsInf(float64(one.MinDetectable), 1) || one.Check != nil {
		t.Errorf("one block: %+v", one)
	}
	if _, err := json.Marshal(one); err != nil {
		t.Errorf("one block as JSON: %v", err)
	}
}

// TestDecideProperties: swapping the arms mirrors everything, the order of
// blocks does not matter, and the parts agree with the verdict.
func TestDecideProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(77, 0))
	o := DefaultOptions()
	o.Bootstrap, o.Power, o.Resamples = 0, 0, 499
	mirror := map[Verdict]Verdict{Faster: Slower, Slower: Faster, Equivalent: Equivalent, Inconclusive: Inconclusive}
	seen := make(map[Verdict]int)
	for range 4000 {
		d := make([]float64, 1+rng.IntN(12))
		center, spread := 0.03*rng.NormFloat64(), 0.02*rng.Float64()
		for i := range d {
			d[i] = center + spread*rng.NormFloat64()
		}
		got := decide(t, d, o)
		seen[got.Verdict]++
		checkDecision(t, got, o)
		swapped := make([]float64, len(d))
		for i, v := range d {
			swapped[len(d)-1-i] = -v
		}
		other := decide(t, swapped, o)
		if other.Verdict != mirror[got.Verdict] || math.Abs(float64(other.Estimate+got.Estimate)) > 1e-15 || other.P != got.P {
			t.Fatalf("%v: %+v, mirrored %+v", d, got, other)
		}
	}
	for verdict := range mirror {
		if seen[verdict] < 50 {
			t.Errorf("%s came out %d times only", verdict, seen[verdict])
		}
	}
}

// checkDecision holds a decision to what its verdict claims.
func checkDecision(t *testing.T, d Decision, o Options) {
	t.Helper()
	margin := o.margin()
	ok := d.P >= d.SmallestP && d.P <= 1 && d.Q >= d.P && d.QNormal >= d.PNormal && d.Interval.Lo <= d.Interval.Hi
	switch d.Verdict {
	case Faster, Slower:
		away := d.Interval.Lo > margin && d.Estimate > margin
		if d.Verdict == Slower {
			away = d.Interval.Hi < -margin && d.Estimate < -margin
		}
		ok = ok && away && d.QNormal <= o.Alpha && d.Reason == ReasonNone && d.Differs(o.Alpha) != 0
		if !d.Indicative {
			ok = ok && d.Blocks >= MinBlocks && d.Q <= o.Alpha
		}
	case Equivalent:
		ok = ok && d.QEquivalent <= o.Alpha && math.Abs(float64(d.Estimate)) < float64(margin) && d.Reason == ReasonNone
	case Inconclusive:
		ok = ok && d.Reason != ReasonNone
	default:
		ok = false
	}
	if !ok || (d.Blocks < MinBlocks && !d.Indicative) {
		t.Fatalf("the decision contradicts itself: %+v", d)
	}
}

// TestDecideTable: in a table of sixteen, six blocks cannot lift one difference
// above the rest by the sign-flip test (16 * 2/64 = 0.5), so the verdict is
// indicative; ten blocks can (16 * 2/1024 = 0.03).
func TestDecideTable(t *testing.T) {
	o := DefaultOptions()
	rng := rand.New(rand.NewPCG(16, 0))
	for _, c := range []struct {
		blocks     int
		indicative bool
	}{{3, true}, {6, true}, {9, true}, {10, false}} {
		table := make([][]float64, 16)
		for i := range table {
			table[i] = make([]float64, c.blocks)
			for j := range table[i] {
				table[i][j] = 0.01 * rng.NormFloat64()
				if i == 4 {
					table[i][j] = 0.5 + 0.001*rng.NormFloat64()
				}
			}
		}
		got, err := DecideTable(table, o)
		if err != nil {
			t.Fatal(err)
		}
		if got[4].Verdict != Faster || got[4].Indicative != c.indicative || got[4].Reachable == c.indicative {
			t.Errorf("%d blocks: %+v", c.blocks, got[4])
		}
		for i := range got {
			checkDecision(t, got[i], o)
		}
	}
}

// TestAdjustIsStricterTogether: alone, a middling difference is called; among
// many that show nothing, it is not, and the reason says so.
func TestAdjustIsStricterTogether(t *testing.T) {
	o := DefaultOptions()
	middling := []float64{0.02, 0.03, 0.05, 0.02, 0.04, 0.06, 0.03, 0.015, 0.07, 0.05}
	middling[7] = -0.01
	alone := decide(t, middling, o)
	if alone.Verdict != Faster || alone.Indicative {
		t.Fatalf("alone: %+v", alone)
	}
	table := []Decision{alone}
	rng := rand.New(rand.NewPCG(2, 2))
	for range 19 {
		d := make([]float64, 10)
		for i := range d {
			d[i] = 0.2 * rng.NormFloat64()
		}
		table = append(table, decide(t, d, o))
	}
	if err := Adjust(table, o); err != nil {
		t.Fatal(err)
	}
	if got := table[0]; got.Verdict != Inconclusive || got.Reason != ReasonTest || got.P != alone.P || got.Q <= alone.Q {
		t.Errorf("together: %+v", got)
	}
	if err := Adjust(table[:1], o); err != nil || table[0].Verdict != Faster {
		t.Errorf("adjusting again, alone: %+v, %v", table[0], err)
	}
	if err := Adjust(nil, o); err != nil {
		t.Errorf("no comparisons: %v", err)
	}
}

func TestThresholdZeroIsAPlainTest(t *testing.T) {
	o := DefaultOptions()
	o.Threshold = 0
	d := []float64{0.003, 0.004, 0.0035, 0.003, 0.004, 0.0035}
	if got := decide(t, d, o); got.Verdict != Faster {
		t.Errorf("%+v", got)
	}
	if got := decide(t, []float64{0.003, -0.004, 0.0035, 0.003, -0.004, 0.0035}, o); got.Verdict != Inconclusive || got.BlocksNeeded != 0 {
		t.Errorf("%+v", got)
	}
}

func TestOptionsValidate(t *testing.T) {
	for name, change := range map[string]func(o *Options){
		"threshold": func(o *Options) { o.Threshold = -0.01 },
		"percent":   func(o *Options) { o.Threshold = 1 },
		"alpha":     func(o *Options) { o.Alpha = 0 },
		"NaN":       func(o *Options) { o.Alpha = math.NaN() },
		"power":     func(o *Options) { o.Power = 1 },
		"effect":    func(o *Options) { o.Effect = o.Threshold },
		"resamples": func(o *Options) { o.Resamples = 0 },
		"bootstrap": func(o *Options) { o.Bootstrap = -1 },
	} {
		o := DefaultOptions()
		change(&o)
		if _, err := Decide([]float64{1, 2}, o); err == nil {
			t.Errorf("%s: no error for %+v", name, o)
		}
	}
	if err := DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
}

// FuzzDecide: any numbers give an error or a decision that keeps its word.
func FuzzDecide(f *testing.F) {
	f.Add(0.01, 0.02, 0.03, uint8(3), 0.01)
	f.Add(math.NaN(), 1e300, 0.0, uint8(6), 0.0)
	f.Add(5e-324, -5e-324, 1e-200, uint8(17), 0.99)
	f.Fuzz(func(t *testing.T, a, b, c float64, n uint8, threshold float64) {
		d := make([]float64, n%24)
		for i := range d {
			d[i] = []float64{a, b, c, a - b, c / 3}[i%5]
		}
		o := Options{Threshold: threshold, Alpha: 0.05, Power: 0.8, Resamples: 99, Bootstrap: 20}
		before := slices.Clone(d)
		got, err := Decide(d, o)
		if !slices.EqualFunc(before, d, func(x, y float64) bool { return x == y || x != x && y != y }) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			return
		}
		checkDecision(t, got, o)
		if _, err := json.Marshal(got); err != nil {
			t.Fatal(err)
		}
	})
}
