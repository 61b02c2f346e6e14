package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hexab/internal/across"
	"hexab/internal/compare"
	"hexab/internal/report"
	"hexab/internal/store"
)

// Compare sets two archived runs, or a run and published figures, side by
// side. It is an error when they have nothing in common.
func Compare(a, b string) error {
	w, err := Open()
	if err != nil {
		return err
	}
	first, err := w.set(a)
	if err != nil {
		return err
	}
	second, err := w.set(b)
	if err != nil {
		return err
	}
	r := across.Sets(first, second)
	if _, err := w.Out.Write(report.Across(r, w.reportOptions())); err != nil {
		return err
	}
	if len(r.Rows) == 0 {
		return fmt.Errorf("%s and %s have no model, test and arm in common: nothing is compared", first.Name, second.Name)
	}
	return nil
}

// maxPublished bounds what is read of a file of published figures.
const maxPublished = 1 << 20

// set reads the figures of a name: a run, a file below results/published, or a
// path to either.
func (w *Workspace) set(name string) (across.Set, error) {
	for _, path := range []string{name, filepath.Join(w.Root, "results", "published", name), filepath.Join(w.Root, "results", "published", name+".yaml")} {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || filepath.Ext(path) != ".yaml" {
			continue
		} else if info.Size() > maxPublished {
			return across.Set{}, usage("%s: larger than %d bytes", path, maxPublished)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return across.Set{}, err
		}
		s, err := across.ParsePublished(path, text)
		if err != nil {
			return s, &UsageError{err}
		}
		s.Name = strings.TrimSuffix(filepath.Base(path), ".yaml")
		return s, nil
	}
	dir, err := store.Find(filepath.Join(w.Root, "results"), name)
	if err != nil {
		return across.Set{}, &UsageError{errors.Join(err, fmt.Errorf("published figures are: %s", strings.Join(w.publishedSets(), ", ")))}
	}
	run, records, warnings, err := store.Read(dir)
	if err != nil {
		return across.Set{}, err
	}
	for _, warning := range warnings {
		w.Note("%s", warning)
	}
	parts, err := compare.Parts(run, records, statOptions(run))
	if err != nil {
		return across.Set{}, err
	}
	return across.FromRun(run, parts), nil
}

// publishedSets names the files of published figures.
func (w *Workspace) publishedSets() []string {
	files, err := filepath.Glob(filepath.Join(w.Root, "results", "published", "*.yaml"))
	if err != nil {
		return nil
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".yaml")
	}
	return files
}
