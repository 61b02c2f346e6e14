package simtest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"hexab/internal/backendops"
	"hexab/internal/findings"
	"hexab/internal/hexclang"
)

var (
	all    = flag.Bool("all", false, "TestFindings: also the slices marked long, which take hours")
	update = flag.Bool("update", false, "TestFindings: log the failing cases as lines for expected.yaml")
)

func readFindings(t *testing.T) findings.List {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(project, "sim/findings/expected.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := findings.Parse("sim/findings/expected.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestFindings runs test-backend-ops on the simulated NPU with seeded data, in
// the slices of sim/findings/expected.yaml. It fails for a case that fails
// without being listed, and for one that is listed and passes. With -v it logs
// a row of the table of operations for each slice.
func TestFindings(t *testing.T) {
	list := readFindings(t)
	n := buildNPU(t)
	seed := filepath.Join(t.TempDir(), "seed.so")
	run(t, compilers[0], "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o", seed,
		filepath.Join(project, "sim/findings/seed/seed.c"))
	for _, arch := range hexclang.Archs {
		for _, slice := range list.Slices {
			if !slice.Has(arch) {
				continue
			}
			t.Run(fmt.Sprintf("v%d/%s", arch, slice), func(t *testing.T) {
				if arch != 79 && os.Getenv("HEXAB_LONG") == "" {
					t.Skip("HEXAB_LONG is not set: only v79; go tool mage testLong runs all")
				}
				if slice.Long && !*all {
					t.Skip("long; -all runs it")
				}
				r := n.operations(t, arch, slice, seed, list.Seed)
				differences, err := list.Compare(arch, slice, findings.Outcomes(r))
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range differences {
					t.Error(d)
				}
				for _, s := range r.ByOp() {
					t.Logf("| v%d | %s | %s | %d | %d | %d |", arch, s.Op, slice.Params, s.Passed, s.Failed, s.Unsupported)
				}
				if *update {
					for _, c := range r.Failures() {
						t.Logf("          - %q", c.Params)
					}
				}
			})
		}
	}
}

// operations runs one slice with seeded data.
func (n npu) operations(t *testing.T, arch int, s findings.Slice, seedLibrary string, seed int64) backendops.Report {
	t.Helper()
	args, err := backendops.Arguments(backendops.Test, "HTP0", s.Op, s.Params)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
	defer cancel()
	c := n.command(ctx, arch, "test-backend-ops", args...)
	c.Env = append(c.Env, "LD_PRELOAD="+seedLibrary, fmt.Sprintf("FINDINGS_SEED=%d", seed))
	var out, log bytes.Buffer
	c.Stdout, c.Stderr = &out, &log
	failed := c.Run() // also for failing cases
	r, err := backendops.Parse(out.String(), backendops.Want{Mode: backendops.Test, Backend: "HTP0"})
	if err != nil {
		t.Fatalf("%v: %v, %v\n%s", c.Args, err, failed, tail(log.String(), 2000))
	}
	return r
}

func tail(text string, n int) string { return text[max(0, len(text)-n):] }

// TestReproducers builds the program of each finding with the simulated SDK
// for each architecture that the finding is of, and for the others where it
// can show that they are clean, and runs it. Exit status 0: it is as told.
func TestReproducers(t *testing.T) {
	if os.Getenv("HEXAB_HEAVY") == "" {
		t.Skip("needs HEXAB_HEAVY=1: takes llama.cpp's sources")
	}
	n := sources(t)
	names := []string{"work-queue"} // fails no case by itself
	for _, f := range readFindings(t).Findings {
		if f.Name != "padded-rows" && f.Name != "dma-order" { // TestPaddedRows, TestDMAOrder
			names = append(names, f.Name)
		}
	}
	for _, name := range names {
		programs, err := filepath.Glob(filepath.Join(project, "sim/findings", name, "*.c"))
		if err != nil || len(programs) != 1 {
			t.Errorf("%s: %d programs, %v", name, len(programs), err)
			continue
		}
		for _, arch := range hexclang.Archs {
			t.Run(fmt.Sprintf("%s/v%d", name, arch), func(t *testing.T) {
				program := filepath.Join(t.TempDir(), name)
				run(t, n.hexagonClang(arch, programs[0], program)...)
				out, err := exec.CommandContext(t.Context(), program).CombinedOutput()
				t.Logf("%s", out)
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestPaddedRows builds the finding's program, which is an application, and
// runs it for each architecture: it sees the fault, and none without fusion.
func TestPaddedRows(t *testing.T) {
	n, llama := buildNPU(t), sources(t).llama
	program := application(t, llama, n.bundle, filepath.Join(project, "sim/findings/padded-rows/padded_rows.cpp"))
	for _, arch := range hexclang.Archs {
		for fusion, want := range map[string]int{"1": 0, "0": 1} {
			t.Run(fmt.Sprintf("v%d/fusion=%s", arch, fusion), func(t *testing.T) {
				command := n.command(t.Context(), arch, "test-backend-ops")
				command.Path, command.Args = program, []string{program, n.bundle}
				command.Env = append(command.Env, "GGML_HEXAGON_OPFUSION="+fusion)
				out, err := command.CombinedOutput()
				if got := exitStatus(err); got != want {
					t.Errorf("status %d, want %d\n%s", got, want, out)
				}
			})
		}
	}
}

// hexagonClang is the command that compiles a program as upstream's kernels are.
func (n npu) hexagonClang(arch int, source, program string) []string {
	htp := filepath.Join(n.llama, "ggml/src/ggml-hexagon/htp")
	command := []string{filepath.Join(n.sdk.ToolsRoot, "Tools/bin/hexagon-clang"),
		fmt.Sprintf("-mv%d", arch), fmt.Sprintf("-mhvx=v%d", arch), "-O2", "-Wall", "-Wextra", "-DHEXSIM_UNCOUNTED"}
	for _, dir := range []string{
		filepath.Join(n.sdk.Root, "incs"), filepath.Join(n.sdk.Root, "incs/stddef"),
		filepath.Join(n.sdk.Root, fmt.Sprintf("rtos/qurt/computev%d/include/qurt", arch)),
		filepath.Dir(htp), filepath.Join(n.llama, "ggml/src"), filepath.Join(n.llama, "ggml/include"),
	} {
		command = append(command, "-isystem", dir)
	}
	// Not a system's folder: inline assembly in those is none of the DSP's.
	return append(command, "-I", htp, source, "-o", program, "-lm")
}
