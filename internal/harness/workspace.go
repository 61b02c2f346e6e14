// Package harness joins the parts: it is where plans meet devices. Each target
// of the magefile is one function here.
package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/host"
	"hexab/internal/models"
	"hexab/internal/source"
)

// Environment variables that hexab reads.
const (
	EnvCache = "HEXAB_CACHE"
	EnvADB   = "HEXAB_ADB"
	EnvLlama = "LLAMA_CPP_DIR"
)

// UsageError is a wrong argument: exit status 2.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap gives the underlying error.
func (e *UsageError) Unwrap() error { return e.Err }

func usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// HolesError is a run that has holes: exit status 1.
type HolesError struct{ Summary string }

func (e *HolesError) Error() string { return e.Summary }

// ExitStatus is the exit status for an error of this package: 2 for wrong
// usage, 3 for a gate that failed, else 1.
func ExitStatus(err error) int {
	var wrong *UsageError
	var failed *GateError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &failed):
		return 3
	case errors.As(err, &wrong):
		return 2
	}
	return 1
}

// Workspace is a checkout of hexab on this machine: what every target needs.
type Workspace struct {
	// Root is the checkout, Cache the cache folder.
	Root, Cache string
	// Llama is a llama.cpp tree of the user's own; empty takes the pinned one.
	Llama    string
	Manifest *models.Manifest
	Variants build.Variants
	// StandIns tells to use stand-ins on real devices too, to try the way.
	StandIns bool
	// DeviceRoot is hexab's folder on the device; empty is the default of the
	// kind of device.
	DeviceRoot string
	// Out receives results, Err progress.
	Out, Err io.Writer
	// Width is the terminal's width, zero when Out is no terminal.
	Width int

	meter *meter
	// part is set when a run is one of several side by side.
	part *part
	// refuseBusy tells to refuse a device that another run uses.
	refuseBusy bool
	// install tells to get what the machine lacks without asking. It answers
	// for programs alone, never for a licence.
	install bool
	// person answers questions; nil is whoever is at the terminal.
	person func(question string) bool
}

// Open finds the checkout around the working folder.
func Open() (*Workspace, error) {
	root, err := findRoot()
	if err != nil {
		return nil, err
	}
	return openAt(root)
}

// load reads what the checkout and the environment say.
func (w *Workspace) load() (err error) {
	w.Llama = os.Getenv(EnvLlama)
	if w.Cache = os.Getenv(EnvCache); w.Cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("no cache folder: %w; set %s", err, EnvCache)
		}
		w.Cache = filepath.Join(user, "hexab")
	}
	if w.Cache, err = filepath.Abs(w.Cache); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(w.Root, "models.yaml"))
	if err != nil {
		return err
	}
	if w.Manifest, err = models.Parse("models.yaml", text); err != nil {
		return err
	}
	if w.Variants, err = build.LoadVariants(os.DirFS(filepath.Join(w.Root, "backends"))); err != nil {
		return err
	}
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		w.Width = width
	}
	return nil
}

func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if text, err := os.ReadFile(filepath.Join(at, "go.mod")); err == nil && strings.HasPrefix(string(text), "module hexab\n") {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not inside a checkout of hexab", dir)
		}
	}
}

// Note prints one line of progress with the time since the start.
func (w *Workspace) Note(format string, args ...any) {
	w.progress().note(fmt.Sprintf(format, args...))
}

// progress is the workspace's meter, or a plain one where it has none.
func (w *Workspace) progress() *meter {
	if w.meter == nil {
		return newMeter(w.Err)
	}
	return w.meter
}

// ADB is the adb program.
func (w *Workspace) ADB() string {
	if program := os.Getenv(EnvADB); program != "" {
		return program
	}
	return "adb"
}

// machine is this machine with a person at the terminal, if there is one, or
// one where everything is agreed to.
func (w *Workspace) machine() host.Machine {
	m := host.Machine{Note: func(line string) { w.Note("%s", line) }}
	if w.install {
		m.Output = w.Err
		m.Confirm = func(question string) bool { w.Note("%s yes", question); return true }
		return m
	}
	if m.Confirm = w.asks(); m.Confirm != nil {
		m.Input, m.Output = os.Stdin, w.Err
	}
	return m
}

// asks gives a way to ask the person at the terminal; nil where there is none.
func (w *Workspace) asks() func(question string) bool {
	if w.person != nil || !term.IsTerminal(int(os.Stdin.Fd())) {
		return w.person
	}
	return func(question string) bool {
		fmt.Fprintf(w.Err, "%s [y/N] ", question)
		var answer string
		_, _ = fmt.Fscanln(os.Stdin, &answer)
		return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
	}
}

// needs are what building and running take from the machine.
func (w *Workspace) needs() []host.Need {
	needs := []host.Need{host.Git, host.Compiler, host.CMake, host.Ninja}
	if os.Getenv(EnvADB) == "" {
		needs = append(needs, host.ADB)
	}
	return needs
}

// allNeeds are what every platform takes from the machine.
func (w *Workspace) allNeeds() []host.Need {
	return append(w.needs(), host.CCache, host.Clang19, host.CrossArm64, host.QEMU, host.SSH, host.NPM)
}

