package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Drift is how the speed of a device changes while a run goes on, for every arm
// alike.
type Drift struct {
	// Name tells it apart in tables; it also selects the random stream.
	Name string
	// Speed gives the speed, as a share of full speed, at a progress from 0
	// (the run's start) to 1 (its end). It must be positive and give the same
	// each time.
	Speed func(progress float64) float64
}

func (d Drift) validate() error {
	if d.Name == "" || d.Speed == nil {
		return fmt.Errorf("drift: %q needs a name and a function", d.Name)
	}
	for i := range 101 {
		progress := float64(i) / 100
		if v := d.Speed(progress); !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("drift %q: the speed at progress %v is %v, not a positive number", d.Name, progress, v)
		}
	}
	return nil
}

// Drifts gives the standard shapes: none; a linear loss of 5 and 10 %; a loss
// of 10 % that approaches its end exponentially with a time constant of a fifth
// of the run; and a knee: full speed for two fifths of the run, then within a
// tenth of it down by 15 %, as a governor that steps in.
func Drifts() []Drift {
	return []Drift{
		{"none", func(float64) float64 { return 1 }},
		{"linear -5 %", func(u float64) float64 { return 1 - 0.05*u }},
		{"linear -10 %", func(u float64) float64 { return 1 - 0.10*u }},
		{"exponential -10 %", func(u float64) float64 { return 1 - 0.10*math.Expm1(-5*u)/math.Expm1(-5) }},
		{"knee -15 %", func(u float64) float64 { return 1 - 0.15*min(max((u-0.4)/0.1, 0), 1) }},
	}
}

// Trace makes a drift from a series of speeds at equal distances over the run,
// measured or from a thermal model, joined by straight lines. The unit does not
// matter. At least two positive values are needed.
func Trace(name string, speeds []float64) (Drift, error) {
	if len(speeds) < 2 {
		return Drift{}, fmt.Errorf("trace %q: %d values, at least 2 are needed", name, len(speeds))
	}
	for i, v := range speeds {
		if !(v > 0) || math.IsInf(v, 1) {
			return Drift{}, fmt.Errorf("trace %q: value %d is %v, not a positive number", name, i, v)
		}
	}
	kept := append([]float64(nil), speeds...)
	drift := Drift{name, func(u float64) float64 {
		at := min(max(u, 0), 1) * float64(len(kept)-1)
		i := min(int(at), len(kept)-2)
		weight := at - float64(i)
		return (1-weight)*kept[i] + weight*kept[i+1]
	}}
	return drift, drift.validate()
}

// Noise is how launches of one arm differ by chance.
type Noise struct {
	// Name tells it apart in tables; it also selects the random stream.
	Name string
	// About describes it for the reader of a table.
	About string
	// Log draws the deviations of the logarithm of speed of n launches in time
	// order.
	Log func(rng *rand.Rand, n int) []float64
}

// Noises gives the standard kinds. That of tg and pp copies what 320 launches
// of a stand-in on a busy two-core machine showed (lag-1 correlation 0.43;
// heavy tails, standard deviation of the logarithm 0.39). The standard
// deviation of tg and the quiet kind are assumptions: a phone left alone
// repeats itself to about one percent.
func Noises() []Noise {
	return []Noise{
		LogNormal("quiet", 0.01, 0),
		LogNormal("tg", 0.03, 0.43),
		HeavyTailed("pp", 0.39, 3),
	}
}

// LogNormal gives noise whose logarithm is normal with standard deviation sd
// and correlation lag1 from one launch to the next (an autoregressive process
// of order one in its stationary state). lag1 lies between -1 and 1.
func LogNormal(name string, sd, lag1 float64) Noise {
	about := fmt.Sprintf("log-normal, standard deviation of the logarithm %g, lag-1 correlation %g", sd, lag1)
	fresh := sd * math.Sqrt(1-lag1*lag1)
	return Noise{name, about, func(rng *rand.Rand, n int) []float64 {
		x := make([]float64, n)
		level := sd * rng.NormFloat64()
		for i := range x {
			if i > 0 {
				level = lag1*level + fresh*rng.NormFloat64()
			}
			x[i] = level
		}
		return x
	}}
}

// HeavyTailed gives independent noise whose logarithm has Student's
// distribution with df degrees of freedom, more than two, scaled to standard
// deviation sd.
func HeavyTailed(name string, sd float64, df int) Noise {
	about := fmt.Sprintf("heavy tails: Student's t with %d degrees of freedom, standard deviation of the logarithm %g", df, sd)
	// Student's t has variance df/(df-2).
	scale := sd * math.Sqrt(float64(df-2)/float64(df))
	return Noise{name, about, func(rng *rand.Rand, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			var squares float64
			for range df {
				z := rng.NormFloat64()
				squares += z * z
			}
			x[i] = scale * rng.NormFloat64() / math.Sqrt(squares/float64(df))
		}
		return x
	}}
}
