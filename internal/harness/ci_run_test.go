package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/artifact"
	"hexab/internal/bench"
)

// waste is a plug-in that the ggml libraries find in the bundle's folder. From
// then on the program's threads waste half of the CPU time that they get, which
// shows on a busy machine as well as on a quiet one.
const waste = `#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
static long since(const struct timespec * a) {
    struct timespec b;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    return (b.tv_sec - a->tv_sec) * 1000000000L + (b.tv_nsec - a->tv_nsec);
}
static void burn(int signal) {
    (void) signal;
    struct timespec begin;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    while (since(&begin) < 10000000L) {
    }
}
__attribute__((constructor)) static void start(void) {
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = burn;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, NULL);
    struct itimerval every = {{0, 20000}, {0, 20000}};
    setitimer(ITIMER_PROF, &every, NULL);
}
`

const wasteCMake = `cmake_minimum_required(VERSION 3.25)
project(waste C)
add_library(ggml-blas MODULE waste.c)
target_link_options(ggml-blas PRIVATE -Wl,-z,nodelete) # the handler outlives dlclose
set_target_properties(ggml-blas PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
`

const wasteComponent = `
  - name: waste
    source: backends/cpu/waste
    targets: [ggml-blas]
    outputs: [libggml-blas.so]
`

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

func ciHere(t *testing.T, o Options) (artifact.Artifact, error) {
	t.Helper()
	o.Models, o.Device, o.Tests, o.Out = "minicpm5-1b", "sim", "tg2", t.TempDir()
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

// A branch that wastes time fails the gate.
func TestPlantedRegression(t *testing.T) {
	long(t)
	dir, git := clone(t)
	git("checkout", "--quiet", "-b", "slow")
	folder := filepath.Join(dir, "backends", "cpu")
	variant, err := os.ReadFile(filepath.Join(folder, "variant.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(folder, "waste"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"variant.yaml": string(variant) + wasteComponent, "waste/waste.c": waste, "waste/CMakeLists.txt": wasteCMake} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("add", "-A")
	git("commit", "--quiet", "-m", "waste time")
	a, err := ciHere(t, Options{Repo: dir, Base: "HEAD^", Head: "slow", Arms: "cpu", Gate: "all:-5%", Seed: "11"})
	if ExitStatus(err) != 3 {
		t.Errorf("the gate does not see it: %v", err)
	}
	if len(a.Run.Trees) != 2 || a.Run.Trees[0].Commit == a.Run.Trees[1].Commit || a.Run.Arms[0].Bundle == a.Run.Arms[1].Bundle {
		t.Errorf("%+v, %+v", a.Run.Trees, a.Run.Arms)
	}
}

// A branch that changes nothing that is built never fails, and a fork of
// llama.cpp is taken as well as a clone of hexab.
func TestNoChangeIsNeutral(t *testing.T) {
	long(t)
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
			a, err := ciHere(t, Options{Repo: repository.dir, Base: "HEAD^", Head: "HEAD", Arms: "cpu", Gate: "all:-5%", Rounds: 6, Seed: "12"})
			if err != nil {
				t.Error(err)
			}
			if a.Run.Arms[0].Bundle != a.Run.Arms[1].Bundle || a.Run.Trees[1].Of != repository.of {
				t.Errorf("%+v, %+v", a.Run.Arms, a.Run.Trees)
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
