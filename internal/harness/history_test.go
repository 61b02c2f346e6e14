package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hexab/internal/artifact"
	"hexab/internal/bench"
	"hexab/internal/history"
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

// A speed that leaves its series is a suspect, whose model a night measures
// again; it is called a change, and is no suspect any more, once the repeat says
// the same, and neither when the repeat does not.
func TestSuspectsAreMeasuredAgain(t *testing.T) {
	var entries []history.Entry
	add := func(speed bench.TokensPerSecond) (suspects []string, changes int) {
		entries = append(entries, history.Entry{
			Schema: history.Schema, Time: time.Date(2026, 11, 1+len(entries), 2, 0, 0, 0, time.UTC), Commit: headCommit, Run: fmt.Sprint(len(entries)),
			Device: "X", Model: "llama3", Test: bench.Test{Gen: 16}, Arm: "cpu", Median: speed, Launches: 6,
		})
		for _, c := range history.Split(entries, historyThreshold)[0].Changes {
			if c.Confirmed {
				changes++
			}
		}
		return suspectModels(entries), changes
	}
	for i, night := range []struct {
		speed    bench.TokensPerSecond
		suspects int
		changes  int
	}{
		{100, 0, 0}, {101, 0, 0}, {99.5, 0, 0}, {100.3, 0, 0}, {100.1, 0, 0},
		{80, 1, 0}, {100.2, 0, 0}, // one bad night
		{80, 1, 0}, {80.3, 0, 1}, {79.9, 0, 1}, // one that stays
	} {
		suspects, changes := add(night.speed)
		if len(suspects) != night.suspects || changes != night.changes || len(suspects) == 1 && suspects[0] != "llama3" {
			t.Errorf("night %d: suspects %v, %d changes", i, suspects, changes)
		}
	}
}
