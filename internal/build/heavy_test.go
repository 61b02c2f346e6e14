package build

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/proc"
	"hexab/internal/source"
)

// TestRealBundle builds the cpu bundle from the real llama.cpp: from
// LLAMA_CPP_DIR, or the release by npm. HEXAB_TEST_CACHE keeps the cache
// between runs; HEXAB_TEST_CCACHE=0 leaves ccache out to measure a cold build.
func TestRealBundle(t *testing.T) {
	if os.Getenv("HEXAB_HEAVY") != "1" {
		t.Skip("builds llama.cpp; set HEXAB_HEAVY=1")
	}
	for _, needed := range []string{"cmake", "ninja", "g++", "git"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is not installed", needed)
		}
	}
	cache := os.Getenv("HEXAB_TEST_CACHE")
	if cache == "" {
		cache = t.TempDir()
	}
	note := source.Options{Cache: cache, Note: func(l string) { t.Log(l) }}
	var tree source.Tree
	var err error
	if dir := os.Getenv("LLAMA_CPP_DIR"); dir != "" {
		tree, err = source.Local(t.Context(), dir, note)
	} else {
		tree, err = source.Get(t.Context(), source.Pin{
			Tag: "v0.5.0", Tree: "fd570ef54b10ec5fecb739e7e04c8ce44a6f415a",
			NPMPackage: "node-llama-cpp", NPMVersion: "3.22.1",
			NPMIntegrity: "sha512-bltIipuWmc123H7tMIgDGKSsSrhmhlQYeVUC48XTjVW7XGJJiJJyCdlTMzQ/LiWoPkGDpcL4FviDpgw7qfTiDw==",
			BundlePath:   "llama/gitRelease.bundle",
			BundleSHA256: "5f5d1105d5df040738d87b8290e5d17e7362131cdcfdb0831618e0ea528b4a51",
		}, note)
	}
	if err != nil {
		t.Fatal(err)
	}
	variants, err := LoadVariants(os.DirFS("../../backends"))
	if err != nil {
		t.Fatal(err)
	}
	b := &Builder{Project: "../..", Cache: cache, Tree: tree, Variants: variants, Progress: func(e Event) {
		if e.Done%20 == 0 || e.Done == e.Total {
			t.Logf("%s %s %d/%d left %s", e.Component, e.Phase, e.Done, e.Total, e.Left.Round(time.Second))
		}
	}}
	if os.Getenv("HEXAB_TEST_CCACHE") == "0" {
		b.LookPath = func(name string) (string, error) { return "", errors.New(name + " is left out") }
	}
	began := time.Now()
	bundle, err := b.Bundle(t.Context(), bench.CPU, bench.Sim)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("bundle %s in %s: %d files, %d bytes, cached %v", bundle.ID.Short(), time.Since(began).Round(time.Millisecond), len(bundle.Files), bundle.Size(), bundle.Cached)
	for _, f := range bundle.Files {
		t.Logf("  %9d %s", f.Size, f.Path)
	}
	if err := bundle.Verify(); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	again, err := b.Bundle(t.Context(), bench.CPU, bench.Sim)
	if err != nil || !again.Cached || again.ID != bundle.ID {
		t.Fatalf("second call: %v, cached %v", err, again.Cached)
	}
	t.Logf("second call: %s", time.Since(began).Round(time.Millisecond))
	runsAlone(t, bundle)
}

// runsAlone copies the bundle elsewhere and runs its programs there without
// any library path: the plug-in must be found in the programs' own folder.
func runsAlone(t *testing.T, bundle Bundle) {
	dir := t.TempDir()
	for _, f := range bundle.Files {
		if err := copyFile(filepath.Join(bundle.Dir, f.Path), filepath.Join(dir, f.Path)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	run := func(program string, args ...string) string {
		res, err := proc.Run(ctx, proc.Command{Path: filepath.Join(dir, program), Args: args, Dir: "/", Env: []string{"PATH=/nowhere"}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Stdout.String() + res.Stderr.String()
	}
	if out := run("llama-bench", "--help"); !strings.Contains(out, "--n-prompt") {
		t.Errorf("llama-bench --help: %s", out)
	}
	if out := run("llama-completion", "--version"); !strings.Contains(out, "version") {
		t.Errorf("llama-completion --version: %s", out)
	}
	if out := run("test-backend-ops", "test", "-b", "CPU", "-o", "ADD"); !strings.Contains(out, "CPU") || strings.Contains(out, "0/0 backends") {
		t.Errorf("test-backend-ops finds no CPU backend: %s", out)
	}
}
