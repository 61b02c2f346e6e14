package adb_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hexab/internal/adb"
	"hexab/internal/bench"
	"hexab/internal/phone"
	"hexab/internal/shell"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig starts an adb server and an embedded phone, and connects them.
func rig(t *testing.T, profile string) (*adb.Client, *adb.Device, *phone.Phone) {
	t.Helper()
	client, p := unconnected(t, profile)
	if err := client.Connect(t.Context(), p.Addr()); err != nil {
		t.Fatal(err)
	}
	return client, client.Device(p.Serial()), p
}

func unconnected(t *testing.T, profile string) (*adb.Client, *phone.Phone) {
	t.Helper()
	if _, err := exec.LookPath("adb"); err != nil {
		t.Skip("adb is not installed")
	}
	home := t.TempDir()
	server, err := phone.StartServer(t.Context(), phone.ServerConfig{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	p, err := phone.Start(t.Context(), phone.Config{Dir: t.TempDir(), Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return &adb.Client{Path: server.Program(), ServerPort: server.Port(), Home: home}, p
}

func TestShell(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"cool", "old", "cool+cr", "old+cr", "cool+exit:code=0,nth=1,program=*"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			_, d, _ := rig(t, profile)
			for _, test := range []struct {
				script, out, err string
				status           int
			}{
				{"echo out; echo problem >&2; exit 7", "out\n", "problem\n", 7},
				{"printf 'no newline'; printf 'nor here' >&2", "no newline\n", "nor here\n", 0},
				{"kill -9 $$", "", "", 137},
				{"if; then", "", "", 2},
				{"sh -c 'kill -SEGV $$'", "", "", 139},
				{"cat; echo end of input", "end of input\n", "", 0},
				{"printf 'a\\n\\n\\n'", "a\n\n\n", "", 0},
				{"echo " + shell.Join("it's", "$HOME", "a  b", `back\slash`), `it's $HOME a  b back\slash` + "\n", "", 0},
				{"cd /data/local/tmp && pwd # a comment", "/data/local/tmp\n", "", 0},
			} {
				var lines []string
				output, err := d.Shell(t.Context(), test.script, adb.ShellOptions{Account: true, OnStdout: func(line string) { lines = append(lines, line) }})
				if err != nil {
					t.Errorf("%s: %v", test.script, err)
					continue
				}
				stderr := output.Stderr
				if test.status > 128 || test.status == 2 {
					stderr = "" // the shell says so in its own words
				}
				if output.Stdout != test.out || stderr != test.err || output.Status != test.status {
					t.Errorf("%s: %q %q %d", test.script, output.Stdout, output.Stderr, output.Status)
				}
				if got := strings.Join(append(lines, ""), "\n"); got != test.out {
					t.Errorf("%s: lines %q", test.script, lines)
				}
				if output.CPU == nil {
					t.Errorf("%s: no accounting", test.script)
				}
			}
		})
	}
}

func TestShellEnvAndLimits(t *testing.T) {
	t.Parallel()
	_, d, _ := rig(t, "cool")
	output, err := d.Shell(t.Context(), `echo "$GGML_A|$B"`, adb.ShellOptions{Env: map[string]string{"GGML_A": "it's $x", "B": ""}})
	if err != nil || output.Stdout != "it's $x|\n" {
		t.Error(output, err)
	}
	if _, err := d.Shell(t.Context(), "true", adb.ShellOptions{Env: map[string]string{"A;B": ""}}); err == nil {
		t.Error("a bad name was taken")
	}
	if _, err := d.Shell(t.Context(), "echo \x00", adb.ShellOptions{}); err == nil {
		t.Error("NUL was taken")
	}
	count := 0
	output, err = d.Shell(t.Context(), `i=0; while [ $i -lt 1000 ]; do echo "line $i"; i=$((i+1)); done`, adb.ShellOptions{Keep: 100, OnStdout: func(string) { count++ }})
	if err != nil || !output.Truncated || len(output.Stdout) > 100 || count != 1000 {
		t.Error(err, output.Truncated, len(output.Stdout), count)
	}
	// The CPU time of the command's children is accounted for.
	output, err = d.Shell(t.Context(), `sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'`, adb.ShellOptions{Account: true})
	if err != nil || output.CPU == nil || output.CPU.Own <= 0 || output.CPU.After.Busy <= output.CPU.Before.Busy {
		t.Errorf("%v %+v", err, output.CPU)
	}
	if _, err = d.Sh(t.Context(), "look", "cat /data/nothing"); adb.KindOf(err) != adb.KindNoFile {
		t.Error(err)
	}
}

// left lists processes of this machine whose command line holds the word.
func left(t *testing.T, word string) []string {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(word)) {
			list = append(list, name+" "+string(bytes.ReplaceAll(text, []byte{0}, []byte(" "))))
		}
	}
	return list
}

