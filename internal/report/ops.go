package report

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"hexab/internal/backendops"
	"hexab/internal/compare"
)

// maxFailures bounds the failing cases that are listed; the log has them all.
const maxFailures = 100

// Operations renders what test-backend-ops reported for a terminal: a table by
// operation, or by case where it was measured, and the cases that failed.
// title is the first line; simulated figures are labelled.
func Operations(r backendops.Report, title string, simulated bool, o Options) []byte {
	var b bytes.Buffer
	put := func(text, indent string) {
		for _, line := range wrap(text, indent, o.Width) {
			b.WriteString(line + "\n")
		}
	}
	put(clean(title), "")
	b.WriteByte('\n')
	if r.Mode == backendops.Perf {
		b.WriteString(speedTable(r, o))
	} else {
		b.WriteString(operationTable(r, o))
	}
	if simulated && r.Mode == backendops.Perf {
		put(compare.SimulatedNotice, "")
	}
	failures := r.Failures()
	if len(failures) > 0 {
		b.WriteString("\nFailing cases\n")
	}
	for i, c := range failures {
		if i == maxFailures {
			put(fmt.Sprintf("and %d more; the log has all of them", len(failures)-i), "")
			break
		}
		b.WriteString("- " + clean(c.String()) + "\n") // on one line, so that testOp takes it
		if c.Detail != "" {
			put("  "+clean(c.Detail), "  ")
		}
	}
	return b.Bytes()
}

func operationTable(r backendops.Report, o Options) string {
	var g grid
	g.column("operation", false)
	for _, title := range []string{"passed", "failed", "unsupported"} {
		g.column(title, true)
	}
	row := func(name string, s backendops.Summary) {
		g.rows = append(g.rows, []string{clean(name), strconv.Itoa(s.Passed), strconv.Itoa(s.Failed), strconv.Itoa(s.Unsupported)})
	}
	operations := r.ByOp()
	for _, s := range operations {
		row(s.Op, s)
	}
	if len(operations) != 1 {
		row("all", r.Total())
	}
	text, err := draw(g, o.Color)
	if err != nil {
		return err.Error() + "\n"
	}
	return text
}

// speedTable has one row for each case that was measured. A case's parameters
// are long: they stand on lines of their own.
func speedTable(r backendops.Report, o Options) string {
	var g grid
	g.column("case", false)
	for _, title := range []string{"time of a run", "rate", "runs"} {
		g.column(title, true)
	}
	room := 100
	if o.Width > 0 {
		room = max(20, o.Width-50)
	}
	unsupported := 0
	for _, c := range r.Cases {
		if c.Speed == nil {
			unsupported++
			continue
		}
		name := strings.Join(pieces(clean(c.String()), room), "\n")
		g.rows = append(g.rows, []string{name, duration(c.Speed.Microseconds), rate(*c.Speed), strconv.Itoa(c.Speed.Runs)})
	}
	text := ""
	if len(g.rows) > 0 {
		var err error
		if text, err = draw(g, o.Color); err != nil {
			text = err.Error() + "\n"
		}
	}
	if unsupported > 0 {
		text += fmt.Sprintf("%d cases are not supported\n", unsupported)
	}
	return text
}

// duration shows microseconds with four digits.
func duration(microseconds float64) string {
	if microseconds >= 1e4 {
		return fmt.Sprintf("%.4g ms", microseconds/1e3)
	}
	return fmt.Sprintf("%.4g µs", microseconds)
}

func rate(s backendops.Speed) string {
	if s.FLOPS > 0 {
		return fmt.Sprintf("%.4g GFLOPS", s.FLOPS/1e9)
	}
	return fmt.Sprintf("%.4g GiB/s", s.GiBPerSecond)
}

// pieces cuts a text after commas into lines of about so many runes.
func pieces(text string, limit int) []string {
	var lines []string
	line := ""
	for _, part := range strings.SplitAfter(text, ",") {
		if line != "" && len([]rune(line))+len([]rune(part)) > limit {
			lines, line = append(lines, line), ""
		}
		line += part
	}
	return append(lines, line)
}
