package opprofile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"hexab/internal/stat"
)

// Executed is how many operations of each name the DSP executed, a fused one
// counting as one. A log that does not hold all of its batches' operations is
// an error: its numbers would be too small.
func (l *Log) Executed() (map[string]uint64, error) {
	if len(l.Torn) > 0 {
		return nil, fmt.Errorf("a profile that can not be read: %s", l.Torn[0])
	}
	executed := map[string]uint64{}
	for i, b := range l.Batches {
		if len(b.Ops) != b.Declared {
			return nil, fmt.Errorf("batch %d of %s has %d operations in the log, and says it has %d", i+1, b.Session, len(b.Ops), b.Declared)
		}
		for _, op := range b.Ops {
			executed[op.Name]++
		}
	}
	return executed, nil
}

// Sum is what operations of one kind and shape took together.
type Sum struct {
	// Name, Dims and Types identify it; Dims and Types are empty in sums by
	// operation alone.
	Name, Dims, Types string
	Count             int
	Microseconds      uint64
	Cycles            uint64
	// Share is the part of all operations' cycles, 0 to 1.
	Share float64
}

// Sums adds up the operations of a log by name, and by shape and types too when
// asked; the longest come first.
func (l *Log) Sums(byShape bool) []Sum {
	index := map[[3]string]int{}
	var sums []Sum
	var total uint64
	for _, b := range l.Batches {
		for _, op := range b.Ops {
			key := [3]string{op.Name}
			if byShape {
				key = [3]string{op.Name, op.Dims, op.Types}
			}
			at, known := index[key]
			if !known {
				at = len(sums)
				index[key] = at
				sums = append(sums, Sum{Name: key[0], Dims: key[1], Types: key[2]})
			}
			s := &sums[at]
			s.Count++
			s.Microseconds += uint64(op.Microseconds)
			s.Cycles += uint64(op.Cycles)
			total += uint64(op.Cycles)
		}
	}
	for i := range sums {
		if total > 0 {
			sums[i].Share = float64(sums[i].Cycles) / float64(total)
		}
	}
	slices.SortStableFunc(sums, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(b.Cycles, a.Cycles), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Dims, b.Dims))
	})
	return sums
}

// WriteSums writes a table of sums.
func WriteSums(w io.Writer, sums []Sum) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "share\tcount\tus\tcycles\tus each\toperation\tshape\ttypes")
	for _, s := range sums {
		fmt.Fprintf(t, "%.1f %%\t%d\t%d\t%d\t%.1f\t%s\t%s\t%s\n", 100*s.Share, s.Count, s.Microseconds, s.Cycles,
			float64(s.Microseconds)/float64(s.Count), s.Name, s.Dims, s.Types)
	}
	return t.Flush()
}

// Difference compares operations of one kind and shape in two arms.
type Difference struct {
	Name, Dims, Types string
	// Before and After are the cycles of one operation: the median over the
	// launches of each launch's median.
	Before, After float64
	// Decision is on the logarithms of Before / After, so that positive is
	// faster, adjusted for the number of operations compared.
	Decision stat.Decision
}

// Compare pairs the launches of two arms in their order and compares the
// cycles of each operation and shape that all of them have. The greatest loss
// of cycles comes first.
func Compare(before, after []*Log, o stat.Options) ([]Difference, error) {
	if len(before) != len(after) || len(before) == 0 {
		return nil, fmt.Errorf("%d launches before and %d after: a comparison takes pairs", len(before), len(after))
	}
	a, b := medians(before), medians(after)
	var list []Difference
	var table [][]float64
	for key := range a[0] {
		x, y := column(a, key), column(b, key)
		if x == nil || y == nil {
			continue
		}
		ratios, err := stat.LogRatios(y, x)
		if err != nil {
			return nil, err
		}
		d := Difference{Name: key[0], Dims: key[1], Types: key[2], Before: middle(x), After: middle(y)}
		list, table = append(list, d), append(table, ratios)
	}
	if len(list) == 0 {
		return nil, errors.New("the two arms have no operation of one shape in common")
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		x, y := list[i], list[j]
		return cmp.Or(cmp.Compare(y.After-y.Before, x.After-x.Before), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Dims, y.Dims), cmp.Compare(x.Types, y.Types))
	})
	var sorted []Difference
	var rows [][]float64
	for _, i := range order {
		sorted, rows = append(sorted, list[i]), append(rows, table[i])
	}
	decisions, err := stat.DecideTable(rows, o)
	if err != nil {
		return nil, err
	}
	for i := range sorted {
		sorted[i].Decision = decisions[i]
	}
	return sorted, nil
}

// medians gives each launch's median cycles by operation and shape.
func medians(logs []*Log) []map[[3]string]float64 {
	var out []map[[3]string]float64
	for _, l := range logs {
		cycles := map[[3]string][]float64{}
		for _, b := range l.Batches {
			for _, op := range b.Ops {
				key := [3]string{op.Name, op.Dims, op.Types}
				cycles[key] = append(cycles[key], float64(op.Cycles))
			}
		}
		m := map[[3]string]float64{}
		for key, list := range cycles {
			m[key] = middle(list)
		}
		out = append(out, m)
	}
	return out
}

// column is an operation's value in each launch; nil where one lacks it or has
// no cycles.
func column(launches []map[[3]string]float64, key [3]string) []float64 {
	var values []float64
	for _, l := range launches {
		if l[key] <= 0 {
			return nil
		}
		values = append(values, l[key])
	}
	return values
}

func middle(values []float64) float64 {
	m, err := stat.Median(values)
	if err != nil {
		return 0
	}
	return m
}

// WriteDifferences writes a table of differences.
func WriteDifferences(w io.Writer, list []Difference) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "cycles before\tafter\tspeed\t95 % from\tto\tq\tverdict\toperation\tshape\ttypes")
	for _, d := range list {
		c := d.Decision
		_, q := c.ShownP()
		fmt.Fprintf(t, "%.0f\t%.0f\t%+.1f %%\t%s\t%s\t%.3f\t%s\t%s\t%s\t%s\n", d.Before, d.After, c.Estimate.Percent(),
			bound(c.Interval.Lo), bound(c.Interval.Hi), q, c.Verdict, d.Name, d.Dims, d.Types)
	}
	return t.Flush()
}

// bound is one end of an interval; that of a single pair is infinite.
func bound(r stat.LogRatio) string {
	if math.IsInf(float64(r), 0) {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", r.Percent())
}
