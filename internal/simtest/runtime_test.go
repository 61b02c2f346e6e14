package simtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hexab/internal/simsdk"
)

// compilers are the compilers that the simulator is built with, in C and C++.
var compilers = [2]string{"clang-19", "clang++-19"}

// TestRuntime builds sim/npu/runtime plainly, with the address and
// undefined-behaviour sanitizers and with the thread sanitizer, and runs its own
// tests.
func TestRuntime(t *testing.T) {
	source := runtimeSource(t, compilers[0], compilers[1], "ctest")
	for name, option := range map[string]string{
		"plain":    "-DHEXSIM_SANITIZE=OFF",
		"sanitize": "-DHEXSIM_SANITIZE=ON",
		"thread":   "-DHEXSIM_SANITIZE=thread",
	} {
		t.Run(name, func(t *testing.T) {
			build := t.TempDir()
			run(t, "cmake", "-G", "Ninja", "-S", source, "-B", build,
				"-DCMAKE_C_COMPILER="+compilers[0], "-DCMAKE_CXX_COMPILER="+compilers[1], option,
				"-DHEXSIM_ACCESS_FLAGS="+strings.Join(simsdk.AccessFlags, ";"))
			run(t, "cmake", "--build", build, "--parallel", "2")
			run(t, "ctest", "--test-dir", build, "--parallel", "2", "--output-on-failure", "--no-tests=error")
		})
	}
}

// TestRuntimeArm64 compiles both sides and their tests for arm64 Linux.
func TestRuntimeArm64(t *testing.T) {
	source := runtimeSource(t, compilers[0], compilers[1], "aarch64-linux-gnu-gcc")
	build := t.TempDir()
	run(t, "cmake", "-G", "Ninja", "-S", source, "-B", build, "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
		"-DCMAKE_C_COMPILER="+compilers[0], "-DCMAKE_C_COMPILER_TARGET=aarch64-linux-gnu",
		"-DCMAKE_CXX_COMPILER="+compilers[1], "-DCMAKE_CXX_COMPILER_TARGET=aarch64-linux-gnu",
		"-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld", "-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld")
	run(t, "cmake", "--build", build, "--parallel", "2")
}

// runtimeSource is the folder of the runtime, for a test that needs tools.
func runtimeSource(t *testing.T, tools ...string) string {
	t.Helper()
	if os.Getenv("HEXAB_HEAVY") == "" {
		t.Skip("needs HEXAB_HEAVY=1: builds the DSP runtime")
	}
	for _, tool := range append([]string{"cmake", "ninja"}, tools...) {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: %v", tool, err)
		}
	}
	source, err := filepath.Abs("../../sim/npu/runtime")
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// run runs a program for ten minutes at most; its output is shown when it fails.
func run(t testing.TB, command ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
}
