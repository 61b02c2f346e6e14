package harness

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/counters"
	"hexab/internal/report"
)

// CostOptions say whose cost counters to show.
type CostOptions struct {
	// Arms and Models are lists as in Options; empty takes every variant that
	// computes on an NPU, and the default model.
	Arms, Models string
	// Prompt and Depth are the tokens of the prompt and those before it that
	// are in the KV cache already; zero is costPrompt and none.
	Prompt, Depth int
	// Direct counts the bytes that kernels load and store without DMA, too: the
	// variants are built once more, by a compiler that reports each access.
	Direct bool
}

const (
	costPrompt = 64
	costTokens = 16
)

// Costs shows what arms ask of the simulated NPU, for a prompt and for a token.
// Each figure is the difference of two launches that differ in one repetition,
// so that loading and the first touch of the weights cancel out.
func Costs(ctx context.Context, o CostOptions) (err error) {
	w, err := Open()
	if err != nil {
		return err
	}
	if o.Arms == "" {
		o.Arms = w.npuArms()
	}
	if o.Prompt == 0 {
		o.Prompt = costPrompt
	}
	specs, err := arm.Parse(o.Arms, w.known())
	if err != nil {
		return &UsageError{err}
	}
	aliases, err := w.aliases(o.Models)
	if err != nil {
		return &UsageError{err}
	}
	sources, err := w.trees(ctx, specs, Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sources.Close()) }()
	s := w.newSession()
	want := sources.wants(specs)
	want.accesses = o.Direct
	if s.target, err = w.openTarget(ctx, "sim", want); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.target.Close()) }()
	arms := arm.Resolve(specs, arm.Context{BigCores: s.target.info.BigCores, Embedded: true, Backends: w.backends()})
	for _, a := range arms {
		if !s.counted(a) {
			return usage("arms: %s computes on the CPU; cost counters are the NPU's", a.Label)
		}
	}
	bundles, err := sources.bundles(ctx, arms, bench.Sim)
	if err != nil {
		return err
	}
	files, err := w.workloads(ctx, aliases, true)
	if err != nil {
		return err
	}
	release, err := s.deploy(ctx, bundles, files)
	if err != nil {
		return err
	}
	defer release()
	var costs []report.Cost
	for _, f := range files {
		for _, a := range arms {
			w.Note("counting %s with %s", f.Alias, a.Label)
			c := report.Cost{Model: f.Alias, Arm: a.Label}
			if c.PerPrompt, err = s.cost(ctx, a, f.Alias, bench.Test{Prompt: o.Prompt, Depth: o.Depth}, 1); err == nil {
				c.PerToken, err = s.cost(ctx, a, f.Alias, bench.Test{Gen: costTokens, Depth: o.Depth}, costTokens)
			}
			if err != nil {
				return fmt.Errorf("%s with %s: %w", f.Alias, a.Label, err)
			}
			costs = append(costs, c)
		}
	}
	_, err = w.Out.Write(report.Costs(costs, "pp"+strconv.Itoa(o.Prompt), w.reportOptions()))
	return err
}

// npuArms lists the variants that compute on an NPU, the official backend last.
func (w *Workspace) npuArms() string {
	var list []string
	for _, v := range w.known() {
		if w.Variants[v].Device != "none" && v != bench.DSPQueue {
			list = append(list, string(v))
		}
	}
	if _, known := w.Variants[bench.DSPQueue]; known {
		list = append(list, string(bench.DSPQueue))
	}
	return strings.Join(list, ",")
}

// cost is what one repetition more of a test takes, divided by so many tokens.
func (s *session) cost(ctx context.Context, a bench.Arm, model string, test bench.Test, tokens int) (map[string]float64, error) {
	one, err := s.countersOf(ctx, a, model, test, 1)
	if err != nil {
		return nil, err
	}
	two, err := s.countersOf(ctx, a, model, test, 2)
	if err != nil {
		return nil, err
	}
	return counters.PerToken(one, two, tokens), nil
}

// countersOf runs llama-bench and gives its cost counters, and once more with
// the backend's profile, which costs packets and buffers of its own, for the
// operations by name: ops.NAME.
func (s *session) countersOf(ctx context.Context, a bench.Arm, model string, test bench.Test, repetitions int) (counters.Set, error) {
	log, err := s.untimed(ctx, a, model, []bench.Test{test}, repetitions, "", launchTimeoutEmbedded)
	if err != nil {
		return nil, err
	}
	set, found, err := counters.Find(log)
	if err == nil && !found {
		err = errors.New("the launch left no counters")
	}
	if err != nil {
		return nil, err
	}
	_, ops, err := s.executed(ctx, a, model, test, repetitions, "", launchTimeoutEmbedded)
	for name, n := range ops {
		set["ops."+name] = n
	}
	return set, err
}