// testNeeds are what the tests take.
func (w *Workspace) testNeeds() []host.Need {
	return append(w.allNeeds(), host.Sanitizers, host.LLVMTools, host.SSHServer, host.Processes)
}

// Source provides the llama.cpp sources.
func (w *Workspace) Source(ctx context.Context) (source.Tree, error) {
	return w.sources(ctx, source.Options{})
}

func (w *Workspace) sources(ctx context.Context, opt source.Options) (source.Tree, error) {
	opt.Cache, opt.Note = w.Cache, func(line string) { w.Note("%s", line) }
	if w.Llama != "" {
		return source.Local(ctx, w.Llama, opt)
	}
	pin := w.pin()
	tree, err := source.Get(ctx, pin, opt)
	var origins *source.OriginError
	if err == nil || opt.Offline || !errors.As(err, &origins) {
		return tree, err
	}
	// The package origin takes the npm client, which may not be here yet.
	if report, failed := w.machine().Check(ctx, w.Cache, host.NPM); failed != nil || len(report.Missing()) == 0 {
		return tree, err
	}
	if _, failed := w.machine().Ensure(ctx, w.Cache, host.NPM); failed != nil {
		return tree, errors.Join(err, failed)
	}
	return source.Get(ctx, pin, opt)
}

func (w *Workspace) pin() source.Pin {
	l := w.Manifest.LlamaCpp
	pin := source.Pin{Tag: l.Tag, Tree: l.Tree}
	for _, origin := range l.Origins {
		if g := origin.Git; g != nil && pin.GitURL == "" {
			pin.GitURL = g.Repository
		}
		if n := origin.NPM; n != nil && pin.NPMPackage == "" {
			pin.NPMPackage, pin.NPMVersion, pin.NPMIntegrity = n.Package, n.Version, n.Integrity
			pin.BundlePath, pin.BundleSHA256 = n.Bundle, n.BundleSHA256
		}
	}
	return pin
}

// Builder makes bundles of the variants, after the machine was given what that
// takes. A machine that lacks something is a new one: then what the simulated
// NPU and quick builds take is asked for in the same breath.
func (w *Workspace) Builder(ctx context.Context, variants ...bench.Variant) (*build.Builder, error) {
	machine, needs := w.machine(), w.needs()
	report, err := machine.Check(ctx, w.Cache, needs...)
	if err == nil && len(report.Missing()) > 0 {
		needs = append(needs, host.CCache)
		if slices.ContainsFunc(variants, w.Variants.NeedsSDK) {
			needs = append(needs, host.Clang19)
		}
		report, err = machine.Ensure(ctx, w.Cache, needs...)
	}
	if err != nil {
		return nil, err
	}
	tree, err := w.Source(ctx)
	if err != nil {
		return nil, err
	}
	return &build.Builder{
		Project: w.Root, Cache: w.Cache, Tree: tree, Variants: w.Variants, Jobs: report.Jobs(), Progress: w.buildProgress(),
		Provide: w.provide,
	}, nil
}

// buildProgress prints a line every few seconds: often enough to see that it
// goes on, seldom enough for a log.
func (w *Workspace) buildProgress() func(build.Event) {
	var last time.Time
	return func(e build.Event) {
		if e.Phase == build.PhaseCompile && e.Done < e.Total && time.Since(last) < 5*time.Second {
			return
		}
		last = time.Now()
		text := fmt.Sprintf("%s for %s: %s %s", e.Variant, e.Platform, e.Phase, e.Component)
		if e.Total > 0 {
			text += fmt.Sprintf(" %d of %d", e.Done, e.Total)
		}
		if e.Left > 0 {
			text += fmt.Sprintf(", about %s left", e.Left.Round(time.Second))
		}
		w.Note("%s", text)
	}
}

// Build makes one variant's bundle for a platform, sim when none is named, and
// prints where it is.
func Build(ctx context.Context, variant bench.Variant, platform string) error {
	w, err := Open()
	if err != nil {
		return err
	}
	p := bench.Platform(cmp.Or(platform, string(bench.Sim)))
	if known := w.Variants[variant].Platforms; !slices.Contains(known, p) {
		return usage("platform: %q is not one of those that %s is built for: %v", p, variant, known)
	}
	builder, err := w.Builder(ctx, variant)
	if err != nil {
		return err
	}
	if p == bench.Sim {
		if _, err := w.simulator(ctx, wants{variants: []bench.Variant{variant}, builders: []*build.Builder{builder}}); err != nil {
			return err
		}
	}
	bundle, err := builder.Bundle(ctx, variant, p)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Out, "%s for %s: bundle %s, %d files, %s\n%s\n", variant, p, bundle.ID.Short(), len(bundle.Files), bundle.Size(), bundle.Dir)
	return nil
}

// known are the variants that can be built, sorted.
func (w *Workspace) known() []bench.Variant { return w.Variants.Names() }

// backends gives the llama.cpp device of each variant that has one.
func (w *Workspace) backends() map[bench.Variant]string {
	devices := map[bench.Variant]string{}
	for name, d := range w.Variants {
		if d.Device != "none" {
			devices[name] = d.Device
		}
	}
	return devices
}
