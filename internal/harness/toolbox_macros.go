package harness

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/rogpeppe/go-internal/diff"

	"hexab/internal/macros"
)

// AlignMacros finds multi-line macros whose backslashes are not in one column.
// Mode check (the default) lists them, diff shows what would change, fix
// changes it. Findings are an error except where they were mended.
func AlignMacros(ctx context.Context, mode, path, column string) error {
	w, err := Open()
	if err != nil {
		return err
	}
	switch mode {
	case "":
		mode = "check"
	case "check", "diff":
	case "fix":
		if path == "" {
			return usage("fix takes -path=: the pinned sources are never edited")
		}
	default:
		return usage("mode: %q is none of check, diff, fix", mode)
	}
	if column == "" {
		column = string(macros.Least)
	}
	if path, err = w.toolboxPath(ctx, path); err != nil {
		return err
	}
	files, err := sources(path)
	if err != nil {
		return err
	}
	total, ragged := 0, 0
	for _, file := range files {
		n, found, err := w.alignFile(file, mode, macros.Mode(column))
		if err != nil {
			return err
		}
		total, ragged = total+n, ragged+found
	}
	summary := fmt.Sprintf("%d files, %d multi-line macros, %d not aligned", len(files), total, ragged)
	if ragged > 0 && mode != "fix" {
		return fmt.Errorf("%s; -mode=fix -path= mends them", summary)
	}
	if mode == "fix" {
		summary += " before, 0 now"
	}
	fmt.Fprintln(w.Out, summary)
	return nil
}

// alignFile gives the number of macros and of those that are not aligned.
func (w *Workspace) alignFile(file, mode string, column macros.Mode) (total, ragged int, err error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, unusable("path", err)
	}
	mended, findings, err := macros.Align(source, column)
	if err != nil {
		return 0, 0, usage("%s: %w", file, err)
	}
	for _, f := range findings {
		fmt.Fprintf(w.Out, "%s:%d: %s\n", file, f.Line, f)
	}
	switch {
	case len(findings) == 0:
	case mode == "diff":
		name := strings.TrimPrefix(file, "/")
		_, err = w.Out.Write(diff.Diff("a/"+name, source, "b/"+name, mended))
	case mode == "fix":
		info, failed := os.Stat(file)
		if failed != nil {
			return 0, 0, unusable("path", failed)
		}
		err = unusable("path", renameio.WriteFile(file, mended, info.Mode().Perm()))
	}
	return macros.Count(source), len(findings), err
}
