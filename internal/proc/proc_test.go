package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sh(script string) Command { return Command{Path: "sh", Args: []string{"-c", script}} }

func TestRunEnds(t *testing.T) {
	for _, test := range []struct {
		script string
		code   int
		signal syscall.Signal
		text   string
	}{
		{"exit 0", 0, 0, ""},
		{"echo out; echo first >&2; echo why >&2; exit 7", 7, 0, "exit status 7: why"},
		{"echo only; exit 255", 255, 0, "exit status 255: only"},
		{"kill -SEGV $$", -1, syscall.SIGSEGV, "ended by signal 11 (SIGSEGV)"},
		{"kill -KILL $$", -1, syscall.SIGKILL, "ended by signal 9 (SIGKILL)"},
	} {
		result, err := Run(t.Context(), sh(test.script))
		if result.ExitCode != test.code || result.Signal != test.signal {
			t.Errorf("%s: code %d signal %v", test.script, result.ExitCode, result.Signal)
		}
		if (err == nil) != (test.text == "") || err != nil && !strings.HasSuffix(err.Error(), test.text) {
			t.Errorf("%s: error %v, want ...%s", test.script, err, test.text)
		}
		var failed *Error
		if err != nil && !errors.As(err, &failed) {
			t.Errorf("%s: %T", test.script, err)
		}
	}
}

func TestRunStreams(t *testing.T) {
	var out, errs bytes.Buffer
	c := sh("cat; echo problem >&2; pwd; echo $NAME")
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader("given\n"), &out, &errs
	c.Dir, c.Env = "/", []string{"NAME=a", "NAME=b", "PATH=" + os.Getenv("PATH")}
	result, err := Run(t.Context(), c)
	if err != nil || out.String() != "given\n/\nb\n" || errs.String() != "problem\n" {
		t.Fatalf("%v %q %q", err, out.String(), errs.String())
	}
	if result.Stdout.String() != out.String() || result.Stderr.String() != errs.String() {
		t.Fatalf("excerpts %q %q", result.Stdout, result.Stderr)
	}
	// No stdin is an empty one.
	if result, err = Run(t.Context(), sh("cat; echo end")); err != nil || result.Stdout.String() != "end\n" {
		t.Fatalf("%v %q", err, result.Stdout)
	}
	// Both streams into one writer, which is not safe for concurrent use.
	out.Reset()
	c = sh("for i in 1 2 3 4 5 6 7 8 9; do echo o; echo e >&2; done")
	c.Stdout, c.Stderr = &out, &out
	if _, err = Run(t.Context(), c); err != nil || out.Len() != 36 {
		t.Fatalf("%v %q", err, out.String())
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestRunWriterFails(t *testing.T) {
	c := sh("echo x")
	c.Stdout = failingWriter{}
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Fatal(err)
	}
}

func TestRunNotStarted(t *testing.T) {
	if _, err := Run(t.Context(), Command{Path: "no-such-program-here"}); !errors.Is(err, exec.ErrNotFound) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("interrupted")
	cancel(cause)
	if _, err := Run(ctx, sh("exit 0")); !errors.Is(err, cause) {
		t.Fatal(err)
	}
}

// alive tells whether a process runs; a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// pids runs a script that prints process ids, and cancels it once it has
// printed "ready".
func pids(t *testing.T, script string, grace time.Duration) ([]int, Result, error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var found []int
	c := sh(script)
	c.Grace = grace
	c.Stdout = NewLines(func(line string) {
		if line == "ready" {
			cancel(errors.New("asked to stop"))
		} else if pid, err := strconv.Atoi(line); err == nil {
			found = append(found, pid)
		}
	})
	result, err := Run(ctx, c)
	return found, result, err
}

func TestRunCancel(t *testing.T) {
	for _, test := range []struct {
		name, script string
		signal       syscall.Signal
		code         int
	}{
		{"whole group", "sleep 100 & echo $!; echo $$; echo ready; wait", syscall.SIGTERM, -1},
		{"stubborn", `trap "" TERM; sh -c 'trap "" TERM; echo $$; echo ready; while :; do sleep 1; done' & echo $$; wait; wait`, syscall.SIGKILL, -1},
		{"tidy", `trap 'exit 3' TERM; sleep 100 & echo $!; echo $$; echo ready; wait`, 0, 3},
		{"tidy and well", `trap 'exit 0' TERM; sleep 100 & echo $!; echo $$; echo ready; wait`, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			grace := 20 * time.Second
			if test.signal == syscall.SIGKILL {
				grace = 50 * time.Millisecond
			}
			found, result, err := pids(t, test.script, grace)
			if err == nil || !strings.Contains(err.Error(), "asked to stop") {
				t.Errorf("error %v", err)
			}
			if result.Signal != test.signal || result.ExitCode != test.code {
				t.Errorf("signal %v code %d", result.Signal, result.ExitCode)
			}
			if len(found) == 0 {
				t.Error("no process was seen")
			}
			for _, pid := range found {
				waitGone(t, pid)
			}
		})
	}
}