func TestShellCancel(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"cool", "old"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			_, d, p := rig(t, profile)
			word := fmt.Sprintf("98765%d.%d", len(profile), os.Getpid()) // an argument to be found again
			for name, script := range map[string]string{
				"plain":       "echo ready; sleep " + word,
				"descendants": "sh -c 'sleep " + word + " & sleep " + word + "' & echo ready; wait",
				"stubborn":    "trap '' TERM HUP INT; echo ready; sh -c 'while :; do sleep 0.01; done' x" + word,
				"own session": "setsid sleep " + word + " & echo ready; wait",
			} {
				ctx, cancel := context.WithCancelCause(t.Context())
				cause := errors.New("interrupted by the user")
				output, err := d.Shell(ctx, script, adb.ShellOptions{OnStdout: func(line string) {
					if line == "ready" {
						cancel(cause)
					}
				}})
				cancel(nil)
				if adb.KindOf(err) != adb.KindCanceled || !errors.Is(err, cause) || output.Stdout != "ready\n" {
					t.Errorf("%s: %v %q", name, err, output.Stdout)
				}
				if list := left(t, word); len(list) > 0 {
					t.Errorf("%s: left: %v", name, list)
				}
				if names, _ := filepath.Glob(filepath.Join(p.Dir(), "data/local/tmp", ".hexab-*")); len(names) > 0 {
					t.Errorf("%s: files left %v", name, names)
				}
			}
		})
	}
}

// A device that goes away never reads as success.
func TestShellLost(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"cool", "old"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			_, d, p := rig(t, profile)
			output, err := d.Shell(t.Context(), "echo ready; sleep 30", adb.ShellOptions{OnStdout: func(string) { p.Drop() }})
			var e *adb.Error
			if !errors.As(err, &e) || e.Kind != adb.KindLost || e.Fault() != bench.FaultInfrastructure || !e.Retryable() || output.Status == 0 {
				t.Fatalf("%v %+v", err, output)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := d.WaitReady(ctx, 20*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if output, err := d.Shell(t.Context(), "echo back", adb.ShellOptions{}); err != nil || output.Stdout != "back\n" {
				t.Fatal(output, err)
			}
		})
	}
}

func TestShellKilled(t *testing.T) {
	t.Parallel()
	_, d, _ := rig(t, "cool")
	output, err := d.Shell(t.Context(), "echo last words >&2; kill -9 $PPID", adb.ShellOptions{})
	var e *adb.Error
	if !errors.As(err, &e) || e.Kind != adb.KindKilled || output.Status != -1 || !strings.Contains(strings.Join(e.Evidence, "|"), "last words") {
		t.Fatal(err)
	}
}

func TestDeviceErrors(t *testing.T) {
	t.Parallel()
	client, d, _ := rig(t, "cool")
	_, err := client.Device("NOSUCH").Shell(t.Context(), "true", adb.ShellOptions{})
	if adb.KindOf(err) != adb.KindNotFound || !strings.Contains(err.Error(), "present are "+d.Serial()) {
		t.Error(err)
	}
	if _, err := client.Device("NOSUCH").State(t.Context()); adb.KindOf(err) != adb.KindNotFound {
		t.Error(err)
	}
	list, err := client.Devices(t.Context())
	if err != nil || len(list) != 1 || list[0].Serial != d.Serial() || list[0].State != adb.StateDevice || list[0].Model == "" {
		t.Errorf("%v %+v", err, list)
	}
	if err := client.Connect(t.Context(), "127.0.0.1:1"); adb.KindOf(err) != adb.KindConnect {
		t.Error(err)
	}
}

