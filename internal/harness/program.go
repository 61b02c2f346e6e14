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
	// application leaves the variant's DSP libraries out.
	application bool
}

// program runs one program of an arm's bundle on the device with its output
// shown. Arguments are made from the model's path on the device.
func program(ctx context.Context, o ProgramOptions, needsModel bool, name string, arguments func(a bench.Arm, embedded bool, model string) ([]string, error)) (err error) {
	one, err := openSingle(ctx, o, needsModel)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, one.Close()) }()
	args, err := arguments(one.arm, one.target.embedded, one.model)
	if err != nil {
		return err
	}
	exit, err := one.target.Run(ctx, device.Command{Script: one.script(one.arm, "./"+name, args), Stdout: one.w.Out, Stderr: one.w.Err})
	if err != nil {
		return err
	}
	if exit.Status != 0 {
		return fmt.Errorf("%s ended with status %d", name, exit.Status)
	}
	return nil
}

// single is one arm's bundle on a device, ready to run a program by hand.
type single struct {
	*session
	arm bench.Arm
	// model is the model's path on the device; empty without one.
	model   string
	release func()
}

// Close gives the device back.
func (s *single) Close() error {
	if s.release != nil {
		s.release()
	}
	return s.target.Close()
}

// openSingle builds and deploys what the options name.
func openSingle(ctx context.Context, o ProgramOptions, needsModel bool) (one *single, err error) {
	w, err := Open()
	if err != nil {
		return nil, err
	}
	if o.Arm == "" {
		o.Arm = string(bench.CPU)
	}
	specs, err := arm.Parse(o.Arm, w.known())
	if err != nil {
		return nil, &UsageError{err}
	}
	if len(specs) != 1 {
		return nil, usage("arm: want one arm, not %q", o.Arm)
	}
	if specs[0].Tree != "" {
		return nil, usage("arm: %q names a source tree; this takes an arm of the checkout", o.Arm)
	}
	var aliases []string
	if needsModel {
		if aliases, err = w.aliases(o.Model); err != nil {
			return nil, &UsageError{err}
		}
	}
	builder, err := w.Builder(ctx, specs[0].Variant)
	if err != nil {
		return nil, err
	}
	if o.application {
		builder.Variants = builder.Variants.Application(specs[0].Variant)
	}
	one = &single{session: w.newSession()}
	if one.target, err = w.openTarget(ctx, o.Device, wants{variants: []bench.Variant{specs[0].Variant}, builders: []*build.Builder{builder}}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, one.Close())
		}
	}()
	one.arm = arm.Resolve(specs, arm.Context{BigCores: one.target.info.BigCores, Embedded: one.target.embedded, Backends: w.backends()})[0]
	bundle, err := builder.Bundle(ctx, one.arm.Variant, one.target.describe().Platform)
	if err != nil {
		return nil, err
	}
	one.arm.Bundle = bundle.ID
	files, err := w.workloads(ctx, aliases, one.target.embedded)
	if err != nil {
		return nil, err
	}
	if one.release, err = one.deploy(ctx, map[origin]build.Bundle{originOf(one.arm): bundle}, files); err != nil {
		return nil, err
	}
	if len(files) > 0 {
		one.model = one.models[files[0].Alias]
		if files[0].StandIn {
			w.Note("%s is a stand-in with random weights", files[0].Alias)
		}
	}
	return one, nil
}

// LlamaBench runs llama-bench once and shows what it prints.
func LlamaBench(ctx context.Context, o ProgramOptions) error {
	return program(ctx, o, true, "llama-bench", func(a bench.Arm, embedded bool, model string) ([]string, error) {
		args, err := llamabench.Arguments(model, defaultTests(embedded), DefaultRepetitions, arm.Arguments(a))
		if err != nil {
			return nil, err
		}
		if profile := a.Settings["env.GGML_HEXAGON_PROFILE"]; profile == "" || profile == "0" {
			args = slices.DeleteFunc(args, func(arg string) bool { return arg == "-v" }) // a profile is only logged with it
		}
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

// UpdateApplication builds a variant without its DSP libraries and sends what
// the device lacks of it. A later update of the whole variant sends those alone.
func UpdateApplication(ctx context.Context, v bench.Variant, serial string) error {
	return program(ctx, ProgramOptions{Arm: string(v), Device: serial, application: true}, false, "llama-bench",
		func(bench.Arm, bool, string) ([]string, error) { return []string{"--version"}, nil })
}

// Clean removes what was built and the embedded phone's files. Sources,
// models and results stay.
func Clean() error {
	w, err := Open()
	if err != nil {
		return err
	}
	for _, name := range []string{"build", "simsdk", "phone", "stand-ins", "preflight"} {
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
