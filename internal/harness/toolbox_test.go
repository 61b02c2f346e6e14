package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/lint"
	"hexab/internal/macros"
)

// pinned is a workspace with the pinned llama.cpp tree; the test is skipped
// where heavy tests are not wanted.
func pinned(t *testing.T) *Workspace {
	t.Helper()
	if os.Getenv("HEXAB_HEAVY") != "1" {
		t.Skip("reads the pinned llama.cpp; set HEXAB_HEAVY=1")
	}
	t.Setenv(EnvLlama, "")
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestKnobsOfPinnedTree holds the knob table against the pinned sources.
func TestKnobsOfPinnedTree(t *testing.T) {
	drift, err := pinned(t).knobDrift(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(drift) > 0 {
		t.Errorf("the table and the sources differ:\n%s", strings.Join(drift, "\n"))
	}
}

func TestUnknownVariables(t *testing.T) {
	t.Setenv(EnvLlama, "")
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	for arms, want := range map[string]string{
		"cpu,cpu:env.GGML_HEXAGON_NHXV=4":         "is GGML_HEXAGON_NHVX meant?",
		"cpu,cpu:env.GGML_HEXAGON_EXPERIMENTAL=1": "reads no variable GGML_HEXAGON_EXPERIMENTAL",
		"cpu,cpu:env.GGML_HEXAGON_NHVX=4":         "",
	} {
		_, err := w.understand(Options{Arms: arms})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", arms, err, want)
		}
	}
}

// TestMacrosOfPinnedTree holds how many macros of the pinned sources are not
// aligned, and that mending them all leaves none.
func TestMacrosOfPinnedTree(t *testing.T) {
	w := pinned(t)
	tree, err := w.Source(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string][2]int{backendFolder: {87, 0}, "ggml/src": {219, 39}, "ggml/include": {8, 8}} {
		files, err := sources(filepath.Join(tree.Dir, folder))
		if err != nil {
			t.Fatal(err)
		}
		got := [2]int{}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			mended, findings, err := macros.Align(source, macros.Least)
			if err != nil {
				t.Fatal(file, err)
			}
			got[0], got[1] = got[0]+macros.Count(source), got[1]+len(findings)
			if _, left, err := macros.Align(mended, macros.Least); err != nil || left != nil {
				t.Errorf("%s: %v left after mending, %v", file, left, err)
			}
		}
		if got != want {
			t.Errorf("%s: %d macros, %d not aligned, want %v", folder, got[0], got[1], want)
		}
	}
}

// lintedBeside are a folder's findings, and those that the committed baseline
// lacks and has too many.
func lintedBeside(t *testing.T, w *Workspace, dir string) (findings, fresh []lint.Finding, gone []string) {
	t.Helper()
	findings, err := lintTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(w.Root, knownFindings))
	if err != nil {
		t.Fatal(err)
	}
	known, err := lint.ParseBaseline(knownFindings, text)
	if err != nil {
		t.Fatal(err)
	}
	fresh, _, gone = known.Split(findings)
	return findings, fresh, gone
}

// TestLintOfPinnedTree holds the baseline against the pinned sources: nothing
// new, nothing gone.
func TestLintOfPinnedTree(t *testing.T) {
	w := pinned(t)
	dir, err := w.toolboxPath(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	findings, fresh, gone := lintedBeside(t, w, dir)
	if len(fresh)+len(gone) > 0 || len(findings) != 56 {
		t.Errorf("%d findings, new %v, gone %v", len(findings), fresh, gone)
	}
}

// TestSweepIsOnePlan holds that a sweep makes the arms of one comparison.
func TestSweepIsOnePlan(t *testing.T) {
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.understand(Options{Arms: "dspqueue", Sweep: "nhvx=1,2,4"})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.specs) != 3 || r.specs[2].String() != "dspqueue:env.GGML_HEXAGON_NHVX=4" {
		t.Errorf("%v", r.specs)
	}
	if r, err = w.understand(Options{Sweep: "opbatch=16,1280"}); err != nil || len(r.specs) != 4 {
		t.Errorf("%v, %v", r.specs, err)
	}
	if _, err := w.understand(Options{Sweep: "nhvx=1"}); err != nil {
		t.Error(err) // two arms with one value
	}
	if _, err := w.understand(Options{Arms: "cpu", Sweep: "nhvx=1,2"}); err == nil || ExitStatus(err) != 2 {
		t.Errorf("%v", err)
	}
}

