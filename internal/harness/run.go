package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/deploy"
	"hexab/internal/device"
	"hexab/internal/plan"
	"hexab/internal/store"
)

// session is a run on one device while it goes on.
type session struct {
	w       *Workspace
	target  *target
	archive *store.Archive
	run     bench.Run
	arms    map[string]bench.Arm
	// bundles and models are paths on the device.
	bundles map[bench.BundleID]string
	models  map[string]string
	// waitForLock tells to wait for a device that another run uses.
	waitForLock bool
	heat        heat
	// built are the bundles that bundles names; bootID is the device's boot
	// that they were verified in.
	built  []build.Bundle
	bootID string
	tally  tally
	clock  clock
	// files are the models' files on this machine; unfit are the arms that did
	// not pass the preflight.
	files []workload
	unfit map[string]Look
	// recorded is told of each record once it is in the journal.
	recorded func(bench.Record)
}

func (w *Workspace) newSession() *session {
	return &session{w: w, waitForLock: true, clock: wallClock, tally: tally{cells: map[string]int{}}}
}

// ABTest runs a comparison on one device or on several, and prints its tables.
// The error is a *HolesError when a run is not complete.
func ABTest(ctx context.Context, o Options) error {
	devices, err := splitDevices(o.Device)
	if err != nil {
		return err
	}
	if len(devices) > 1 {
		if o.Resume != "" {
			return usage("device: a run is resumed on its own device; resume one after the other")
		}
		return several(ctx, o, devices)
	}
	return compareOn(ctx, o)
}

// compareOn runs a comparison on one device.
func compareOn(ctx context.Context, o Options) (err error) {
	w, err := Open()
	if err != nil {
		return err
	}
	o.part.apply(w)
	w.install = o.Install
	s := w.newSession()
	s.recorded = o.Recorded
	r, err := w.understand(o)
	if err != nil {
		return err
	}
	w.meter.choose(o.Progress, term.IsTerminal(int(os.Stderr.Fd())))
	reclaim(ctx)
	if o.Resume != "" {
		if err := s.reopen(r, o); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.archive.Close()) }()
	}
	specs := r.specs
	if o.Resume != "" {
		specs, o = specsOf(s.run), o.withTrees(s.run)
	}
	w.refuseBusy = !r.care.wait
	o.part.begin()
	defer o.part.built()
	sources := o.sources
	if sources == nil {
		if sources, err = w.trees(ctx, specs, o); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, sources.Close()) }()
	}
	wanted := o.Device
	if o.Resume != "" && wanted == "" {
		wanted = s.run.Device.Serial
	}
	if s.target, err = w.openTarget(ctx, wanted, sources.wants(specs)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.target.Close()) }()
	release, err := s.prepare(ctx, sources, r)
	if err != nil {
		return err
	}
	defer release()
	if err := r.gate.Check(s.run.Models, s.run.Tests); err != nil {
		return &UsageError{err}
	}
	if s.archive == nil {
		if s.archive, err = store.Create(r.out, s.run); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.archive.Close()) }()
	}
	if err := s.retrying(ctx, func() error { return s.preflight(ctx, s.files) }); err != nil {
		return fmt.Errorf("%w\nwhat was seen is in %s", err, filepath.Join(s.archive.Dir(), preflightFile))
	}
	w.Note("run %s: %d launches, seed %d, archive %s", s.run.ID, len(s.run.Plan), s.run.Seed, s.archive.Dir())
	w.Note("if it is interrupted, go on with: %s", w.resumption(s.archive.Dir()))
	if err := s.launches(ctx); err != nil {
		return o.finish(s.archive, fmt.Errorf("%w; what was measured is in %s; go on with: %s", err, s.archive.Dir(), w.resumption(s.archive.Dir())))
	}
	return o.finish(s.archive, w.passGate(r.gate, s.archive, w.present(s.archive)))
}

// reopen takes up an archived run: its plan, seed and arms are the run's own.
func (s *session) reopen(r request, o Options) error {
	path, err := store.Find(r.out, o.Resume)
	if err != nil {
		return &UsageError{err}
	}
	if s.archive, err = store.Open(path); err != nil {
		return err
	}
	s.run = s.archive.Run()
	for _, warning := range s.archive.Warnings {
		s.w.Note("%s", warning)
	}
	return nil
}

