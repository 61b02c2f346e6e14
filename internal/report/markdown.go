package report

import (
	"bytes"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/compare"
)

// Markdown renders a run's comparisons for a pull request or a file. Two arms
// have one row a model, more arms or more than two tests one row for each model
// and test, and more than three arms one row for each arm as well.
func Markdown(c compare.Comparisons, run bench.Run) []byte {
	v := newView(c, run)
	g := v.perModel(false)
	switch arms := len(run.Arms); {
	case arms > 3:
		g = v.perArm(false)
	case arms > 2 || len(run.Tests) > 2:
		g = v.perTest(false)
	}
	var b bytes.Buffer
	b.WriteString("### " + markdown(v.title()) + "\n\n")
	if state := v.state(); state != "" {
		b.WriteString("**" + markdown(state) + "**\n\n")
	}
	markdownTable(&b, g)
	if c.Simulated {
		b.WriteString("\n_" + markdown(compare.SimulatedNotice) + "_\n")
	}
	for _, s := range v.sections() {
		if len(s.lines) == 0 {
			continue
		}
		b.WriteString("\n**" + s.title + "**\n\n")
		for _, line := range s.lines {
			b.WriteString("- " + markdown(line) + "\n")
		}
	}
	if run.Command != "" {
		b.WriteString("\n**Run again**\n\n" + fence(run.Command))
	}
	return b.Bytes()
}

func markdownTable(b *bytes.Buffer, g grid) {
	row := func(cells []string) {
		for _, cell := range cells {
			b.WriteString("| " + markdown(strings.ReplaceAll(cell, "\n", " ")) + " ")
		}
		b.WriteString("|\n")
	}
	row(g.header)
	for _, right := range g.right {
		if right {
			b.WriteString("| ---: ")
		} else {
			b.WriteString("| --- ")
		}
	}
	b.WriteString("|\n")
	for _, cells := range g.rows {
		row(cells)
	}
}
