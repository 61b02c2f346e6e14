package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/device"
)

// shellDevice runs scripts by /bin/sh on a folder of this machine.
type shellDevice struct {
	root, path string
	pushes     []string
	push       func(local, remote string) error // nil: copy
}

func (d *shellDevice) Serial() string { return "shell" }
func (d *shellDevice) Root() string   { return d.root }
func (d *shellDevice) Close() error   { return nil }

func (d *shellDevice) Await(context.Context, time.Duration) error { return nil }
func (d *shellDevice) KillMarked(context.Context, string) error   { return nil }

func (d *shellDevice) Run(ctx context.Context, c device.Command) (device.Exit, error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", c.Script)
	cmd.Stdout, cmd.Stderr = c.Stdout, c.Stderr
	if d.path != "" {
		cmd.Env = append(os.Environ(), "PATH="+d.path+":"+os.Getenv("PATH"))
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return device.Exit{}, err
	}
	return device.Exit{Status: cmd.ProcessState.ExitCode()}, nil
}
func (d *shellDevice) Push(_ context.Context, local, remote string) error {
	d.pushes = append(d.pushes, filepath.Base(local))
	if d.push != nil {
		return d.push(local, remote)
	}
	return copyFile(local, remote)
}
func (d *shellDevice) Pull(_ context.Context, remote, local string) error {
	return copyFile(remote, local)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, in)
	return err
}

func newDevice(t *testing.T) *shellDevice {
	return &shellDevice{root: filepath.Join(t.TempDir(), "it's a root", "hexab")}
}

func bundle(t *testing.T, v bench.Variant, files map[string]string) (bench.Bundle, string) {
	t.Helper()
	dir := t.TempDir()
	b := bench.Bundle{Variant: v}
	for name, text := range files {
		full := filepath.Join(dir, name)
		_ = os.MkdirAll(filepath.Dir(full), 0o755)
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(text))
		b.Files = append(b.Files, bench.File{Path: name, SHA256: hex.EncodeToString(sum[:]), Size: bench.Bytes(len(text))})
	}
	return b, dir
}

var two = map[string]string{"bin/it's a \"bench\"": "bench", "lib/a.so": "aaaa"}

func deployed(t *testing.T, d *shellDevice) (*Target, bench.Bundle, string, string) {
	t.Helper()
	b, local := bundle(t, "cpu", two)
	target := &Target{Device: d}
	dir, _, err := target.Bundle(t.Context(), b, local)
	if err != nil {
		t.Fatal(err)
	}
	return target, b, local, dir
}

func TestSecondSendsNothing(t *testing.T) {
	d := newDevice(t)
	target, b, local, _ := deployed(t, d)
	_, sent, err := target.Bundle(t.Context(), b, local)
	if err != nil || sent != (Sent{}) || len(d.pushes) != 2 {
		t.Fatal(sent, err, d.pushes)
	}
	other, dir := bundle(t, "fastrpc", map[string]string{"lib/a.so": "aaaa", "lib/b.so": "b"})
	if _, sent, err = target.Bundle(t.Context(), other, dir); err != nil || sent != (Sent{1, 1}) {
		t.Fatal(sent, err)
	}
	if err := errors.Join(target.Verify(t.Context(), b), target.Verify(t.Context(), other)); err != nil {
		t.Fatal(err)
	}
}

