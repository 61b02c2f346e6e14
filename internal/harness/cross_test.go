package harness

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"hexab/internal/bench"
	"hexab/internal/build"
)

// What goes through the cross compiler in these tests is all sources of ours
// and what a measurement takes of llama.cpp: llama-bench with its libraries and
// the CPU backend, llama-completion for the preflight, the NPU backends' host
// libraries and the DSP library of one architecture. The rest differs by
// numbers or is of use to people only.
// llama.cpp's C++ is compiled with -O1 for boards, which takes little more than
// half the time: QEMU's figures say nothing anyway.

// smallCPU is what these tests build of the CPU variant for boards. TestArm64
// and TestNPUVariantsForBoards share it.
func smallCPU(r *build.Recipe) {
	r.Definitions = maps.Clone(r.Definitions)
	if r.Definitions == nil {
		r.Definitions = map[string]string{}
	}
	r.Definitions["CMAKE_CXX_FLAGS_RELEASE"] = "-O1 -DNDEBUG"
	r.Targets = []string{"llama-bench", "llama-completion", "ggml-cpu"}
	r.Outputs = only(r.Outputs, "llama-bench", "llama-completion", "libggml-cpu.so")
}

// smallNPU is what they build of a variant with an NPU.
func smallNPU(r *build.Recipe) {
	r.Targets, r.Outputs = only(r.Targets, "ggml-hexagon", "htp-v79"), only(r.Outputs, "ggml-hexagon.so", "htp-v79")
}

// reduced are variants of which each component for a platform was made smaller.
func reduced(all build.Variants, p bench.Platform, smaller func(bench.Variant, *build.Recipe)) build.Variants {
	variants := build.Variants{}
	for name, d := range all {
		if slices.Contains(d.Platforms, p) {
			d.Components = slices.Clone(d.Components)
			for i := range d.Components {
				smaller(name, &d.Components[i].Recipe)
			}
		}
		variants[name] = d
	}
	return variants
}

// crossTools skips the test where the tools for it are not installed.
func crossTools(t *testing.T, tools ...string) {
	t.Helper()
	heavy(t)
	for _, tool := range append(tools, "aarch64-linux-gnu-g++") {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
}

// crossBuilder is a builder with the simulated SDK and reduced variants.
func crossBuilder(t *testing.T, p bench.Platform, smaller func(bench.Variant, *build.Recipe)) *build.Builder {
	t.Helper()
	crossTools(t, "clang-19", "ld.lld-19")
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	builder, err := w.Builder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.simulator(t.Context(), wants{variants: w.known(), builders: []*build.Builder{builder}}); err != nil {
		t.Fatal(err)
	}
	builder.Provide = nil // no SDK is fetched
	builder.Variants = reduced(w.Variants, p, smaller)
	return builder
}

// only keeps of a list what has one of the texts in it.
func only(list []string, texts ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(s, text) })
	})
}

