package harness

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/proc"
)

// Models lists the manifest's models and what of them is here.
func Models() error {
	w, err := Open()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "alias\tfamily\tsize\tlicence\tfile\tstand-in\there")
	for _, m := range w.Manifest.Models {
		size := "unknown"
		if bytes := max(m.Bytes, m.ApproximateBytes); bytes > 0 {
			size = bench.Bytes(bytes).String()
		}
		here := "stand-in made on first use"
		if exists(filepath.Join(w.Cache, "models", m.Alias, m.File)) {
			here = "model"
		} else if exists(w.standInPath(m.StandIn)) {
			here = "stand-in"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Alias, m.Architecture, size, m.Licence, m.File, m.StandIn.Preset, here)
	}
	return table.Flush()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Check runs everything that is quick: format, vet, staticcheck, unit tests.
func Check(ctx context.Context) error {
	w, err := Open()
	if err != nil {
		return err
	}
	if err := w.format(ctx); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"vet", "./..."}, {"vet", "-tags=mage", "."}, {"tool", "staticcheck", "./..."}, {"test", "./..."},
	} {
		if err := w.goTool(ctx, nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// format refuses sources that gofmt would change.
func (w *Workspace) format(ctx context.Context) error {
	var files []string
	err := filepath.WalkDir(w.Root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.Contains(path, "/testdata/") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	result, err := proc.Run(ctx, proc.Command{Path: "gofmt", Args: append([]string{"-l"}, files...), Dir: w.Root})
	if err != nil {
		return err
	}
	if list := strings.TrimSpace(result.Stdout.String()); list != "" {
		return fmt.Errorf("not formatted by gofmt:\n%s", list)
	}
	return nil
}

// goTool runs the go command in the checkout with its output shown.
func (w *Workspace) goTool(ctx context.Context, env []string, args ...string) error {
	w.Note("go %s", strings.Join(args, " "))
	command := proc.Command{Path: "go", Args: args, Dir: w.Root, Stdout: w.Out, Stderr: w.Err}
	if env != nil {
		command.Env = append(os.Environ(), env...)
	}
	_, err := proc.Run(ctx, command)
	return err
}

// Test runs all tests; long adds those that take many minutes each. Heavy tests
// find what they need in the environment. What the machine lacks is got first;
// install does not ask.
func Test(ctx context.Context, long, install bool) error {
	w, err := Open()
	if err != nil {
		return err
	}
	w.install = install
	if _, err := w.machine().Ensure(ctx, w.Cache, w.testNeeds()...); err != nil {
		return err
	}
	if err := Check(ctx); err != nil {
		return err
	}
	env, err := w.testEnv(ctx)
	if err != nil {
		return err
	}
	if long {
		env = append(env, "HEXAB_LONG=1")
	}
	return w.goTool(ctx, env, "test", "-timeout=180m", "-count=1", "-p=1", "./internal/...", "./sim/...")
}

// TestFaults runs the tests of runs that survive: the classes of faults, the
// soak and the kills. Their tables go to results/faults; HEXAB_TRIES,
// HEXAB_SOAK and HEXAB_KILLS in the environment say how much of each.
func TestFaults(ctx context.Context) error {
	w, err := Open()
	if err != nil {
		return err
	}
	env, err := w.testEnv(ctx)
	if err != nil {
		return err
	}
	folder := filepath.Join(w.Root, "results", "faults")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return w.goTool(ctx, append(env, "HEXAB_FAULT_RESULTS="+folder), "test", "-timeout=180m", "-count=1", "-v", "-run=^(TestFaultCoverage|TestSoak|TestKilledAtRandomMoments)$", "./internal/harness")
}

// testEnv builds what the heavy tests use and says where it is: the sources,
// each variant's bundle (HEXAB_BUNDLE_CPU and so on), the simulated NPU, the
// stand-in models.
func (w *Workspace) testEnv(ctx context.Context) ([]string, error) {
	builder, err := w.Builder(ctx, w.known()...)
	if err != nil {
		return nil, err
	}
	vendor, err := w.simulator(ctx, wants{variants: w.known(), builders: []*build.Builder{builder}})
	if err != nil {
		return nil, err
	}
	env := []string{
		"HEXAB_HEAVY=1", "HEXAB_CACHE=" + w.Cache, "HEXAB_TEST_CACHE=" + w.Cache,
		"HEXAB_LLAMA_CPP=" + builder.Tree.Dir, "HEXAB_NPU_RUNTIME=" + filepath.Dir(vendor[0]),
	}
	for _, v := range w.known() {
		bundle, err := builder.Bundle(ctx, v, bench.Sim)
		if err != nil {
			return nil, err
		}
		env = append(env, "HEXAB_BUNDLE_"+strings.ToUpper(string(v))+"="+bundle.Dir)
		if v == bench.CPU {
			env = append(env, "HEXAB_LLAMA_BENCH="+filepath.Join(bundle.Dir, "llama-bench"))
		}
	}
	models, err := w.workloads(ctx, w.Manifest.Aliases(), true)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, m := range models {
		files = append(files, m.path)
	}
	return append(env, "HEXAB_STAND_INS="+strings.Join(files, string(os.PathListSeparator))), nil
}
