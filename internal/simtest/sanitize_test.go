package simtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sanitizeOps are operations with memory of each kind: rows that change in the
// KV cache, views, weights, ids, states.
const sanitizeOps = "SET_ROWS,CPY,ADD_ID,SSM_CONV,SUM_ROWS,ROLL"

// upstreamRaces are the places in upstream's kernels that the thread sanitizer
// may name: the work queue's index without a lock (sim/findings/work-queue),
// and accesses that an atomic_thread_fence orders, which the sanitizer does not
// model. None is in a source of ours.
const upstreamRaces = `race_top:work_queue_run_async
race_top:work_queue_thread
race:hvx_copy_ua
race:hvx_transpose_32x32_words
race_top:store_avx2
race:bitonic_sort_generic_hvx
`

// TestFastRPCSanitized runs operations with a sanitizer in the application's
// library, with upstream's host in it, and in the DSP's side: the same cases
// pass as without, and nothing is reported.
func TestFastRPCSanitized(t *testing.T) {
	f := needFastRPC(t)
	ops, least := sanitizeOps, 50
	if os.Getenv("HEXAB_LONG") != "" {
		ops, least = parityOps, parityCases
	}
	want, _ := verdicts(t, f.bundle, ops, least, f.env(f.bundle))
	for name, sanitize := range map[string]string{"address": "address,undefined", "thread": "thread"} {
		t.Run(name, func(t *testing.T) {
			folder, env := f.sanitizeBoth(t, name, sanitize)
			got, said := verdicts(t, folder, ops, least, env)
			if !slices.Equal(got, want) {
				t.Errorf("%d cases, and without the sanitizer %d others", len(got), len(want))
			}
			for _, report := range []string{"Sanitizer", "runtime error:"} {
				if i := strings.Index(said, report); i >= 0 {
					t.Fatalf("a report:\n%s", said[max(0, i-200):min(len(said), i+4000)])
				}
			}
		})
	}
}

// sanitizeBoth makes a bundle whose two sides report, and its environment.
func (f fastrpc) sanitizeBoth(t *testing.T, name, sanitize string) (folder string, env []string) {
	t.Helper()
	host, folder := t.TempDir(), t.TempDir()
	dsp, dspProgram := f.sanitizeDSP(t, sanitize)
	run(t, "cmake", "-G", "Ninja", "-S", "../../backends/fastrpc", "-B", host, "-DCMAKE_BUILD_TYPE=Release",
		"-DCMAKE_C_COMPILER="+compilers[0], "-DCMAKE_CXX_COMPILER="+compilers[1], "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
		"-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DLLAMA_CPP="+f.llama, "-DHEXAGON_SDK_ROOT="+f.sdk.Root,
		"-DHEXAGON_TOOLS_ROOT="+f.sdk.ToolsRoot, "-DFASTRPC_SANITIZE="+sanitize)
	run(t, "cmake", "--build", host, "--parallel", "2", "--target", "ggml-hexagon")

	replaced := map[string]string{
		"libggml-hexagon.so": filepath.Join(host, "bin", "libggml-hexagon.so"),
		"libggml-htp-v79.so": filepath.Join(dsp, "libggml-htp-v79.so"),
		"test-backend-ops":   filepath.Join(f.bundle, "test-backend-ops"), // a copy: it looks for libraries beside itself
	}
	entries, err := os.ReadDir(f.bundle)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := replaced[e.Name()]; !ok {
			if err := os.Symlink(filepath.Join(f.bundle, e.Name()), filepath.Join(folder, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	for to, from := range replaced {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, to), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	races := filepath.Join(folder, "upstream-races.supp")
	if err := os.WriteFile(races, []byte(upstreamRaces), 0o644); err != nil {
		t.Fatal(err)
	}

	// The application is not built with the sanitizer, so its runtime comes first; the DSP's program has its own.
	runtime := map[string]string{"address": "asan", "thread": "tsan"}[name]
	preload, err := exec.CommandContext(t.Context(), compilers[0], "-print-file-name=libclang_rt."+runtime+"-x86_64.so").Output()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "dsp")
	script := "#!/bin/sh\nunset LD_PRELOAD\nexec " + dspProgram + " \"$@\"\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	// Upstream divides by zero on the host, which is zero on Arm and in the simulator: the signal is not the sanitizer's.
	return folder, f.env(folder, "LD_PRELOAD="+strings.TrimSpace(string(preload)), "HEXSIM_DSP="+program,
		"ASAN_OPTIONS=handle_sigfpe=0:allow_user_segv_handler=1:detect_leaks=0", "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1",
		"TSAN_OPTIONS=handle_sigfpe=0:atexit_sleep_ms=20:suppressions="+races)
}
