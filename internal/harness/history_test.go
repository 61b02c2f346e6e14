package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/artifact"
)

func TestHistoryOfArtifacts(t *testing.T) {
	dir := t.TempDir()
	in, file, svg := filepath.Join(dir, "in"), filepath.Join(dir, "history.jsonl"), filepath.Join(dir, "h.svg")
	if err := os.MkdirAll(in, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(in, artifact.FileName), pullArtifact(t), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // adding twice adds once
		if err := History(t.Context(), HistoryOptions{File: file, Add: in, SVG: svg}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), "\n") != 8 || !strings.Contains(string(text), `"verdict":"slower"`) || !strings.Contains(string(text), `"simulated":true`) {
		t.Errorf("%s, %v", text, err)
	}
	if picture, err := os.ReadFile(svg); err != nil || !strings.HasPrefix(string(picture), "<svg") {
		t.Error(err)
	}
	for _, o := range []HistoryOptions{{File: filepath.Join(dir, "none")}, {File: file, Add: "no-such-run"}, {File: file, Model: "x"}, {File: file, Threshold: "x"}, {File: file, Threshold: "0"}} {
		if err := History(t.Context(), o); ExitStatus(err) != 2 {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// The data branch is begun, gone on with, and pushed.
func TestDataBranch(t *testing.T) {
	origin := filepath.Join(t.TempDir(), "origin.git")
	if out, err := exec.Command("git", "init", "--quiet", "--bare", "--initial-branch=main", origin).CombinedOutput(); err != nil {
		t.Skipf("%v %s", err, out)
	}
	repository := filepath.Join(t.TempDir(), "clone")
	for _, args := range [][]string{
		{"clone", "--quiet", origin, repository}, {"-C", repository, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "--allow-empty", "-m", "x"}, {"-C", repository, "push", "--quiet", "origin", "HEAD:main"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	w := &Workspace{Root: repository, Cache: t.TempDir(), Out: os.Stdout, Err: os.Stderr}
	for i, text := range []string{"one\n", "one\ntwo\n"} {
		data, err := w.openData(t.Context(), "hexab-data")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(data.tree.Dir, "history.jsonl")
		before, _ := os.ReadFile(file)
		if want := []string{"", "one\n"}[i]; string(before) != want {
			t.Errorf("before push %d: %q", i, before)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for range 2 { // nothing new is nothing to push
			if err := data.push(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := data.tree.Release(); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("git", "-C", origin, "show", "hexab-data:history.jsonl").Output()
	if err != nil || string(out) != "one\ntwo\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := w.openData(t.Context(), "../x"); ExitStatus(err) != 2 {
		t.Errorf("%v", err)
	}
}
