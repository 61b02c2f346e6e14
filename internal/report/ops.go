package report

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hexab/internal/backendops"
	"hexab/internal/compare"
)

// maxFailures bounds the failing cases that are listed; the log has them all.
const maxFailures = 100

// KnownFailures is what a list of expected failures says of a report.
type KnownFailures struct {
	// Findings explain the failures that were expected, in the list's order.
	Findings []KnownFailure
	// Passing are cases that passed although a finding says that they fail.
	Passing []string
}

// KnownFailure is one finding.
type KnownFailure struct {
	Name, Summary string
	// Cases are the failed cases that it explains.
	Cases []backendops.Case
}

// explains gives the name of the finding that explains a failed case; empty
// when there is none.
func (k *KnownFailures) explains(c backendops.Case) string {
	if k != nil {
		for _, f := range k.Findings {
			if slices.ContainsFunc(f.Cases, func(known backendops.Case) bool { return known.String() == c.String() }) {
				return f.Name
			}
		}
	}
	return ""
}

// Operations renders what test-backend-ops reported for a terminal: a table by
// operation, or by case where it was measured, and the cases that failed; those
// that were expected to, apart. known is nil where no failure is expected.
// title is the first line; simulated figures are labelled.
func Operations(r backendops.Report, known *KnownFailures, title string, simulated bool, o Options) []byte {
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
		b.WriteString(operationTable(r, known, o))
	}
	if simulated && r.Mode == backendops.Perf {
		put(compare.SimulatedNotice, "")
	}
	failures := slices.DeleteFunc(r.Failures(), func(c backendops.Case) bool { return known.explains(c) != "" })
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
	if known != nil {
		known.write(&b, put)
	}
	return b.Bytes()
}

func (k *KnownFailures) write(b *bytes.Buffer, put func(text, indent string)) {
	if len(k.Findings) > 0 {
		b.WriteString("\nExpected failures (sim/findings)\n")
	}
	for _, f := range k.Findings {
		counts := map[string]int{}
		for _, c := range f.Cases {
			counts[c.Op]++
		}
		var parts []string
		for _, op := range slices.Sorted(maps.Keys(counts)) {
			parts = append(parts, fmt.Sprintf("%d of %s", counts[op], clean(op)))
		}
		put(fmt.Sprintf("- %s: %s. %s", clean(f.Name), strings.Join(parts, ", "), clean(f.Summary)), "  ")
	}
	if len(k.Passing) > 0 {
		b.WriteString("\nExpected to fail, and passed\n")
	}
	for _, text := range k.Passing {
		b.WriteString("- " + clean(text) + "\n")
	}
}

func operationTable(r backendops.Report, known *KnownFailures, o Options) string {
	var g grid
	titles := []string{"passed", "failed", "unsupported"}
	expected := map[string]int{} // by operation
	if known != nil {
		titles = slices.Insert(titles, 2, "expected")
		for _, f := range known.Findings {
			for _, c := range f.Cases {
				expected[c.Op]++
				expected[""]++ // of all
			}
		}
	}
	g.column("operation", false)
	for _, title := range titles {
		g.column(title, true)
	}
	row := func(name string, s backendops.Summary) {
		cells := []string{clean(name), strconv.Itoa(s.Passed), strconv.Itoa(s.Failed - expected[s.Op]), strconv.Itoa(s.Unsupported)}
		if known != nil {
			cells = slices.Insert(cells, 3, strconv.Itoa(expected[s.Op]))
		}
		g.rows = append(g.rows, cells)
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
