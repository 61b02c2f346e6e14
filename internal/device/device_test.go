package device_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hexab/internal/adb"
	"hexab/internal/bench"
	"hexab/internal/device"
	"hexab/internal/phone"
	"hexab/internal/ssh/sshtest"
)

// open starts an embedded phone of a profile behind an adb server of its own.
func open(t *testing.T, profile string) (device.Device, *phone.Phone) {
	t.Helper()
	if _, err := exec.LookPath("adb"); err != nil {
		t.Skip("adb is not installed")
	}
	ctx := t.Context()
	server, err := phone.StartServer(ctx, phone.ServerConfig{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	p, err := phone.Start(ctx, phone.Config{Dir: t.TempDir(), Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if err := server.Connect(ctx, p); err != nil {
		t.Fatal(err)
	}
	client := &adb.Client{Path: server.Program(), ServerPort: server.Port(), Env: server.Environ()}
	d, err := device.OverADB(ctx, client, p.Serial(), "/data/local/tmp/hexab")
	if err != nil {
		t.Fatal(err)
	}
	return d, p
}

// overSSH connects to an sshd of the test's own on this machine.
func overSSH(t *testing.T) (device.Device, *sshtest.Server) {
	t.Helper()
	s := sshtest.Start(t)
	d, err := device.OverSSH(t.Context(), s.Client(), s.Target(), filepath.Join(t.TempDir(), "hexab"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, s
}

func run(t *testing.T, d device.Device, script string) (stdout, stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	exit, failure := d.Run(t.Context(), device.Command{Script: script, Stdout: &out, Stderr: &err})
	if failure != nil {
		t.Fatal(failure)
	}
	return out.String(), err.String(), exit.Status
}

func TestRun(t *testing.T) {
	for _, profile := range []string{"cool", "old", "cool+cr", "ssh"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			var d device.Device
			if profile == "ssh" {
				d, _ = overSSH(t)
			} else {
				d, _ = open(t, profile)
			}
			for _, test := range []struct {
				script, stdout, stderr string
				status                 int
			}{
				{"true", "", "", 0},
				{"echo out; echo err >&2; exit 7", "out\n", "err\n", 7},
				{"printf 'no newline'", "no newline\n", "", 0},
				{"exec kill -KILL $$", "", "", 137},
				{"echo \"it's $HOME\" | tr -d '\\n' | wc -l | tr -d ' '", "0\n", "", 0},
				{"cat", "", "", 0},
				{": " + strings.Repeat("long ", 2000) + "; echo out; exit 5", "out\n", "", 5},
			} {
				stdout, stderr, status := run(t, d, test.script)
				stderr = strings.TrimSuffix(strings.ReplaceAll(stderr, "\r", ""), "Killed\n") // the shell says so
				if stdout != test.stdout || stderr != test.stderr || status != test.status {
					t.Errorf("%s: %q, %q, %d", test.script, stdout, stderr, status)
				}
			}
		})
	}
}

func TestStoppedCommandsLeaveNothing(t *testing.T) {
	d, _ := open(t, "cool")
	ctx, cancel := context.WithCancel(t.Context())
	started, out := io.Pipe()
	go func() {
		_, _ = io.ReadFull(started, make([]byte, 6))
		cancel()
		_, _ = io.Copy(io.Discard, started)
	}()
	_, err := d.Run(ctx, device.Command{Script: "trap '' TERM HUP; sleep 31.4159 & echo start; sleep 31.4159; wait", Stdout: out})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if stdout, _, _ := run(t, d, "ps -ef | grep '[3]1.4159'"); stdout != "" {
		t.Errorf("still running: %s", stdout)
	}
}

func TestALostBoardIsNoSuccess(t *testing.T) {
	d, s := overSSH(t)
	r, w := io.Pipe()
	go func() {
		_, _ = io.ReadFull(r, make([]byte, 6))
		s.Cut()
		_, _ = io.Copy(io.Discard, r)
	}()
	_, err := d.Run(t.Context(), device.Command{Script: "echo start; sleep 60", Stdout: w})
	var fault *device.Error
	if !errors.As(err, &fault) || fault.Fault == bench.FaultVariant || fault.Outcome != bench.OutcomeTransportLost || !fault.Retry {
		t.Fatalf("%v", err)
	}
	if out, _, _ := run(t, d, "echo again"); out != "again\n" { // it connects anew
		t.Errorf("%q", out)
	}
	info, err := device.ReadInfo(t.Context(), d)
	if err != nil || info.Embedded || info.ABI == "" || info.Kernel == "" || info.Linux == "" || info.Cores < 1 {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestBoardsThatAreNotReached(t *testing.T) {
	s := sshtest.Start(t)
	s.Known(s.OtherKey())
	_, err := device.OverSSH(t.Context(), s.Client(), s.Target(), "")
	var fault *device.Error
	if !errors.As(err, &fault) || fault.Fault != bench.FaultInfrastructure || fault.Retry || !strings.Contains(err.Error(), "host key changed") {
		t.Errorf("%v", err)
	}
}

func TestALostPhoneIsNoSuccess(t *testing.T) {
	d, p := open(t, "cool")
	r, w := io.Pipe()
	go func() {
		_, _ = io.ReadFull(r, make([]byte, 6))
		p.Offline(time.Hour)
		_, _ = io.Copy(io.Discard, r)
	}()
	_, err := d.Run(t.Context(), device.Command{Script: "echo start; sleep 60", Stdout: w})
	var fault *device.Error
	if !errors.As(err, &fault) || fault.Fault == bench.FaultVariant || fault.Outcome != bench.OutcomeTransportLost {
		t.Fatalf("%v", err)
	}
}

func TestPushAndPull(t *testing.T) {
	t.Run("adb", func(t *testing.T) {
		d, _ := open(t, "cool")
		pushAndPull(t, d)
	})
	t.Run("ssh", func(t *testing.T) {
		d, _ := overSSH(t)
		pushAndPull(t, d)
	})
}

func pushAndPull(t *testing.T, d device.Device) {
	local := filepath.Join(t.TempDir(), "it's a file")
	if err := os.WriteFile(local, bytes.Repeat([]byte("hexab"), 1<<17), 0o644); err != nil {
		t.Fatal(err)
	}
	remote := d.Root() + "/it's a file"
	if err := d.Push(t.Context(), local, remote); err != nil {
		t.Fatal(err)
	}
	back := filepath.Join(t.TempDir(), "back")
	if err := d.Pull(t.Context(), remote, back); err != nil {
		t.Fatal(err)
	}
	sent, _ := os.ReadFile(local)
	if got, _ := os.ReadFile(back); !bytes.Equal(sent, got) {
		t.Error("the file came back changed")
	}
}

func TestInfoAndSensors(t *testing.T) {
	d, _ := open(t, "cool")
	info, err := device.ReadInfo(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if !info.Embedded || info.Cores < 1 || info.BigCores < 1 || info.BootID == "" || info.MemoryTotal == 0 || info.Model == "" {
		t.Errorf("%+v", info)
	}
	r, err := device.ReadSensors(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if _, known := device.Hottest(r.Sensors); !known || r.ThermalStatus == nil || r.BatteryPercent == nil || r.BatteryTemperature == nil || r.CPU == nil || r.MemoryAvailable == nil || r.BootID != info.BootID {
		t.Errorf("%+v", r)
	}
	blind, _ := open(t, "cool+nosensors")
	if r, err = device.ReadSensors(t.Context(), blind); err != nil {
		t.Fatal(err)
	}
	if hottest, known := device.Hottest(r.Sensors); known {
		t.Errorf("a phone without sensors is at %v", hottest)
	}
}

func TestFixedPerformance(t *testing.T) {
	d, p := open(t, "cool")
	for _, on := range []bool{true, false} {
		if offered, err := device.SetFixedPerformance(t.Context(), d, on); err != nil || !offered || p.FixedPerformanceMode() != on {
			t.Errorf("%v: offered %v, %v, the phone says %v", on, offered, err, p.FixedPerformanceMode())
		}
	}
}

func TestCanary(t *testing.T) {
	d, _ := open(t, "cool")
	c, err := device.RunCanary(t.Context(), d)
	if err != nil || c.Took <= 0 || c.OtherCPUShare == nil {
		t.Errorf("%+v, %v", c, err)
	}
}

// Other work on the phone's processors is seen beside the canary.
func TestCanaryBesideOthers(t *testing.T) {
	d, _ := open(t, "cool")
	var stop atomic.Bool
	var others sync.WaitGroup
	defer others.Wait()
	defer stop.Store(true)
	for range 2 * runtime.NumCPU() {
		others.Go(func() {
			for !stop.Load() {
			}
		})
	}
	c, err := device.RunCanary(t.Context(), d)
	if err != nil || c.OtherCPUShare == nil || *c.OtherCPUShare < 0.15 {
		t.Errorf("%+v, %v", c, err)
	}
}

// Telemetry comes while a command runs, from the phone's own sensors, and the
// command's end is its own.
func TestWatchedOnThePhone(t *testing.T) {
	for _, profile := range []string{"cool", "old", "cool+nosensors", "cool+cr"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			d, _ := open(t, profile)
			var samples []device.Sample
			var rest bytes.Buffer
			w := device.NewTelemetry(&rest, func(s device.Sample) { samples = append(samples, s) })
			exit, err := d.Run(t.Context(), device.Command{Script: device.Watched("(sleep 1.5; echo done >&2; exit 9)"), Stderr: w})
			if err != nil || w.Close() != nil || exit.Status != 9 {
				t.Fatalf("%+v, %v", exit, err)
			}
			if strings.TrimSpace(rest.String()) != "done" || len(samples) == 0 {
				t.Fatalf("%d samples, stderr %q", len(samples), rest.String())
			}
			s := samples[0]
			if _, known := device.Hottest(s.Sensors); known == strings.Contains(profile, "nosensors") {
				t.Errorf("%+v", s)
			}
			if s.MemoryAvailable == nil || len(s.Limits) == 0 || len(s.Frequencies) == 0 {
				t.Errorf("%+v", s)
			}
			if stdout, _, _ := run(t, d, "ps -ef | grep '[h]exab-telemetry head'"); stdout != "" {
				t.Errorf("still running: %s", stdout)
			}
		})
	}
}
