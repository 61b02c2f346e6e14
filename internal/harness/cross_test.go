package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/build"
)

// crossBuilder is a builder with the simulated SDK and what a test needs of
// each component only. All of llama.cpp goes through the cross compiler in
// TestArm64; here a library of it, the NPU variants' host libraries and the DSP
// library of one architecture show that a platform's way works. The other
// architectures differ by a number.
func crossBuilder(t *testing.T, p bench.Platform, keep func(bench.Variant, *build.Recipe)) *build.Builder {
	t.Helper()
	long(t)
	for _, tool := range []string{"aarch64-linux-gnu-g++", "clang-19", "ld.lld-19"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	builder, err := w.Builder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.simulator(t.Context(), wants{w.known(), []*build.Builder{builder}}); err != nil {
		t.Fatal(err)
	}
	builder.Provide = nil // no SDK is fetched
	builder.Variants = build.Variants{}
	for name, d := range w.Variants {
		d.Components = slices.Clone(d.Components)
		for i, c := range d.Components {
			if !slices.Contains(d.Platforms, p) {
				continue
			}
			keep(name, &c.Recipe)
			d.Components[i] = c
		}
		builder.Variants[name] = d
	}
	return builder
}

// only keeps of a list what has one of the texts in it.
func only(list []string, texts ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(s, text) })
	})
}

func ggmlBase() (targets, outputs []string) {
	return []string{"ggml-base"}, []string{"bin/libggml-base.so.0"}
}

// TestNPUVariantsForBoards builds the NPU variants for Linux boards with the
// cross compiler and the simulated SDK: the host's libraries are real, the DSP
// library is the simulator's.
func TestNPUVariantsForBoards(t *testing.T) {
	builder := crossBuilder(t, bench.LinuxArm64, func(v bench.Variant, r *build.Recipe) {
		if v == bench.CPU {
			r.Targets, r.Outputs = ggmlBase()
		} else {
			r.Targets, r.Outputs = only(r.Targets, "ggml-hexagon", "htp-v79"), only(r.Outputs, "ggml-hexagon.so", "htp-v79")
		}
	})
	for _, v := range []bench.Variant{bench.DSPQueue, bench.FastRPC} {
		if _, known := builder.Variants[v]; !known {
			continue
		}
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
			r.Targets, r.Outputs = ggmlBase()
		} else {
			r.Targets, r.Outputs = only(r.Targets, "ggml-hexagon"), only(r.Outputs, "ggml-hexagon.so")
		}
	})
	builder.NDKRoot = standInNDK(t)
	var err error
	if builder.NDK, err = kitVersion(kindNDK, builder.NDKRoot); err != nil || builder.NDK != "Android NDK 0.0.0" {
		t.Fatalf("%q, %v", builder.NDK, err)
	}
	for _, v := range []bench.Variant{bench.CPU, bench.DSPQueue, bench.FastRPC} {
		if _, known := builder.Variants[v]; !known {
			continue
		}
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
