package stat

import (
	"fmt"
	"math"
)

// finite reports the first value that is NaN or infinite, and an empty list.
func finite(name string, x []float64) error {
	if len(x) == 0 {
		return fmt.Errorf("%s: no values", name)
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: value %d is %v", name, i, v)
		}
	}
	return nil
}

// open tells whether p lies strictly between zero and one; not for NaN.
func open(p float64) bool { return p > 0 && p < 1 }
