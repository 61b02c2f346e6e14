package simtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/harness"
	"hexab/internal/simsdk"
)

// project is the root of this checkout.
const project = "../.."

// socs are chips with the simulated architectures.
var socs = map[int]string{73: "SM8550", 75: "SM8650", 79: "SM8750", 81: "SM8850"}

// npu is what runs llama.cpp on the simulated NPU, or on the CPU.
type npu struct {
	// bundle has the dspqueue variant, runtime the simulated NPU.
	bundle, runtime string
	// sdk is the simulated SDK, llama the sources of llama.cpp.
	sdk   *simsdk.SDK
	llama string
}

// sources provides the sources and the SDK.
func sources(t testing.TB) npu {
	t.Helper()
	n, _ := builder(t)
	return n
}

func builder(t testing.TB) (npu, *build.Builder) {
	t.Helper()
	if os.Getenv("HEXAB_HEAVY") == "" {
		t.Skip("needs HEXAB_HEAVY=1: builds llama.cpp and its DSP libraries")
	}
	for _, tool := range []string{"cmake", "ninja", compilers[0], compilers[1]} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: %v", tool, err)
		}
	}
	ctx := context.Background()
	w, err := harness.Open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := w.Builder(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sdk, err := simsdk.Materialise(ctx, filepath.Join(w.Cache, "simsdk"), simsdk.Options{Repository: w.Root})
	if err != nil {
		t.Fatal(err)
	}
	b.SDKRoot, b.ToolsRoot, b.SDK = sdk.Root, sdk.ToolsRoot, "hexab simulated SDK "+sdk.ID
	return npu{sdk: sdk, llama: b.Tree.Dir}, b
}

// buildNPU takes what mage test has built, or builds what is not in the cache.
func buildNPU(t testing.TB) npu {
	t.Helper()
	if n := (npu{bundle: os.Getenv("HEXAB_BUNDLE_DSPQUEUE"), runtime: os.Getenv("HEXAB_NPU_RUNTIME")}); n.bundle != "" && n.runtime != "" {
		return n
	}
	n, b := builder(t)
	bundle, err := b.Bundle(context.Background(), "dspqueue", bench.Sim)
	if err != nil {
		t.Fatal(err)
	}
	n.bundle, n.runtime = bundle.Dir, t.TempDir()
	run(t, "cmake", "-G", "Ninja", "-S", filepath.Join(project, "sim/npu/runtime"), "-B", n.runtime, "-DBUILD_TESTING=OFF",
		"-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER="+compilers[0], "-DCMAKE_CXX_COMPILER="+compilers[1])
	run(t, "cmake", "--build", n.runtime, "--parallel", "2", "--target", "cdsprpc", "hexsim-dsp")
	return n
}

// command is a program of the bundle on the chip with the architecture.
func (n npu) command(ctx context.Context, arch int, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(n.bundle, program), args...)
	c.Dir = n.bundle
	c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+n.bundle+":"+n.runtime, "ADSP_LIBRARY_PATH="+n.bundle,
		"HEXSIM_SOC="+socs[arch], fmt.Sprintf("HEXSIM_DSP=%s", filepath.Join(n.runtime, "hexsim-dsp")))
	return c
}

// application builds a program against a bundle's ggml.
func application(t testing.TB, llama, bundle, source string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "application")
	run(t, compilers[1], "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-I", filepath.Join(llama, "ggml", "include"),
		source, "-o", program, filepath.Join(bundle, "libggml.so.0"), filepath.Join(bundle, "libggml-base.so.0"))
	return program
}
