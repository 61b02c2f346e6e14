package harness

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/gate"
	"hexab/internal/stat"
	"hexab/internal/store"
)

// Options are what a comparison is asked for, as text from the command line.
// Empty means the default.
type Options struct {
	// Arms is a list such as "cpu,cpu:threads=1"; Baseline is the label of the
	// one that the others are compared to, by default the first.
	Arms, Baseline string
	// Sweep makes of each arm one for each value of a setting, such as
	// "nhvx=1,2,4"; without Arms those that compute on the NPU are swept.
	Sweep string
	// Models is a list of aliases, "all", or empty for the default model.
	Models string
	// Rounds is the number of blocks; zero is DefaultRounds.
	Rounds int
	// Tests is a list such as "pp512,tg128".
	Tests string
	// Seed is a number; empty takes one from the clock and prints it.
	Seed string
	// Device is auto, sim, sim:PROFILE, ssh:USER@HOST or a serial, or a list of
	// such: then each has a run of its own, side by side.
	Device string
	// Root is the folder on the device below which hexab keeps its own; empty
	// is /data/local/tmp, or the user's home on a board.
	Root string
	// StandIns uses the small random-weight models on a real device too.
	StandIns bool
	// Threshold is the practical threshold in percent, such as "1" or "2%".
	Threshold string
	// Gate are conditions such as "tg:-2%"; see package gate.
	Gate string
	// Out is the archive's root; empty is results.
	Out string
	// Base and Head are the commits that arms named base:... and head:... are
	// built from, in Repo: a repository of hexab or of llama.cpp, by default
	// this checkout. "." is the folder as it is.
	Base, Head, Repo string
	// Resume names a run to go on with.
	Resume string
	// Cool is the policy before each launch: wait for the device to cool down
	// (the default), mark launches outside the window, or off. Ceiling is a
	// temperature in degrees Celsius at which nothing runs.
	Cool, Ceiling string
	// Busy says what to do when another run uses the device: wait (the
	// default) or refuse.
	Busy string
	// Fixed is auto (fixed-performance mode where the device offers it, the
	// default) or off.
	Fixed string
	// Until is the half width of intervals in percent, such as "1%", at which
	// the run stops; MaxRounds bounds it, zero is DefaultMaxRounds.
	Until     string
	MaxRounds int
	// Install gets what this machine lacks without asking: a job has nobody to
	// ask.
	Install bool
	// Progress is auto, bar, plain or none.
	Progress string
	// Recorded is told of each record once it is in the journal; it may be nil.
	Recorded func(bench.Record) `json:"-"`

	// sources are the trees that the arms name, where the caller has checked
	// them out and closes them; nil checks them out for the run.
	sources *trees
	// part is set when the run is one of several side by side.
	part *part
	// after is told of the finished run and of what is wrong with it, and says
	// what is wrong then; nil changes nothing.
	after func(a *store.Archive, failure error) error
}

func (o Options) finish(a *store.Archive, failure error) error {
	if o.after == nil {
		return failure
	}
	return o.after(a, failure)
}

// Defaults of a comparison.
const (
	DefaultRounds      = 3
	DefaultRepetitions = 3
)

// request is a set of options that was understood.
type request struct {
	specs       []arm.Spec
	baseline    string
	aliases     []string
	rounds      int
	tests       []bench.Test // nil: the device's default
	seed        uint64
	seedGiven   bool
	threshold   float64
	out         string
	repetitions int
	repo        string
	gate        gate.Gate
	care        care
}

