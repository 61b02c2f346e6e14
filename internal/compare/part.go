package compare

import (
	"fmt"
	"slices"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/stat"
)

// Part is a run, or those arms of it that belong together, with what it says.
type Part struct {
	Run         bench.Run
	Comparisons Comparisons
}

// Parts compares a run's arms. Where they come from a base and a head tree,
// each head:X is compared to its own base:X and to nothing else, a part for
// each; any other run is one part. The verdicts of all parts are adjusted as
// one table.
func Parts(run bench.Run, records []bench.Record, o stat.Options) ([]Part, error) {
	var parts []Part
	pairs, err := pairing(run)
	if err != nil {
		return nil, err
	}
	for _, labels := range pairs {
		part, some := run, records
		if labels != nil {
			part, some = restrict(run, records, labels)
		}
		c, err := Compare(part, some, o)
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{part, c})
	}
	return parts, Adjust(parts, o)
}

// WithPairs is Compare, and where a run has several pairs of base and head,
// each of them for itself too.
func WithPairs(run bench.Run, records []bench.Record, o stat.Options) (Comparisons, error) {
	c, err := Compare(run, records, o)
	if err != nil {
		return c, err
	}
	// Arms of which only some are pairs are compared to the baseline alone.
	if pairs, err := pairing(run); err != nil || len(pairs) < 2 {
		return c, nil
	}
	parts, err := Parts(run, records, o)
	for _, part := range parts {
		c.Pairs = append(c.Pairs, part.Comparisons)
	}
	return c, err
}

// pairing lists the labels of each part, the baseline first; nil stands for all
// of a run's arms.
func pairing(run bench.Run) ([][]string, error) {
	base, head := arm.Trees[0], arm.Trees[1]
	var list [][]string
	for _, a := range run.Arms {
		if a.Tree != head {
			continue
		}
		at := slices.IndexFunc(run.Arms, func(b bench.Arm) bool {
			return b.Tree == base && arm.Comparable(a, b) == nil && sameArm(a, b)
		})
		if at < 0 {
			return nil, fmt.Errorf("compare: run %q: %s has no arm of %s to be compared to", run.ID, a.Label, base)
		}
		list = append(list, []string{run.Arms[at].Label, a.Label})
	}
	if list == nil {
		return [][]string{nil}, nil
	}
	if len(list)*2 != len(run.Arms) {
		return nil, fmt.Errorf("compare: run %q: of %d arms only %d are pairs of %s and %s", run.ID, len(run.Arms), len(list), base, head)
	}
	return list, nil
}

// sameArm tells whether two arms differ in nothing but their tree.
func sameArm(a, b bench.Arm) bool {
	if a.Variant != b.Variant || len(a.Declared) != len(b.Declared) {
		return false
	}
	for key, value := range a.Declared {
		if other, ok := b.Declared[key]; !ok || other != value {
			return false
		}
	}
	return true
}

// restrict leaves the launches of the labels' arms. Places in the plan stay.
func restrict(run bench.Run, records []bench.Record, labels []string) (bench.Run, []bench.Record) {
	part := run
	part.Baseline, part.Arms, part.Plan = labels[0], nil, nil
	for _, a := range run.Arms {
		if slices.Contains(labels, a.Label) {
			part.Arms = append(part.Arms, a)
		}
	}
	for _, l := range run.Plan {
		if slices.Contains(labels, l.Arm) {
			part.Plan = append(part.Plan, l)
		}
	}
	var some []bench.Record
	for _, r := range records {
		if slices.Contains(labels, r.Arm) {
			some = append(some, r)
		}
	}
	return part, some
}

// Adjust judges the comparisons of several parts, such as those of several
// devices, as one table.
func Adjust(parts []Part, o stat.Options) error {
	var table []stat.Decision
	var places []*stat.Decision
	for _, part := range parts {
		for _, cell := range part.Comparisons.Cells {
			if cell.Decision != nil {
				table, places = append(table, *cell.Decision), append(places, cell.Decision)
			}
		}
	}
	if err := stat.Adjust(table, o); err != nil {
		return err
	}
	for i, place := range places {
		*place = table[i]
	}
	for i := range parts {
		parts[i].Comparisons.warnAgain()
	}
	return nil
}

// ofDecisions are the kinds of warning that rest on a cell's decision.
var ofDecisions = []Kind{KindFewBlocks, KindIndicative, KindAAViolated, KindNearThreshold, KindSkewed, KindInconclusive, KindAutocorrelation}

// warnAgain renews the warnings that rest on decisions.
func (c *Comparisons) warnAgain() {
	c.Warnings = slices.DeleteFunc(c.Warnings, func(w Warning) bool { return slices.Contains(ofDecisions, w.Kind) })
	for _, cell := range c.Cells {
		if cell.Decision != nil {
			c.warnCell(cell)
		}
	}
	c.sortWarnings()
}
