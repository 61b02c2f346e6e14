package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hexab/internal/lint"
)

// knownFindings is the baseline of the pinned tree, below the checkout.
const knownFindings = "internal/lint/baseline.txt"

// Lint holds the backend's sources against the rules of its developer guide.
// Findings that the baseline knows do not fail; without a path the baseline is
// the pinned tree's own, with one there is none unless it is named.
func Lint(ctx context.Context, path, baseline string, all bool) error {
	w, err := Open()
	if err != nil {
		return err
	}
	if path == "" && baseline == "" {
		baseline = filepath.Join(w.Root, filepath.FromSlash(knownFindings))
	}
	if path, err = w.backendSources(ctx, path); err != nil {
		return err
	}
	findings, err := lintTree(path)
	if err != nil {
		return err
	}
	known := lint.Baseline{}
	if baseline != "" {
		text, err := os.ReadFile(baseline)
		if err != nil {
			return unusable("baseline", err)
		}
		if known, err = lint.ParseBaseline(baseline, text); err != nil {
			return &UsageError{err}
		}
	}
	fresh, old, gone := known.Split(findings)
	shown := fresh
	if all {
		shown = findings
	}
	for _, f := range shown {
		fmt.Fprintln(w.Out, f)
	}
	for _, key := range gone {
		fmt.Fprintf(w.Out, "%s:%d: no longer found: %s\n", baseline, known[key], key)
	}
	summary := fmt.Sprintf("%d findings, %d of them known", len(findings), len(old))
	if len(fresh) > 0 {
		var keys []string
		for _, f := range fresh {
			keys = append(keys, f.Key())
		}
		return fmt.Errorf("%s; mend the others, or add to a baseline (-baseline=FILE):\n%s", summary, strings.Join(keys, "\n"))
	}
	fmt.Fprintln(w.Out, summary)
	return nil
}

// lintTree checks the sources below a folder, with paths relative to it.
func lintTree(dir string) ([]lint.Finding, error) {
	names, err := sources(dir)
	if err != nil {
		return nil, err
	}
	var files []lint.File
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, unusable("path", err)
		}
		files = append(files, lint.File{Path: name, Text: text})
	}
	return lint.Check(files), nil
}
