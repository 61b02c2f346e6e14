package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/store"
)

// childOptions and childHome hand a comparison to this program as a child
// process, to be killed.
const (
	childOptions = "HEXAB_TEST_CHILD"
	childHome    = "HEXAB_TEST_HOME"
)

func runChild(options string) int {
	phoneHome = os.Getenv(childHome)
	var o Options
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := ABTest(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return ExitStatus(err)
}

// child starts a comparison in a process of its own.
func child(t *testing.T, o Options) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childOptions+"="+string(text), childHome+"="+phoneHome)
	return c
}

// stage is how far a run has come, as its archive shows from outside.
type stage struct {
	archive bool
	records int
	journal int64 // bytes
	logs    int
}

func stageOf(out string) (s stage) {
	dir, err := store.Find(out, "latest")
	if err != nil {
		return s
	}
	text, _ := os.ReadFile(filepath.Join(dir, store.JournalFile))
	logs, _ := filepath.Glob(filepath.Join(dir, store.LogFolder, "*.log"))
	return stage{true, bytes.Count(text, []byte("\n")), int64(len(text)), len(logs)}
}

// stagePoll is how often a run is looked at from outside.
const stagePoll = time.Millisecond

// running is a comparison in a process of its own.
type running struct {
	c     *exec.Cmd
	out   string
	said  bytes.Buffer
	ended chan error
}

func start(t *testing.T, o Options) *running {
	t.Helper()
	r := &running{c: child(t, o), out: o.Out, ended: make(chan error, 1)}
	r.c.Stdout, r.c.Stderr = &r.said, &r.said
	if err := r.c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- r.c.Wait() }()
	return r
}

// until waits until the run has come so far, or has ended.
func (r *running) until(reached func(stage) bool) (at stage, ended bool) {
	tick := time.NewTicker(stagePoll)
	defer tick.Stop()
	for {
		if at = stageOf(r.out); reached(at) {
			return at, false
		}
		select {
		case err := <-r.ended:
			r.ended <- err
			return stageOf(r.out), true
		case <-tick.C:
		}
	}
}

// killAfter kills the run after a while, unless it has ended by then.
func (r *running) killAfter(d time.Duration) (killed bool) {
	select {
	case err := <-r.ended:
		r.ended <- err
		return false
	case <-time.After(d):
	}
	_ = r.c.Process.Kill()
	return (<-r.ended) != nil
}

// spans are how long an undisturbed run takes for each of its phases.
type spans struct{ start, gate, launch, report time.Duration }

// undisturbed runs a comparison to its end and takes the time of its phases.
func undisturbed(t *testing.T, o Options) (string, spans) {
	t.Helper()
	r, began := start(t, o), time.Now()
	var s spans
	mark := func(reached func(stage) bool) (took time.Duration) {
		if _, ended := r.until(reached); ended {
			t.Fatalf("the undisturbed run has ended too early: %s", r.said.String())
		}
		took = time.Since(began)
		began = time.Now()
		return took
	}
	launches := 4
	for i := range launches {
		gate := mark(func(at stage) bool { return at.logs > i })
		if i == 0 {
			s.start = gate
		} else {
			s.gate = max(s.gate, gate)
		}
		s.launch = max(s.launch, mark(func(at stage) bool { return at.records > i }))
	}
	if err := <-r.ended; err != nil {
		t.Fatalf("%v: %s", err, r.said.String())
	}
	s.report = time.Since(began)
	dir, err := store.Find(o.Out, "latest")
	if err != nil {
		t.Fatal(err)
	}
	return dir, s
}

// killPhases are what a run does after its archive exists. Each brings a run to
// the phase and kills it at a random moment in it, as far as can be told from
// outside; launch is which of the launches.
var killPhases = []struct {
	name string
	kill func(t *testing.T, o Options, s spans, launch int, share float64) (killed bool)
}{
	{"deployment of a resumed run", func(t *testing.T, o Options, s spans, launch int, share float64) bool {
		r := start(t, o)
		r.until(func(at stage) bool { return at.records > launch })
		r.killAfter(0)
		return start(t, resumed(o)).killAfter(time.Duration(share * float64(s.start)))
	}},
	{"gate", func(t *testing.T, o Options, s spans, launch int, share float64) bool {
		r := start(t, o)
		r.until(func(at stage) bool { return at.archive && at.records >= launch })
		return r.killAfter(time.Duration(share * float64(s.gate)))
	}},
	{"launch", func(t *testing.T, o Options, s spans, launch int, share float64) bool {
		r := start(t, o)
		r.until(func(at stage) bool { return at.logs > launch })
		return r.killAfter(time.Duration(share * float64(s.launch)))
	}},
	{"write of the journal", func(t *testing.T, o Options, s spans, launch int, _ float64) bool {
		r := start(t, o)
		before, _ := r.until(func(at stage) bool { return at.archive && at.records >= launch })
		r.until(func(at stage) bool { return at.journal > before.journal })
		return r.killAfter(0)
	}},
	{"report", func(t *testing.T, o Options, s spans, _ int, share float64) bool {
		r := start(t, o)
		r.until(func(at stage) bool { return at.records >= 4 })
		return r.killAfter(time.Duration(share * float64(s.report)))
	}},
}

