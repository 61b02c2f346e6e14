package simtest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hexab/internal/simsdk"
)

// fastrpc is what the tests of the FastRPC variant need.
type fastrpc struct {
	llama, npu, bundle, dspqueue string
	sdk                          *simsdk.SDK
}

func needFastRPC(t *testing.T) fastrpc {
	t.Helper()
	if os.Getenv("HEXAB_HEAVY") == "" {
		t.Skip("needs HEXAB_HEAVY=1: builds and runs the FastRPC variant")
	}
	f := fastrpc{
		llama: need(t, "HEXAB_LLAMA_CPP"), npu: need(t, "HEXAB_NPU_RUNTIME"),
		bundle: need(t, "HEXAB_BUNDLE_FASTRPC"), dspqueue: need(t, "HEXAB_BUNDLE_DSPQUEUE"),
	}
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(need(t, "HEXAB_TEST_CACHE"), "simsdk")
	if f.sdk, err = simsdk.Materialise(t.Context(), cache, simsdk.Options{Repository: repository}); err != nil {
		t.Fatal(err)
	}
	return f
}

// env is the environment of a program that computes with a bundle's libraries.
func (f fastrpc) env(libraries string, more ...string) []string {
	return append([]string{
		"LD_LIBRARY_PATH=" + libraries + ":" + f.bundle + ":" + f.npu,
		"ADSP_LIBRARY_PATH=" + libraries, "GGML_NO_BACKTRACE=1",
	}, more...)
}

// configure configures htp for v79 in a new build folder.
func (f fastrpc) configure(t *testing.T, htp string, definitions ...string) (build string) {
	t.Helper()
	build = t.TempDir()
	run(t, append([]string{"cmake", "-G", "Ninja", "-S", htp, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DDSP_VERSION=v79",
		"-DCMAKE_TOOLCHAIN_FILE=" + filepath.Join(f.llama, "ggml/src/ggml-hexagon/htp/cmake-toolchain.cmake"), "-DLLAMA_CPP=" + f.llama,
		"-DHEXAGON_SDK_ROOT=" + f.sdk.Root, "-DHEXAGON_TOOLS_ROOT=" + f.sdk.ToolsRoot}, definitions...)...)
	return build
}

// sanitizeDSP builds the DSP's side with a sanitizer, both the DSP library's own
// sources and the program that loads it.
func (f fastrpc) sanitizeDSP(t *testing.T, sanitize string) (libraries, program string) {
	t.Helper()
	libraries = f.configure(t, "../../htp", "-DFASTRPC_SANITIZE="+sanitize)
	run(t, "cmake", "--build", libraries, "--parallel", "2")
	build, option := t.TempDir(), "ON"
	if sanitize == "thread" {
		option = "thread"
	}
	run(t, "cmake", "-G", "Ninja", "-S", "../../sim/npu/runtime", "-B", build, "-DCMAKE_C_COMPILER="+compilers[0],
		"-DCMAKE_CXX_COMPILER="+compilers[1], "-DHEXSIM_SANITIZE="+option)
	run(t, "cmake", "--build", build, "--parallel", "2", "--target", "hexsim-dsp")
	return libraries, filepath.Join(build, "hexsim-dsp")
}

