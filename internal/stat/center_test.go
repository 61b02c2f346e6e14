package stat

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestQuantile(t *testing.T) {
	x := []float64{7, 1, 3, 5}
	for _, c := range []struct{ p, want float64 }{
		{0, 1}, {1, 7}, {0.5, 4}, {0.25, 2.5}, {1.0 / 3, 3}, {0.1, 1.6},
	} {
		got, err := Quantile(x, c.p)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "quantile", got, c.want, 1e-14)
	}
	if !slices.Equal(x, []float64{7, 1, 3, 5}) {
		t.Errorf("the values were reordered: %v", x)
	}
	if m, err := Median([]float64{9, 2, 4}); m != 4 || err != nil {
		t.Errorf("median %v, %v", m, err)
	}
	if m, err := Median([]float64{math.MaxFloat64, math.MaxFloat64}); m != math.MaxFloat64 || err != nil {
		t.Errorf("median of the largest numbers %v, %v", m, err)
	}
}

// TestHodgesLehmannAgainstList lists and sorts all Walsh averages.
func TestHodgesLehmannAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 0))
	for trial := range 3000 {
		x := make([]float64, 1+rng.IntN(15))
		for i := range x {
			switch trial % 3 {
			case 0:
				x[i] = rng.NormFloat64()
			case 1: // ties and zeros
				x[i] = float64(rng.IntN(5) - 2)
			case 2: // far apart
				x[i] = rng.NormFloat64() * math.Exp(50*rng.NormFloat64())
			}
		}
		var walsh []float64
		for i := range x {
			for j := i; j < len(x); j++ {
				walsh = append(walsh, x[i]/2+x[j]/2)
			}
		}
		slices.Sort(walsh)
		want := walsh[(len(walsh)-1)/2]/2 + walsh[len(walsh)/2]/2
		if got, err := HodgesLehmann(x); got != want || err != nil {
			t.Fatalf("Hodges-Lehmann of %v: %v, want %v (%v)", x, got, want, err)
		}
	}
}

func TestHodgesLehmannProperties(t *testing.T) {
	// One wild value in ten moves it by less than the spread of the others.
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 1e9}
	if got, _ := HodgesLehmann(x); got < 4 || got > 8 {
		t.Errorf("one wild value: %v", got)
	}
	for _, c := range []struct {
		x    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{1, 4}, 2.5}, {[]float64{-1, 0, 1}, 0}, {[]float64{0, 0, 9}, 2.25}} {
		// 0 0 9: averages 0 0 0 4.5 4.5 9, between 0 and 4.5.
		if got, _ := HodgesLehmann(c.x); got != c.want {
			t.Errorf("Hodges-Lehmann of %v: %v, want %v", c.x, got, c.want)
		}
	}
}

func TestMoments(t *testing.T) {
	// The classic loss of digits: 1e9 + 4, 7, 13, 16 has variance 30.
	x := []float64{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}
	mean, err := Mean(x)
	if err != nil {
		t.Fatal(err)
	}
	sd, err := StandardDeviation(x)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mean", mean, 1e9+10, 1e-15)
	near(t, "standard deviation", sd, math.Sqrt(30), 1e-14)
	if sd, err := StandardDeviation([]float64{0.1, 0.1, 0.1}); sd != 0 || err != nil {
		t.Errorf("equal values: %v, %v", sd, err)
	}
}

func TestLogRatios(t *testing.T) {
	d, err := LogRatios([]float64{10, 20, 1e-300}, []float64{20, 10, 1e300})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "twice", d[0], math.Ln2, 1e-15)
	near(t, "half", d[1], -math.Ln2, 1e-15)
	near(t, "no overflow", d[2], 600*math.Ln10, 1e-14)
	near(t, "percent", LogRatio(d[0]).Percent(), 100, 1e-14)
	near(t, "percent", LogRatio(d[1]).Percent(), -50, 1e-14)
	near(t, "fraction", FromFraction(1e-12).Percent(), 1e-10, 1e-14)
}

func TestLogRatioJSON(t *testing.T) {
	text, err := json.Marshal(Interval{LogRatio(math.Inf(-1)), 0.25})
	if err != nil || string(text) != `{"lo":null,"hi":0.25}` {
		t.Fatalf("%s, %v", text, err)
	}
	var back Interval
	if err := json.Unmarshal(text, &back); err != nil || !math.IsNaN(float64(back.Lo)) || back.Hi != 0.25 {
		t.Errorf("%v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"lo":"1"}`), &back); err == nil {
		t.Error("a text was read as a number")
	}
}

func FuzzLogRatioJSON(f *testing.F) {
	for _, seed := range []string{"null", "0.5", "-1e400", `"x"`, "[1]", "-0", ""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var r LogRatio
		if r.UnmarshalJSON(text) != nil {
			return
		}
		again, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var second LogRatio
		if err := second.UnmarshalJSON(again); err != nil || (second != r && !math.IsNaN(float64(r))) {
			t.Fatalf("%q: %v, then %q: %v (%v)", text, r, again, second, err)
		}
	})
}

