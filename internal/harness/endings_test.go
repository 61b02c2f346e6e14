package harness

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/store"
)

// small is a comparison of six launches that takes seconds.
func small(device, out string) Options {
	return Options{Arms: "cpu,cpu", Models: "minicpm5-1b", Rounds: 3, Seed: "3", Tests: "pp16,tg4", Device: device, Out: out}
}

// A phone that goes away for good ends the run; nothing that was measured is
// lost, and the run is finished when the phone is back.
func TestPhoneGoneForGood(t *testing.T) {
	heavy(t)
	out := t.TempDir()
	run, before, _, err := compareHere(t, t.Context(), small("sim:cool+offline:after=launch,nth=3", out))
	if ExitStatus(err) != 1 || !strings.Contains(err.Error(), "-resume=") {
		t.Fatalf("%v", err)
	}
	ok := 0
	for _, r := range before {
		if r.Outcome == bench.OutcomeOK {
			ok++
		}
	}
	if last := before[len(before)-1]; ok != 2 || last.Outcome != bench.OutcomeTransportLost || last.Fault != bench.FaultInfrastructure || last.Reason == "" {
		t.Fatalf("%d launches were measured; the last record: %+v", ok, last)
	}
	// The lock could not be given back. Its holder, this process, lives on here.
	if err := os.RemoveAll(filepath.Join(phoneHome, "sim", deviceRoot, "lock")); err != nil {
		t.Fatal(err)
	}
	_, after, _, err := compareHere(t, t.Context(), Options{Resume: run.ID, Out: out, Device: "sim"})
	if err != nil {
		t.Fatal(err)
	}
	once := map[int]int{}
	for _, r := range after {
		if r.Outcome == bench.OutcomeOK {
			once[r.Seq]++
		}
	}
	for seq := range run.Plan {
		if once[seq] != 1 {
			t.Errorf("launch %d was measured %d times", seq, once[seq])
		}
	}
}

func TestUnauthorisedPhone(t *testing.T) {
	heavy(t)
	out := t.TempDir()
	err := ABTest(t.Context(), small("sim:cool+unauthorized", out))
	if ExitStatus(err) != 1 || !strings.Contains(strings.ToLower(err.Error()), "unauthorized") {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(out); len(left) != 0 {
		t.Errorf("an archive was made: %v", left)
	}
}

func TestFullDevice(t *testing.T) {
	heavy(t)
	out := t.TempDir()
	// A folder of its own, so that everything has to be sent.
	before := phoneHome
	phoneHome = t.TempDir()
	defer func() { phoneHome = before }()
	err := ABTest(t.Context(), small("sim:cool+full:free=40000000", out))
	var fault interface{ Unwrap() error }
	if ExitStatus(err) != 1 || !errors.As(err, &fault) || !strings.Contains(err.Error(), "free") {
		t.Errorf("%v", err)
	}
	// With room again the same goes on, and what was sent stays.
	if err := ABTest(t.Context(), small("sim", out)); err != nil {
		t.Error(err)
	}
}

// A model that is cut short while a run goes on is no infrastructure fault and
// no sample; the next run sends it again.
func TestModelCutShort(t *testing.T) {
	heavy(t)
	before := phoneHome
	phoneHome = t.TempDir()
	defer func() { phoneHome = before }()
	o := small("sim", t.TempDir())
	cut := false
	o.Recorded = func(bench.Record) {
		if cut {
			return
		}
		models, err := filepath.Glob(filepath.Join(phoneHome, "sim", deviceRoot, "models", "*.gguf"))
		if err != nil || len(models) != 1 {
			t.Fatal(models, err)
		}
		if err := os.Truncate(models[0], 1<<20); err != nil {
			t.Fatal(err)
		}
		cut = true
	}
	run, records, dir, err := compareHere(t, t.Context(), o)
	var holes *HolesError
	if !errors.As(err, &holes) || ExitStatus(err) != 1 {
		t.Fatalf("%v", err)
	}
	if records[0].Outcome != bench.OutcomeOK || len(records) != len(run.Plan) {
		t.Errorf("%d records", len(records))
	}
	for _, r := range records[1:] {
		if r.Outcome == bench.OutcomeOK || len(r.Results) != 0 || r.Reason == "" {
			t.Errorf("%+v", r)
		}
	}
	if second := records[1]; !strings.Contains(second.Reason, "cut short") || len(second.Evidence) == 0 {
		t.Errorf("%+v", second)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "table.md")); err != nil || !bytes.Contains(text, []byte("INCOMPLETE")) {
		t.Errorf("%v:\n%s", err, text)
	}
	if err := ABTest(t.Context(), small("sim", o.Out)); err != nil {
		t.Error(err)
	}
}

