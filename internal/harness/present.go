package harness

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/report"
	"hexab/internal/stat"
	"hexab/internal/store"
)

// judge compares a run's records by the run's own seed and threshold.
func judge(run bench.Run, records []bench.Record) (compare.Comparisons, error) {
	return compare.Compare(run, records, statOptions(run))
}

// statOptions are the limits of a run's verdicts.
func statOptions(run bench.Run) stat.Options {
	options := stat.DefaultOptions()
	options.Threshold, options.Seed = run.Threshold, run.Seed
	return options
}

// present writes the reports of a run into its archive and prints the table.
func (w *Workspace) present(a *store.Archive) error {
	run := a.Run()
	c, err := judge(run, a.Records())
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
	for name, data := range map[string][]byte{"comparisons.json": json, "table.csv": csv, "table.md": report.Markdown(c, run)} {
		if err := a.WriteReport(name, data); err != nil {
			return err
		}
	}
	return w.show(c, run, a.Dir())
}

func (w *Workspace) show(c compare.Comparisons, run bench.Run, dir string) error {
	colour := term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""
	if _, err := w.Out.Write(report.Terminal(c, run, report.Options{Width: w.Width, Color: colour})); err != nil {
		return err
	}
	fmt.Fprintf(w.Out, "\nArchive: %s\n", dir)
	if !c.Complete {
		return &HolesError{fmt.Sprintf("the run has holes: %d launches do not count (see above); go on with: go tool mage abtest -resume=%s", len(c.Holes), run.ID)}
	}
	return nil
}

// Report renders an archived run again.
func Report(name string) error {
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
	c, err := judge(run, records)
	if err != nil {
		return err
	}
	return w.show(c, run, dir)
}
