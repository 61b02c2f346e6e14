package simtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestVectors builds the tests of sim/npu/hvx for every architecture, plainly
// and with the address and undefined-behaviour sanitizers, and runs them: each
// intrinsic's vector form against its lane form, and the matrix unit's.
func TestVectors(t *testing.T) {
	if os.Getenv("HEXAB_HEAVY") == "" {
		t.Skip("needs HEXAB_HEAVY=1: builds the HVX emulation for four architectures")
	}
	for _, tool := range []string{"cmake", "ctest", "ninja", compilers[0]} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: %v", tool, err)
		}
	}
	source, err := filepath.Abs("../../sim/npu/hvx/test")
	if err != nil {
		t.Fatal(err)
	}
	for name, option := range map[string]string{
		"plain":    "-DHEXSIM_SANITIZE=OFF",
		"sanitize": "-DHEXSIM_SANITIZE=ON",
	} {
		t.Run(name, func(t *testing.T) {
			build := t.TempDir()
			run(t, "cmake", "-G", "Ninja", "-S", source, "-B", build, "-DCMAKE_C_COMPILER="+compilers[0], option)
			run(t, "cmake", "--build", build, "--parallel", "2")
			run(t, "ctest", "--test-dir", build, "--parallel", "2", "--output-on-failure", "--no-tests=error")
		})
	}
}

// TestIntrinsicsCounted holds sim/npu/hvx/hexsim_count.h: each vector intrinsic
// of the emulation is counted, once.
func TestIntrinsicsCounted(t *testing.T) {
	headers, err := filepath.Glob("../../sim/npu/hvx/hexsim_*.h")
	if err != nil || len(headers) == 0 {
		t.Fatal(headers, err)
	}
	name := regexp.MustCompile(`\bQ6_[A-Za-z0-9_]+(##)?`)
	counted := regexp.MustCompile(`(?m)^#define (Q6_\w+)\(\.\.\.\) HEXSIM_COUNTED\((Q6_\w+)\(__VA_ARGS__\)\)$`)
	// Scalar ones, names of registers, and names that a macro completes.
	none := regexp.MustCompile(`^Q6_([PR]_|dc|l2fetch|V_(lo|hi)_W$)|_lane$|##$`)
	defined, times := map[string]bool{}, map[string]int{}
	for _, header := range headers {
		text, err := os.ReadFile(header)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(header) == "hexsim_count.h" {
			for _, m := range counted.FindAllStringSubmatch(string(text), -1) {
				if times[m[1]]++; m[1] != m[2] {
					t.Errorf("%s calls %s", m[1], m[2])
				}
			}
			continue
		}
		for _, found := range name.FindAllString(string(text), -1) {
			if !none.MatchString(found) {
				defined[found] = true
			}
		}
	}
	for found := range defined {
		if times[found] != 1 {
			t.Errorf("%s is counted %d times", found, times[found])
		}
	}
	for found := range times {
		if !defined[found] {
			t.Errorf("%s is counted and not there", found)
		}
	}
}

// arm64 is the folder of the cross compiler's headers and libraries.
const arm64 = "/usr/aarch64-linux-gnu"

// TestVectorsArm64 compiles the tests of sim/npu/hvx for arm64 Linux and, where
// there is an emulator of its user programs, runs them.
func TestVectorsArm64(t *testing.T) {
	if os.Getenv("HEXAB_HEAVY") == "" {
		t.Skip("needs HEXAB_HEAVY=1: builds the HVX emulation for four architectures")
	}
	for _, tool := range []string{"cmake", "ctest", "ninja", compilers[0], "aarch64-linux-gnu-gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: %v", tool, err)
		}
	}
	source, err := filepath.Abs("../../sim/npu/hvx/test")
	if err != nil {
		t.Fatal(err)
	}
	build := t.TempDir()
	configure := []string{
		"cmake", "-G", "Ninja", "-S", source, "-B", build, "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
		"-DCMAKE_C_COMPILER=" + compilers[0], "-DCMAKE_C_COMPILER_TARGET=aarch64-linux-gnu",
	}
	emulator, missing := exec.LookPath("qemu-aarch64")
	if missing == nil {
		configure = append(configure, "-DCMAKE_CROSSCOMPILING_EMULATOR="+emulator+";-L;"+arm64)
	}
	run(t, configure...)
	run(t, "cmake", "--build", build, "--parallel", "2")
	if missing != nil {
		t.Logf("compiled, not run: %v", missing)
		return
	}
	run(t, "ctest", "--test-dir", build, "--parallel", "2", "--output-on-failure", "--no-tests=error")
}
