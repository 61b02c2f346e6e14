package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"hexab/internal/bench"
	"hexab/internal/stat"
	"hexab/internal/store"
)

// The runs of these tests: an A/A comparison of real launches, as short as
// llama-bench can be, with one thread so that other work on the machine does
// not stall it.
func shortRun(rounds int, seed uint64, profile string) Options {
	return Options{
		Arms: "cpu:threads=1,cpu:threads=1", Models: "nanbeige-3b", Tests: "pp1", Rounds: rounds, Seed: strconv.FormatUint(seed, 10),
		Device: strings.TrimSuffix("sim:"+profile, ":"), Threshold: "50", Cool: coolOff, Progress: "none",
	}
}

// faultClass is what a class of faults must come to.
type faultClass struct {
	name, profile string
	// fresh begins with an empty phone, so that everything is pushed.
	fresh bool
	// seen is an outcome that some attempt must have had: the fault did happen.
	seen bench.Outcome
	// hole is set where the fault is the variant's as far as anyone can tell:
	// it is reported, never tried again.
	hole bool
	// refused is what a run says that can not begin.
	refused string
	// during is called once, after the first record.
	during func(t *testing.T)
}

var faultClasses = []faultClass{
	{name: "CR at line ends", profile: "cool+cr"},
	{name: "vendor noise in output", profile: "cool+noise:share=0.5"},
	{name: "link cut at a launch", profile: "cool+drop:after=launch,nth=2", seen: bench.OutcomeTransportLost},
	{name: "link cut in the output", profile: "cool+drop:after=output,bytes=40,nth=2", seen: bench.OutcomeTransportLost},
	{name: "link cut in a push", profile: "cool+drop:after=push,bytes=9000000", fresh: true},
	{name: "offline for a while", profile: "cool+offline:after=launch,nth=2,for=2s", seen: bench.OutcomeTransportLost},
	{name: "unauthorised", profile: "cool+unauthorized", refused: "accept the key"},
	{name: "reboot", profile: "cool+reboot:after=launch,nth=2,for=1s", seen: bench.OutcomeRebooted},
	{name: "slow link", profile: "cool+slow:rate=20000000,latency=1ms"},
	{name: "full disk", profile: "cool+full:free=1000000", fresh: true, refused: "are needed and"},
	{name: "low memory", profile: "cool+lowmem:after=launch,nth=2,delay=10ms", seen: bench.OutcomeKilled},
	{name: "hang for a while", profile: "cool+hang:after=launch,nth=2,for=2s"},
	{name: "hang for good", profile: "cool+hang:after=launch,nth=2", seen: bench.OutcomeTimeout, hole: true},
	{name: "wrong exit status", profile: "cool+exit:after=launch,nth=2,code=1"}, // the end marker carries the true one
	{name: "wrong exit status, old adbd", profile: "old+exit:after=launch,nth=2,code=0"},
	{name: "clock jumps", profile: "cool+clock:after=launch,nth=2,by=-26h"},
	{name: "no sensors", profile: "cool+nosensors"},
	{name: "sensors in odd units", profile: "cool+oddunits"},
	{name: "adb server gone", profile: "cool", during: killServer, seen: bench.OutcomeTransportLost},
}

// tallied is a line of the coverage table.
type tallied struct{ tries, survived, repeats, holes, lost, wrong int }