func TestDamageIsMended(t *testing.T) {
	d := newDevice(t)
	target, b, local, dir := deployed(t, d)
	_ = os.WriteFile(dir+"/lib/a.so", []byte("aaab"), 0o755)
	if target.Verify(t.Context(), b) == nil {
		t.Fatal("not seen")
	}
	if _, sent, err := target.Bundle(t.Context(), b, local); err != nil || sent.Files != 1 {
		t.Fatal(sent, err)
	}
	if err := target.Verify(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// A plug-in that somebody left beside the programs would be loaded.
func TestForeignFileIsSeenAndRemoved(t *testing.T) {
	d := newDevice(t)
	target, b, local, dir := deployed(t, d)
	outside := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(outside, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, make := range []func(string) error{
		func(p string) error { return os.WriteFile(p, []byte("x"), 0o644) },
		func(p string) error { return os.Symlink(outside, p) },
	} {
		if err := make(dir + "/lib/libggml-other.so"); err != nil {
			t.Fatal(err)
		}
		if err := target.Verify(t.Context(), b); err == nil || !strings.Contains(err.Error(), "libggml-other.so") {
			t.Fatalf("not seen: %v", err)
		}
		if _, sent, err := target.Bundle(t.Context(), b, local); err != nil || sent.Files != 0 {
			t.Fatal(sent, err)
		}
		if err := target.Verify(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "x" {
		t.Error("a file outside was touched", err)
	}
}

func TestLockOfAReusedPID(t *testing.T) {
	target := &Target{Device: newDevice(t)}
	old := Self("old")
	if old.Start == 0 {
		t.Skip("no /proc/PID/stat here")
	}
	old.Start-- // this process's number, and an earlier process
	if _, err := target.Lock(t.Context(), old, false); err != nil {
		t.Fatal(err)
	}
	if _, err := target.Lock(t.Context(), Self("new"), false); err != nil {
		t.Errorf("an earlier process of the same number keeps the lock: %v", err)
	}
}

func TestLockOfAnotherHost(t *testing.T) {
	target := &Target{Device: newDevice(t)}
	other := Self("there")
	other.Host = "another"
	if _, err := target.Lock(t.Context(), other, false); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := target.Lock(ctx, Self("here"), true)
	var locked *LockedError
	if !errors.As(err, &locked) || ctx.Err() != nil || !strings.Contains(err.Error(), "rm -r "+target.path("lock")) {
		t.Errorf("%v", err)
	}
}

func TestNothingToSendOnAFullDevice(t *testing.T) {
	d := newDevice(t)
	target, b, local, _ := deployed(t, d)
	d.path = t.TempDir()
	_ = os.WriteFile(d.path+"/df", []byte("#!/bin/sh\necho Filesystem\necho /dev/x 100 99 1 99% /\n"), 0o755)
	if _, _, err := target.Bundle(t.Context(), b, local); err != nil {
		t.Errorf("nothing is to be sent, yet: %v", err)
	}
}

func TestAlwaysDamaged(t *testing.T) {
	d := newDevice(t)
	d.push = func(_, remote string) error { return os.WriteFile(remote, []byte("zzzzz"), 0o644) }
	b, local := bundle(t, "cpu", two)
	_, _, err := (&Target{Device: d}).Bundle(t.Context(), b, local)
	var known *device.Error
	if !errors.As(err, &known) || known.Fault != bench.FaultInfrastructure {
		t.Errorf("damaged twice carries no fault infrastructure: %T %v", err, err)
	}
	if len(d.pushes) != 2 {
		t.Errorf("pushes %v", d.pushes)
	}
}

func TestHolderlessLockDoesNotHangForever(t *testing.T) {
	d := newDevice(t)
	_ = os.MkdirAll(d.root+"/lock", 0o755) // a run that died between mkdir and the holder file
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := (&Target{Device: d}).Lock(ctx, Self("r"), true)
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waits without end: %v", err)
	}
}

func TestDeadHolderIsTakenOver(t *testing.T) {
	d := newDevice(t)
	target := &Target{Device: d}
	c := exec.Command("true")
	_ = c.Run()
	gone := Self("old")
	gone.PID = c.Process.Pid
	if _, err := target.Lock(t.Context(), gone, false); err != nil {
		t.Fatal(err)
	}
	release, err := target.Lock(t.Context(), Self("new"), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := target.Lock(t.Context(), Self("third"), false); err == nil {
		t.Fatal("two holders")
	}
	release()
	if _, err := target.Lock(t.Context(), Self("fourth"), false); err != nil {
		t.Fatal(err)
	}
	empty := newDevice(t)
	gone.Run = ""
	target = &Target{Device: empty}
	if _, err := target.Lock(t.Context(), gone, false); err != nil {
		t.Fatal(err)
	}
	if _, err := target.Lock(t.Context(), Self("x"), false); err != nil {
		t.Errorf("a dead holder without a run name is not taken over: %v", err)
	}
}

// Of many runs that find a dead holder at the same time, one gets the lock.
func TestDeadHolderIsTakenOverByOne(t *testing.T) {
	d := newDevice(t)
	c := exec.Command("true")
	_ = c.Run()
	gone := Self("old")
	gone.PID = c.Process.Pid
	if _, err := (&Target{Device: d}).Lock(t.Context(), gone, false); err != nil {
		t.Fatal(err)
	}
	// A take-over that died half-way is in the way of none.
	_ = os.MkdirAll(d.root+"/lock.taking", 0o755)
	_ = os.WriteFile(d.root+"/lock.taking/pid", []byte(fmt.Sprint(gone.PID)), 0o644)
	var wait sync.WaitGroup
	var holders atomic.Int32
	for i := range 8 {
		wait.Go(func() {
			_, err := (&Target{Device: d}).Lock(t.Context(), Self(fmt.Sprintf("run-%d", i)), false)
			var locked *LockedError
			if err == nil {
				holders.Add(1)
			} else if !errors.As(err, &locked) || !strings.Contains(err.Error(), "run-") {
				t.Errorf("%v", err)
			}
		})
	}
	wait.Wait()
	if holders.Load() != 1 {
		t.Errorf("%d runs hold the lock", holders.Load())
	}
}

func TestHugeOutput(t *testing.T) {
	d := newDevice(t)
	d.path = t.TempDir()
	target, b, local, _ := deployed(t, d)
	_ = os.WriteFile(d.path+"/df", []byte("#!/bin/sh\nhead -c 6000000 /dev/zero | tr '\\0' x; echo\n"), 0o755)
	if _, sent, err := target.Bundle(t.Context(), b, local); err == nil || sent.Files > 0 || !strings.Contains(err.Error(), "4.0 MiB") {
		t.Errorf("an answer that was cut is read: %d files sent, %v", sent.Files, err)
	}
}
