package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/proc"
	"hexab/internal/source"
)

// tiny is a project of llama.cpp's shape: a base library, a program and a
// plug-in, all in bin/.
const tinyCMake = `cmake_minimum_required(VERSION 3.14)
project(tiny C)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_library(base SHARED base.c)
set_target_properties(base PROPERTIES VERSION 1.2.3 SOVERSION 1)
target_compile_definitions(base PRIVATE LEVEL="${TINY_LEVEL}" COMMIT="${LLAMA_BUILD_COMMIT}")
add_executable(tool tool.c)
target_link_libraries(tool base)
add_library(plug MODULE plug.c)
target_link_libraries(plug base)
add_library(unwanted SHARED unwanted.c)
`

const tinyVariant = `name: cpu
summary: tiny
device: none
platforms: [sim]
common:
  definitions:
    CMAKE_BUILD_TYPE: Release
    CMAKE_BUILD_WITH_INSTALL_RPATH: "ON"
    CMAKE_INSTALL_RPATH: $ORIGIN
    CMAKE_C_FLAGS: -ffile-prefix-map=${LLAMA_CPP}=llama.cpp
components:
  - name: programs
    source: llama.cpp
    targets: [tool]
    outputs: [bin/tool]
    levels:
      amd64: &levels
        - {name: plain, needs: [], definitions: {TINY_LEVEL: plain}}
        - {name: better, needs: [fast], definitions: {TINY_LEVEL: better}}
      arm64: *levels
`

const plugVariant = `name: npu
summary: tiny with a plug-in
device: HTP0
extends: cpu
platforms: [sim]
components:
  - name: plugin
    source: llama.cpp
    files: [extra]
    targets: [plug]
    outputs: [bin/libplug.so]
`