// TestBadInput holds every function on data to a clear error.
func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	sum := func(x []float64) float64 { return x[0] }
	o := DefaultOptions()
	calls := map[string]func(x []float64) error{
		"Mean":              func(x []float64) error { _, err := Mean(x); return err },
		"StandardDeviation": func(x []float64) error { _, err := StandardDeviation(x); return err },
		"Median":            func(x []float64) error { _, err := Median(x); return err },
		"HodgesLehmann":     func(x []float64) error { _, err := HodgesLehmann(x); return err },
		"TInterval":         func(x []float64) error { _, err := TInterval(x, 0.95); return err },
		"TTest":             func(x []float64) error { _, err := TTest(x); return err },
		"TOST":              func(x []float64) error { _, err := TOST(x, 0.01); return err },
		"Welch first":       func(x []float64) error { _, err := WelchTTest(x, sleepB); return err },
		"Welch second":      func(x []float64) error { _, err := WelchTTest(sleepA, x); return err },
		"SignFlip":          func(x []float64) error { _, _, err := SignFlip(x, 99, 1); return err },
		"Bootstrap":         func(x []float64) error { _, err := NewBootstrap(x, sum, 9, 1); return err },
		"Lag1":              func(x []float64) error { _, err := Lag1Autocorrelation(x); return err },
		"Trend":             func(x []float64) error { _, err := Trend(x); return err },
		"Decide":            func(x []float64) error { _, err := Decide(x, o); return err },
		"LogRatios a":       func(x []float64) error { _, err := LogRatios(x, make([]float64, len(x))); return err },
	}
	for name, call := range calls {
		for what, x := range map[string][]float64{
			"none": nil, "NaN": {1, nan, 2}, "infinity": {1, 2, inf}, "-infinity": {-inf, 1, 2},
		} {
			if err := call(x); err == nil {
				t.Errorf("%s accepted %s", name, what)
			}
		}
	}
	for what, err := range map[string]error{
		"zero speed":          func() error { _, err := LogRatios([]float64{1, 0}, []float64{1, 1}); return err }(),
		"negative speed":      func() error { _, err := LogRatios([]float64{1, 1}, []float64{1, -3}); return err }(),
		"uneven pairs":        func() error { _, err := LogRatios([]float64{1}, []float64{1, 3}); return err }(),
		"quantile":            func() error { _, err := Quantile([]float64{1}, nan); return err }(),
		"confidence":          func() error { _, err := TInterval([]float64{1, 2}, 1); return err }(),
		"margin":              func() error { _, err := TOST([]float64{1, 2}, -1); return err }(),
		"resamples":           func() error { _, _, err := SignFlip(make([]float64, 17), 0, 1); return err }(),
		"one value":           func() error { _, err := StandardDeviation([]float64{1}); return err }(),
		"Welch of one":        func() error { _, err := WelchTTest([]float64{1}, []float64{1, 2}); return err }(),
		"bootstrap of one":    func() error { _, err := NewBootstrap([]float64{1}, sum, 9, 1); return err }(),
		"no bootstrap":        func() error { _, err := NewBootstrap([]float64{1, 2}, sum, 0, 1); return err }(),
		"p value":             func() error { _, err := BenjaminiHochberg([]float64{0.1, 1.1}); return err }(),
		"p value NaN":         func() error { _, err := BenjaminiHochberg([]float64{nan}); return err }(),
		"lag of two":          func() error { _, err := Lag1Autocorrelation([]float64{1, 2}); return err }(),
		"lag of equal values": func() error { _, err := Lag1Autocorrelation([]float64{2, 2, 2}); return err }(),
		"trend of two":        func() error { _, err := Trend([]float64{1, 2}); return err }(),
		"power: effect":       func() error { _, err := Power(LogRatio(nan), 0, 1, 5, 0.05); return err }(),
		"power: threshold":    func() error { _, err := Power(0, -1, 1, 5, 0.05); return err }(),
		"power: sd":           func() error { _, err := Power(0, 0, -1, 5, 0.05); return err }(),
		"power: alpha":        func() error { _, err := Power(0, 0, 1, 5, 0); return err }(),
		"detectable: power":   func() error { _, err := MinDetectable(0, 1, 5, 0.05, 1); return err }(),
		"detectable: sd":      func() error { _, err := MinDetectable(0, nan, 5, 0.05, 0.8); return err }(),
		"blocks: effect":      func() error { _, err := BlocksNeeded(0.01, 0.01, 1, 0.05, 0.8); return err }(),
		"blocks: power":       func() error { _, err := BlocksNeeded(0.02, 0.01, 1, 0.05, nan); return err }(),
		"overflow":            func() error { _, err := Mean([]float64{math.MaxFloat64, -math.MaxFloat64}); return err }(),
		"no log ratio":        func() error { _, err := Decide([]float64{1, 2000}, o); return err }(),
		"second comparison":   func() error { _, err := DecideTable([][]float64{{1, 2}, {nan}}, o); return err }(),
		"adjust":              Adjust([]Decision{{P: nan}}, o),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	_, err := LogRatios([]float64{1, 2, -7}, []float64{1, 1, 1})
	if err == nil || !strings.Contains(err.Error(), "pair 2 is -7") {
		t.Errorf("the error does not name the value: %v", err)
	}
}
