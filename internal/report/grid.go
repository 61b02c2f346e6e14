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

// perModel has one row for each model. In a tall one numbers take two lines.
func (v view) perModel(tall bool) grid {
	g := grid{tall: tall}
	space, gap := " ", " "
	if tall {
		space, gap = "\n", "\n"
	}
	g.column("model", false)
	for _, test := range v.run.Tests {
		for _, a := range v.armsInOrder() {
			g.column(test.String()+space+v.names[a]+space+"t/s", true)
		}
		for _, a := range v.others() {
			of := test.String()
			if len(v.others()) > 1 {
				of += space + v.names[a]
			}
			g.column(of+space+"difference", true)
			if tall {
				g.column("verdict\nq", false)
			} else {
				g.column("q", true)
				g.column("verdict", false)
			}
		}
	}
	for _, m := range v.run.Models {
		row := []string{strings.ReplaceAll(modelName(m), " (", gap+"(")}
		for _, test := range v.run.Tests {
			row = append(row, v.speedsOf(m, test)...)
			for _, a := range v.others() {
				p := place{m.Alias, test, a}
				value, bounds := v.difference(p)
				row = append(row, strings.TrimSpace(value+gap+bounds))
				if tall {
					row = append(row, v.verdict(p)+"\nq "+v.q(p))
				} else {
					row = append(row, v.q(p), v.verdict(p))
				}
			}
		}
		g.rows = append(g.rows, row)
	}
	return g
}

func (v view) speedsOf(m bench.Model, test bench.Test) []string {
	var list []string
	for _, a := range v.armsInOrder() {
		list = append(list, v.speed(place{m.Alias, test, a}))
	}
	return list
}

// perTest has one row for each model and test.
func (v view) perTest() grid {
	var g grid
	g.column("model", false)
	g.column("test", false)
	for _, a := range v.armsInOrder() {
		g.column(v.names[a]+" t/s", true)
	}
	for _, a := range v.others() {
		of := "difference"
		if len(v.others()) > 1 {
			of = v.names[a] + " difference"
		}
		g.column(of, true)
		g.column("q", true)
		g.column("verdict", false)
	}
	for _, m := range v.run.Models {
		for _, test := range v.run.Tests {
			row := append([]string{modelName(m), test.String()}, v.speedsOf(m, test)...)
			for _, a := range v.others() {
				row = append(row, v.comparison(place{m.Alias, test, a})...)
			}
			g.rows = append(g.rows, row)
		}
	}
	return g
}

// perArm has one row for each model, test and arm other than the baseline.
func (v view) perArm() grid {
	var g grid
	g.column("model", false)
	g.column("test", false)
	g.column(v.names[v.c.Baseline]+" t/s", true)
	g.column("arm", false)
	g.column("t/s", true)
	g.column("difference", true)
	g.column("q", true)
	g.column("verdict", false)
	for _, m := range v.run.Models {
		for _, test := range v.run.Tests {
			for _, a := range v.others() {
				p := place{m.Alias, test, a}
				row := []string{modelName(m), test.String(), v.speed(place{m.Alias, test, v.c.Baseline}), v.names[a], v.speed(p)}
				g.rows = append(g.rows, append(row, v.comparison(p)...))
			}
		}
	}
	return g
}

func (v view) comparison(p place) []string {
	value, bounds := v.difference(p)
	return []string{strings.TrimSpace(value + " " + bounds), v.q(p), v.verdict(p)}
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