// TestFaultCoverage runs every class of faults and prints what came of it:
// nothing lost, nothing wrong.
func TestFaultCoverage(t *testing.T) {
	heavy(t)
	tries := number(t, "HEXAB_TRIES", 1)
	defer func(d time.Duration) { launchTimeoutEmbedded = d }(launchTimeoutEmbedded)
	launchTimeoutEmbedded = 45 * time.Second
	_, quiet, _, err := compareHere(t, t.Context(), shortRun(2, 1, ""))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| fault | tries | survived | attempts repeated | launches reported as holes | lost samples | wrong verdicts |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, class := range faultClasses {
		var sum tallied
		for range tries {
			class.try(t, quiet, &sum)
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %d | %d | %d |\n", class.name, sum.tries, sum.survived, sum.repeats, sum.holes, sum.lost, sum.wrong)
	}
	t.Logf("fault coverage, %d launches a try:\n%s", len(quiet), table.String())
	if path := os.Getenv("HEXAB_TABLE"); path != "" {
		if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (class faultClass) try(t *testing.T, quiet []bench.Record, sum *tallied) {
	t.Helper()
	if class.fresh {
		defer func(home string) { phoneHome = home }(phoneHome)
		phoneHome = t.TempDir()
	}
	o := shortRun(2, 1, class.profile)
	o.Out = t.TempDir()
	first := class.during != nil
	o.Recorded = func(bench.Record) {
		if first {
			first = false
			class.during(t)
		}
	}
	sum.tries++
	failure := ABTest(t.Context(), o)
	if class.refused != "" {
		if failure == nil || !strings.Contains(failure.Error(), class.refused) {
			t.Errorf("%s: %v", class.name, failure)
			return
		}
		sum.survived++
		return
	}
	dir, err := store.Find(o.Out, "latest")
	if err != nil {
		t.Errorf("%s: %v, %v", class.name, failure, err)
		return
	}
	run, records, warnings, err := store.Read(dir)
	if err != nil || len(warnings) > 0 {
		t.Errorf("%s: %v, %v", class.name, err, warnings)
		return
	}
	var holes *HolesError
	if class.hole && !errors.As(failure, &holes) || !class.hole && failure != nil {
		t.Errorf("%s: %v", class.name, failure)
	} else {
		sum.survived++
	}
	seen := class.seen == ""
	for _, r := range records {
		seen = seen || r.Outcome == class.seen
	}
	if !seen {
		t.Errorf("%s: no attempt ended as %s", class.name, class.seen)
	}
	sum.repeats += len(records) - len(run.Plan)
	different, gaps := against(quiet, records)
	if sum.holes += gaps; !class.hole && gaps > 0 {
		t.Errorf("%s: %d holes", class.name, gaps)
	}
	for _, text := range different {
		sum.lost++
		t.Errorf("%s: %s", class.name, text)
	}
	sum.wrong += wrongVerdicts(t, run, records)
	leftOnPhone(t, class.name)
}

// against compares a run's records with those of a quiet run of the same seed,
// launch for launch: the same launch, the same tests, as many samples. What is
// reported as a hole, with outcome and reason, is not lost but counted apart.
func against(quiet, records []bench.Record) (different []string, holes int) {
	final := map[int]bench.Record{}
	ok := map[int]int{}
	for _, r := range records {
		final[r.Seq] = r
		if r.Outcome == bench.OutcomeOK {
			ok[r.Seq]++
		}
	}
	for _, want := range quiet {
		got, there := final[want.Seq]
		switch {
		case !there || got.Launch != want.Launch:
			different = append(different, fmt.Sprintf("launch %d is %+v", want.Seq, got.Launch))
		case ok[want.Seq] > 1:
			different = append(different, fmt.Sprintf("launch %d counts %d times", want.Seq, ok[want.Seq]))
		case got.Outcome != bench.OutcomeOK:
			if holes++; got.Reason == "" || got.Fault == bench.FaultNone && got.Outcome != bench.OutcomeNotRun {
				different = append(different, fmt.Sprintf("launch %d ended as %s without a reason", want.Seq, got.Outcome))
			}
		case got.Attempt > 1 != slices.Contains(got.Marks, bench.MarkRetried):
			different = append(different, fmt.Sprintf("launch %d, attempt %d, has marks %v", want.Seq, got.Attempt, got.Marks))
		case len(got.Results) != len(want.Results):
			different = append(different, fmt.Sprintf("launch %d has %d tests instead of %d", want.Seq, len(got.Results), len(want.Results)))
		default:
			for i, result := range got.Results {
				if result.Test != want.Results[i].Test || len(result.SamplesNs) != len(want.Results[i].SamplesNs) {
					different = append(different, fmt.Sprintf("launch %d: %s has %d samples", want.Seq, result.Test, len(result.SamplesNs)))
				}
			}
		}
	}
	return different, holes
}

// wrongVerdicts counts the differences that an A/A run claims.
func wrongVerdicts(t *testing.T, run bench.Run, records []bench.Record) (wrong int) {
	t.Helper()
	c, err := judge(run, records)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range c.Cells {
		if d := cell.Decision; d != nil && (d.Verdict == stat.Faster || d.Verdict == stat.Slower) {
			wrong++
			t.Errorf("an A/A run says %s, %v", d.Verdict, d.Interval)
		}
	}
	return wrong
}

// leftOnPhone finds what a run left behind: its lock, processes, temporary
// files, fixed-performance mode.
func leftOnPhone(t *testing.T, name string) {
	t.Helper()
	device := filepath.Join(phoneHome, "sim")
	for _, pattern := range []string{"data/local/tmp/hexab/lock*", "data/local/tmp/hexab/store/.tmp-*", "data/local/tmp/.hexab-*", "data/local/tmp/hexab/bundles/*.making"} {
		if left, _ := filepath.Glob(filepath.Join(device, pattern)); len(left) > 0 {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
	if text, err := os.ReadFile(filepath.Join(device, "dev/hexab/fixed_performance")); err != nil || strings.TrimSpace(string(text)) != "false" {
		t.Errorf("%s: fixed-performance mode is %q, %v", name, text, err)
	}
	for _, pid := range processesOf(phoneHome) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		t.Errorf("%s: still running: %d %q", name, pid, text)
	}
}

// processesOf lists other processes that have the folder in their environment
// or command line.
func processesOf(folder string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		cmdline, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if strings.Contains(string(environ)+string(cmdline), folder) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killServer ends the embedded phone's own adb server.
func killServer(t *testing.T) {
	for _, pid := range processesOf(phoneHome) {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(cmdline), "nodaemon\x00server") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			return
		}
	}
	t.Error("no adb server found")
}

// number is a count from the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is not a count", name, text)
	}
	return n
}

// soakProfile holds every fault that a run gets over by itself, at random.
const soakProfile = "cool+cr:share=0.5+noise+oddunits" +
	"+drop:after=launch,p=0.03,times=0+drop:after=output,bytes=60,p=0.02,times=0" +
	"+offline:after=launch,p=0.01,times=0,for=1500ms+reboot:after=launch,p=0.01,times=0,for=1s" +
	"+lowmem:after=launch,p=0.02,times=0,delay=10ms+hang:after=launch,p=0.02,times=0,for=1s" +
	"+exit:after=launch,p=0.02,times=0,code=1+clock:after=launch,p=0.02,times=0,by=37m"

// soakServerLife is after how many attempts of a soak its adb server is killed.
const soakServerLife = 97

// TestSoak runs a long plan under random faults (HEXAB_SOAK launches), and
// proves that its archive equals that of a quiet run, launch for launch, and
// that nothing is left behind. The quiet run goes on beside it, in a process
// and on a phone of its own.
func TestSoak(t *testing.T) {
	heavy(t)
	launches := number(t, "HEXAB_SOAK", 24)
	seed := uint64(number(t, "HEXAB_SOAK_SEED", 1))
	rounds := max(1, launches/2)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	runtime.GC()
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	quiet := beginQuiet(t, shortRun(rounds, seed, ""))
	began := time.Now()
	outcomes := map[bench.Outcome]int{}
	var memory []footprint
	attempts, servers := 0, 0
	o := shortRun(rounds, seed, soakProfile)
	o.Recorded = func(r bench.Record) {
		attempts++
		outcomes[r.Outcome]++
		if attempts%soakServerLife == 0 {
			killServer(t)
			servers++
		}
		if attempts%max(1, rounds/10) == 0 {
			memory = append(memory, footprintNow(t))
			t.Logf("launch %d, attempt %d in all after %v: %v, %v", r.Seq+1, attempts, time.Since(began).Round(time.Second), outcomes, memory[len(memory)-1])
		}
	}
	run, records, dir, failure := compareHere(t, t.Context(), o)
	if failure != nil {
		t.Error(failure)
	}
	t.Logf("%d launches, %d attempts in %v: %v, adb server killed %d times, profile %s, seed %d",
		len(run.Plan), len(records), time.Since(began).Round(time.Second), outcomes, servers, soakProfile, seed)
	if len(run.Plan) != 2*rounds {
		t.Errorf("%d launches are planned", len(run.Plan))
	}
	expected := quiet()
	different, holes := against(expected, records)
	for _, text := range different {
		t.Error(text)
	}
	marked := 0
	for _, r := range records {
		if r.Outcome == bench.OutcomeOK && slices.Contains(r.Marks, bench.MarkRetried) {
			marked++
		}
	}
	t.Logf("compared with the quiet run's %d launches: %d are marked as retried, %d differ otherwise, %d holes, %d wrong verdicts",
		len(expected), marked, len(different), holes, wrongVerdicts(t, run, records))
	if holes > 0 {
		t.Errorf("%d holes under faults that all pass", holes)
	}
	leftOnPhone(t, "soak")
	leftHere(t, dir, temporary, records)
	runtime.GC()
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
	if n := openFiles(t); n > files {
		t.Errorf("%d open files, %d before", n, files)
	}
	journal, err := os.Stat(filepath.Join(dir, store.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	// The journal's records are kept in memory; nothing else may grow.
	if n := len(memory); n > 1 {
		grown := int64(memory[n-1].heap) - int64(memory[0].heap)
		t.Logf("memory from tenth to tenth: %v; heap grown by %.1f MiB, the journal is %.1f MiB", memory, float64(grown)/(1<<20), float64(journal.Size())/(1<<20))
		if grown > 2<<20+2*journal.Size() {
			t.Errorf("the heap grows: %v", memory)
		}
	}
}

// beginQuiet starts an undisturbed comparison in a process and on a phone of
// its own, and gives what waits for its records.
func beginQuiet(t *testing.T, o Options) (wait func() []bench.Record) {
	t.Helper()
	o.Out = t.TempDir()
	c := child(t, o)
	c.Env = append(c.Env, childHome+"="+t.TempDir()) // the last one counts
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return func() []bench.Record {
		t.Helper()
		if err := c.Wait(); err != nil {
			t.Fatalf("the quiet run: %v: %s", err, said.String())
		}
		dir, err := store.Find(o.Out, "latest")
		if err != nil {
			t.Fatal(err)
		}
		run, records, warnings, err := store.Read(dir)
		if err != nil || len(warnings) > 0 || len(records) != len(run.Plan) {
			t.Fatalf("the quiet run has %d records of %d: %v, %v", len(records), len(run.Plan), warnings, err)
		}
		return records
	}
}

// leftHere finds what a run left behind on this machine: the archive's lock,
// temporary files, logs that no record names.
func leftHere(t *testing.T, dir, temporary string, records []bench.Record) {
	t.Helper()
	lock := flock.New(filepath.Join(dir, ".lock"))
	if free, err := lock.TryLock(); err != nil || !free {
		t.Errorf("the archive is still locked: %v", err)
	}
	_ = lock.Unlock()
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, store.LogFolder, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, r := range records {
		if r.Log != "" {
			named[filepath.Base(r.Log)] = true
		}
	}
	for _, log := range logs {
		if !named[filepath.Base(log)] {
			t.Errorf("no record names the log %s", log)
		}
	}
	if len(named) != len(logs) {
		t.Errorf("%d logs, %d named by records", len(logs), len(named))
	}
}

// footprint is this program's memory in bytes: the heap after a collection, and
// what is resident.
type footprint struct{ heap, resident uint64 }

func (f footprint) String() string {
	return fmt.Sprintf("heap %.1f MiB, resident %.1f MiB", float64(f.heap)/(1<<20), float64(f.resident)/(1<<20))
}

func footprintNow(t *testing.T) footprint {
	t.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident uint64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return footprint{m.HeapAlloc, resident * uint64(os.Getpagesize())}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

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

// TestKilledAtRandomMoments kills the harness with SIGKILL at HEXAB_KILLS
// random moments, and lets a resumed run come to the end that an undisturbed
// one with the same seed comes to.
func TestKilledAtRandomMoments(t *testing.T) {
	heavy(t)
	kills := number(t, "HEXAB_KILLS", 4)
	const seed = 5
	o := shortRun(2, seed, "")
	o.Out = t.TempDir()
	began := time.Now()
	if out, err := child(t, o).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	took := time.Since(began)
	dir, err := store.Find(o.Out, "latest")
	if err != nil {
		t.Fatal(err)
	}
	quietRun, quiet, _, err := store.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	resumed, recorded := 0, 0
	for i := range kills {
		o.Out = t.TempDir()
		moment := time.Duration(rng.Float64() * float64(took))
		before := killedAfter(t, o, moment)
		recorded += before
		again := o
		if before >= 0 {
			again = Options{Resume: "latest", Out: o.Out, Progress: "none"}
			resumed++
		}
		if out, err := child(t, again).CombinedOutput(); err != nil {
			t.Errorf("kill %d after %v: %v: %s", i, moment, err, out)
			continue
		}
		dir, err := store.Find(o.Out, "latest")
		if err != nil {
			t.Fatal(err)
		}
		run, records, warnings, err := store.Read(dir)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("kill %d: %v, %v", i, err, warnings)
		}
		if !slices.Equal(run.Plan, quietRun.Plan) || run.Seed != quietRun.Seed {
			t.Errorf("kill %d: another plan", i)
		}
		different, holes := against(quiet, records)
		if len(different) > 0 || holes > 0 {
			t.Errorf("kill %d after %v: %d holes, %v", i, moment, holes, different)
		}
		if _, err := os.Stat(filepath.Join(dir, "comparisons.json")); err != nil {
			t.Error(err)
		}
		leftOnPhone(t, fmt.Sprintf("kill %d", i))
	}
	t.Logf("%d kills within %v, %d runs resumed, the others had not begun", kills, took.Round(time.Millisecond), resumed)
}

// killedAfter starts a comparison, kills it, and gives the number of launches
// in its journal; -1 when it had no archive yet.
func killedAfter(t *testing.T, o Options, moment time.Duration) int {
	t.Helper()
	c := child(t, o)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(moment, func() { _ = c.Process.Kill() })
	_ = c.Wait()
	timer.Stop()
	dir, err := store.Find(o.Out, "latest")
	if err != nil {
		return -1
	}
	text, err := os.ReadFile(filepath.Join(dir, store.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}
