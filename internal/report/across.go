package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"hexab/internal/across"
	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/stat"
)

// Across renders two sets of figures side by side for a terminal.
func Across(r across.Beside, o Options) []byte {
	var b bytes.Buffer
	put := func(text, indent string) {
		for _, line := range wrap(clean(text), indent, o.Width) {
			b.WriteString(line + "\n")
		}
	}
	list := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		b.WriteString("\n" + title + "\n")
		for _, line := range lines {
			put("- "+line, "  ")
		}
	}
	put("A: "+setTitle(r.A), "   ")
	put("B: "+setTitle(r.B), "   ")
	if len(r.Rows) > 0 {
		b.WriteString("\n" + table(acrossGrid(r), o))
		put("medians in tokens a second; a difference is of B to A; it is no verdict, since the two were not measured in turn", "")
	}
	if r.A.Simulated || r.B.Simulated {
		put(compare.SimulatedNotice, "")
	}
	if len(r.Within) > 0 {
		b.WriteString("\nDifferences between arms, each within its own set\n" + table(withinGrid(r), o))
	}
	list("What differs (A / B)", r.Differs)
	list("No difference is given", noDifference(r))
	list("In A alone", alone(r.OnlyA))
	list("In B alone", alone(r.OnlyB))
	list("Sources", sources(r))
	return b.Bytes()
}

func alone(figures []across.Figure) []string {
	var lines []string
	for _, f := range figures {
		lines = append(lines, f.Place()+": "+figureOf(f)+" t/s")
	}
	return bounded(lines, maxHoles)
}

func setTitle(s across.Set) string {
	title := s.Name + ", " + s.Device
	switch {
	case s.Published:
		title += " (published; other device, other method)"
	case s.Simulated:
		title += " (simulated)"
	}
	return title
}

func table(g grid, o Options) string {
	text, err := draw(g, o.Color)
	if err != nil {
		return err.Error() + "\n"
	}
	return text
}

func acrossGrid(r across.Beside) grid {
	var g grid
	for i, title := range []string{"model", "test", "arm", "A", "B", "difference"} {
		g.column(title, i > 2)
	}
	for _, row := range r.Rows {
		name := modelName(bench.Model{Alias: row.A.Model, StandIn: row.A.StandIn})
		if row.A.StandIn != row.B.StandIn {
			name = shorten(clean(row.A.Model), maxModelName)
		}
		g.rows = append(g.rows, []string{
			name, twoTests(row.A.Test, row.B.Test), shorten(clean(row.A.Arm), maxArmName),
			figureOf(row.A), figureOf(row.B), differenceOf(row),
		})
	}
	return g
}

func withinGrid(r across.Beside) grid {
	var g grid
	for i, title := range []string{"model", "test", "arm", "to", "A", "B"} {
		g.column(title, i > 3)
	}
	percent := func(x stat.LogRatio) string { return fmt.Sprintf("%+.1f %%", x.Percent()) }
	for _, w := range r.Within {
		g.rows = append(g.rows, []string{
			shorten(clean(w.Model), maxModelName), twoTests(w.TestA, w.TestB), shorten(clean(w.Arm), maxArmName),
			shorten(clean(w.Baseline), maxArmName), percent(w.A), percent(w.B),
		})
	}
	return g
}

// figureOf shows a published figure as it was published, and any other with the
// digits that its error earns.
func figureOf(f across.Figure) string {
	if f.Date != "" {
		return fmt.Sprintf("%.6g", float64(f.Speed))
	}
	return Significant(float64(f.Speed), float64(f.HalfWidth))
}

func twoTests(a, b string) string {
	if a == b {
		return clean(a)
	}
	return clean(a) + " / " + clean(b)
}

func differenceOf(row across.Row) string {
	if !row.Comparable {
		return "-"
	}
	if row.HalfWidth > 0 {
		h := row.HalfWidth
		return Percent(row.Difference, stat.Interval{Lo: row.Difference - h, Hi: row.Difference + h})
	}
	return fmt.Sprintf("%+.2g %%", 100*math.Expm1(float64(row.Difference)))
}

// noDifference gives each reason once, with the rows that it holds for.
func noDifference(r across.Beside) []string {
	var order []string
	rows := map[string]int{}
	for _, row := range r.Rows {
		for _, why := range row.Why {
			if rows[why]++; rows[why] == 1 {
				order = append(order, why)
			}
		}
	}
	var lines []string
	for _, why := range order {
		lines = append(lines, fmt.Sprintf("%s (%d of %d rows)", why, rows[why], len(r.Rows)))
	}
	return lines
}

// sources name where published figures stand.
func sources(r across.Beside) []string {
	var lines []string
	for _, s := range []across.Set{r.A, r.B} {
		if !s.Published {
			continue
		}
		var dates []string
		for _, f := range s.Figures {
			if !slices.Contains(dates, f.Date) {
				dates = append(dates, f.Date)
			}
		}
		lines = append(lines, fmt.Sprintf("%s: %s, figures of %s, read %s", s.Name, strings.Join(s.Sources, " "), strings.Join(dates, " and "), s.Read))
	}
	return lines
}
