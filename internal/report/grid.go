package report

import (
	"fmt"
	"strings"

	"hexab/internal/bench"
)

// grid is a table before it is drawn. Cells hold clean text; a line end in a
// cell is one of our own.
type grid struct {
	header []string
	right  []bool // columns of numbers
	rows   [][]string
	tall   bool // rows have two lines and are ruled off
}

func (g *grid) column(title string, right bool) {
	g.header, g.right = append(g.header, title), append(g.right, right)
}

// differenceColumns are those of one comparison.
func (g *grid) differenceColumns(of string) {
	g.column(strings.TrimSpace(of+g.gap()+"difference"), true)
	if g.tall {
		g.column("verdict\nq", false)
		return
	}
	g.column("q", true)
	g.column("verdict", false)
}

// gap stands between what belongs together in a cell.
func (g *grid) gap() string {
	if g.tall {
		return "\n"
	}
	return " "
}

// comparison gives the cells of differenceColumns.
func (v view) comparison(g grid, p place) []string {
	value, bounds := v.difference(p)
	value = strings.TrimSpace(value + g.gap() + bounds)
	if g.tall {
		return []string{value, v.verdict(p) + "\nq " + v.q(p)}
	}
	return []string{value, v.q(p), v.verdict(p)}
}

// model gives a model's cell.
func (g *grid) model(m bench.Model) string {
	name := modelName(m)
	if bare, ok := strings.CutSuffix(name, standInMark); ok && g.tall {
		return bare + "\n" + strings.TrimSpace(standInMark)
	}
	return name
}

// speedsOf gives the speed of each arm, the baseline first.
func (v view) speedsOf(m bench.Model, test bench.Test) []string {
	var list []string
	for _, a := range v.armsInOrder() {
		list = append(list, v.speed(place{m.Alias, test, a}))
	}
	return list
}

// perModel has one row for each model.
func (v view) perModel(tall bool) grid {
	g := grid{tall: tall}
	g.column("model", false)
	for _, test := range v.run.Tests {
		for _, a := range v.armsInOrder() {
			g.column(test.String()+g.gap()+v.names[a]+g.gap()+"t/s", true)
		}
		for _, a := range v.others() {
			of := test.String()
			if len(v.others()) > 1 {
				of += g.gap() + v.names[a]
			}
			g.differenceColumns(of)
		}
	}
	for _, m := range v.run.Models {
		row := []string{g.model(m)}
		for _, test := range v.run.Tests {
			row = append(row, v.speedsOf(m, test)...)
			for _, a := range v.others() {
				row = append(row, v.comparison(g, place{m.Alias, test, a})...)
			}
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// perTest has one row for each model and test.
func (v view) perTest(tall bool) grid {
	g := grid{tall: tall}
	g.column("model", false)
	g.column("test", false)
	for _, a := range v.armsInOrder() {
		g.column(v.names[a]+g.gap()+"t/s", true)
	}
	for _, a := range v.others() {
		g.differenceColumns(v.names[a])
	}
	for _, m := range v.run.Models {
		for _, test := range v.run.Tests {
			row := append([]string{g.model(m), test.String()}, v.speedsOf(m, test)...)
			for _, a := range v.others() {
				row = append(row, v.comparison(g, place{m.Alias, test, a})...)
			}
			g.rows = append(g.rows, row)
		}
	}
	return g
}

// perArm has one row for each model, test and arm other than the baseline.
func (v view) perArm(tall bool) grid {
	g := grid{tall: tall}
	g.column("model", false)
	g.column("test", false)
	g.column(v.names[v.c.Baseline]+g.gap()+"t/s", true)
	g.column("arm", false)
	g.column("t/s", true)
	g.differenceColumns("")
	for _, m := range v.run.Models {
		for _, test := range v.run.Tests {
			for _, a := range v.others() {
				p := place{m.Alias, test, a}
				row := []string{g.model(m), test.String(), v.speed(place{m.Alias, test, v.c.Baseline}), v.names[a], v.speed(p)}
				g.rows = append(g.rows, append(row, v.comparison(g, p)...))
			}
		}
	}
	return g
}

// stack says the same in lines, for a width that no table fits.
func (v view) stack() []string {
	var lines []string
	for _, m := range v.run.Models {
		for _, test := range v.run.Tests {
			lines = append(lines, fmt.Sprintf("%s %s", modelName(m), test))
			lines = append(lines, fmt.Sprintf("  %s %s t/s", v.names[v.c.Baseline], v.speed(place{m.Alias, test, v.c.Baseline})))
			for _, a := range v.others() {
				p := place{m.Alias, test, a}
				value, bounds := v.difference(p)
				lines = append(lines,
					fmt.Sprintf("  %s %s t/s", v.names[a], v.speed(p)),
					"    "+strings.TrimSpace(value+" "+bounds),
					fmt.Sprintf("    %s, q %s", v.verdict(p), v.q(p)))
			}
		}
	}
	return lines
}
