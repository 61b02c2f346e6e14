package harness

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

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
	name string
	// profile is the embedded phone's. Each try puts a launch for N, and for B
	// and P a number of bytes of output and of a push.
	profile string
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
	{name: "link cut at a launch", profile: "cool+drop:after=launch,nth=N", seen: bench.OutcomeTransportLost},
	{name: "link cut in the output", profile: "cool+drop:after=output,bytes=B,nth=N", seen: bench.OutcomeTransportLost},
	{name: "link cut in a push", profile: "cool+drop:after=push,bytes=P", fresh: true},
	{name: "offline for a while", profile: "cool+offline:after=launch,nth=N,for=2s", seen: bench.OutcomeTransportLost},
	{name: "unauthorised", profile: "cool+unauthorized", refused: "accept the key"},
	{name: "reboot", profile: "cool+reboot:after=launch,nth=N,for=1s", seen: bench.OutcomeRebooted},
	{name: "slow link", profile: "cool+slow:rate=20000000,latency=1ms"},
	{name: "full disk", profile: "cool+full:free=1000000", fresh: true, refused: "are needed and"},
	{name: "low memory", profile: "cool+lowmem:after=launch,nth=N,delay=10ms", seen: bench.OutcomeKilled},
	{name: "hang for a while", profile: "cool+hang:after=launch,nth=N,for=2s"},
	{name: "hang for good", profile: "cool+hang:after=launch,nth=N", seen: bench.OutcomeTimeout, hole: true},
	{name: "wrong exit status", profile: "cool+exit:after=launch,nth=N,code=1"}, // the end marker carries the true one
	{name: "wrong exit status, old adbd", profile: "old+exit:after=launch,nth=N,code=0"},
	{name: "clock jumps", profile: "cool+clock:after=launch,nth=N,by=-26h"},
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
	_, quiet, _, err := compareHere(t, t.Context(), shortRun(faultRounds(), faultSeed, ""))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| fault | profile | tries | survived | attempts repeated | launches reported as holes | lost samples | wrong verdicts |\n|---|---|--:|--:|--:|--:|--:|--:|\n")
	for _, class := range faultClasses {
		var sum tallied
		for try := range tries {
			class.try(t, try, quiet, &sum)
		}
		fmt.Fprintf(&table, "| %s | `%s` | %d | %d | %d | %d | %d | %d |\n", class.name, class.profile, sum.tries, sum.survived, sum.repeats, sum.holes, sum.lost, sum.wrong)
	}
	publish(t, "classes.md", fmt.Sprintf(`# Classes of faults

Each try is an A/A run of %d launches of one class on the embedded phone, seed %d, compared with an undisturbed run of the
same seed, launch for launch. The first try has its fault at the second launch (N), after 40 bytes of output (B) or 9,000,000 of
a push (P), each further one at a place of its own, drawn from the try's seed. A try has survived when it ends as it should: with every launch measured; for "hang for
good" with that launch as a hole, since a hang is the variant's as far as anyone can tell; for "unauthorised" and "full
disk" with a refusal that says what to do. A sample is lost when a launch is missing, counted twice, or ends without a reason.

%s`, len(quiet), faultSeed, table.String()), "HEXAB_TRIES="+strconv.Itoa(tries))
}

const faultSeed = 1

// faultRounds is the length of the fault classes' runs. With six blocks a
// verdict assumes nothing, so that the table's wrong ones could be seen.
func faultRounds() int {
	if os.Getenv(faultResults) != "" {
		return 6
	}
	return 2
}

// faultResults names the folder that the tables of these tests are written to.
const faultResults = "HEXAB_FAULT_RESULTS"

// publish prints what a test found out, and writes it to the folder of results
// with the command that runs it again.
func publish(t *testing.T, name, text string, settings ...string) {
	t.Helper()
	t.Logf("%s:\n%s", name, text)
	folder := os.Getenv(faultResults)
	if folder == "" {
		return
	}
	title, rest, _ := strings.Cut(text, "\n")
	text = fmt.Sprintf("%s\n\nSimulated, on the embedded phone; no real device was disturbed. Made by `%s go tool mage testFaults`.\n%s", title, strings.Join(settings, " "), rest)
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// profileOf gives the profile of a try: the fault at the second launch, early in
// its output, then at places drawn from the seed of faults.
func (class faultClass) profileOf(try, launches int) string {
	nth, output, pushed, seed := 2, 40, 9_000_000, uint64(faultSeed+try)
	if try > 0 {
		chance := rand.New(rand.NewPCG(seed, 0))
		// The preflight may be the first launch of llama-bench.
		nth, output, pushed = 2+chance.IntN(launches-1), 1+chance.IntN(400), 1+chance.IntN(9_000_000)
	}
	profile := strings.NewReplacer("nth=N", "nth="+strconv.Itoa(nth), "bytes=B", "bytes="+strconv.Itoa(output), "bytes=P", "bytes="+strconv.Itoa(pushed)).Replace(class.profile)
	return fmt.Sprintf("%s+seed=%d", profile, seed)
}

func (class faultClass) try(t *testing.T, try int, quiet []bench.Record, sum *tallied) {
	t.Helper()
	if class.fresh {
		defer func(home string) { phoneHome = home }(phoneHome)
		phoneHome = t.TempDir()
	}
	o := shortRun(faultRounds(), faultSeed, class.profileOf(try, len(quiet)))
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

// wrongVerdicts counts the differences that an A/A run claims. A verdict that says
// of itself that it is indicative claims none: from two blocks chance alone gives
// one in twenty.
func wrongVerdicts(t *testing.T, run bench.Run, records []bench.Record) (wrong int) {
	t.Helper()
	c, err := judge(run, records)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range c.Cells {
		if d := cell.Decision; d != nil && !d.Indicative && (d.Verdict == stat.Faster || d.Verdict == stat.Slower) {
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
	if mode := fixedPerformance(t, phoneHome); mode != "false" {
		t.Errorf("%s: fixed-performance mode is %q", name, mode)
	}
	for _, pid := range processesOf(phoneHome) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		t.Errorf("%s: still running: %d %q", name, pid, text)
	}
}

// fixedPerformance is what the embedded phone of a home was last told.
func fixedPerformance(t *testing.T, home string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, "sim", "dev", "hexab", "fixed_performance"))
	if err != nil {
		t.Error(err)
	}
	return strings.TrimSpace(string(text))
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

// killServer ends the embedded phone's own adb server: the one that was started
// with it, or the one that adb itself has put in its place since.
func killServer(t *testing.T) {
	for _, pid := range processesOf(phoneHome) {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(cmdline), "nodaemon\x00server") || strings.Contains(string(cmdline), "fork-server\x00server") {
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