// TestFastRPCLife drives the transport without ggml's graphs, built plainly
// and with each sanitizer, on both sides.
func TestFastRPCLife(t *testing.T) {
	f := needFastRPC(t)
	for name, sanitize := range map[string]string{"plain": "", "address": "address,undefined", "thread": "thread"} {
		t.Run(name, func(t *testing.T) {
			build, dsp := t.TempDir(), f.bundle
			var dspEnv []string
			if sanitize != "" {
				var program string
				dsp, program = f.sanitizeDSP(t, sanitize)
				dspEnv = []string{
					"HEXSIM_DSP=" + program, "ASAN_OPTIONS=allow_user_segv_handler=1:detect_leaks=0",
					"TSAN_OPTIONS=halt_on_error=1:atexit_sleep_ms=20",
				}
			}
			run(t, "cmake", "-G", "Ninja", "-S", "../../backends/fastrpc/test", "-B", build,
				"-DCMAKE_C_COMPILER="+compilers[0], "-DCMAKE_CXX_COMPILER="+compilers[1], "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
				"-DLLAMA_CPP="+f.llama, "-DHEXAGON_SDK_ROOT="+f.sdk.Root, "-DFASTRPC_SANITIZE="+sanitize,
				"-DGGML_BASE="+filepath.Join(f.bundle, "libggml-base.so.0"))
			run(t, "cmake", "--build", build, "--parallel", "2")
			cycles := "1000"
			if sanitize != "" {
				cycles = "50"
			}
			for _, c := range []struct {
				args      []string
				libraries string
				env       []string
				says      string
			}{
				{args: []string{"cycles", cycles}},
				{args: []string{"order"}},
				{args: []string{"refused"}, says: "refused batch 1: error 0x8000040e"},
				{args: []string{"large_block"}},
				{args: []string{"together", "100"}},
				{args: []string{"pool", "2000"}},
				{args: []string{"pool", "2000"}, env: []string{"GGML_HEXAGON_FASTRPC_SEGMENT=1"}},
				{args: []string{"pool", "500"}, env: []string{"GGML_HEXAGON_FASTRPC_SEGMENT=0"}},
				{args: []string{"order"}, env: []string{"GGML_HEXAGON_FASTRPC_COHERENCY=never"}, says: "neither role nor whole"},
				{args: []string{"mismatch"}, libraries: f.dspqueue, says: "must both be of the fastrpc variant"},
				{args: []string{"dies"}, env: []string{"HEXSIM_FAULT=crash:8"}, says: "its process on the DSP has ended"},
			} {
				t.Run(strings.Join(slices.Concat(c.args, c.env), " "), func(t *testing.T) {
					libraries := dsp
					if c.libraries != "" {
						libraries = c.libraries
					}
					command := exec.CommandContext(t.Context(), filepath.Join(build, "life"), c.args...)
					command.Env = f.env(libraries, append(slices.Clone(dspEnv), c.env...)...)
					out, err := command.CombinedOutput()
					if err != nil || !strings.Contains(string(out), c.says) {
						t.Errorf("%v; want %q said in\n%s", err, c.says, out)
					}
				})
			}
		})
	}
}

// maintenance finds the statements of the DSP's side that maintain the cache
// or record what is to be maintained.
var maintenance = regexp.MustCompile(
	`(?m)^[ \t]+(?:whole_cache\(\)|hex_l2flush\(|coherency_buffer\(|htp_flush_dirty_ranges\(|htp_tensor_flush_all\(|ranges_add\(&c->(?:touched|needed)|need\(c|touch\(c|keep_touched\(c|keep\(octx)[^;]*;`)

// settings are the configurations under which a missing upkeep must show: as
// shipped, with whole-cache operations in place of long ranges, and as upstream.
var settings = [][]string{
	nil,
	{"GGML_HEXAGON_FASTRPC_CAP=12"},
	{"GGML_HEXAGON_FASTRPC_COHERENCY=whole"},
}

