package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/device"
	"hexab/internal/llamabench"
)

// ProgramOptions say on what a program of a bundle is run once, by hand.
type ProgramOptions struct {
	// Model is an alias; empty is the manifest's default. Arm is one arm, by
	// default cpu. Device is as in Options.
	Model, Arm, Device string
}

// program runs one program of an arm's bundle on the device with its output
// shown. Arguments are made from the model's path on the device.
func program(ctx context.Context, o ProgramOptions, needsModel bool, name string, arguments func(a bench.Arm, embedded bool, model string) ([]string, error)) (err error) {
	w, err := Open()
	if err != nil {
		return err
	}
	if o.Arm == "" {
		o.Arm = string(bench.CPU)
	}
	specs, err := arm.Parse(o.Arm, w.known())
	if err != nil {
		return &UsageError{err}
	}
	if len(specs) != 1 {
		return usage("arm: want one arm, not %q", o.Arm)
	}
	if specs[0].Tree != "" {
		return usage("arm: %q names a source tree; this takes an arm of the checkout", o.Arm)
	}
	var aliases []string
	if needsModel {
		if aliases, err = w.aliases(o.Model); err != nil {
			return &UsageError{err}
		}
	}
	builder, err := w.Builder(ctx)
	if err != nil {
		return err
	}
	s := &session{w: w}
	if s.target, err = w.openTarget(ctx, o.Device); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.target.Close()) }()
	a := arm.Resolve(specs, arm.Context{BigCores: s.target.info.BigCores, Embedded: s.target.embedded, Backends: w.backends()})[0]
	bundle, err := builder.Bundle(ctx, a.Variant, s.target.describe().Platform)
	if err != nil {
		return err
	}
	a.Bundle = bundle.ID
	files, err := w.workloads(ctx, aliases, s.target.embedded)
	if err != nil {
		return err
	}
	release, err := s.deploy(ctx, map[origin]build.Bundle{originOf(a): bundle}, files)
	if err != nil {
		return err
	}
	defer release()
	model := ""
	if len(files) > 0 {
		model = s.models[files[0].Alias]
		if files[0].StandIn {
			w.Note("%s is a stand-in with random weights", files[0].Alias)
		}
	}
	args, err := arguments(a, s.target.embedded, model)
	if err != nil {
		return err
	}
	exit, err := s.target.Run(ctx, device.Command{Script: s.script(a, "./"+name, args), Stdout: w.Out, Stderr: w.Err})
	if err != nil {
		return err
	}
	if exit.Status != 0 {
		return fmt.Errorf("%s ended with status %d", name, exit.Status)
	}
	return nil
}

// LlamaBench runs llama-bench once and shows what it prints.
func LlamaBench(ctx context.Context, o ProgramOptions) error {
	return program(ctx, o, true, "llama-bench", func(a bench.Arm, embedded bool, model string) ([]string, error) {
		args, err := llamabench.Arguments(model, defaultTests(embedded), DefaultRepetitions, arm.Arguments(a))
		if err != nil {
			return nil, err
		}
		args = slices.DeleteFunc(args, func(arg string) bool { return arg == "-v" })
		return append(args, "-o", "md"), nil // the last -o counts
	})
}

// LlamaCLI completes a short prompt.
func LlamaCLI(ctx context.Context, o ProgramOptions) error {
	return program(ctx, o, true, "llama-completion", func(a bench.Arm, _ bool, model string) ([]string, error) {
		return []string{"-m", model, "-t", a.Settings["threads"], "-n", "32", "-no-cnv", "--temp", "0", "-p", "Once upon a time"}, nil
	})
}

// LlamaVersion shows the version of the programs on the device.
func LlamaVersion(ctx context.Context, o ProgramOptions) error {
	return program(ctx, o, false, "llama-bench", func(bench.Arm, bool, string) ([]string, error) { return []string{"--version"}, nil })
}

// Update builds a variant and sends what the device lacks of it.
func Update(ctx context.Context, v bench.Variant, serial string) error {
	return program(ctx, ProgramOptions{Arm: string(v), Device: serial}, false, "llama-bench",
		func(bench.Arm, bool, string) ([]string, error) { return []string{"--list-devices"}, nil })
}

// Clean removes what was built and the embedded phone's files. Sources,
// models and results stay.
func Clean() error {
	w, err := Open()
	if err != nil {
		return err
	}
	for _, name := range []string{"build", "simsdk", "phone", "stand-ins"} {
		dir := filepath.Join(w.Cache, name)
		if !exists(dir) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		w.Note("removed %s", dir)
	}
	return nil
}

// Fetch provides the llama.cpp sources, and with real also the model files.
func Fetch(ctx context.Context, real bool) error {
	w, err := Open()
	if err != nil {
		return err
	}
	tree, err := w.Source(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Out, "llama.cpp %s: %s\n", tree.Identity(), tree.Dir)
	if !real {
		return nil
	}
	files, err := w.workloads(ctx, w.Manifest.Aliases(), false)
	for _, f := range files {
		fmt.Fprintf(w.Out, "%s: %s\n", f.Alias, f.path)
	}
	return err
}
