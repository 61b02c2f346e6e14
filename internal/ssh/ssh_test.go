package ssh_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hexab/internal/bench"
	"hexab/internal/shell"
	"hexab/internal/ssh"
	"hexab/internal/ssh/sshtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dial(t *testing.T, s *sshtest.Server) *ssh.Host {
	t.Helper()
	h, err := s.Client().Dial(t.Context(), s.Target())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// run runs a script and gives what it printed.
func run(ctx context.Context, h *ssh.Host, script string) (out, errs string, status int, err error) {
	var stdout, stderr strings.Builder
	output, err := h.Run(ctx, script, shell.Options{
		OnStdout: func(line string) { stdout.WriteString(line + "\n") }, OnStderr: func(line string) { stderr.WriteString(line + "\n") },
	})
	return stdout.String(), stderr.String(), output.Status, err
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]ssh.Target{
		"board":           {Host: "board"},
		"me@board":        {User: "me", Host: "board"},
		"me@10.0.0.7:222": {User: "me", Host: "10.0.0.7", Port: 222},
		"me@[fe80::1]:22": {User: "me", Host: "fe80::1", Port: 22},
		"fe80::1":         {Host: "fe80::1"},
	} {
		got, err := ssh.ParseTarget(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if again, err := ssh.ParseTarget(got.String()); err != nil || again != got {
			t.Errorf("%q: %q reads as %+v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "@", "me@", "-oProxyCommand=x", "me@-oX", "a b", "me@h:0", "me@h:99999", "a@b@c", "h;id", "-x@h", "0:]", "h:", "[::1", "::1]", "a:b:c"} {
		if got, err := ssh.ParseTarget(text); err == nil {
			t.Errorf("%q was taken as %+v", text, got)
		}
	}
}

func TestRun(t *testing.T) {
	h := dial(t, sshtest.Start(t))
	for _, c := range []struct {
		script, out, errs string
		status            int
	}{
		{"true", "", "", 0},
		{"echo out; echo err >&2; exit 7", "out\n", "err\n", 7},
		{"exit 255", "", "", 255},
		{"printf 'no newline'; printf 'nor here' >&2", "no newline\n", "nor here\n", 0},
		{"echo \"it's $((1+1))\" '$HOME' \"a  b\"", "it's 2 $HOME a  b\n", "", 0},
		{"cat", "", "", 0},
		{"exec kill -KILL $$", "", "Killed\n", 137},
	} {
		out, errs, status, err := run(t.Context(), h, c.script)
		if err != nil || out != c.out || status != c.status || errs != c.errs {
			t.Errorf("%s: %q, %q, %d, %v", c.script, out, errs, status, err)
		}
	}
}

func TestStoppedCommandsLeaveNothing(t *testing.T) {
	h := dial(t, sshtest.Start(t))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := h.Run(ctx, "trap '' TERM HUP; sleep 27.1828 & echo start; sleep 27.1828; wait", shell.Options{OnStdout: func(string) { cancel() }})
	if !errors.Is(err, context.Canceled) || ssh.KindOf(err) != ssh.KindCanceled {
		t.Fatalf("%v", err)
	}
	if out, _, _, err := run(t.Context(), h, "ps -ef | grep '[2]7.1828'"); out != "" || err != nil {
		t.Errorf("still running: %s, %v", out, err)
	}
}

// TestLostConnection: a command whose connection is lost is no success, what it
// left on the board is ended before the next one, which connects anew.
func TestLostConnection(t *testing.T) {
	s := sshtest.Start(t)
	h := dial(t, s)
	_, err := h.Run(t.Context(), "sleep 31.8310 & echo start; sleep 31.8310", shell.Options{OnStdout: func(string) { s.Cut() }})
	var lost *ssh.Error
	if !errors.As(err, &lost) || lost.Kind != ssh.KindLost || lost.Fault() != bench.FaultInfrastructure || !lost.Retryable() {
		t.Fatalf("%v", err)
	}
	if out, _, _, err := run(t.Context(), h, "ps -ef | grep '[3]1.8310'"); out != "" || err != nil {
		t.Errorf("still running: %s, %v", out, err)
	}
	s.Refuse(true)
	s.Cut()
	deadline := time.Now().Add(20 * time.Second)
	for err = nil; err == nil && time.Now().Before(deadline); { // until the client has noticed
		_, _, _, err = run(t.Context(), h, "true")
	}
	if kind := ssh.KindOf(err); kind != ssh.KindRefused && kind != ssh.KindLost {
		t.Errorf("refused: %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := h.Await(short, 10*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("awaited what is not there: %v", err)
	}
	s.Refuse(false)
	if err := h.Await(t.Context(), 10*time.Millisecond); err != nil {
		t.Error(err)
	}
}

// What a board's login shell says about files is no reason why a connection
// ended.
func TestLostBesideNoise(t *testing.T) {
	s := sshtest.Start(t)
	client := s.Client()
	noisy := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(noisy, []byte("#!/bin/sh\necho \"rm: cannot remove '/x': No such file or directory\" >&2\nexec ssh \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	client.SSH = noisy
	h, err := client.Dial(t.Context(), s.Target())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	_, err = h.Run(t.Context(), "echo start; sleep 31.8311", shell.Options{OnStdout: func(string) { s.Cut() }})
	if kind := ssh.KindOf(err); kind != ssh.KindLost {
		t.Errorf("%q: %v", kind, err)
	}
}

func TestWhoIsNotLetIn(t *testing.T) {
	s := sshtest.Start(t)
	for _, c := range []struct {
		name   string
		break_ func()
		kind   ssh.Kind
		next   string
	}{
		{"not authorised", func() { s.Authorize(false) }, ssh.KindAuth, "ssh-copy-id"},
		{"unknown host key", func() { s.Known("") }, ssh.KindUnknownID, "fingerprint"},
		{"other host key", func() { s.Known(s.OtherKey()) }, ssh.KindChangedID, "ssh-keygen -R"},
		{"nobody listens", func() { s.Refuse(true) }, ssh.KindRefused, "sshd runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.break_()
			defer func() { s.Authorize(true); s.TrustHost(); s.Refuse(false) }()
			h, err := s.Client().Dial(t.Context(), s.Target())
			if err == nil {
				_ = h.Close()
			}
			if kind := ssh.KindOf(err); kind != c.kind && !(c.kind == ssh.KindRefused && kind == ssh.KindLost) {
				t.Fatalf("%v", err)
			} else if kind == c.kind && !strings.Contains(err.Error(), c.next) {
				t.Errorf("%v: expected %q in it", err, c.next)
			}
		})
	}
	if _, err := (ssh.Client{SSH: "no-such-ssh"}).Dial(t.Context(), s.Target()); ssh.KindOf(err) != ssh.KindMissing {
		t.Errorf("%v", err)
	}
	if _, err := s.Client().Dial(t.Context(), ssh.Target{Host: "no-such-host.invalid"}); ssh.KindOf(err) != ssh.KindName {
		t.Errorf("%v", err)
	}
}

func TestPushAndPull(t *testing.T) {
	s := sshtest.Start(t)
	h := dial(t, s)
	dir := t.TempDir()
	content := bytes.Repeat([]byte("hexab\x00\xff"), 1<<18)
	for _, name := range []string{"plain", "it's a \"file\" [1]*? $x \\ ä", "-n"} {
		local, remote, back := filepath.Join(dir, name), filepath.Join(dir, "board "+name), filepath.Join(dir, "back "+name)
		if err := os.WriteFile(local, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := h.Push(t.Context(), local, remote); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := h.Pull(t.Context(), remote, back); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := os.ReadFile(back); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s came back changed: %v", name, err)
		}
	}
	if err := h.Push(t.Context(), filepath.Join(dir, "plain"), filepath.Join(dir, "no such folder", "x")); ssh.KindOf(err) != ssh.KindNoFile {
		t.Errorf("%v", err)
	}
	if err := h.Pull(t.Context(), filepath.Join(dir, "nothing"), filepath.Join(dir, "x")); ssh.KindOf(err) != ssh.KindNoFile {
		t.Errorf("%v", err)
	}
	if err := h.Push(t.Context(), filepath.Join(dir, "plain"), "/dev/full"); err == nil {
		t.Error("a full disk is no success")
	}
}

// A connection that is cut in a transfer, wherever that is, is lost and worth
// another try, which then succeeds.
func TestTransferCut(t *testing.T) {
	s := sshtest.Start(t)
	h := dial(t, s)
	dir := t.TempDir()
	content := bytes.Repeat([]byte("hexab\x00\xff\n"), 1<<20)
	local, remote, back := filepath.Join(dir, "local"), filepath.Join(dir, "remote"), filepath.Join(dir, "back")
	if err := os.WriteFile(local, content, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{100, 60_000, 1_000_000, 7_000_000} {
		for _, c := range []struct {
			name string
			cut  func()
			do   func() error
			file string
		}{
			{"push", func() { s.CutAfter(at, 0) }, func() error { return h.Push(t.Context(), local, remote) }, remote},
			{"pull", func() { s.CutAfter(0, at) }, func() error { return h.Pull(t.Context(), remote, back) }, back},
		} {
			c.cut()
			err := c.do()
			var lost *ssh.Error
			if !errors.As(err, &lost) || lost.Fault() != bench.FaultInfrastructure || !lost.Retryable() {
				t.Errorf("%s, cut at %d: %v", c.name, at, err)
			}
			if err := h.Await(t.Context(), 10*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if err := c.do(); err != nil {
				t.Fatalf("%s again after a cut at %d: %v", c.name, at, err)
			}
			if got, err := os.ReadFile(c.file); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s after a cut at %d: other bytes, %v", c.name, at, err)
			}
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	f.Add("me@board:22")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ssh.ParseTarget(text)
		if err != nil {
			return
		}
		if strings.HasPrefix(got.Host, "-") || strings.HasPrefix(got.User, "-") {
			t.Fatalf("%q reads as an option: %+v", text, got)
		}
		if again, err := ssh.ParseTarget(got.String()); err != nil || again != got {
			t.Fatalf("%q: %+v, again %+v, %v", text, got, again, err)
		}
	})
}