// prepare builds, deploys and plans. A resumed run keeps its own plan, and its
// bundles and models must be those it began with.
func (s *session) prepare(ctx context.Context, sources *trees, r request) (release func(), err error) {
	aliases := r.aliases
	arms := arm.Resolve(r.specs, arm.Context{BigCores: s.target.info.BigCores, Embedded: s.target.embedded, Backends: s.w.backends()})
	resumed := s.archive != nil
	if resumed {
		arms, aliases = s.run.Arms, nil
		for _, m := range s.run.Models {
			aliases = append(aliases, m.Alias)
			s.w.StandIns = s.w.StandIns || m.StandIn
		}
	}
	began := slices.Clone(arms)
	bundles, err := sources.bundles(ctx, arms, s.target.describe().Platform)
	if err != nil {
		return nil, err
	}
	for i, a := range arms {
		if resumed && began[i].Bundle != a.Bundle {
			return nil, fmt.Errorf("run %s began with bundle %s of %s; this checkout builds %s: a run can not mix builds", s.run.ID, began[i].Bundle.Short(), a.Label, a.Bundle.Short())
		}
	}
	if err := s.checkSkels(bundles); err != nil {
		return nil, err
	}
	files, err := s.w.workloads(ctx, aliases, s.target.embedded)
	if err != nil {
		return nil, err
	}
	s.files = files
	if !resumed {
		if err := s.plan(r, arms, files, bundles, sources.named); err != nil {
			return nil, err
		}
	}
	s.arms = map[string]bench.Arm{}
	for _, a := range s.run.Arms {
		s.arms[a.Label] = a
	}
	if s.run.Cool == "" {
		s.run.Cool = coolByWaiting // of before there were others
	}
	s.waitForLock, s.heat.ceiling = r.care.wait, r.care.ceiling
	s.w.part.built()
	if release, err = s.deploy(ctx, bundles, files); err != nil {
		return nil, err
	}
	restore, err := s.fixPerformance(ctx, r.care.fixed)
	unlock := release
	release = func() { restore(); unlock() }
	if err != nil {
		release()
		return nil, err
	}
	if !resumed {
		if err = s.place(ctx, files); err != nil {
			release()
		}
	}
	return release, err
}

// plan makes the run's head.
func (s *session) plan(r request, arms []bench.Arm, files []workload, bundles map[origin]build.Bundle, named []bench.Tree) error {
	created := time.Now().UTC()
	if !r.seedGiven {
		r.seed = uint64(created.UnixNano()) % 1_000_000_007
	}
	s.run = bench.Run{
		Schema: bench.SchemaVersion, Created: created, Version: version(), Seed: r.seed, Rounds: r.rounds,
		Repetitions: r.repetitions, Threshold: r.threshold, Tests: r.tests, Arms: arms, Baseline: r.baseline,
		Cool: r.care.cool, Until: r.care.until, MaxRounds: r.care.maxRounds,
		Device: s.target.describe(), Host: hostFacts(),
	}
	if s.run.Tests == nil {
		s.run.Tests = defaultTests(s.target.embedded || s.w.StandIns)
	}
	labels := make([]string, len(arms))
	found := false
	for i, a := range arms {
		labels[i] = a.Label
		found = found || a.Label == r.baseline
	}
	if r.baseline == "" {
		s.run.Baseline = labels[0]
	} else if !found {
		return usage("baseline: there is no arm %q; there are %s", r.baseline, strings.Join(labels, ", "))
	}
	aliases := make([]string, len(files))
	for i, f := range files {
		aliases[i] = f.Alias
		s.run.Models = append(s.run.Models, f.Model)
	}
	s.run.Bundles, s.run.Trees = describeBundles(bundles), named
	var err error
	if s.run.Plan, err = plan.New(r.seed, r.rounds, aliases, labels); err != nil {
		return &UsageError{err}
	}
	s.run.ID = store.NewID(created, r.seed, []byte(strings.Join(append(append(labels, aliases...), s.target.Serial()), "\x00")))
	s.run.Command = s.again(r, aliases) + treeFlags(named, r.repo) + gateFlag(r.gate) + s.w.boardFlags()
	return nil
}

// again is how to run the same again.
func (s *session) again(r request, aliases []string) string {
	specs := make([]string, len(r.specs))
	for i, spec := range r.specs {
		specs[i] = spec.String()
	}
	tests := make([]string, len(s.run.Tests))
	for i, t := range s.run.Tests {
		tests[i] = t.String()
	}
	return fmt.Sprintf("go tool mage abtest -arms=%s -baseline=%s -models=%s -%s -tests=%s -seed=%d -threshold=%s -device=%s%s",
		device.Quote(strings.Join(specs, ",")), device.Quote(s.run.Baseline), strings.Join(aliases, ","), r.length(), strings.Join(tests, ","), s.run.Seed,
		strconv.FormatFloat(s.run.Threshold*100, 'g', -1, 64), device.Quote(s.run.Device.Serial), r.care.words())
}