// TestToolboxUsage holds that what can not be meant is refused, with its name.
func TestToolboxUsage(t *testing.T) {
	empty := t.TempDir()
	for want, run := range map[string]func() error{
		"no C or C++ sources in " + empty: func() error { return Lint(t.Context(), empty, "", false) },
		"sources in " + empty:             func() error { return AlignMacros(t.Context(), "check", empty, "") },
		"v80 is neither a file":           func() error { return Inspect(t.Context(), InspectOptions{Skel: "v80"}) },
		"\"Q5_9\" is no tiled format":     func() error { return TilesShow("q5_9", "") },
		"none of check, diff, fix":        func() error { return AlignMacros(t.Context(), "foo", empty, "") },
	} {
		if err := run(); ExitStatus(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, status %d; want %q", err, ExitStatus(err), want)
		}
	}
}

// TestToolsOnAnotherCheckout holds that the tools see what a checkout other than
// the pinned one has: a copy of it with changes, named by its root.
func TestToolsOnAnotherCheckout(t *testing.T) {
	w := pinned(t)
	tree, err := w.Source(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	backend := filepath.Join(other, filepath.FromSlash(backendFolder))
	if err := os.MkdirAll(filepath.Dir(backend), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(backend, os.DirFS(filepath.Join(tree.Dir, filepath.FromSlash(backendFolder)))); err != nil {
		t.Fatal(err)
	}
	edit := func(name, before, after string) {
		t.Helper()
		name = filepath.Join(backend, filepath.FromSlash(name))
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), before) {
			t.Fatalf("%s: no %q, %v", name, before, err)
		}
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(text), before, after)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	edit("htp/diag-ops.c", "htp_trace_event_", "no_trace_event_")
	edit("ggml-hexagon.cpp", "\"GGML_HEXAGON_NHVX\"", "\"GGML_HEXAGON_THREADS\"")
	if err := os.WriteFile(filepath.Join(backend, "htp", "new.h"), []byte("#define ONE(x) \\\n    ((x) + \\\n     1)\n"), 0o644); err != nil {
		t.Fatal(err)
	}

	dir, err := w.backendSources(t.Context(), other)
	if err != nil || dir != backend {
		t.Fatalf("%s, %v", dir, err)
	}
	_, fresh, gone := lintedBeside(t, w, dir)
	var keys []string
	for _, f := range fresh {
		keys = append(keys, f.Key())
	}
	if got := strings.Join(keys, ", "); got != "trace diag-ops.c diag_thread_f32_dma worker, trace diag-ops.c diag_thread_f32 worker" || len(gone) > 0 {
		t.Errorf("lint: new %s, gone %v", got, gone)
	}
	drift, err := w.knobDrift(t.Context(), other)
	if text := strings.Join(drift, "\n"); err != nil || len(drift) != 2 || !strings.Contains(text, "GGML_HEXAGON_THREADS is read in line") || !strings.Contains(text, "GGML_HEXAGON_NHVX is in the table and is not read") {
		t.Errorf("knobs: %v, %v", drift, err)
	}
	if err := AlignMacros(t.Context(), "check", other, ""); err == nil || !strings.Contains(err.Error(), "88 multi-line macros, 1 not aligned") {
		t.Errorf("alignMacros: %v", err)
	}
	if err := AlignMacros(t.Context(), "fix", other, ""); err != nil {
		t.Error(err)
	}
	if err := AlignMacros(t.Context(), "check", other, ""); err != nil {
		t.Errorf("alignMacros after mending: %v", err)
	}
}
