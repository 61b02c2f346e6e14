package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/device"
	"hexab/internal/report"
	"hexab/internal/stat"
	"hexab/internal/store"
)

// judge compares a run's records by the run's own seed and threshold.
func judge(run bench.Run, records []bench.Record) (compare.Comparisons, error) {
	return compare.WithPairs(run, records, statOptions(run))
}

// statOptions are the limits of a run's verdicts.
func statOptions(run bench.Run) stat.Options {
	options := stat.DefaultOptions()
	options.Threshold, options.Seed = run.Threshold, run.Seed
	if run.Until > 0 {
		list, _ := looks(run) // the whole level where the head is not sound
		for _, look := range list {
			if look.Blocks == run.Rounds {
				options.Alpha = look.Alpha
			}
		}
	}
	return options
}

// present writes the reports of a run into its archive and prints the table.
func (w *Workspace) present(a *store.Archive) error {
	run, records, err := sofar(a)
	if err != nil {
		return err
	}
	c, err := judge(run, records)
	if err != nil {
		return err
	}
	json, err := report.JSON(c)
	if err != nil {
		return err
	}
	csv, err := report.CSV(c, run)
	if err != nil {
		return err
	}
	html, err := report.HTML(c, run)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"comparisons.json": json, "table.csv": csv, "table.md": report.Markdown(c, run), "table.html": html, "course.svg": report.Course(c, run, records)} {
		if err := a.WriteReport(name, data); err != nil {
			return err
		}
	}
	return w.show(c, run, a.Dir())
}

// reportOptions are those of what is printed: as wide as the terminal, and
// without colour elsewhere or where NO_COLOR asks for none.
func (w *Workspace) reportOptions() report.Options {
	return report.Options{Width: w.Width, Color: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""}
}

func (w *Workspace) show(c compare.Comparisons, run bench.Run, dir string) error {
	if _, err := w.Out.Write(report.Terminal(c, run, w.reportOptions())); err != nil {
		return err
	}
	fmt.Fprintf(w.Out, "\nArchive: %s\n", dir)
	if !c.Complete {
		return &HolesError{fmt.Sprintf("the run has holes: %d launches do not count (see above); go on with: %s", len(c.Holes), w.resumption(dir))}
	}
	return nil
}

// resumption is the command that goes on with an archive's run.
func (w *Workspace) resumption(dir string) string {
	name := dir
	if filepath.Dir(dir) == filepath.Join(w.Root, "results") {
		name = filepath.Base(dir)
	}
	return "go tool mage abtest -resume=" + device.Quote(name)
}

// ReportFormats are the forms that Report writes.
var ReportFormats = []string{"terminal", "markdown", "csv", "json", "html"}

// Report renders an archived run again: for the terminal, or in another of the
// ReportFormats.
func Report(name, format string) error {
	if format == "" {
		format = ReportFormats[0]
	}
	if !slices.Contains(ReportFormats, format) {
		return usage("format: %q is not one of %s", format, strings.Join(ReportFormats, ", "))
	}
	w, err := Open()
	if err != nil {
		return err
	}
	dir, err := store.Find(filepath.Join(w.Root, "results"), name)
	if err != nil {
		return &UsageError{err}
	}
	run, records, warnings, err := store.Read(dir)
	if err != nil {
		return err
	}
	for _, warning := range warnings {
		w.Note("%s", warning)
	}
	if run, records, err = ended(run, records); err != nil {
		return err
	}
	c, err := judge(run, records)
	if err != nil {
		return err
	}
	var text []byte
	switch format {
	case "markdown":
		text = report.Markdown(c, run)
	case "csv":
		text, err = report.CSV(c, run)
	case "json":
		text, err = report.JSON(c)
	case "html":
		text, err = report.HTML(c, run)
	default:
		return w.show(c, run, dir)
	}
	if err != nil {
		return err
	}
	_, err = w.Out.Write(text)
	return err
}