// understand checks the options before anything is built or started.
func (w *Workspace) understand(o Options) (request, error) {
	r := request{rounds: o.Rounds, baseline: o.Baseline, repo: o.Repo, repetitions: DefaultRepetitions, threshold: stat.DefaultOptions().Threshold}
	if o.Arms == "" && o.Sweep != "" {
		o.Arms = w.npuArms()
	}
	if o.Arms == "" {
		o.Arms = w.defaultArms()
		if o.Baseline == "" {
			r.baseline = w.defaultBaseline()
		}
	}
	var err error
	if r.specs, err = arm.Parse(o.Arms, w.known()); err != nil {
		return r, &UsageError{err}
	}
	if o.Sweep != "" {
		if r.specs, err = arm.Sweep(r.specs, o.Sweep); err != nil {
			return r, &UsageError{err}
		}
	}
	if err := w.checkVariables(r.specs); err != nil {
		return r, err
	}
	if len(r.specs) < 2 {
		return r, usage("arms: a comparison takes two arms or more; %s is one (cpu,cpu is an A/A test)", o.Arms)
	}
	if r.rounds == 0 {
		r.rounds = DefaultRounds
	}
	if r.rounds < 1 {
		return r, usage("rounds: %d is not a number of rounds", r.rounds)
	}
	if r.care, err = o.understandCare(); err != nil {
		return r, err
	}
	if r.care.until > 0 {
		r.rounds = r.care.maxRounds
	}
	if err := r.understandGate(o); err != nil {
		return r, err
	}
	if w.DeviceRoot, err = rootOf(o.Root); err != nil {
		return r, err
	}
	w.StandIns = o.StandIns
	if r.aliases, err = w.aliases(o.Models); err != nil {
		return r, &UsageError{err}
	}
	if r.tests, err = parseTests(o.Tests); err != nil {
		return r, &UsageError{err}
	}
	if r.seedGiven = o.Seed != ""; r.seedGiven {
		if r.seed, err = strconv.ParseUint(o.Seed, 0, 64); err != nil {
			return r, usage("seed: %q is not a whole number", o.Seed)
		}
	}
	if o.Threshold != "" {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(o.Threshold, "%"), 64)
		if err != nil || percent < 0 || percent > 50 {
			return r, usage("threshold: %q is not a percentage from 0 to 50", o.Threshold)
		}
		r.threshold = percent / 100
	}
	if err := checkProgress(o.Progress); err != nil {
		return r, err
	}
	if r.out = o.Out; r.out == "" {
		r.out = filepath.Join(w.Root, "results")
	}
	return r, nil
}

func (w *Workspace) aliases(list string) ([]string, error) {
	switch list {
	case "":
		return []string{w.Manifest.Default().Alias}, nil
	case "all":
		return w.Manifest.Aliases(), nil
	}
	var aliases []string
	for _, alias := range strings.Split(list, ",") {
		alias = strings.TrimSpace(alias)
		if _, err := w.Manifest.Model(alias); err != nil {
			return nil, err
		}
		if slices.Contains(aliases, alias) {
			return nil, fmt.Errorf("models: %s stands twice", alias)
		}
		aliases = append(aliases, alias)
	}
	return aliases, nil
}

func parseTests(list string) ([]bench.Test, error) {
	if list == "" {
		return nil, nil
	}
	var tests []bench.Test
	for _, name := range strings.Split(list, ",") {
		t, err := bench.ParseTest(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	return tests, nil
}

// defaultTests are the tests of a device: small ones on the embedded phone,
// whose figures mean nothing beyond this machine anyway.
func defaultTests(embedded bool) []bench.Test {
	if embedded {
		return []bench.Test{{Prompt: 64}, {Gen: 16}}
	}
	return []bench.Test{{Prompt: 512}, {Gen: 128}}
}

// defaultArms are the arms when none are named: every NPU variant and the CPU,
// or the CPU with different thread counts where there is no other variant.
func (w *Workspace) defaultArms() string {
	if npu := w.npuArms(); npu != "" {
		return npu + ",cpu"
	}
	return "cpu,cpu:threads=1"
}

// defaultBaseline is the official backend where there is a choice.
func (w *Workspace) defaultBaseline() string {
	if _, known := w.Variants[bench.DSPQueue]; known {
		return string(bench.DSPQueue)
	}
	return ""
}
