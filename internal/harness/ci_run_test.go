package harness

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/arm"
	"hexab/internal/artifact"
	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/stat"
)

// slowTransport are the edits of a branch that wastes time in the transport:
// each batch waits nine times as long as its call took. So the loss is the same
// on a busy machine as on a quiet one and beyond what its noise hides, and the
// waiting takes no processor from the other side. Only the DSP library that the simulated SoC loads is built.
var slowTransport = []struct{ file, old, new string }{
	{"backends/fastrpc/session.cpp", "    auto table  = table_();\n", "    auto table  = table_();\n    auto begin  = Clock::now();\n"},
	{"backends/fastrpc/session.cpp", "    judge(batch);\n", "    std::this_thread::sleep_for(9 * (Clock::now() - begin));\n    judge(batch);\n"},
	{"backends/fastrpc/variant.yaml", "[ggml-hexagon, htp-v73, htp-v75, htp-v79, htp-v81]", "[ggml-hexagon, htp-v79]"},
	{"backends/fastrpc/variant.yaml", "      - libggml-htp-v73.so\n      - libggml-htp-v75.so\n", ""},
	{"backends/fastrpc/variant.yaml", "      - libggml-htp-v81.so\n", ""},
}

// clone makes a repository of this checkout's last commit, and a way to run git
// in it.
func clone(t *testing.T) (dir string, git func(args ...string)) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "hexab")
	run := func(args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"}, args...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	run("clone", "--quiet", "--shared", checkout, dir)
	return dir, func(args ...string) { t.Helper(); run(append([]string{"-C", dir}, args...)...) }
}

// ciHere compares two commits on the embedded phone.
func ciHere(t *testing.T, o Options) (artifact.Artifact, error) {
	t.Helper()
	o.Models, o.Device, o.Tests, o.Out = "minicpm5-1b", "sim", "tg2", t.TempDir()
	o.Threshold = "20" // what a shared machine can do to equal programs is no verdict
	artifacts := t.TempDir()
	failure := CIRun(t.Context(), o, artifacts)
	data, err := os.ReadFile(filepath.Join(artifacts, artifact.FileName))
	if err != nil {
		t.Fatal(failure, err)
	}
	a, err := artifact.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return a, failure
}

// A branch that wastes time in the transport is found slower and fails the
// gate; which variant is compared follows from what the branch changes.
func TestPlantedRegression(t *testing.T) {
	heavy(t)
	dir, git := clone(t)
	git("checkout", "--quiet", "-b", "slow")
	for _, edit := range slowTransport {
		path := filepath.Join(dir, filepath.FromSlash(edit.file))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), edit.old); n != 1 {
			t.Fatalf("%s has %q %d times: plant the waste elsewhere", edit.file, edit.old, n)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), edit.old, edit.new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("commit", "--quiet", "-a", "-m", "waste time")
	a, err := ciHere(t, Options{Repo: dir, Base: "HEAD^", Head: "slow", Gate: "all:-20%", Rounds: 7, Seed: "11"})
	if ExitStatus(err) != 3 {
		t.Errorf("the gate does not see it: %v", err)
	}
	if len(a.Run.Trees) != 2 || a.Run.Trees[0].Commit == a.Run.Trees[1].Commit || len(a.Run.Arms) != 2 || a.Run.Arms[0].Bundle == a.Run.Arms[1].Bundle {
		t.Errorf("%+v, %+v", a.Run.Trees, a.Run.Arms)
	}
	if v := verdictHere(t, a); v.Arm != "head:fastrpc" || v.Baseline != "base:fastrpc" || v.Decision.Verdict != stat.Slower {
		t.Errorf("%s to %s: %+v", v.Arm, v.Baseline, v.Decision)
	}
}

// verdictHere is the only comparison of an artifact.
func verdictHere(t *testing.T, a artifact.Artifact) compare.Cell {
	t.Helper()
	c, err := judge(a.Run, a.Records)
	if err != nil || len(c.Cells) != 1 || c.Cells[0].Decision == nil {
		t.Fatalf("%v: %+v", err, c)
	}
	t.Logf("%+v", *c.Cells[0].Decision)
	return c.Cells[0]
}