func TestUnauthorized(t *testing.T) {
	t.Parallel()
	client, p := unconnected(t, "cool+unauthorized")
	err := client.Connect(t.Context(), p.Addr())
	if err == nil {
		_, err = client.Device(p.Serial()).Shell(t.Context(), "true", adb.ShellOptions{})
	}
	if adb.KindOf(err) != adb.KindUnauthorized || !strings.Contains(err.Error(), "tap Allow") {
		t.Fatal(err)
	}
}

func sum(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:])
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"cool", "old"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			_, d, p := rig(t, profile)
			folder := t.TempDir()
			content := bytes.Repeat([]byte("0123456789\r\n\x00\xff"), 100000)
			local := filepath.Join(folder, "it's a file")
			if err := os.WriteFile(local, content, 0o644); err != nil {
				t.Fatal(err)
			}
			const remote = "/data/local/tmp/the file's name"
			if err := d.Push(t.Context(), local, remote, sum(content), func(int64) {}); err != nil {
				t.Fatal(err)
			}
			back := filepath.Join(folder, "back")
			if err := d.Pull(t.Context(), remote, back); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(back); err != nil || !bytes.Equal(got, content) {
				t.Fatal(err)
			}
			// A local file that is not what it should be never gets the name.
			err := d.Push(t.Context(), local, "/data/local/tmp/bad", sum([]byte("other")), nil)
			if err == nil || !strings.Contains(err.Error(), "not what it should be") {
				t.Error(err)
			}
			if err := d.Push(t.Context(), local, "/nowhere/bad", sum(content), nil); err == nil {
				t.Error("pushed to nowhere")
			}
			if err := d.Pull(t.Context(), "/data/local/tmp/bad", back); adb.KindOf(err) != adb.KindNoFile {
				t.Error(err)
			}
			entries, err := os.ReadDir(filepath.Join(p.Dir(), "data/local/tmp"))
			if err != nil || len(entries) != 1 {
				t.Error(err, entries)
			}
		})
	}
}

func TestPushInterrupted(t *testing.T) {
	t.Parallel()
	for profile, kind := range map[string]adb.Kind{
		"cool+drop:after=push,bytes=1000000": adb.KindLost,
		"cool+full:free=1000000":             adb.KindNoSpace,
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			_, d, p := rig(t, profile)
			content := bytes.Repeat([]byte("x"), 3<<20)
			local := filepath.Join(t.TempDir(), "big")
			if err := os.WriteFile(local, content, 0o644); err != nil {
				t.Fatal(err)
			}
			err := d.Push(t.Context(), local, "/data/local/tmp/big", sum(content), nil)
			if adb.KindOf(err) != kind {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(p.Dir(), "data/local/tmp/big")); err == nil {
				t.Error("part of a file has its name")
			}
		})
	}
}

func TestConcurrentShells(t *testing.T) {
	t.Parallel()
	_, d, _ := rig(t, "cool+noise:share=0.3")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			output, err := d.Shell(t.Context(), fmt.Sprintf("echo tag %d; exit %d", i, i), adb.ShellOptions{})
			if err != nil || output.Status != i || !strings.Contains(output.Stdout, fmt.Sprintf("tag %d\n", i)) {
				t.Errorf("%d: %v %+v", i, err, output)
			}
		})
	}
	all.Wait()
}

func TestKillMarked(t *testing.T) {
	t.Parallel()
	_, d, _ := rig(t, "cool")
	word := fmt.Sprintf("HEXAB_LAUNCH=test-%d", os.Getpid())
	done := make(chan error, 1)
	started := make(chan bool)
	go func() {
		_, err := d.Shell(t.Context(), "echo ready; exec sleep 97531", adb.ShellOptions{
			Env:      map[string]string{"HEXAB_LAUNCH": strings.TrimPrefix(word, "HEXAB_LAUNCH=")},
			OnStdout: func(string) { close(started) },
		})
		done <- err
	}()
	<-started
	if err := d.KillMarked(t.Context(), strings.TrimPrefix(word, "HEXAB_LAUNCH=")); err != nil {
		t.Error(err)
	}
	<-done
	if list := left(t, "97531"); len(list) > 0 {
		t.Error(list)
	}
	if err := d.KillMarked(t.Context(), "a"); err == nil {
		t.Error("a word that matches everything was taken")
	}
}
