package simtest

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nmseLimits is how far the logits on the simulated NPU may be from the CPU's,
// by architecture family: the squared error over the variance of the CPU's
// logits. Both quantise the activations, in blocks of their own, so they are
// never equal; random weights carry no redundancy that would hide an error. The
// limits are about twice of what was seen (0.1 to 0.6 %) over a prompt of 48
// tokens and four single ones; a wrong kernel is off by 100 % or more.
var nmseLimits = map[string]float64{
	"gemma4": 0.01, "llama": 0.012, "minicpm5": 0.006, "nanbeige": 0.006, "qwen2": 0.006, "qwen35": 0.012,
}

// evaluations is how many vectors of logits the program writes.
const evaluations = 5

// TestLogits runs each stand-in model whole on the simulated NPU and compares
// its logits with the CPU's; those of the FastRPC variant must be the very bits
// of dspqueue's, since both run the same kernels.
func TestLogits(t *testing.T) {
	if os.Getenv("HEXAB_HEAVY") == "" {
		t.Skip("needs HEXAB_HEAVY=1: evaluates eight models on the simulated NPU")
	}
	llama, models := need(t, "HEXAB_LLAMA_CPP"), filepath.SplitList(need(t, "HEXAB_STAND_INS"))
	npu := need(t, "HEXAB_NPU_RUNTIME")
	bundle := need(t, "HEXAB_BUNDLE_DSPQUEUE")
	fastrpc := os.Getenv("HEXAB_BUNDLE_FASTRPC") // empty where the variant does not exist
	program := filepath.Join(t.TempDir(), "logits")
	run(t, compilers[1], "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-I", filepath.Join(llama, "include"),
		"-I", filepath.Join(llama, "ggml", "include"), "testdata/logits.cpp", "-o", program,
		filepath.Join(bundle, "libllama.so.0"), filepath.Join(bundle, "libggml.so.0"), filepath.Join(bundle, "libggml-base.so.0"))
	if len(models) != 8 {
		t.Fatalf("%d stand-ins, want 8", len(models))
	}
	for _, model := range models {
		name := strings.TrimSuffix(filepath.Base(model), ".gguf")
		t.Run(name, func(t *testing.T) {
			family, _, _ := strings.Cut(name, "-")
			limit := nmseLimits[family]
			if limit == 0 {
				t.Fatalf("no limit stated for the family %s", family)
			}
			cpu := logits(t, program, bundle, npu, model, "none")
			dspqueue := logits(t, program, bundle, npu, model, "HTP0")
			n := len(cpu) / evaluations
			for i := range evaluations {
				e := nmse(cpu[i*n:(i+1)*n], dspqueue[i*n:(i+1)*n])
				t.Logf("evaluation %d: normalised error %.4g", i, e)
				if !(e > 0 && e <= limit) {
					t.Errorf("evaluation %d: normalised error %.4g, want above 0 (the CPU did the work) and up to %g", i, e, limit)
				}
			}
			if fastrpc == "" {
				return
			}
			other := logits(t, program, fastrpc, npu, model, "HTP0")
			for i := range dspqueue {
				if math.Float32bits(dspqueue[i]) != math.Float32bits(other[i]) {
					t.Fatalf("logit %d is %v with fastrpc, %v with dspqueue", i, other[i], dspqueue[i])
				}
			}
		})
	}
}

// logits runs the program of testdata/logits.cpp.
func logits(t *testing.T, program, bundle, npu, model, device string) []float32 {
	t.Helper()
	// The loader looks for plug-ins in the program's folder and the working one.
	out := filepath.Join(t.TempDir(), "logits.bin")
	command := exec.CommandContext(t.Context(), program, model, device, out)
	command.Dir = bundle
	command.Env = []string{"LD_LIBRARY_PATH=" + bundle + ":" + npu, "ADSP_LIBRARY_PATH=" + bundle}
	if log, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s on %s: %v\n%s", filepath.Base(model), device, err, log[max(0, len(log)-4000):])
	}
	data, err := os.ReadFile(out)
	if err != nil || len(data) == 0 || len(data)%(4*evaluations) != 0 {
		t.Fatalf("%d bytes of logits: %v", len(data), err)
	}
	values := make([]float32, len(data)/4)
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	return values
}

// nmse is the squared error of got over the variance of want.
func nmse(want, got []float32) float64 {
	mean := 0.0
	for _, v := range want {
		mean += float64(v) / float64(len(want))
	}
	wrong, spread := 0.0, 0.0
	for i := range want {
		d, s := float64(want[i])-float64(got[i]), float64(want[i])-mean
		wrong, spread = wrong+d*d, spread+s*s
	}
	return wrong / spread
}

// need is what the environment names; without it the test is
// skipped by the variable's name.
func need(t *testing.T, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		t.Skipf("needs %s", variable)
	}
	return value
}