// length is the option that says how long the run is.
func (r request) length() string {
	if r.care.until > 0 {
		return fmt.Sprintf("until=%s%% -maxRounds=%d", strconv.FormatFloat(r.care.until*100, 'g', -1, 64), r.rounds)
	}
	return fmt.Sprintf("rounds=%d", r.rounds)
}

// version is this checkout's commit.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
	}
	return "devel"
}

// deploy takes the device's lock and sends what is missing.
func (s *session) deploy(ctx context.Context, bundles map[origin]build.Bundle, files []workload) (release func(), err error) {
	t := &deploy.Target{Device: s.target.Device, Note: func(text string) { s.w.Note("%s", text) }, Progress: func(name string, size bench.Bytes) { s.w.Note("sending %s (%s)", name, size) }}
	var unlock func()
	err = s.retrying(ctx, func() error {
		unlock, err = t.Lock(ctx, deploy.Self(s.run.ID), s.waitForLock)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			unlock() // release is nil by then
		}
	}()
	if err := s.retrying(ctx, func() error { return s.target.KillMarked(ctx, s.target.launchMark()) }); err != nil {
		return nil, err
	}
	s.built, s.bootID = slices.Collect(maps.Values(bundles)), s.target.info.BootID
	s.bundles, s.models = map[bench.BundleID]string{}, map[string]string{}
	var sent deploy.Sent
	for _, b := range bundles {
		err := s.retrying(ctx, func() error {
			dir, n, err := t.Bundle(ctx, b.Bundle, b.Dir)
			sent.Add(n)
			s.bundles[b.ID] = dir
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		err := s.retrying(ctx, func() error {
			path, n, err := t.Model(ctx, f.Alias, f.path, f.SHA256, f.Size)
			sent.Add(n)
			s.models[f.Alias] = path
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	s.w.Note("deployed: %d files sent (%s)", sent.Files, sent.Bytes)
	return unlock, nil
}

// launches runs what the journal does not have yet. A launch that something from
// outside ended in every attempt is tried once more at the end, as a resumed run
// would: one block less can cost the verdict. A run that ends at a look does
// without, since what was judged there must stay as it was.
func (s *session) launches(ctx context.Context) error {
	records, err := s.archive.Records()
	if err != nil {
		return err
	}
	done := settled(records, &s.tally)
	s.heat.recall(records)
	over, err := s.through(ctx, func(l bench.Launch) bool { return !done[l.Seq] })
	if over || err != nil || s.run.Until > 0 {
		return err
	}
	again, err := s.fromOutside()
	if err != nil || len(again) == 0 {
		return err
	}
	s.w.Note("%d launches that something from outside ended are tried once more", len(again))
	_, err = s.through(ctx, func(l bench.Launch) bool { return again[l.Seq] })
	return err
}

// through runs the plan's launches that are wanted, in its order. over tells
// that the run has ended at a look.
func (s *session) through(ctx context.Context, wanted func(bench.Launch) bool) (over bool, err error) {
	left := 0
	for _, l := range s.run.Plan {
		if wanted(l) {
			left++
		}
	}
	m := s.w.progress()
	m.begin(left)
	defer m.end()
	defer m.tick(ctx)()
	for _, l := range s.run.Plan {
		if !wanted(l) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, fmt.Errorf("interrupted: %w", context.Cause(ctx))
		}
		if over, err := s.enough(l); over || err != nil {
			return over, err
		}
		m.step(l.Model + " " + l.Arm)
		record, err := s.one(ctx, l)
		if err != nil {
			return false, err
		}
		m.stepped(fmt.Sprintf("%-12s %-20s %s", l.Model, l.Arm, summary(record)), record.Outcome != bench.OutcomeOK)
	}
	return false, nil
}

// summary is a launch in a few words for the progress line.
func summary(record bench.Record) string {
	if record.Outcome != bench.OutcomeOK {
		return string(record.Outcome) + ": " + record.Reason
	}
	var parts []string
	for _, result := range record.Results {
		best := slices.Min(result.SamplesNs)
		parts = append(parts, fmt.Sprintf("%s %.4g t/s", result.Test, float64(bench.Throughput(result.Test.Tokens(), best))))
	}
	for _, mark := range record.Marks {
		parts = append(parts, string(mark))
	}
	return strings.Join(parts, ", ")
}