// A branch that changes nothing that is built never fails, and a fork of
// llama.cpp is taken as well as a clone of hexab.
func TestNoChangeIsNeutral(t *testing.T) {
	heavy(t)
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := w.Source(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fork := filepath.Join(t.TempDir(), "llama.cpp")
	if out, err := exec.Command("cp", "-r", tree.Dir, fork).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hexab, gitHexab := clone(t)
	gitFork := func(args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", fork, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	gitFork("init", "--quiet")
	gitFork("add", "--all", "--force")
	gitFork("commit", "--quiet", "-m", "the release")
	for name, repository := range map[string]struct {
		dir string
		git func(...string)
		of  string
	}{"hexab": {hexab, gitHexab, treeOfHexab}, "a fork of llama.cpp": {fork, gitFork, treeOfLlama}} {
		t.Run(name, func(t *testing.T) {
			repository.git("commit", "--quiet", "--allow-empty", "-m", "nothing")
			a, err := ciHere(t, Options{Repo: repository.dir, Base: "HEAD^", Head: "HEAD", Arms: "cpu", Gate: "all:-20%", Rounds: 6, Seed: "12"})
			if err != nil {
				t.Error(err)
			}
			if a.Run.Arms[0].Bundle != a.Run.Arms[1].Bundle || a.Run.Trees[1].Of != repository.of {
				t.Errorf("%+v, %+v", a.Run.Arms, a.Run.Trees)
			}
			if v := verdictHere(t, a).Decision.Verdict; v != stat.Inconclusive && v != stat.Equivalent {
				t.Errorf("the same bundle is %s than itself", v)
			}
			for _, r := range a.Records {
				if r.Outcome != bench.OutcomeOK {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

func TestCIRunUsage(t *testing.T) {
	for _, o := range []Options{{Arms: "base:cpu"}, {Arms: "cpu,cpu"}, {Arms: "gpu"}, {Gate: "tg"}, {Repo: t.TempDir()}, {Base: "no-such-commit"}} {
		err := CIRun(t.Context(), o, t.TempDir())
		if status := ExitStatus(err); status != 2 && !(status == 1 && strings.Contains(err.Error(), "no commit")) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestTouchedVariants holds what ciRun compares when nobody says it.
func TestTouchedVariants(t *testing.T) {
	w := pinned(t)
	dir, git := clone(t)
	for _, test := range []struct{ file, want string }{
		{"backends/fastrpc/session.cpp", "fastrpc"},
		{"htp/entry.c", "fastrpc"},
		{"backends/dspqueue/variant.yaml", "dspqueue"},
		{"backends/cpu/variant.yaml", "cpu,dspqueue,fastrpc"},
		{"README.md", "cpu,dspqueue,fastrpc"},
	} {
		path := filepath.Join(dir, filepath.FromSlash(test.file))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if test.file != "README.md" && strings.HasSuffix(path, ".yaml") {
			text = []byte(strings.Replace(string(text), "summary: ", "summary: changed, ", 1))
		}
		if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		git("commit", "--quiet", "-a", "-m", "touch "+test.file)
		both, err := w.trees(t.Context(), []arm.Spec{{Tree: arm.Trees[0]}, {Tree: arm.Trees[1]}}, Options{Repo: dir, Base: DefaultBase, Head: DefaultHead})
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.touched(both)
		if err := errors.Join(err, both.Close()); err != nil || got != test.want {
			t.Errorf("%s: %q, %v; want %q", test.file, got, err, test.want)
		}
	}
}

// Whoever names no arms gets both commits checked out once and told of once,
// on however many devices.
func TestCIRunChecksOutOnce(t *testing.T) {
	pinned(t)
	dir, git := clone(t)
	git("commit", "--quiet", "--allow-empty", "-m", "nothing")
	for _, arms := range []string{"", "cpu"} {
		for _, devices := range []string{"no-such-phone", "no-such-phone,nor-such-one"} {
			said := captured(t, &os.Stderr, func() error {
				err := CIRun(t.Context(), Options{Repo: dir, Arms: arms, Device: devices}, t.TempDir())
				if err == nil || !strings.Contains(err.Error(), "no device no-such-phone") {
					t.Errorf("%q on %s: %v", arms, devices, err)
				}
				return nil
			})
			for _, line := range []string{"base is ", "head is "} {
				if n := strings.Count(said, line); n != 1 {
					t.Errorf("%q on %s: %q is said %d times:\n%s", arms, devices, line, n, said)
				}
			}
		}
	}
}
