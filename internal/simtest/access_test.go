package simtest

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hexab/internal/simsdk"
)

// TestAccessReports compiles kernels with an SDK whose compiler reports each
// access, and holds what they then call against what the DSP's process has. That
// it counts right, TestRuntime shows.
func TestAccessReports(t *testing.T) {
	runtime := buildNPU(t).runtime
	n, b := builder(t)
	var err error
	n.sdk, err = simsdk.Materialise(t.Context(), filepath.Join(b.Cache, "simsdk"), simsdk.Options{Repository: b.Project, Accesses: true})
	if err != nil {
		t.Fatal(err)
	}
	exported := symbols(t, filepath.Join(runtime, "hexsim-dsp"), (*elf.File).DynamicSymbols)
	for _, kernel := range []string{"unary-ops.c", "softmax-ops.c", "get-rows-ops.c"} {
		object := filepath.Join(t.TempDir(), "kernel.o")
		run(t, append(n.hexagonClang(79, filepath.Join(n.llama, "ggml/src/ggml-hexagon/htp", kernel), object), "-c")...)
		reports := 0
		for _, s := range symbols(t, object, (*elf.File).Symbols) {
			if !strings.HasPrefix(s.Name, "__asan_") {
				continue
			}
			reports++
			if !slices.ContainsFunc(exported, func(e elf.Symbol) bool { return e.Name == s.Name && e.Section != elf.SHN_UNDEF }) {
				t.Errorf("%s calls %s, which hexsim-dsp does not have", kernel, s.Name)
			}
		}
		if reports == 0 {
			t.Errorf("%s reports no access", kernel)
		}
	}
}

func symbols(t *testing.T, file string, table func(*elf.File) ([]elf.Symbol, error)) []elf.Symbol {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := table(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return list
}