// resumed is what goes on with the run of the options.
func resumed(o Options) Options { return Options{Resume: "latest", Out: o.Out, Progress: "none"} }

// TestKilledAtRandomMoments kills the harness with SIGKILL at HEXAB_KILLS
// random moments over all phases after the archive exists, and lets a resumed
// run come to the end that an undisturbed one with the same seed comes to.
func TestKilledAtRandomMoments(t *testing.T) {
	heavy(t)
	kills := number(t, "HEXAB_KILLS", len(killPhases))
	seed := uint64(number(t, "HEXAB_KILL_SEED", 5))
	o := shortRun(2, seed, "")
	o.Out = t.TempDir()
	undisturbed(t, o) // sends what the phone lacks
	o.Out = t.TempDir()
	quietDir, took := undisturbed(t, o)
	quietRun, quiet, _, err := store.Read(quietDir)
	if err != nil || len(quiet) != 4 {
		t.Fatal(len(quiet), err)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	aimed, completed := map[string]int{}, map[string]int{}
	struck := map[string]map[string]int{}
	for i := range kills {
		phase := killPhases[i%len(killPhases)]
		aimed[phase.name]++
		for misses := 0; ; misses++ {
			o.Out = t.TempDir()
			if phase.kill(t, o, took, rng.IntN(len(quiet)-1), rng.Float64()) {
				break
			}
			if misses == 10 {
				t.Fatalf("kill %d in %s: the run has ended before each of %d moments", i, phase.name, misses)
			}
		}
		where := found(t, o.Out)
		if struck[phase.name] == nil {
			struck[phase.name] = map[string]int{}
		}
		struck[phase.name][where]++
		r := start(t, resumed(o))
		text := ""
		if err := <-r.ended; err != nil {
			text = fmt.Sprintf("%v: %s", err, r.said.String())
		} else {
			text = unlike(t, o.Out, quietDir, quietRun, quiet)
		}
		if text != "" {
			t.Errorf("kill %d in %s (%s): %s", i, phase.name, where, text)
		} else {
			completed[phase.name]++
		}
		leftOnPhone(t, fmt.Sprintf("kill %d", i))
	}
	var table strings.Builder
	for _, phase := range killPhases {
		var where []string
		for _, name := range slices.Sorted(maps.Keys(struck[phase.name])) {
			where = append(where, fmt.Sprintf("%s (%d)", name, struck[phase.name][name]))
		}
		fmt.Fprintf(&table, "| %s | %d | %s | %d |\n", phase.name, aimed[phase.name], strings.Join(where, ", "), completed[phase.name])
	}
	publish(t, "kills.md", fmt.Sprintf(`# The harness killed

An A/A run of 4 launches on the embedded phone is killed with SIGKILL at %d random moments, seed %d, all of them after its
archive exists, then resumed. A resumed run is complete when it has the plan of an undisturbed run with the same seed, each
launch once with as many samples, and the same reports, and nothing is left on the phone. Phases are told from outside by
the archive; within a phase the moment is drawn evenly over the phase's length. An undisturbed run took %v up to its
first launch, %v for a gate, %v for a launch, %v for the report.

| phase aimed at | kills | where the archive shows the run at its death | resumed and complete |
|---|--:|---|--:|
%s`, kills, seed, took.start.Round(time.Millisecond), took.gate.Round(time.Millisecond), took.launch.Round(time.Millisecond), took.report.Round(time.Millisecond), table.String()),
		fmt.Sprintf("HEXAB_KILLS=%d HEXAB_KILL_SEED=%d", kills, seed))
}

// found tells by a killed run's archive what it was doing.
func found(t *testing.T, out string) string {
	t.Helper()
	at := stageOf(out)
	switch {
	case !at.archive:
		t.Error("killed before there was an archive")
		return "nothing"
	case at.records == 4:
		return "after the last launch"
	case at.logs > at.records:
		return fmt.Sprintf("in launch %d", at.records+1)
	}
	return fmt.Sprintf("before launch %d", at.records+1)
}

// unlike tells in what a run differs from an undisturbed one; empty for nothing.
func unlike(t *testing.T, out, quietDir string, quietRun bench.Run, quiet []bench.Record) string {
	t.Helper()
	dir, err := store.Find(out, "latest")
	if err != nil {
		t.Fatal(err)
	}
	run, records, warnings, err := store.Read(dir)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	var list []string
	if !slices.Equal(run.Plan, quietRun.Plan) || run.Seed != quietRun.Seed {
		list = append(list, "another plan")
	}
	different, holes := against(quiet, records)
	if list = append(list, different...); holes > 0 || len(records) != len(quiet) {
		list = append(list, fmt.Sprintf("%d records, %d holes", len(records), holes))
	}
	if has, want := reportsIn(t, dir), reportsIn(t, quietDir); !maps.Equal(has, want) {
		list = append(list, fmt.Sprintf("reports %v, not %v", has, want))
	}
	return strings.Join(list, "\n")
}

// reportsIn are the files of an archive that are made from its journal.
func reportsIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names
}
