package harness

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"hexab/internal/arm"
	"hexab/internal/knobs"
)

// backendFolder is the Hexagon backend's folder in a llama.cpp tree.
const backendFolder = "ggml/src/ggml-hexagon"

// toolboxPath is the path that a tool was asked to work on, or the backend's
// sources in the llama.cpp tree in use.
func (w *Workspace) toolboxPath(ctx context.Context, path string) (string, error) {
	if path != "" {
		_, err := os.Stat(path)
		return path, unusable("path", err)
	}
	tree, err := w.Source(ctx)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(tree.Dir, filepath.FromSlash(backendFolder))
	if !exists(folder) {
		return "", usage("%s has no %s: it is older than the Hexagon backend, or was moved; -path= names the folder", tree.Dir, backendFolder)
	}
	return folder, nil
}

// backendSources is toolboxPath for what looks at the Hexagon backend alone: of
// a whole checkout that is its folder.
func (w *Workspace) backendSources(ctx context.Context, path string) (string, error) {
	path, err := w.toolboxPath(ctx, path)
	if folder := filepath.Join(path, filepath.FromSlash(backendFolder)); err == nil && exists(folder) {
		return folder, nil
	}
	return path, err
}

// sources lists the C and C++ files at or below a path, sorted. A path without
// any is a mistake: nothing to find is not nothing found.
func sources(path string) ([]string, error) {
	extensions := []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".inl"}
	var files []string
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && (name == path || slices.Contains(extensions, strings.ToLower(filepath.Ext(name)))) {
			files = append(files, name)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		return nil, usage("path: there are no C or C++ sources in %s", path)
	}
	return files, unusable("path", err)
}

// Knobs lists the environment variables of the Hexagon backend and tells
// whether the llama.cpp tree in use, or the checkout or folder named, still
// reads them as the table says.
func Knobs(ctx context.Context, path string) error {
	w, err := Open()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "setting\tvariable\tdefault\ttakes\tmeaning")
	for _, v := range knobs.Table {
		meaning := v.Meaning
		if v.Deprecated != "" {
			meaning += "; deprecated, use " + v.Deprecated
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", v.Short, v.Name, v.Default, v.Values, meaning)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	drift, err := w.knobDrift(ctx, path)
	if err != nil {
		return err
	}
	tree := "the llama.cpp tree in use"
	if path != "" {
		tree = path
	}
	if len(drift) > 0 {
		return fmt.Errorf("%s reads its variables otherwise:\n  %s", tree, strings.Join(drift, "\n  "))
	}
	fmt.Fprintf(w.Out, "\n%d variables; %s reads the same ones in the same way.\n", len(knobs.Table), tree)
	return nil
}

func (w *Workspace) knobDrift(ctx context.Context, path string) ([]string, error) {
	dir, err := w.backendSources(ctx, path)
	if err != nil {
		return nil, err
	}
	files, err := sources(dir)
	if err != nil {
		return nil, err
	}
	var reads []knobs.Read
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, unusable("path", err)
		}
		reads = append(reads, knobs.Extract(text)...)
	}
	return knobs.Drift(reads), nil
}

// checkVariables refuses variables with the backend's prefix that nothing
// reads: the arm would run as if it had not stated them. A tree of the user's
// own may have more of them than the pinned one, so there it is only told.
func (w *Workspace) checkVariables(specs []arm.Spec) error {
	for _, s := range specs {
		for key := range s.Declared {
			name, _ := strings.CutPrefix(key, "env.")
			if _, known := knobs.Find(name); known || !strings.HasPrefix(name, knobs.Prefix) {
				continue
			}
			text := fmt.Sprintf("arms: the Hexagon backend reads no variable %s; \"mage knobs\" lists what it reads", name)
			if near := knobs.Nearest(name); near != "" {
				text = fmt.Sprintf("arms: the Hexagon backend reads no variable %s; is %s meant?", name, near)
			}
			if os.Getenv(EnvLlama) == "" {
				return usage("%s", text)
			}
			w.Note("%s (%s may)", text, EnvLlama)
		}
	}
	return nil
}
