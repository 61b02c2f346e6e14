package report

import (
	"bytes"
	"fmt"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/compare"
)

// OnDevice is one device's part of a comparison on several.
type OnDevice struct {
	// Device is the device as the user named it.
	Device      string
	Comparisons compare.Comparisons
	Run         bench.Run
	// Failure is why the device's part is not whole; empty when it is. Where
	// nothing was measured Run has no plan.
	Failure string
}

// nothing tells that the device has no part but its failure.
func (d OnDevice) nothing() bool { return len(d.Run.Plan) == 0 && len(d.Run.Models) == 0 }

// Combined renders the comparisons of several devices in one table. Verdicts and
// q values are those of each device's own table: nothing is pooled, since a
// difference on one device says nothing of another. A device that failed has its
// place all the same, and its reason below the table.
func Combined(list []OnDevice, o Options) []byte {
	var b bytes.Buffer
	put := func(text string) {
		for _, line := range wrap(text, "", o.Width) {
			b.WriteString(line + "\n")
		}
	}
	put(fmt.Sprintf("All devices: %d", len(list)))
	b.WriteByte('\n')
	text, ok := "", false
	for _, tall := range []bool{false, true} {
		if t, err := draw(combinedGrid(list, tall), o.Color); err == nil && fits(t, o.Width) {
			text, ok = t, true
			break
		}
	}
	if !ok {
		text = combinedStack(list, o)
	}
	b.WriteString(text)
	simulated := map[bool]int{}
	for _, d := range list {
		if d.Failure != "" {
			put(clean(d.Device) + ": " + clean(d.Failure))
		}
		if !d.nothing() {
			simulated[d.Comparisons.Simulated]++
		}
	}
	switch {
	case simulated[true] > 0 && simulated[false] > 0:
		var names []string
		for _, d := range list {
			if d.Comparisons.Simulated {
				names = append(names, clean(d.Device))
			}
		}
		put(strings.Join(names, ", ") + ": " + compare.SimulatedNotice)
	case simulated[true] > 0:
		put(compare.SimulatedNotice)
	}
	put("verdicts and q are those of each device's own table; nothing is pooled")
	return b.Bytes()
}

// combinedGrid is the table of comparisons of each device, one below the other.
func combinedGrid(list []OnDevice, tall bool) grid {
	g := grid{tall: tall}
	g.column("device", false)
	g.column("model", false)
	g.column("test", false)
	g.column("baseline", false)
	g.column("t/s", true)
	g.column("arm", false)
	g.column("t/s", true)
	g.differenceColumns("")
	for _, d := range list {
		if d.nothing() {
			row := []string{combinedName(d)}
			for range len(g.header) - 2 {
				row = append(row, "-")
			}
			g.rows = append(g.rows, append(row, failedVerdict))
			continue
		}
		v := newView(d.Comparisons, d.Run)
		for _, row := range v.perArm(tall).rows {
			// perArm gives model, test, baseline's speed, arm, speed, difference.
			row = append([]string{combinedName(d), row[0], row[1], v.names[d.Comparisons.Baseline]}, row[2:]...)
			g.rows = append(g.rows, row)
		}
	}
	return g
}

// failedVerdict stands where a device has nothing to compare.
const failedVerdict = "no data"

func combinedName(d OnDevice) string {
	name := shorten(clean(d.Device), maxModelName)
	if d.Comparisons.Simulated {
		name += " (simulated)"
	}
	return name
}

// combinedStack says the same in lines.
func combinedStack(list []OnDevice, o Options) string {
	var b strings.Builder
	for _, d := range list {
		lines := []string{combinedName(d)}
		if d.nothing() {
			lines = append(lines, failedVerdict)
		} else {
			lines = append(lines, newView(d.Comparisons, d.Run).stack()...)
		}
		for i, line := range lines {
			if i > 0 {
				line = "  " + line
			}
			indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
			for _, part := range wrap(line, indent+"  ", o.Width) {
				b.WriteString(paint(part, o.Color) + "\n")
			}
		}
	}
	return b.String()
}