// waitGone polls for the end of a killed process, which the kernel does not
// promise to have done when kill returns.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for range 1000 {
		if !alive(pid) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("process %d is left", pid)
}

func TestRunLeavesNoGroup(t *testing.T) {
	result, err := Run(t.Context(), sh("sleep 100 >/dev/null 2>&1 & echo $!"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(result.Stdout.LastLine())
	if err != nil {
		t.Fatal(err)
	}
	waitGone(t, pid)
}

// The child of a process that is killed outright must not stay behind.
func TestRunParentDeath(t *testing.T) {
	if os.Getenv("PROC_TEST_PARENT") != "" {
		c := sh("echo $$ > $PROC_TEST_PARENT.part; mv $PROC_TEST_PARENT.part $PROC_TEST_PARENT; exec sleep 100")
		_, _ = Run(context.Background(), c)
		return
	}
	file := filepath.Join(t.TempDir(), "pid")
	parent := exec.Command(os.Args[0], "-test.run=TestRunParentDeath$")
	parent.Env = append(os.Environ(), "PROC_TEST_PARENT="+file)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var text []byte
	for range 2000 {
		if text, _ = os.ReadFile(file); len(text) > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	waitGone(t, pid)
}

func TestExcerpt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		limit := 1 + rng.IntN(9)
		k := newKeeper(limit)
		var all []byte
		for range rng.IntN(8) {
			p := make([]byte, rng.IntN(12))
			for i := range p {
				p[i] = byte('a' + rng.IntN(26))
			}
			all = append(all, p...)
			k.write(p)
		}
		got := k.excerpt()
		head := all[:min(limit, len(all))]
		tail := all[max(len(head), len(all)-limit):]
		if got.Head != string(head) || got.Tail != string(tail) || got.Dropped != int64(len(all)-len(head)-len(tail)) {
			t.Fatalf("limit %d, %q: %+v", limit, all, got)
		}
	}
}

func TestLines(t *testing.T) {
	text := "a\r\n\r\r\nb\rc\nlast"
	want := []string{"a", "", "b\rc", "last"}
	for step := 1; step <= len(text); step++ {
		var got []string
		lines := NewLines(func(line string) { got = append(got, line) })
		for i := 0; i < len(text); i += step {
			_, _ = lines.Write([]byte(text[i:min(i+step, len(text))]))
		}
		_ = lines.Close()
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("step %d: %q", step, got)
		}
	}
	var lengths []int
	lines := NewLines(func(line string) { lengths = append(lengths, len(line)) })
	_, _ = lines.Write(bytes.Repeat([]byte("x"), 2*MaxLine+3))
	_, _ = lines.Write([]byte("\n"))
	if fmt.Sprint(lengths) != fmt.Sprint([]int{MaxLine, MaxLine, 3}) {
		t.Fatal(lengths)
	}
}

// A command's output may go to a file without passing through here.
func TestStdoutFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	result, err := Run(t.Context(), Command{Path: "sh", Args: []string{"-c", "echo out; echo err >&2"}, StdoutFile: f})
	if err != nil || result.Stdout.String() != "" || result.Stderr.LastLine() != "err" {
		t.Errorf("%+v, %v", result, err)
	}
	if text, err := os.ReadFile(f.Name()); err != nil || string(text) != "out\n" {
		t.Errorf("%q, %v", text, err)
	}
}
