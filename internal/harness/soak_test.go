package harness

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"hexab/internal/bench"
	"hexab/internal/store"
)

// soakProfile holds every fault that a run gets over by itself, at random; the
// soak adds its own seed to it.
const soakProfile = "cool+cr:share=0.5+noise+oddunits" +
	"+drop:after=launch,p=0.03,times=0+drop:after=output,bytes=60,p=0.02,times=0" +
	"+offline:after=launch,p=0.01,times=0,for=1500ms+reboot:after=launch,p=0.01,times=0,for=1s" +
	"+lowmem:after=launch,p=0.02,times=0,delay=10ms+hang:after=launch,p=0.02,times=0,for=1s" +
	"+exit:after=launch,p=0.02,times=0,code=1+clock:after=launch,p=0.02,times=0,by=37m"

// soakHeap is by how many bytes the harness's heap may grow over a soak: records
// are not kept in memory, so however long it is.
const soakHeap = 1 << 20

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
	profile := fmt.Sprintf("%s+seed=%d", soakProfile, seed)
	o := shortRun(rounds, seed, profile)
	o.Recorded = func(r bench.Record) {
		attempts++
		outcomes[r.Outcome]++
		if attempts%min(soakServerLife, launches) == 0 {
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
	if len(memory) == 0 {
		t.Fatal("the run ended before its first look at the memory")
	}
	t.Logf("%d launches, %d attempts in %v: %v, adb server killed %d times, profile %s, seed %d",
		len(run.Plan), len(records), time.Since(began).Round(time.Second), outcomes, servers, profile, seed)
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
	wrong := wrongVerdicts(t, run, records)
	t.Logf("compared with the quiet run's %d launches: %d are marked as retried, %d differ otherwise, %d holes, %d wrong verdicts",
		len(expected), marked, len(different), holes, wrong)
	if holes > 0 {
		t.Errorf("%d holes under faults that all pass", holes)
	}
	leftOnPhone(t, "soak")
	leftHere(t, dir, temporary, records)
	runtime.GC()
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
	if now := openFiles(t); len(now) > len(files) {
		t.Errorf("open files %q, before %q", now, files)
	}
	t.Logf("memory over time: %v", memory)
	first, last := memory[0], memory[len(memory)-1]
	if last.heap > first.heap+soakHeap {
		t.Errorf("the heap grows: %v", memory)
	}
	defer func() {
		left := "nothing"
		if t.Failed() {
			left = "see the test's errors"
		}
		publish(t, "soak.md", fmt.Sprintf(`# The soak

An A/A run of %d launches on the embedded phone under random faults, seed %d, beside a quiet run of the same plan in a
process and on a phone of its own. Profile: `+"`%s`"+`; the adb server was killed %d times as well.

| | |
|---|--:|
| launches planned | %d |
| attempts | %d |
| attempts by outcome | %s |
| launches marked as retried | %d |
| launches that differ from the quiet run's otherwise | %d |
| holes | %d |
| wrong verdicts | %d |
| processes, files, locks left behind | %s |
| heap at the first and the last look, MiB | %.1f, %.1f |
| resident at the first and the last look, MiB | %.1f, %.1f |
| time | %v |
`, len(run.Plan), seed, profile, servers, len(run.Plan), len(records), countsOf(outcomes), marked, len(different), holes, wrong, left,
			mebibytes(first.heap), mebibytes(last.heap), mebibytes(first.resident), mebibytes(last.resident), time.Since(began).Round(time.Second)),
			fmt.Sprintf("HEXAB_SOAK=%d HEXAB_SOAK_SEED=%d", launches, seed))
	}()
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
	return fmt.Sprintf("heap %.1f MiB, resident %.1f MiB", mebibytes(f.heap), mebibytes(f.resident))
}

func mebibytes(n uint64) float64 { return float64(n) / (1 << 20) }

// countsOf are outcomes with their numbers, most frequent first.
func countsOf(outcomes map[bench.Outcome]int) string {
	var list []string
	for _, o := range slices.SortedFunc(maps.Keys(outcomes), func(a, b bench.Outcome) int { return cmp.Or(outcomes[b]-outcomes[a], cmp.Compare(a, b)) }) {
		list = append(list, fmt.Sprintf("%d %s", outcomes[o], o))
	}
	return strings.Join(list, ", ")
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

// openFiles are this program's file descriptors with their targets, but for the
// two that the Go runtime waits on from its first use of a pipe on.
func openFiles(t *testing.T) (list []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && target != "anon_inode:[eventpoll]" && target != "anon_inode:[eventfd]" { // on an error it was the folder's own
			list = append(list, e.Name()+" "+target)
		}
	}
	return list
}