// tinyBuilder lays a project out; it skips where it can not be built.
func tinyBuilder(t *testing.T) *Builder {
	t.Helper()
	for _, tool := range []string{"cmake", "ninja", "gcc", "g++"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	src, project := t.TempDir(), t.TempDir()
	for name, body := range map[string]string{
		"CMakeLists.txt": tinyCMake,
		"base.c":         "const char * base_text(void) { return \"level \" LEVEL \" commit \" COMMIT \" from \" __FILE__; }\n",
		"tool.c":         "#include <stdio.h>\nconst char * base_text(void);\nint main(void) { puts(base_text()); return 0; }\n",
		"plug.c":         "const char * base_text(void);\nconst char * plug(void) { return base_text(); }\n",
		"unwanted.c":     "#error this must not be built\n",
	} {
		writeFile(t, filepath.Join(src, name), body)
	}
	writeFile(t, filepath.Join(project, "backends/cpu/variant.yaml"), tinyVariant)
	writeFile(t, filepath.Join(project, "backends/npu/variant.yaml"), plugVariant)
	writeFile(t, filepath.Join(project, "extra/note"), "1")
	variants, err := LoadVariants(os.DirFS(filepath.Join(project, "backends")))
	if err != nil {
		t.Fatal(err)
	}
	return &Builder{Project: project, Cache: t.TempDir(), Tree: treeOf(t, src), Variants: variants, CPUFlags: map[string]bool{}}
}

func treeOf(t *testing.T, dir string) source.Tree {
	t.Helper()
	hash, err := source.HashTree(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return source.Tree{Dir: dir, Hash: hash}
}

func writeFile(t *testing.T, path, body string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mustBuild(t *testing.T, b *Builder, v bench.Variant) Bundle {
	t.Helper()
	bundle, err := b.Bundle(t.Context(), v, bench.Sim)
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}

func names(b Bundle) []string {
	var n []string
	for _, f := range b.Files {
		n = append(n, f.Path)
	}
	return n
}

func runTool(t *testing.T, dir string) string {
	t.Helper()
	r, err := proc.Run(t.Context(), proc.Command{Path: filepath.Join(dir, "tool"), Env: []string{}, Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(r.Stdout.String())
}

func TestBundle(t *testing.T) {
	b := tinyBuilder(t)
	var events []Event
	b.Progress = func(e Event) { events = append(events, e) }
	first := mustBuild(t, b, bench.CPU)
	if first.Cached || !slices.Equal(names(first), []string{"libbase.so.1", "tool"}) {
		t.Fatalf("%+v", first)
	}
	if want := "level plain commit " + b.Tree.Hash[:9] + " from llama.cpp/base.c"; runTool(t, first.Dir) != want {
		t.Errorf("the program says %q, expected %q", runTool(t, first.Dir), want)
	}
	if f := first.Files[1]; !f.Executable || first.Files[0].Executable {
		t.Errorf("executable bits: %+v", first.Files)
	}
	if err := first.Verify(); err != nil {
		t.Error(err)
	}
	if last := events[len(events)-1]; last.Phase != PhaseCompile || last.Total == 0 || last.Done != last.Total {
		t.Errorf("last event %+v", last)
	}
	for _, flag := range first.Flags {
		for _, dir := range []string{b.Tree.Dir, b.Cache, b.Project} {
			if strings.Contains(flag, dir) {
				t.Errorf("flag %q holds a path of this machine", flag)
			}
		}
	}
	events = nil
	again := mustBuild(t, b, bench.CPU)
	if !again.Cached || again.ID != first.ID || events != nil {
		t.Errorf("second call: cached %v, %s after %s, events %v", again.Cached, again.ID, first.ID, events)
	}
	// The other variant has the same files and its own; only its own is built.
	npu := mustBuild(t, b, "npu")
	if !slices.Equal(names(npu), []string{"libbase.so.1", "libplug.so", "tool"}) {
		t.Fatalf("npu: %q", names(npu))
	}
	for _, f := range first.Files {
		if !slices.Contains(npu.Files, f) {
			t.Errorf("%s differs between the variants", f.Path)
		}
	}
	for _, e := range events {
		if e.Component != "plugin" {
			t.Errorf("built again: %+v", e)
		}
	}
}

// TestSameBytesElsewhere: where sources, cache and project lie is no part of
// a bundle.
func TestSameBytesElsewhere(t *testing.T) {
	a, b := tinyBuilder(t), tinyBuilder(t)
	if one, two := mustBuild(t, a, "npu"), mustBuild(t, b, "npu"); one.ID != two.ID {
		t.Errorf("ids %s and %s:\n%+v\n%+v", one.ID, two.ID, one.Bundle, two.Bundle)
	}
}

func TestWhatChangesABundle(t *testing.T) {
	b := tinyBuilder(t)
	seen := map[bench.BundleID]string{mustBuild(t, b, "npu").ID: "first"}
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"instruction set", func() { b.CPUFlags = map[string]bool{"fast": true} }},
		{"source", func() {
			writeFile(t, filepath.Join(b.Tree.Dir, "plug.c"), "int plug(void) { return 2; }\n")
			b.Tree = treeOf(t, b.Tree.Dir)
			b.Tree.Local, b.Tree.Dirty = true, true
		}},
		{"flags", func() {
			d := b.Variants["npu"]
			d.Components = slices.Clone(d.Components)
			d.Components[0].Definitions = map[string]string{"CMAKE_C_FLAGS": "-ffile-prefix-map=${LLAMA_CPP}=llama.cpp -O1"}
			b.Variants["npu"] = d
		}},
	} {
		c.change()
		bundle := mustBuild(t, b, "npu")
		if before, ok := seen[bundle.ID]; ok {
			t.Errorf("%s: the same bundle as %s", c.name, before)
		}
		seen[bundle.ID] = c.name
	}
	if got := runTool(t, mustBuild(t, b, "npu").Dir); !strings.HasPrefix(got, "level better") {
		t.Errorf("the program says %q", got)
	}
	// Files of ours are part of the key even where the bytes come out the same.
	jobs, err := b.resolveAll(t.Context(), "npu", bench.Sim)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(b.Project, "extra/note"), "2")
	after, err := b.resolveAll(t.Context(), "npu", bench.Sim)
	if err != nil {
		t.Fatal(err)
	}
	if jobs[1].key == after[1].key || jobs[0].key != after[0].key {
		t.Error("an edited file of ours does not change the key of its component alone")
	}
	if jobs[1].work != after[1].work {
		t.Error("an edit moves the build folder: nothing would be reused")
	}
}

func TestDamagedCacheIsMadeAgain(t *testing.T) {
	b := tinyBuilder(t)
	first := mustBuild(t, b, bench.CPU)
	if err := os.Remove(filepath.Join(first.Dir, "tool")); err != nil {
		t.Fatal(err)
	}
	if again := mustBuild(t, b, bench.CPU); again.ID != first.ID || runTool(t, again.Dir) == "" {
		t.Error("not made again")
	}
	if err := os.RemoveAll(filepath.Join(b.Cache, "build")); err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(first.Dir, "tool")
	data, err := os.ReadFile(tool)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(tool, data, 0o755); err != nil {
		t.Fatal(err)
	}
	bundle := mustBuild(t, b, bench.CPU)
	if err := bundle.Verify(); err == nil || !strings.Contains(err.Error(), "tool was changed") {
		t.Errorf("verify: %v", err)
	}
}

func TestFailedBuildShowsTheFirstError(t *testing.T) {
	b := tinyBuilder(t)
	good, err := os.ReadFile(filepath.Join(b.Tree.Dir, "base.c"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file, body string
		phase            Phase
		want             []string
	}{
		{"compiler", "base.c", "int base_text(void) { return nonsense; }\n", PhaseCompile, []string{"base.c:1:", "'nonsense' undeclared"}},
		{"linker", "base.c", "int other;\n", PhaseCompile, []string{"undefined reference to `base_text'"}},
		{"configuration", "CMakeLists.txt", "cmake_minimum_required(VERSION 3.14)\nproject(x C)\nmessage(FATAL_ERROR \"no such thing\")\n", PhaseConfigure, []string{"CMake Error", "no such thing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			writeFile(t, filepath.Join(b.Tree.Dir, c.file), c.body)
			b.Tree = treeOf(t, b.Tree.Dir)
			_, err := b.Bundle(t.Context(), bench.CPU, bench.Sim)
			var failed *Error
			if !errors.As(err, &failed) || failed.Phase != c.phase || failed.Component != "cpu/programs" {
				t.Fatalf("error %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(failed.Excerpt, want) {
					t.Errorf("excerpt %q, expected %q in it", failed.Excerpt, want)
				}
			}
			if n := strings.Count(failed.Excerpt, "\n"); n > linesBefore+linesAfter {
				t.Errorf("excerpt has %d lines", n)
			}
			if log, err := os.ReadFile(failed.Log); err != nil || !strings.Contains(string(log), c.want[0]) {
				t.Errorf("log %s: %v", failed.Log, err)
			}
		})
	}
	// Mended, it builds in the same folder.
	writeFile(t, filepath.Join(b.Tree.Dir, "base.c"), string(good))
	writeFile(t, filepath.Join(b.Tree.Dir, "CMakeLists.txt"), tinyCMake)
	b.Tree = treeOf(t, b.Tree.Dir)
	mustBuild(t, b, bench.CPU)
}

func TestConcurrentBuildsAreOne(t *testing.T) {
	b := tinyBuilder(t)
	var configured atomic.Int32
	var ids sync.Map
	var all sync.WaitGroup
	for range 4 {
		other := &Builder{Project: b.Project, Cache: b.Cache, Tree: b.Tree, Variants: b.Variants, CPUFlags: b.CPUFlags}
		other.Progress = func(e Event) {
			if e.Phase == PhaseConfigure {
				configured.Add(1)
			}
		}
		all.Go(func() {
			bundle, err := other.Bundle(t.Context(), "npu", bench.Sim)
			if err != nil {
				t.Error(err)
			}
			ids.Store(bundle.ID, true)
			if err := bundle.Verify(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := configured.Load(); n != 2 {
		t.Errorf("%d configurations for two components", n)
	}
	n := 0
	ids.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d ids", n)
	}
}

func TestStoppedBuildGoesOn(t *testing.T) {
	b := tinyBuilder(t)
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	b.Progress = func(e Event) {
		if e.Phase == PhaseCompile {
			stop(why)
		}
	}
	if _, err := b.Bundle(ctx, bench.CPU, bench.Sim); !errors.Is(err, why) {
		t.Fatalf("error %v", err)
	}
	if done, _ := os.ReadDir(filepath.Join(b.Cache, "build/components")); len(done) > 0 {
		t.Errorf("half-made components: %v", done)
	}
	b.Progress = nil
	mustBuild(t, b, bench.CPU)
}

func TestEnvironmentDoesNotReachTheBuild(t *testing.T) {
	b := tinyBuilder(t)
	t.Setenv("CFLAGS", "-DLEVEL=evil -O0")
	t.Setenv("LDFLAGS", "-lnothing")
	t.Setenv("CMAKE_BUILD_TYPE", "Debug")
	if got := runTool(t, mustBuild(t, b, bench.CPU).Dir); !strings.HasPrefix(got, "level plain") {
		t.Errorf("the program says %q", got)
	}
}

func TestClosure(t *testing.T) {
	b := tinyBuilder(t)
	bundle := mustBuild(t, b, bench.CPU)
	about, err := platformOf(bench.Sim)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"tool", "libbase.so.1"}
	if err := checkClosure(bundle.Dir, all, about.machine, glibc); err != nil {
		t.Error(err)
	}
	if err := checkClosure(bundle.Dir, all[:1], about.machine, glibc); err == nil || !strings.Contains(err.Error(), "tool needs libbase.so.1") {
		t.Errorf("a missing library: %v", err)
	}
	if err := checkClosure(bundle.Dir, all, about.machine, nil); err == nil || !strings.Contains(err.Error(), "libc.so.6") {
		t.Errorf("an unstated system library: %v", err)
	}
	for rpath, want := range map[string]string{"": "own folder", "$ORIGIN;/opt/lib": "of this machine"} {
		d := b.Variants[bench.CPU]
		d.Common.Definitions = maps.Clone(d.Common.Definitions)
		d.Common.Definitions["CMAKE_INSTALL_RPATH"] = rpath
		b.Variants[bench.CPU] = d
		if _, err := b.Bundle(t.Context(), bench.CPU, bench.Sim); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("run path %q: %v", rpath, err)
		}
	}
}

func TestErrorsBeforeAnyBuild(t *testing.T) {
	b := tinyBuilder(t)
	d := b.Variants["npu"]
	d.Name = "dsp"
	d.Components = slices.Clone(d.Components)
	d.Components[0].SDK = true
	b.Variants["dsp"] = d
	for _, c := range []struct {
		variant  bench.Variant
		platform bench.Platform
		want     string
	}{
		{"nothing", bench.Sim, "unknown variant \"nothing\" (known: cpu, dsp, npu)"},
		{"cpu", bench.AndroidArm64, "can not be built for android-arm64 (only for sim)"},
		{"dsp", bench.Sim, "set HEXAGON_SDK_ROOT"},
	} {
		if _, err := b.Bundle(t.Context(), c.variant, c.platform); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", c.variant, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := b.Bundle(t.Context(), bench.CPU, bench.Sim); err == nil || !strings.Contains(fmt.Sprint(err), "no C and C++ compiler found") {
		t.Errorf("no compiler: %v", err)
	}
}
