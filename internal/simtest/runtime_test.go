package simtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// compilers are the compilers that the simulator is built with, in C and C++.
var compilers = [2]string{"clang-19", "clang++-19"}

// TestRuntime builds sim/npu/runtime, both plainly and with the address and
// undefined-behaviour sanitizers, and runs its own tests.
func TestRuntime(t *testing.T) {
	if os.Getenv("HEXAB_HEAVY") == "" {
		t.Skip("needs HEXAB_HEAVY=1: builds the DSP runtime twice")
	}
	for _, tool := range []string{"cmake", "ctest", "ninja", compilers[0], compilers[1]} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: %v", tool, err)
		}
	}
	source, err := filepath.Abs("../../sim/npu/runtime")
	if err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string][]string{
		"plain":    nil,
		"sanitize": {"-DHEXSIM_SANITIZE=ON"},
	} {
		t.Run(name, func(t *testing.T) {
			build := t.TempDir()
			configure := append([]string{
				"cmake", "-G", "Ninja", "-S", source, "-B", build,
				"-DCMAKE_C_COMPILER=" + compilers[0], "-DCMAKE_CXX_COMPILER=" + compilers[1],
			}, options...)
			run(t, configure...)
			run(t, "cmake", "--build", build, "--parallel", "2")
			run(t, "ctest", "--test-dir", build, "--parallel", "2", "--output-on-failure", "--no-tests=error")
		})
	}
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
