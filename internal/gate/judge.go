package gate

import (
	"fmt"

	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/stat"
)

type place struct{ part, cell int }

// alpha is the level that a finding must be sure by.
const alpha = 0.05

// adjusted gives the decisions of the comparisons that the gate is about, with
// q values adjusted over these alone: what the gate does not look at must not
// make it less able to see.
func (g Gate) adjusted(parts []compare.Part) (map[place]*stat.Decision, error) {
	var places []place
	var table []stat.Decision
	for p, part := range parts {
		for i, cell := range part.Comparisons.Cells {
			selected := false
			for _, c := range g {
				selected = selected || c.selects(cell.Model, cell.Test)
			}
			if selected && cell.Decision != nil {
				places, table = append(places, place{p, i}), append(table, *cell.Decision)
			}
		}
	}
	o := stat.DefaultOptions()
	o.Alpha = alpha
	if err := stat.Adjust(table, o); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	decisions := map[place]*stat.Decision{}
	for i, at := range places {
		decisions[at] = &table[i]
	}
	return decisions, nil
}

// judge applies a condition to one comparison.
func (c Condition) judge(all compare.Comparisons, cell compare.Cell, d *stat.Decision) (State, string) {
	armFails, baselineFails := failures(all, cell.Model, cell.Arm), failures(all, cell.Model, cell.Baseline)
	switch {
	case d == nil && armFails != "" && baselineFails == "":
		return Fail, fmt.Sprintf("%s does not run: %s", cell.Arm, armFails)
	case d == nil:
		return Neutral, cell.NoVerdict
	case d.Blocks < stat.MinBlocks:
		return Neutral, fmt.Sprintf("%d blocks count; a gate is not sure with fewer than %d", d.Blocks, stat.MinBlocks)
	}
	bound := stat.FromFraction(-c.Loss)
	span := fmt.Sprintf("between %+.2g %% and %+.2g %%", d.Interval.Lo.Percent(), d.Interval.Hi.Percent())
	lost := d.Interval.Hi < bound && d.Estimate < bound && d.Differs(alpha) < 0
	switch {
	case lost && cell.AA:
		return Neutral, "both sides are the same files; the setup itself differs: " + span
	case lost:
		return Fail, span
	case armFails != "" && baselineFails == "":
		return Neutral, fmt.Sprintf("some launches of %s failed: %s", cell.Arm, armFails)
	case cell.AA:
		return Pass, "both sides are the same files"
	case d.Interval.Lo > bound:
		return Pass, span
	}
	return Neutral, "can not tell: " + span
}

// failures gives the reason why an arm's launches failed by the arm's own
// fault; empty when none did.
func failures(c compare.Comparisons, model, arm string) string {
	for _, h := range c.Holes {
		if h.Model == model && h.Arm == arm && h.Fault == bench.FaultVariant {
			return fmt.Sprintf("%s: %s", h.Outcome, h.Reason)
		}
	}
	return ""
}
