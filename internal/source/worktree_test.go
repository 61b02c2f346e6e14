package source

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a git repository with two commits and a hook that must not
// run.
func repository(t *testing.T) (dir string, run func(args ...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = t.TempDir()
	run = func(args ...string) string {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		command.Env = gitEnv()
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "--quiet", "--initial-branch=main")
	for _, text := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		run("add", "file")
		run("commit", "--quiet", "-m", text)
	}
	hook := filepath.Join(dir, ".git", "hooks", "post-checkout")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch "+filepath.Join(dir, "hook-ran")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, run
}

func TestCheckOut(t *testing.T) {
	repo, run := repository(t)
	dir := filepath.Join(t.TempDir(), "trees", "base")
	read := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, test := range []struct{ ref, want string }{{"HEAD^", "one"}, {"main", "two"}, {"HEAD^1", "one"}, {"HEAD^1", "one"}} {
		w, err := CheckOut(t.Context(), repo, test.ref, dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := read(); got != test.want || w.Commit != run("rev-parse", test.ref) {
			t.Errorf("%s: %q at %s", test.ref, got, w.Commit)
		}
		if err := w.Release(); err != nil {
			t.Error(err)
		}
		// What a build or a person leaves behind does not reach the next one.
		if err := os.WriteFile(filepath.Join(dir, "left"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("changed"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(repo, "hook-ran")); err == nil {
		t.Error("a hook of the repository ran")
	}
	if status := run("status", "--porcelain"); status != "" {
		t.Errorf("the repository was changed: %s", status)
	}
}

func TestCheckOutRefuses(t *testing.T) {
	repo, _ := repository(t)
	for _, ref := range []string{"nothing", "--help", "", "HEAD:file", "HEAD^^^"} {
		if _, err := CheckOut(t.Context(), repo, ref, filepath.Join(t.TempDir(), "x"), Options{}); err == nil || !strings.Contains(err.Error(), "no commit") {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

// A folder that is something else is replaced, whatever it was.
func TestCheckOutReplaces(t *testing.T) {
	repo, _ := repository(t)
	other, _ := repository(t)
	dir := filepath.Join(t.TempDir(), "base")
	for _, from := range []string{other, repo, other} {
		w, err := CheckOut(t.Context(), from, "main", dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if same, err := sameRepository(t.Context(), from, dir, Options{}); err != nil || !same {
			t.Errorf("%v, %v", same, err)
		}
		if err := w.Release(); err != nil {
			t.Error(err)
		}
	}
}
