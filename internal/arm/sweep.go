package arm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxSweep bounds the number of arms that a sweep makes.
const MaxSweep = 32

// Sweep makes of each arm one for each value of a setting, such as
//
//	nhvx=1,2,4
//	opbatch=16,1280;opfusion=0,1
//
// Several settings, separated by semicolons, give every combination. A comma
// inside a value is written "\,". The arms of one specification stay together,
// in the order of the values, so that the first value is what the others are
// compared to.
func Sweep(specs []Spec, sweep string) ([]Spec, error) {
	if len(sweep) > MaxLength {
		return nil, fmt.Errorf("sweep: %d characters are more than %d", len(sweep), MaxLength)
	}
	for _, factor := range strings.Split(sweep, ";") {
		key, list, ok := strings.Cut(strings.TrimSpace(factor), "=")
		values := split(list)
		if !ok || key == "" || len(values) == 0 {
			return nil, fmt.Errorf("sweep: %q is not of the form KEY=VALUE,VALUE", factor)
		}
		var swept []Spec
		for _, s := range specs {
			for i, value := range values {
				if slices.Contains(values[:i], value) {
					return nil, fmt.Errorf("sweep: %s=%s stands twice", key, value)
				}
				one := Spec{Variant: s.Variant, Tree: s.Tree, Declared: maps.Clone(s.Declared)}
				if one.Declared == nil {
					one.Declared = map[string]string{}
				}
				if err := one.declare(key + "=" + value); err != nil {
					return nil, fmt.Errorf("sweep: %w", err)
				}
				swept = append(swept, one)
			}
		}
		if specs = swept; len(specs) > MaxSweep {
			return nil, fmt.Errorf("sweep: more than %d arms", MaxSweep)
		}
	}
	return specs, nil
}
