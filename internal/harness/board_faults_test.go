package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/ssh/sshtest"
)

// boardFault is how a class of faults happens to a board, or on the way to it.
// What must come of it is what comes of the class over adb: see faultClasses.
type boardFault struct {
	// class is the name in faultClasses.
	class string
	// setup prepares the server, for a board whose root and folder of scratch
	// files are given.
	setup func(root, scratch string) []sshtest.Option
	// before happens before the run, during when its second launch runs.
	before func(s *sshtest.Server)
	during func(s *sshtest.Server, pid int, scratch string)
	// refused is what is said where the words are the transport's own.
	refused string
}

// wrapped runs a board's commands inside a script.
func wrapped(script string) func(string, string) []sshtest.Option {
	return func(string, string) []sshtest.Option { return []sshtest.Option{sshtest.Wrapped(script)} }
}

// viewed gives the board a file system of its own view; the script has ROOT and
// SCRATCH.
func viewed(script string) func(string, string) []sshtest.Option {
	return func(root, scratch string) []sshtest.Option {
		return []sshtest.Option{sshtest.View(fmt.Sprintf("ROOT='%s' SCRATCH='%s'\n%s", root, scratch, script))}
	}
}

// outOfReach is a network that fails for a while.
func outOfReach(s *sshtest.Server, d time.Duration) {
	s.Refuse(true)
	s.Cut()
	time.Sleep(d) // as a network does
	s.Refuse(false)
}

const (
	firstBoot  = "11111111-1111-4111-8111-111111111111\n"
	secondBoot = "22222222-2222-4222-8222-222222222222\n"
)

var boardFaults = []boardFault{
	{class: "CR at line ends", setup: wrapped(`bash -c "$SSH_ORIGINAL_COMMAND" > >(sed -u 's/$/\r/') 2> >(sed -u 's/$/\r/' >&2); s=$?; wait; exit $s`)},
	{class: "vendor noise in output", setup: wrapped(`echo "WARNING: linker: [vendor]"; echo "ERROR: perf monitor" >&2; bash -c "$SSH_ORIGINAL_COMMAND"; s=$?; echo "bye {"; exit $s`)},
	{class: "link cut at a launch", during: func(s *sshtest.Server, _ int, _ string) { s.Cut() }},
	{class: "link cut in the output", during: func(s *sshtest.Server, _ int, _ string) { s.CutAfter(0, 40) }},
	{class: "link cut in a push", before: func(s *sshtest.Server) { s.CutAfter(9_000_000, 0) }},
	{class: "offline for a while", during: func(s *sshtest.Server, _ int, _ string) { outOfReach(s, 2*time.Second) }},
	{class: "unauthorised", before: func(s *sshtest.Server) { s.Authorize(false) }, refused: "ssh-copy-id"},
	{
		class: "reboot",
		setup: viewed("printf '" + strings.TrimSpace(firstBoot) + "\\n' >$SCRATCH/boot; mount --bind $SCRATCH/boot /proc/sys/kernel/random/boot_id"),
		during: func(s *sshtest.Server, pid int, scratch string) {
			s.Refuse(true)
			s.Cut()
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_ = os.WriteFile(filepath.Join(scratch, "boot"), []byte(secondBoot), 0o644)
			outOfReach(s, time.Second)
		},
	},
	{class: "slow link", before: func(s *sshtest.Server) { s.Slow(20_000_000) }},
	{class: "full disk", setup: viewed("mount -t tmpfs -o size=1m none $ROOT")},
	{class: "low memory", during: func(_ *sshtest.Server, pid int, _ string) { _ = syscall.Kill(pid, syscall.SIGKILL) }},
	{class: "hang for a while", during: func(_ *sshtest.Server, pid int, _ string) {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		time.Sleep(time.Second)
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}},
	{class: "hang for good", during: func(_ *sshtest.Server, pid int, _ string) { _ = syscall.Kill(pid, syscall.SIGSTOP) }},
	{class: "wrong exit status", setup: wrapped(`bash -c "$SSH_ORIGINAL_COMMAND"; exit 1`)},
	{class: "no sensors", setup: viewed("mount -t tmpfs none /sys/class/thermal")},
	{class: "sensors in odd units", setup: viewed(`mount -t tmpfs none /sys/class/thermal
i=0; for t in 46000 46 460 -274000 999999 x ''; do mkdir /sys/class/thermal/thermal_zone$i; echo cpu-$i >/sys/class/thermal/thermal_zone$i/type; echo "$t" >/sys/class/thermal/thermal_zone$i/temp; i=$((i+1)); done`)},
	{class: "adb server gone", during: func(s *sshtest.Server, _ int, _ string) { s.KillClient() }}, // here the process that holds the connection
}

