package report

import (
	"fmt"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/stat"
)

// The longest names that a table shows whole.
const (
	maxModelName = 40
	maxArmName   = 24
)

// view finds what a table needs of a run's comparisons.
type view struct {
	c        compare.Comparisons
	run      bench.Run
	speeds   map[place]compare.Speed
	cells    map[place]compare.Cell
	names    map[string]string // an arm's label -> its name in tables
	blocks   map[string]int    // a model -> its planned blocks
	adjusted int               // comparisons that q values are adjusted for
}

type place struct {
	model string
	test  bench.Test
	arm   string
}

func newView(c compare.Comparisons, run bench.Run) view {
	v := view{
		c: c, run: run, speeds: map[place]compare.Speed{}, cells: map[place]compare.Cell{},
		names: map[string]string{}, blocks: map[string]int{},
	}
	v.adjusted = len(c.Cells)
	for _, s := range c.Speeds {
		v.speeds[place{s.Model, s.Test, s.Arm}] = s
	}
	for _, cell := range c.Cells {
		v.cells[place{cell.Model, cell.Test, cell.Arm}] = cell
	}
	for i, a := range run.Arms {
		// Long labels are often equal at both ends, so a number tells arms apart.
		if v.names[a.Label] = clean(a.Label); len([]rune(clean(a.Label))) > maxArmName {
			v.names[a.Label] = fmt.Sprintf("arm %d", i+1)
		}
	}
	for _, l := range run.Plan {
		v.blocks[l.Model] = max(v.blocks[l.Model], l.Block+1)
	}
	return v
}

// others are the arms that are compared to the baseline.
func (v view) others() []string {
	var list []string
	for _, a := range v.run.Arms {
		if a.Label != v.c.Baseline {
			list = append(list, a.Label)
		}
	}
	return list
}

// armsInOrder are the baseline and then the others.
func (v view) armsInOrder() []string {
	return append([]string{v.c.Baseline}, v.others()...)
}

// standInMark follows the name of a model that stands for a real one.
const standInMark = " (stand-in)"

// modelName names a model as tables do: a stand-in as such.
func modelName(m bench.Model) string {
	name := shorten(clean(m.Alias), maxModelName)
	if m.StandIn {
		name += standInMark
	}
	return name
}

func (v view) speed(p place) string {
	s, ok := v.speeds[p]
	if !ok || s.Launches == 0 {
		return "-"
	}
	return Significant(float64(s.Median), float64(s.HalfWidth))
}

// difference gives estimate and interval of a cell.
func (v view) difference(p place) (value, bounds string) {
	cell := v.cells[p]
	if cell.Decision == nil {
		return "-", ""
	}
	return percentParts(cell.Decision.Estimate, cell.Decision.Interval)
}

// q gives the q value that a cell's verdict rests on.
func (v view) q(p place) string {
	d := v.cells[p].Decision
	if d == nil {
		return "-"
	}
	if d.Verdict == stat.Equivalent {
		return probability(d.QEquivalent)
	}
	_, q := d.ShownP()
	return probability(q)
}

// verdict gives a cell's verdict with its marks: A/A, * for indicative, and the
// blocks that count where some are missing.
func (v view) verdict(p place) string {
	cell := v.cells[p]
	text := "no verdict"
	if cell.Decision != nil {
		text = string(cell.Decision.Verdict)
		if starred(cell) {
			text += "*"
		}
	}
	if cell.AA {
		text = "A/A " + text
	}
	if planned := v.blocks[p.model]; len(cell.Pairs) < planned {
		text += fmt.Sprintf(" [%d/%d]", len(cell.Pairs), planned)
	}
	return text
}

// starred tells whether a cell is marked as indicative. An inconclusive one is
// not: there is no verdict to be careful with.
func starred(cell compare.Cell) bool {
	return cell.Decision != nil && cell.Decision.Indicative && cell.Decision.Verdict != stat.Inconclusive
}

// at names a place outside the table, as the table does.
func (v view) at(model, test, arm string) string {
	var parts []string
	for _, part := range []string{shorten(clean(model), maxModelName), test, v.names[arm]} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}

// title is the report's first line.
func (v view) title() string {
	kind := "comparison"
	if all, some := v.aa(); all {
		kind = "A/A test"
	} else if some {
		kind = "comparison with A/A test"
	}
	title := fmt.Sprintf("%s %s on %s", kind, clean(v.run.ID), clean(v.run.Device.Serial))
	if v.c.Simulated {
		title += " (" + compare.SimulatedNotice + ")"
	}
	return title
}

// aa tells whether all comparisons are A/A, and whether any is.
func (v view) aa() (all, some bool) {
	all = len(v.c.Cells) > 0
	for _, cell := range v.c.Cells {
		all, some = all && cell.AA, some || cell.AA
	}
	return all, some
}

// state is the line on what is missing; empty for a complete run.
func (v view) state() string {
	if v.c.Complete {
		return ""
	}
	lost := map[int]bool{}
	for _, h := range v.c.Holes {
		lost[h.Seq] = true
	}
	none := 0
	for _, cell := range v.c.Cells {
		if cell.Decision == nil {
			none++
		}
	}
	return fmt.Sprintf("INCOMPLETE: %d of %d launches are missing, %d of %d comparisons have no verdict",
		len(lost), len(v.run.Plan), none, len(v.c.Cells))
}