// TestFastRPCCoherency runs graphs whose memory the application changes under
// the coherency check, and then shows that no statement that maintains the
// cache can be left out: each is removed in turn, and the run must go wrong.
func TestFastRPCCoherency(t *testing.T) {
	f := needFastRPC(t)
	program := application(t, f.llama, f.bundle, "testdata/coherency.cpp")

	htp, libraries := t.TempDir(), t.TempDir()
	if err := os.CopyFS(htp, os.DirFS("../../htp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(f.bundle, "libggml-hexagon.so"), filepath.Join(libraries, "libggml-hexagon.so")); err != nil {
		t.Fatal(err)
	}
	build := f.configure(t, htp, "-DCMAKE_LIBRARY_OUTPUT_DIRECTORY="+libraries)

	// wrong builds the library and tells what goes wrong with it.
	wrong := func(t *testing.T) (what []string) {
		run(t, "cmake", "--build", build, "--parallel", "2")
		for _, setting := range settings {
			report := filepath.Join(t.TempDir(), "findings")
			command := exec.CommandContext(t.Context(), program)
			// Two slots for batches, so that each is used again.
			command.Env = f.env(libraries, append(slices.Clone(setting), "GGML_HEXAGON_OPQUEUE=2", "HEXSIM_CHECK=coherency",
				"GGML_BACKEND_PATH="+filepath.Join(libraries, "libggml-hexagon.so"), "HEXSIM_REPORT="+report)...)
			out, err := command.CombinedOutput()
			findings, _ := os.ReadFile(report)
			if err != nil || len(findings) > 0 {
				what = append(what, fmt.Sprintf("%v: %v\n%s\n%s", setting, err, out, findings))
			}
		}
		return what
	}
	if what := wrong(t); len(what) > 0 {
		t.Fatalf("nothing left out, and yet:\n%s", strings.Join(what, "\n"))
	}
	mutants := 0
	for _, name := range []string{"coherency.c", "entry.c"} {
		file := filepath.Join(htp, name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range maintenance.FindAllIndex(text, -1) {
			mutants++
			statement := strings.Join(strings.Fields(string(text[at[0]:at[1]])), " ")
			line := strings.Count(string(text[:at[0]]), "\n") + 1
			t.Run(fmt.Sprintf("%s:%d", name, line), func(t *testing.T) {
				mutant := slices.Concat(text[:at[0]], []byte("(void)0;"), text[at[1]:])
				if err := os.WriteFile(file, mutant, 0o644); err != nil {
					t.Fatal(err)
				}
				if len(wrong(t)) == 0 {
					t.Errorf("nothing goes wrong without %s", statement)
				}
			})
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if mutants < 12 {
		t.Errorf("only %d statements maintain the cache: has the pattern missed some?", mutants)
	}
}

// TestFastRPCElsewhere compiles the DSP side's own sources from two checkouts
// in two folders: the same bytes, else another clone's bundle has another name.
func TestFastRPCElsewhere(t *testing.T) {
	f := needFastRPC(t)
	var objects [2]map[string]string
	for i := range objects {
		htp := filepath.Join(t.TempDir(), fmt.Sprint("clone", i), "htp")
		if err := os.CopyFS(htp, os.DirFS("../../htp")); err != nil {
			t.Fatal(err)
		}
		build := f.configure(t, htp)
		objects[i] = map[string]string{}
		for _, name := range []string{"entry.c", "segment.c", "coherency.c", "ggml_htp_skel.c"} {
			object := filepath.Join("CMakeFiles", "ggml-htp-v79.dir", name+".obj")
			run(t, "ninja", "-C", build, object)
			data, err := os.ReadFile(filepath.Join(build, object))
			if err != nil {
				t.Fatal(err)
			}
			if at := bytes.Index(data, []byte("clone")); at >= 0 {
				t.Errorf("%s tells where it was compiled: %q", name, data[max(0, at-40):min(len(data), at+40)])
			}
			objects[i][name] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
	}
	if !maps.Equal(objects[0], objects[1]) {
		t.Errorf("objects of one checkout and of another:\n%v\n%v", objects[0], objects[1])
	}
}

// parityOps are operations of each kind of memory access that are quick to
// simulate.
const (
	parityCases = 300 // at least
	parityOps   = "SET_ROWS,CPY,SOFT_MAX,RMS_NORM,SSM_CONV,GATED_DELTA_NET,CONCAT,ARGSORT,SUM_ROWS,REPEAT,ADD_ID,SWIGLU,ROLL,PAD"
)

// verdict is one case's line of test-backend-ops, without colours.
var verdict = regexp.MustCompile(`(?m)^  ([A-Z_0-9]+\(.*\)): (?:\x1b\[[0-9;]*m)*(OK|FAIL|not supported)`)

// verdicts are those of test-backend-ops on HTP0, sorted, and what it said. Fewer
// cases than at least are none of a whole run.
func verdicts(t *testing.T, folder, ops string, least int, env []string) (list []string, said string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(folder, "test-backend-ops"), "test", "-b", "HTP0", "-o", ops)
	command.Env, command.Dir = env, folder
	out, _ := command.CombinedOutput() // fails when a case fails, with either transport
	for _, m := range verdict.FindAllStringSubmatch(string(out), -1) {
		list = append(list, m[1]+": "+m[2])
	}
	if len(list) < least {
		t.Fatalf("%d cases, want %d at least:\n%s", len(list), least, out[max(0, len(out)-2000):])
	}
	slices.Sort(list)
	return list, string(out)
}

// TestFastRPCOps shows that the same cases pass with either transport, on each
// architecture, also with a small pool, whole-cache upkeep and all checks.
func TestFastRPCOps(t *testing.T) {
	f := needFastRPC(t)
	for _, soc := range []string{"SM8550", "SM8650", "SM8750", "SM8850"} {
		t.Run(soc, func(t *testing.T) {
			if soc != "SM8750" && os.Getenv("HEXAB_LONG") == "" {
				t.Skip("HEXAB_LONG is not set: only v79; go tool mage testLong runs all")
			}
			want, _ := verdicts(t, f.dspqueue, parityOps, parityCases, f.env(f.dspqueue, "HEXSIM_SOC="+soc))
			environments := [][]string{nil, {"GGML_HEXAGON_FASTRPC_SEGMENT=1"}, {"GGML_HEXAGON_FASTRPC_SEGMENT=0"},
				{"GGML_HEXAGON_FASTRPC_COHERENCY=whole"}, {"HEXSIM_CHECK=coherency,vtcm,window"}}
			for _, env := range environments {
				got, _ := verdicts(t, f.bundle, parityOps, parityCases, f.env(f.bundle, append(slices.Clone(env), "HEXSIM_SOC="+soc)...))
				for i := range max(len(want), len(got)) {
					if i >= len(want) || i >= len(got) || want[i] != got[i] {
						t.Errorf("%v: case %d of %d and %d: dspqueue %q, fastrpc %q", env, i, len(want), len(got),
							append(want, "")[min(i, len(want))], append(got, "")[min(i, len(got))])
						break
					}
				}
			}
		})
	}
}

// TestFastRPCDevices shows that a device group, and a window that does not hold
// the model, give dspqueue's very bits, and that sessions share the layers of a
// model.
func TestFastRPCDevices(t *testing.T) {
	f := needFastRPC(t)
	models := filepath.SplitList(need(t, "HEXAB_STAND_INS"))
	model := models[slices.IndexFunc(models, func(m string) bool { return strings.HasPrefix(filepath.Base(m), "llama") })]
	program := filepath.Join(t.TempDir(), "logits")
	run(t, compilers[1], "-std=c++17", "-O1", "-I", filepath.Join(f.llama, "include"), "-I", filepath.Join(f.llama, "ggml", "include"),
		"testdata/logits.cpp", "-o", program, filepath.Join(f.bundle, "libllama.so.0"), filepath.Join(f.bundle, "libggml.so.0"),
		filepath.Join(f.bundle, "libggml-base.so.0"))
	for name, env := range map[string][]string{
		"one":            nil,
		"a group":        {"GGML_HEXAGON_DEVICES=HTP0[0-1]"},
		"a small window": {"GGML_HEXAGON_VMEM=190", "GGML_HEXAGON_MBUF=18", "GGML_HEXAGON_OPQUEUE=2", "GGML_HEXAGON_FASTRPC_SEGMENT=1"},
	} {
		t.Run(name, func(t *testing.T) {
			var bits [2][]byte
			for i, bundle := range []string{f.dspqueue, f.bundle} {
				out := filepath.Join(t.TempDir(), "logits.bin")
				command := exec.CommandContext(t.Context(), program, model, "HTP0", out)
				command.Env, command.Dir = f.env(bundle, env...), bundle
				if log, err := command.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", filepath.Base(bundle), err, log[max(0, len(log)-3000):])
				}
				var err error
				if bits[i], err = os.ReadFile(out); err != nil || len(bits[i]) == 0 {
					t.Fatalf("%d bytes of logits: %v", len(bits[i]), err)
				}
			}
			if !bytes.Equal(bits[0], bits[1]) {
				t.Error("the logits are not the same as dspqueue's")
			}
		})
	}
	for _, devices := range []string{"HTP0:0,HTP0:1", "HTP0,HTP1"} {
		t.Run(devices, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), filepath.Join(f.bundle, "llama-bench"), "-m", model, "-ngl", "99",
				"-dev", strings.ReplaceAll(devices, ",", "/"), "-fa", "1", "-t", "2", "-p", "16", "-n", "4", "-r", "1", "-o", "jsonl")
			command.Env, command.Dir = f.env(f.bundle, "GGML_HEXAGON_DEVICES="+devices), f.bundle
			out, err := command.CombinedOutput()
			if err != nil || strings.Count(string(out), `"avg_ts"`) != 2 {
				t.Errorf("%v\n%s", err, out[max(0, len(out)-3000):])
			}
		})
	}
}