// notOnABoard are the classes that a board on this machine can not have.
var notOnABoard = map[string]string{
	"wrong exit status, old adbd": "OpenSSH has no older way without exit statuses",
	"clock jumps":                 "the board's clock is this machine's",
}

// TestFaultsOfTheBoard holds that the faults of faultClasses come to the same
// over SSH.
func TestFaultsOfTheBoard(t *testing.T) {
	heavy(t)
	defer func(d time.Duration) { launchTimeoutPhone = d }(launchTimeoutPhone)
	launchTimeoutPhone = 40 * time.Second
	root := t.TempDir() // one store for all that do not begin with an empty one
	for _, class := range faultClasses {
		at := slices.IndexFunc(boardFaults, func(f boardFault) bool { return f.class == class.name })
		if (at < 0) != (notOnABoard[class.name] != "") {
			t.Errorf("%s: a board has it, or a reason is given why not", class.name)
		}
		if at >= 0 {
			t.Run(class.name, func(t *testing.T) { boardFaults[at].try(t, class, root) })
		}
	}
}

func (f boardFault) try(t *testing.T, class faultClass, root string) {
	scratch := t.TempDir()
	if class.fresh {
		root = t.TempDir()
	}
	var options []sshtest.Option
	if f.setup != nil {
		options = f.setup(root, scratch)
	}
	s, o := board(t, options...)
	o.Arms, o.Cool, o.Progress = "cpu:threads=1,cpu:threads=1", coolOff, ProgressNone // as shortRun
	if o.Root = root; f.before != nil {
		f.before(s)
	}
	var waiting sync.WaitGroup
	happened := f.during == nil
	o.Recorded = func(bench.Record) {
		if !happened {
			happened = true
			waiting.Go(func() {
				if pid := launchSeen(o.Root); pid > 0 {
					f.during(s, pid, scratch)
				} else {
					t.Error("no launch was seen")
				}
			})
		}
	}
	if class.refused != "" {
		o.Out = t.TempDir()
		want := class.refused
		if f.refused != "" {
			want = f.refused
		}
		if err := ABTest(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
		return
	}
	_, records, _, err := compareHere(t, t.Context(), o)
	waiting.Wait()
	var holes *HolesError
	if class.hole != errors.As(err, &holes) || !class.hole && err != nil {
		t.Fatalf("%v", err)
	}
	attempts := 2
	if class.seen != "" && !class.hole {
		attempts = 3
	}
	if len(records) != attempts {
		t.Fatalf("%d records, %+v", len(records), records)
	}
	if second := records[1]; class.seen != "" && (second.Outcome != class.seen || second.Fault != class.seen.Fault()) {
		t.Errorf("%+v", second)
	}
	if last := records[attempts-1]; last.Seq != records[1].Seq || last.Attempt != attempts-1 || !class.hole && (last.Outcome != bench.OutcomeOK || len(last.Results) != 2) {
		t.Errorf("%+v", last)
	}
	// What the run has ended may take a moment to be gone.
	deadline := time.Now().Add(30 * time.Second)
	for pids := processesOf(o.Root); len(pids) > 0; pids = processesOf(o.Root) {
		if time.Now().After(deadline) {
			t.Fatalf("still running: %v", pids)
		}
	}
	for _, pattern := range []string{"lock*", "store/.tmp-*", "bundles/*.making"} {
		if left, _ := filepath.Glob(filepath.Join(o.Root, hexabFolder, pattern)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// launchSeen waits for a launch from the board's folder and gives its process.
func launchSeen(root string) int {
	for range 100_000 {
		links, _ := filepath.Glob("/proc/[0-9]*/exe")
		for _, link := range links {
			if exe, err := os.Readlink(link); err == nil && strings.HasPrefix(exe, root) && filepath.Base(exe) == "llama-bench" {
				pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
				return pid
			}
		}
	}
	return 0
}
