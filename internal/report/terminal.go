package report

import (
	"bytes"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"hexab/internal/bench"
	"hexab/internal/compare"
)

// Options say how a terminal report is drawn.
type Options struct {
	// Width is the number of columns to keep within; zero is no limit. Only
	// the command to run again may be longer, so that it can be copied.
	Width int
	// Color marks verdicts with ANSI colours.
	Color bool
}

// Terminal renders a run's comparisons for people at a terminal.
func Terminal(c compare.Comparisons, run bench.Run, o Options) []byte {
	v := newView(c, run)
	var b bytes.Buffer
	put := func(text, indent string) {
		for _, line := range wrap(text, indent, o.Width) {
			b.WriteString(line + "\n")
		}
	}
	put(v.title(), "")
	if state := v.state(); state != "" {
		put(state, "")
	}
	b.WriteByte('\n')
	b.WriteString(v.table(o))
	if c.Simulated {
		put(compare.SimulatedNotice, "")
	}
	for _, s := range v.sections() {
		if len(s.lines) == 0 {
			continue
		}
		b.WriteString("\n" + s.title + "\n")
		for _, line := range s.lines {
			put("- "+clean(line), "  ")
		}
	}
	if run.Command != "" {
		b.WriteString("\nRun again\n  " + clean(run.Command) + "\n")
	}
	return b.Bytes()
}

// table draws the first form that keeps within the width.
func (v view) table(o Options) string {
	for _, form := range []func(tall bool) grid{v.perModel, v.perTest, v.perArm} {
		for _, tall := range []bool{false, true} {
			if text, err := draw(form(tall), o.Color); err == nil && fits(text, o.Width) {
				return text
			}
		}
	}
	var b strings.Builder
	for _, line := range v.stack() {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for _, part := range wrap(line, indent+"  ", o.Width) {
			b.WriteString(paint(part, o.Color) + "\n")
		}
	}
	return b.String()
}

// draw makes a table of a grid, without changing its texts.
func draw(g grid, color bool) (string, error) {
	align := make([]tw.Align, len(g.right))
	for i, right := range g.right {
		align[i] = tw.AlignLeft
		if right {
			align[i] = tw.AlignRight
		}
	}
	between := tw.Off
	if g.tall {
		between = tw.On
	}
	var b strings.Builder
	table := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Symbols: tw.NewSymbols(tw.StyleLight),
			Borders: tw.Border{Left: tw.Off, Right: tw.Off, Top: tw.Off, Bottom: tw.Off},
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenRows: between, BetweenColumns: tw.On, ShowHeader: tw.On},
			},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithRowAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithAlignment(align),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{Global: tw.AlignLeft, PerColumn: align}),
	)
	table.Header(g.header)
	for _, row := range g.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = paint(cell, color)
		}
		if err := table.Append(cells); err != nil {
			return "", err
		}
	}
	if err := table.Render(); err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// colours are those of verdicts; "inconclusive" and "equivalent" have none.
var colours = map[string]string{"faster": "\x1b[32m", "slower": "\x1b[31m", "no verdict": "\x1b[33m"}

// paint colours a cell's verdict. The word comes first in its cell, after A/A
// at most, so that a model of that name is left alone unless it is just that.
func paint(cell string, color bool) string {
	if !color {
		return cell
	}
	word := strings.TrimPrefix(strings.TrimLeft(cell, " "), "A/A ")
	for verdict, code := range colours {
		if rest, ok := strings.CutPrefix(word, verdict); ok && (rest == "" || strings.ContainsRune("*,\n ", rune(rest[0]))) {
			return cell[:len(cell)-len(word)] + code + verdict + "\x1b[0m" + rest
		}
	}
	return cell
}

func fits(text string, width int) bool {
	for _, line := range strings.Split(text, "\n") {
		if width > 0 && twwidth.Width(line) > width {
			return false
		}
	}
	return true
}

// wrap breaks a line at spaces to keep within the width, further lines
// indented, and breaks words that are longer than a line.
func wrap(text, indent string, width int) []string {
	if width <= 0 || twwidth.Width(text) <= width {
		return []string{text}
	}
	width = max(width, len(indent)+8)
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines []string
	line, empty := lead, true
	for _, word := range strings.Fields(text) {
		// A percent sign is not parted from its number.
		stuck := strings.HasPrefix(word, "%") && twwidth.Width(line)+1+twwidth.Width(word) > width
		if at := strings.LastIndexByte(line, ' '); stuck && at > len(indent) {
			lines = append(lines, line[:at])
			line = indent + line[at+1:]
		}
		if !empty && twwidth.Width(line)+1+twwidth.Width(word) > width {
			lines = append(lines, line)
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		used := twwidth.Width(line)
		for _, r := range word {
			// Rune by rune, so that a long word costs no more than its length.
			own := twwidth.Width(string(r))
			if used+own > width {
				lines = append(lines, line)
				line, used = indent, len(indent)
			}
			line += string(r)
			used += own
		}
		empty = false
	}
	return append(lines, line)
}
