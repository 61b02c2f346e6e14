package stat

import (
	"encoding/json"
	"fmt"
	"math"
)

// LogRatio is the natural logarithm of a ratio of two speeds, new to baseline:
// zero is no difference, positive is faster. It is symmetric where percentages
// are not: twice as fast and half as fast are +0.69 and -0.69.
type LogRatio float64

// Percent gives the difference in percent of the baseline: 100 (e^d - 1).
func (r LogRatio) Percent() float64 { return 100 * math.Expm1(float64(r)) }

// FromFraction gives the log ratio of a relative difference: 0.05 for 5 %
// faster. It is NaN for -1 and less.
func FromFraction(f float64) LogRatio {
	if !(f > -1) {
		return LogRatio(math.NaN())
	}
	return LogRatio(math.Log1p(f))
}

// MarshalJSON writes null for what JSON has no number for: the infinite bounds
// of a single block.
func (r LogRatio) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(r), 0) || math.IsNaN(float64(r)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(r))
}

// UnmarshalJSON reads null as NaN.
func (r *LogRatio) UnmarshalJSON(text []byte) error {
	var value *float64
	if err := json.Unmarshal(text, &value); err != nil {
		return fmt.Errorf("log ratio: %w", err)
	}
	if value == nil {
		*r = LogRatio(math.NaN())
		return nil
	}
	*r = LogRatio(*value)
	return nil
}

// LogRatios gives ln(b/a) of each pair. Speeds must be finite and positive and
// the lists equally long; the error names the value that is not.
func LogRatios(a, b []float64) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("pairs: %d values against %d", len(a), len(b))
	}
	if len(a) == 0 {
		return nil, fmt.Errorf("pairs: no values")
	}
	d := make([]float64, len(a))
	for i := range a {
		for _, v := range [2]float64{a[i], b[i]} {
			if !(v > 0) || math.IsInf(v, 1) {
				return nil, fmt.Errorf("pairs: a speed in pair %d is %v, not a positive number", i, v)
			}
		}
		// A difference of logarithms, since b/a can overflow.
		d[i] = math.Log(b[i]) - math.Log(a[i])
	}
	return d, nil
}

// Interval is a range of log ratios. A bound may be infinite.
type Interval struct {
	Lo LogRatio `json:"lo"`
	Hi LogRatio `json:"hi"`
}

// Contains tells whether r lies in the interval, bounds included.
func (i Interval) Contains(r LogRatio) bool { return i.Lo <= r && r <= i.Hi }
