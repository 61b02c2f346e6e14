package stat

import (
	"fmt"
	"slices"
)

// BenjaminiHochberg gives the adjusted p values (q values) in the order of the
// p values: q of the i-th smallest of m is the least of p_(j) m/j over j >= i,
// at most 1. Calling all with q <= alpha differences keeps the expected share
// of false ones among them at alpha or less. Source: Benjamini and Hochberg,
// "Controlling the False Discovery Rate", JRSS B 57 (1995). Values must lie
// from 0 to 1.
func BenjaminiHochberg(p []float64) ([]float64, error) {
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("adjusted p values: p value %d is %v, not between 0 and 1", i, v)
		}
	}
	return adjusted(p), nil
}

func adjusted(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	q := make([]float64, len(p))
	least := 1.0
	for rank := len(order); rank >= 1; rank-- {
		i := order[rank-1]
		// The ratio first: with rank = m the factor is exactly one.
		least = min(least, p[i]*(float64(len(p))/float64(rank)))
		q[i] = least
	}
	return q
}
