package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/compare"
)

// table has a row for each comparison; columns that say the same in every row
// are left out.
func (r Review) table(rows []reviewRow, lost int) []byte {
	var b bytes.Buffer
	devices, arms := r.severalDevices(), r.severalArms()
	var g grid
	if devices {
		g.column("device", false)
	}
	g.column("model", false)
	g.column("test", false)
	if arms {
		g.column("arm", false)
	}
	base, head := r.sides()
	g.column(base+" t/s", true)
	g.column(head+" t/s", true)
	g.column("difference", true)
	g.column("q", true)
	g.column("verdict", false)
	for _, row := range rows {
		var cells []string
		if devices {
			cells = append(cells, row.device)
		}
		cells = append(cells, row.model, row.test.String())
		if arms {
			cells = append(cells, row.arm)
		}
		g.rows = append(g.rows, append(cells, row.base, row.head, row.difference, row.q, row.verdict))
	}
	if len(rows) > 0 {
		markdownTable(&b, g)
	}
	if lost > 0 {
		fmt.Fprintf(&b, "\n_%d rows were left out for length; the run's artifact has all of them._\n", lost)
	}
	if len(rows) > 0 && r.simulated() {
		b.WriteString("\n_" + markdown(compare.SimulatedNotice) + "_\n")
	}
	return b.Bytes()
}

// sides name the two columns of speeds: base and head, or the arms.
func (r Review) sides() (string, string) {
	base, head := "", ""
	for _, part := range r.Parts {
		for _, cell := range part.Comparisons.Cells {
			b, h := sideName(part.Run, cell.Baseline), sideName(part.Run, cell.Arm)
			if base == "" {
				base, head = b, h
			}
			if b != base {
				base = "baseline"
			}
			if h != head {
				head = "arm"
			}
		}
	}
	return base, head
}

func sideName(run bench.Run, label string) string {
	for _, a := range run.Arms {
		if a.Label == label && a.Tree != "" {
			return a.Tree
		}
	}
	return shorten(clean(label), maxArmName)
}

// Bounds of the chart: fewer rows say more in the table, more do not fit.
const (
	minBars = 6
	maxBars = 40
)

// mermaid draws the differences where the table is too long to see them at a
// glance: a bar for each, and lines for the ends of the intervals.
func mermaid(rows []reviewRow) []byte {
	var names, bars, lows, highs []string
	low, high := 0.0, 0.0
	for _, row := range rows {
		if row.cell.Decision == nil || !finite(row.estimate) || !finite(row.lo) || !finite(row.hi) || math.Max(math.Abs(row.lo), math.Abs(row.hi)) > 1e4 {
			continue
		}
		names = append(names, `"`+chartLabel(fmt.Sprintf("%d %s %s", len(names)+1, strings.TrimSuffix(row.model, standInMark), row.test))+`"`)
		bars, lows, highs = append(bars, chartNumber(row.estimate)), append(lows, chartNumber(row.lo)), append(highs, chartNumber(row.hi))
		low, high = math.Min(low, row.lo), math.Max(high, row.hi)
	}
	if len(names) < minBars || len(names) > maxBars {
		return nil
	}
	room := math.Max(0.5, 0.05*(high-low))
	var b bytes.Buffer
	b.WriteString("```mermaid\nxychart-beta horizontal\n")
	b.WriteString("    title \"difference in percent, with the ends of its interval\"\n")
	fmt.Fprintf(&b, "    x-axis [%s]\n", strings.Join(names, ", "))
	fmt.Fprintf(&b, "    y-axis \"percent\" %s --> %s\n", chartNumber(low-room), chartNumber(high+room))
	fmt.Fprintf(&b, "    bar [%s]\n    line [%s]\n    line [%s]\n```\n", strings.Join(bars, ", "), strings.Join(lows, ", "), strings.Join(highs, ", "))
	return b.Bytes()
}

func chartNumber(x float64) string {
	if text := fmt.Sprintf("%.2f", x); text != "-0.00" {
		return text
	}
	return "0.00"
}

// chartLabel leaves what Mermaid can not misread.
func chartLabel(text string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" ._+-", r):
			return r
		case r == '@':
			return ' '
		}
		return '_'
	}, text)
	return shorten(safe, maxModelName)
}

// details is the folded part: for each part what to be careful about, how it
// was measured, and how to do it again.
func (r Review) details() []byte {
	var b bytes.Buffer
	names := r.deviceNames()
	for i, part := range r.Parts {
		v := newView(part.Comparisons, part.Run)
		v.adjusted = len(r.rows())
		title := "Warnings, counts and how to measure it again"
		if len(r.Parts) > 1 {
			title += ": " + names[i]
			if r.severalArms() {
				title += ", " + armName(part.Run, part.Run.Arms[len(part.Run.Arms)-1].Label)
			}
		}
		fmt.Fprintf(&b, "<details><summary>%s</summary>\n", markdown(title))
		for _, s := range v.sections() {
			if len(s.lines) == 0 {
				continue
			}
			b.WriteString("\n**" + s.title + "**\n\n")
			for _, line := range s.lines {
				b.WriteString("- " + markdown(line) + "\n")
			}
		}
		b.WriteString("\n**Run again**\n\n" + fence(r.command(part.Run)) + "\n</details>\n")
	}
	return b.Bytes()
}

// shortDetails is how to measure it again, when there is no room for more.
func (r Review) shortDetails() []byte {
	var b bytes.Buffer
	seen := map[string]bool{}
	for _, part := range r.Parts {
		command := fence(r.command(part.Run))
		if len(seen) < maxVerdicts && !seen[command] && len(command) < 2000 {
			b.WriteString(command)
		}
		seen[command] = true
	}
	return b.Bytes()
}

// command is how to do the same again, from what was checked: the command that
// a run's file states may be anybody's.
func (r Review) command(run bench.Run) string {
	var models, tests, arms []string
	for _, m := range run.Models {
		models = append(models, m.Alias)
	}
	for _, t := range run.Tests {
		tests = append(tests, t.String())
	}
	trees := ""
	for _, tree := range run.Trees {
		if tree.Commit != "" {
			trees += fmt.Sprintf(" -%s=%s", tree.Name, tree.Commit)
		}
	}
	target := "abtest"
	seen := map[string]bool{}
	for _, a := range run.Arms {
		spec := a.Label
		if trees != "" && a.Tree != "" {
			target, spec = "ciRun", strings.TrimPrefix(a.Label, a.Tree+":")
			if seen[spec] {
				continue
			}
			seen[spec] = true
		}
		if original, ok := repeatOf(run, a.Label); ok {
			spec = original
		}
		arms = append(arms, spec)
	}
	return fmt.Sprintf("go tool mage %s -arms=%s -models=%s -tests=%s -rounds=%d -seed=%d%s",
		target, shellQuote(strings.Join(arms, ",")), strings.Join(models, ","), strings.Join(tests, ","), run.Rounds, run.Seed, trees)
}

// repeatOf gives the specification that a label such as cpu#2 repeats.
func repeatOf(run bench.Run, label string) (string, bool) {
	at := strings.LastIndexByte(label, '#')
	if at < 0 {
		return "", false
	}
	for _, a := range run.Arms {
		if a.Label == label[:at] {
			return label[:at], true
		}
	}
	return "", false
}

// shellQuote makes one word of text for a POSIX shell.
func shellQuote(text string) string {
	plain := strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.,:=/+@%", r))
	}) < 0
	if plain && text != "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
