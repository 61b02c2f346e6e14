package simtest

import (
	"os"
	"os/exec"
	"path/filepath"
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
