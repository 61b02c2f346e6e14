package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/device"
	"hexab/internal/ssh/sshtest"
)

// board starts an sshd on this machine and makes it the board.
func board(t *testing.T, options ...sshtest.Option) (*sshtest.Server, Options) {
	t.Helper()
	s := sshtest.Start(t, options...)
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
	for _, all := range []bool{false, true} { // what is in use stays, then all goes
		if err := Prune(t.Context(), PruneOptions{Device: o.Device, Root: o.Root, All: all}); err != nil {
			t.Fatal(err)
		}
		if kept, _ := filepath.Glob(filepath.Join(o.Root, hexabFolder, "store", "*")); (len(kept) == 0) != all {
			t.Errorf("pruned with all=%v: %d files are left", all, len(kept))
		}
	}
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