// TestArm64 compares on the embedded phone with programs for arm64 under QEMU:
// the cross compiler's build, deployment and launches over the real adb.
func TestArm64(t *testing.T) {
	crossTools(t, "qemu-aarch64")
	// A checkout of its own, in which the CPU variant's description is reduced.
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(w.Root, "models.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cpu, err := yaml.Marshal(reduced(w.Variants, bench.LinuxArm64, func(_ bench.Variant, r *build.Recipe) { smallCPU(r) })[bench.CPU])
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for name, text := range map[string][]byte{"go.mod": []byte("module hexab\n"), "models.yaml": manifest, "backends/cpu/variant.yaml": cpu} {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, text, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	run, records, _, err := compareHere(t, t.Context(), Options{Arms: "cpu:threads=1,cpu:threads=1", Models: "minicpm5-1b", Rounds: 1, Seed: "9", Tests: "pp8,tg2", Device: "sim:arm64"})
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 2 || run.Device.Platform != bench.LinuxArm64 || !run.Device.Simulated || !strings.Contains(run.Device.Properties["interpreter"], "qemu-aarch64") {
		t.Errorf("%d records, %+v", len(records), run.Device)
	}
	for _, r := range records {
		if r.Outcome != bench.OutcomeOK || len(r.Results) != 2 {
			t.Errorf("launch %d: %+v", r.Seq, r)
		}
	}
	if b := run.Bundles[0]; b.Platform != bench.LinuxArm64 || !strings.Contains(b.Compiler, "aarch64-linux-gnu") {
		t.Errorf("%+v", b)
	}
}

// TestNPUVariantsForBoards builds the NPU variants for Linux boards with the
// cross compiler and the simulated SDK: the host's libraries are real, the DSP
// library is the simulator's.
func TestNPUVariantsForBoards(t *testing.T) {
	builder := crossBuilder(t, bench.LinuxArm64, func(v bench.Variant, r *build.Recipe) {
		if v == bench.CPU {
			smallCPU(r)
		} else {
			smallNPU(r)
		}
	})
	for _, v := range []bench.Variant{bench.DSPQueue, bench.FastRPC} {
		bundle, err := builder.Bundle(t.Context(), v, bench.LinuxArm64)
		if err != nil {
			t.Fatal(err)
		}
		wantMachine(t, bundle, "libggml-hexagon.so", "aarch64")
		wantMachine(t, bundle, "libggml-base.so.0", "aarch64")
		if !strings.Contains(bundle.Compiler, "aarch64-linux-gnu") || !strings.Contains(bundle.SDK, "simulated") {
			t.Errorf("%+v", bundle.Bundle)
		}
	}
}

// TestAndroidPath builds for Android with a stand-in for the NDK: its layout
// and toolchain file around Debian's clang and arm64 libraries. Every flag and
// every source of ours goes through the compiler; what an NDK brings of its own
// (headers, bionic) does not.
func TestAndroidPath(t *testing.T) {
	glibc := []string{"libc.so.6", "libm.so.6", "libdl.so.2", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-aarch64.so.1"}
	builder := crossBuilder(t, bench.AndroidArm64, func(v bench.Variant, r *build.Recipe) {
		r.SystemLibraries = append(slices.Clone(r.SystemLibraries), glibc...)
		if v == bench.CPU {
			r.Targets, r.Outputs = []string{"ggml-base"}, []string{"bin/libggml-base.so.0"}
		} else {
			smallNPU(r)
		}
	})
	builder.NDKRoot = standInNDK(t)
	var err error
	if builder.NDK, err = kitVersion(kindNDK, builder.NDKRoot); err != nil || builder.NDK != "Android NDK 0.0.0" {
		t.Fatalf("%q, %v", builder.NDK, err)
	}
	for _, v := range []bench.Variant{bench.CPU, bench.DSPQueue, bench.FastRPC} {
		bundle, err := builder.Bundle(t.Context(), v, bench.AndroidArm64)
		if err != nil {
			t.Fatal(err)
		}
		wantMachine(t, bundle, "libggml-base.so.0", "aarch64")
		if v != bench.CPU {
			wantMachine(t, bundle, "libggml-hexagon.so", "aarch64")
		}
		flags := strings.Join(bundle.Flags, "\n")
		for _, want := range []string{"ANDROID_ABI=arm64-v8a", "ANDROID_PLATFORM=android-34", "-march=armv8.7a+fp16+dotprod+i8mm", "-flto"} {
			if !strings.Contains(flags, want) {
				t.Errorf("%s: %s is not among the flags", v, want)
			}
		}
		if !strings.Contains(bundle.Compiler, "Android NDK 0.0.0") {
			t.Errorf("%s: compiler %s", v, bundle.Compiler)
		}
	}
}

// standInNDK makes a folder that is laid out like an NDK. It is for this test
// only and calls itself version 0.0.0.
func standInNDK(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	const bin = "toolchains/llvm/prebuilt/linux-x86_64/bin/"
	toolchain := `# A stand-in for the NDK's toolchain file.
get_property(inner GLOBAL PROPERTY IN_TRY_COMPILE)
if (NOT inner AND NOT (ANDROID_ABI STREQUAL "arm64-v8a" AND ANDROID_PLATFORM STREQUAL "android-34"))
    message(FATAL_ERROR "ANDROID_ABI is \"${ANDROID_ABI}\", ANDROID_PLATFORM \"${ANDROID_PLATFORM}\"")
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/../../` + bin + `clang)
set(CMAKE_CXX_COMPILER ${CMAKE_CURRENT_LIST_DIR}/../../` + bin + `clang++)
`
	compiler := func(name string) string {
		return "#!/bin/sh\nexec " + name + " --target=aarch64-linux-gnu -fuse-ld=lld -Qunused-arguments \"$@\"\n"
	}
	for name, text := range map[string]string{
		"source.properties":                   "Pkg.Desc = stand-in\nPkg.Revision = 0.0.0\n",
		"build/cmake/android.toolchain.cmake": toolchain,
		bin + "clang":                         compiler("clang-19"),
		bin + "clang++":                       compiler("clang++-19"),
	} {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func wantMachine(t *testing.T, b build.Bundle, name, machine string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "readelf", "-h", filepath.Join(b.Dir, name)).Output()
	if err != nil || !strings.Contains(strings.ToLower(string(out)), machine) {
		t.Errorf("%s of %s is not for %s: %v", name, b.Variant, machine, err)
	}
}
