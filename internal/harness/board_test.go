package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/device"
	"hexab/internal/ssh/sshtest"
)

// board starts an sshd on this machine and makes it the board.
func board(t *testing.T) (*sshtest.Server, Options) {
	t.Helper()
	s := sshtest.Start(t)
	before := sshOptions
	sshOptions = s.Client().Options
	t.Cleanup(func() { sshOptions = before })
	return s, Options{
		Arms: "cpu,cpu", Models: "minicpm5-1b", Rounds: 1, Seed: "5", Tests: "pp16,tg4",
		Device: "ssh:" + s.Target().String(), Root: t.TempDir(), StandIns: true,
	}
}

func TestComparisonOverSSH(t *testing.T) {
	heavy(t)
	_, o := board(t)
	run, records, dir, err := compareHere(t, t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	d := run.Device
	if len(records) != 2 || d.Kind != "ssh" || d.Simulated || d.Properties["linux"] == "" || d.Properties["kernel"] == "" || !run.Models[0].StandIn {
		t.Errorf("%d records, %+v", len(records), run)
	}
	for _, want := range []string{"-device=" + o.Device, "-standIns", "-root=" + o.Root} {
		if !strings.Contains(run.Command, want) {
			t.Errorf("%s is not in %s", want, run.Command)
		}
	}
	for _, r := range records {
		if r.Outcome != bench.OutcomeOK || len(r.Results) != 2 || r.OtherCPUShare == nil {
			t.Errorf("launch %d: %+v", r.Seq, r)
		}
	}
	table, err := os.ReadFile(filepath.Join(dir, "table.md"))
	if err != nil || !strings.Contains(string(table), "stand-in") {
		t.Errorf("%v: %s", err, table)
	}
	// All is below the root that was named, and a second run sends nothing.
	if entries, err := os.ReadDir(o.Root); err != nil || len(entries) != 1 || entries[0].Name() != hexabFolder {
		t.Errorf("%v, %v", entries, err)
	}
}

// The faults of a board, or of the way to it, each met by the second launch.
// What comes of them is what comes of the same over adb: see faultClasses.
func TestFaultsOfTheBoard(t *testing.T) {
	heavy(t)
	defer func(d time.Duration) { launchTimeoutPhone = d }(launchTimeoutPhone)
	launchTimeoutPhone = 30 * time.Second
	s, o := board(t)
	for _, class := range []struct {
		name   string
		happen func(s *sshtest.Server, pid int)
		// seen is how the attempt ended; empty for one that goes well all the same.
		seen bench.Outcome
		hole bool
	}{
		{"connection cut", func(s *sshtest.Server, _ int) { s.Cut() }, bench.OutcomeTransportLost, false},
		{"out of reach for a while", func(s *sshtest.Server, _ int) {
			s.Refuse(true)
			s.Cut()
			time.Sleep(2 * time.Second) // as a network does
			s.Refuse(false)
		}, bench.OutcomeTransportLost, false},
		{"killed", func(_ *sshtest.Server, pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }, bench.OutcomeKilled, false},
		{"hang for a while", func(_ *sshtest.Server, pid int) {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			time.Sleep(time.Second)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}, "", false},
		{"hang for good", func(_ *sshtest.Server, pid int) { _ = syscall.Kill(pid, syscall.SIGSTOP) }, bench.OutcomeTimeout, true},
	} {
		t.Run(class.name, func(t *testing.T) {
			var waiting sync.WaitGroup
			happened, o := false, o // one store for all
			o.Recorded = func(bench.Record) {
				if !happened {
					happened = true
					waiting.Go(func() {
						if pid := launchSeen(o.Root); pid > 0 {
							class.happen(s, pid)
						} else {
							t.Error("no launch was seen")
						}
					})
				}
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
			if last := records[attempts-1]; last.Seq != records[1].Seq || last.Attempt != attempts-1 || !class.hole && last.Outcome != bench.OutcomeOK {
				t.Errorf("%+v", last)
			}
			if pids := processesOf(o.Root); len(pids) > 0 {
				t.Errorf("still running: %v", pids)
			}
			if left, _ := filepath.Glob(filepath.Join(o.Root, hexabFolder, "lock*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
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

func TestBoardsThatAreNotReached(t *testing.T) {
	s, o := board(t)
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(){
		"sign-in refused":  func() { s.Authorize(false) },
		"host key changed": func() { s.Known(s.OtherKey()) },
	} {
		spoil()
		_, err := w.openTarget(t.Context(), o.Device, wants{})
		if err == nil || ExitStatus(err) != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		s.Authorize(true)
		s.TrustHost()
	}
	if _, err := w.openTarget(t.Context(), "ssh:-oProxyCommand=x", wants{}); ExitStatus(err) != 2 {
		t.Errorf("an option as a host: %v", err)
	}
	if err := ABTest(t.Context(), Options{Root: "/"}); ExitStatus(err) != 2 {
		t.Errorf("the root of all: %v", err)
	}
}

func TestPlatformOfADevice(t *testing.T) {
	for _, c := range []struct {
		info     device.Info
		embedded bool
		want     bench.Platform
	}{
		{device.Info{ABI: "arm64-v8a", Android: "15"}, false, bench.AndroidArm64},
		{device.Info{ABI: "aarch64", Linux: "Ubuntu"}, false, bench.LinuxArm64},
		{device.Info{ABI: "x86_64", Android: "15"}, true, bench.Sim},
		{device.Info{ABI: "arm64-v8a", Android: "15", Interpreter: []string{"qemu-aarch64"}}, true, bench.LinuxArm64},
		{device.Info{ABI: "armeabi-v7a", Android: "9"}, false, ""},
		{device.Info{ABI: "x86_64", Android: "15"}, false, ""},
	} {
		one := &target{info: c.info, embedded: c.embedded, Device: named("serial")}
		if got, err := one.platform(); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %s, %v", c.info, got, err)
		}
	}
}

// named is a device of which only the name is asked for.
type namedDevice struct {
	device.Device
	serial string
}

func named(serial string) device.Device { return namedDevice{serial: serial} }
func (d namedDevice) Serial() string    { return d.serial }

func TestSkelsAreChecked(t *testing.T) {
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{w: w, target: &target{Device: named("x"), info: device.Info{SoC: "SM8850", Hexagon: 81}}}
	b := build.Bundle{}
	for _, name := range []string{"libggml-htp-v73.so", "libggml-htp-v79.so"} {
		b.Files = append(b.Files, bench.File{Path: name})
	}
	if err := s.checkSkels(map[origin]build.Bundle{{variant: bench.CPU}: {}}); err != nil {
		t.Error(err)
	}
	if err := s.checkSkels(map[origin]build.Bundle{{variant: bench.DSPQueue}: b}); err == nil || !strings.Contains(err.Error(), "has no libggml-htp-v81.so") {
		t.Errorf("%v", err)
	}
}