// What a run put on the phone stays as long as it is in use; the rest goes.
func TestPruneThePhone(t *testing.T) {
	heavy(t)
	before := phoneHome
	phoneHome = t.TempDir()
	defer func() { phoneHome = before }()
	if err := Update(t.Context(), bench.CPU, "sim"); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(phoneHome, "sim", deviceRoot)
	stale := filepath.Join(root, "store", strings.Repeat("a", 64))
	if err := os.WriteFile(stale, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		files, err := filepath.Glob(filepath.Join(root, "store", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	had := count()
	if err := Prune(t.Context(), PruneOptions{Device: "sim"}); err != nil {
		t.Fatal(err)
	}
	if exists(stale) || count() != had-1 {
		t.Errorf("%d files of %d are left", count(), had)
	}
	if err := Prune(t.Context(), PruneOptions{Device: "sim", All: true}); err != nil {
		t.Fatal(err)
	}
	if bundles, _ := filepath.Glob(filepath.Join(root, "bundles", "*")); count() != 0 || len(bundles) != 0 {
		t.Errorf("%d files and %d bundles are left", count(), len(bundles))
	}
}

// Ctrl-C at a terminal reaches every process in the foreground. The real
// command line stops cleanly, leaves nothing behind, and is gone on with.
func TestCtrlC(t *testing.T) {
	heavy(t)
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	home := shareBuilds(t, w)
	out := filepath.Join(home, "results")
	mage := func(args ...string) (*exec.Cmd, io.ReadCloser) {
		c := exec.Command("go", append([]string{"tool", "mage", "abtest"}, args...)...)
		c.Dir, c.Env = w.Root, append(os.Environ(), EnvCache+"="+home)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		c.Stdout = io.Discard
		stderr, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c, stderr
	}
	c, stderr := mage("-arms=cpu,cpu", "-models=minicpm5-1b", "-rounds=4", "-tests=pp16,tg4", "-device=sim", "-progress=plain", "-out="+out)
	var said strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), " 2 of 8 ") {
			if mode := fixedPerformance(t, filepath.Join(home, "phone")); mode != "true" {
				t.Errorf("fixed-performance mode is %q during a run", mode)
			}
			if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
	}
	err = c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(said.String(), "-resume=") || strings.Contains(said.String(), "timeout exceeded") {
		t.Fatalf("%v:\n%s", err, said.String())
	}
	if left := processesNaming(t, home); len(left) != 0 {
		t.Errorf("left running: %q", left)
	}
	if mode := fixedPerformance(t, filepath.Join(home, "phone")); mode != "false" {
		t.Errorf("fixed-performance mode is %q after Ctrl-C", mode)
	}
	dir, err := store.Find(out, "latest")
	if err != nil {
		t.Fatal(err)
	}
	run, records, warnings, err := store.Read(dir)
	if err != nil || len(warnings) != 0 || len(records) < 2 || len(records) == len(run.Plan) {
		t.Fatalf("%d records, %q, %v", len(records), warnings, err)
	}
	c, stderr = mage("-resume=" + dir)
	text, _ := io.ReadAll(stderr)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	_, records, _, err = store.Read(dir)
	if err != nil || len(records) != len(run.Plan) {
		t.Errorf("%d records of %d launches, %v", len(records), len(run.Plan), err)
	}
	for i, r := range records {
		if r.Seq != i || r.Attempt != 1 || r.Outcome != bench.OutcomeOK {
			t.Errorf("record %d: %+v", i, r)
		}
	}
}

// processesNaming lists the processes whose environment or command names a folder.
func processesNaming(t *testing.T, folder string) (list []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range all {
		environ, _ := os.ReadFile(filepath.Join(process, "environ")) // gone or not ours: says nothing
		command, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		if bytes.Contains(environ, []byte(folder)) || bytes.Contains(command, []byte(folder)) {
			list = append(list, filepath.Base(process)+" "+string(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
		}
	}
	return list
}
