package build

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hexab/internal/bench"
)

func TestOurOwnVariants(t *testing.T) {
	v, err := LoadVariants(os.DirFS("../../backends"))
	if err != nil {
		t.Fatal(err)
	}
	c := v[bench.CPU].Components[0]
	for flags, want := range map[string]string{
		"":                                       "x64",
		"sse4_2":                                 "sse42",
		"sse4_2 avx f16c fma avx2 bmi2":          "haswell",
		"sse4_2 avx f16c fma avx2 bmi2 avx_vnni": "alderlake",
		"sse4_2 avx f16c fma avx2 bmi2 avx512f":  "haswell",
		"sse4_2 avx f16c fma avx2 bmi2 avx512f avx512cd avx512bw avx512dq avx512vl":                                             "skylakex",
		"sse4_2 avx f16c fma avx2 bmi2 avx512f avx512cd avx512bw avx512dq avx512vl avx512vbmi avx512_vnni avx512_bf16 avx_vnni": "zen4",
	} {
		has := map[string]bool{}
		for f := range strings.FieldsSeq(flags) {
			has[f] = true
		}
		if got, ok := c.level("amd64", has); !ok || got.Name != want {
			t.Errorf("%q: level %q, expected %q", flags, got.Name, want)
		}
	}
	if _, ok := c.level("riscv64", nil); ok {
		t.Error("a level for an architecture that has none")
	}
}

// TestApplication: without its DSP libraries a variant still has its host
// library, everywhere, and what others know of it stays as it was.
func TestApplication(t *testing.T) {
	all, err := LoadVariants(os.DirFS("../../backends"))
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range all {
		reduced := all.Application(name)
		for i, c := range d.Components {
			for _, p := range d.Platforms {
				before, after := c.recipe(p), reduced[name].Components[i].recipe(p)
				if !c.SDK {
					if !slices.Equal(before.Outputs, after.Outputs) || !slices.Equal(before.Targets, after.Targets) {
						t.Errorf("%s/%s for %s has lost something: %+v", name, c.Name, p, after)
					}
				} else if !slices.Equal(after.Outputs, []string{"bin/libggml-hexagon.so"}) || !slices.Equal(after.Targets, []string{"ggml-hexagon"}) || len(before.Outputs) != 5 {
					t.Errorf("%s/%s for %s: %v of %v, from %v", name, c.Name, p, after.Outputs, before.Outputs, after.Targets)
				}
			}
		}
	}
}

func TestParseDescriptionRefuses(t *testing.T) {
	edit := func(old, new string) string {
		s := strings.Replace(tinyVariant, old, new, 1)
		if s == tinyVariant {
			t.Fatalf("%q is not in the sample", old)
		}
		return s
	}
	for text, want := range map[string]string{
		"":                                                   "is empty",
		tinyVariant + "---\nname: x\n":                       "more than one",
		edit("summary:", "sumary:"):                          "line 2: field sumary not found",
		edit("device: none\n", ""):                           "device: is missing",
		edit("[sim]", "[windows]"):                           `unknown platform "windows"`,
		edit("[sim]", "[]"):                                  "platforms: is missing",
		edit("name: cpu", "name: ../x"):                      "not a variant's name",
		edit("source: llama.cpp", "source: ../x"):            "no folder of the project",
		edit("targets: [tool]", "targets: []"):               "has no targets",
		edit("targets: [tool]", "targets: [--version]"):      "not a CMake target",
		edit("[bin/tool]", "[../tool]"):                      "not a path inside the build folder",
		edit("CMAKE_BUILD_TYPE: Release", "\"A;B\": x"):      "not a CMake variable",
		edit("${LLAMA_CPP}", "${HOME}"):                      "${HOME} is unknown",
		edit("needs: []", "needs: [x]"):                      "first level must need nothing",
		edit("common:\n", "common:\n  compiler: {c: gcc}\n"): "c and cxx belong together",
		edit("common:\n", "common:\n  for: {mars: {}}\n"):    `unknown platform "mars"`,
	} {
		if _, err := ParseDescription([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q, for\n%s", err, want, text)
		}
	}
}

func TestVariantsTogether(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for want, files := range map[string]fstest.MapFS{
		`extends unknown variant "cpu"`: {"npu/variant.yaml": file(plugVariant)},
		"extends itself":                {"npu/variant.yaml": file(strings.Replace(plugVariant, "extends: cpu", "extends: npu", 1))},
		`its folder is "other"`:         {"other/variant.yaml": file(tinyVariant)},
		"run this in the project's":     {},
	} {
		if _, err := LoadVariants(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

func FuzzParseDescription(f *testing.F) {
	f.Add([]byte(tinyVariant))
	f.Add([]byte(plugVariant))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseDescription(data)
		if err != nil {
			return
		}
		for _, c := range d.Components {
			for _, p := range d.Platforms {
				if r := c.recipe(p); len(r.Outputs) == 0 {
					t.Fatal("accepted without outputs")
				}
			}
		}
	})
}

func TestCPUFlags(t *testing.T) {
	for text, want := range map[string]string{
		"flags\t\t: a b c\nbugs : x\n\nflags : b c d\n": "b c",
		"Features\t: fp asimd\n":                        "fp asimd",
		"nothing":                                       "",
	} {
		got, err := parseCPUFlags(strings.NewReader(text))
		if err != nil || len(got) != len(strings.Fields(want)) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		for f := range strings.FieldsSeq(want) {
			if !got[f] {
				t.Errorf("%q: no %s", text, f)
			}
		}
	}
}

func TestSteps(t *testing.T) {
	for line, want := range map[string][2]int{
		"[3/144] Building CXX object x.o": {3, 144},
		"[144/144] Linking":               {144, 144},
		"[5/3] x":                         {-1, -1},
		"[99999999999999999999/1] x":      {-1, -1},
		"  [3/144] x":                     {-1, -1},
	} {
		done, total, ok := parseStep(line)
		if !ok {
			done, total = -1, -1
		}
		if done != want[0] || total != want[1] {
			t.Errorf("%q: %d of %d", line, done, total)
		}
	}
	var count steps
	for _, line := range []string{"[1/24] a", "[1/32] inner", "[2/32] inner", "[2/24] b", "[1/9] inner", "[3/23] c", "[24/24] d"} {
		count.next(line)
	}
	if count.done != 3 || count.total != 23 {
		t.Errorf("counted %d of %d", count.done, count.total)
	}
	if left := timeLeft(60, 30, 90); left != 120 {
		t.Errorf("time left %v", left)
	}
	if timeLeft(60, 1, 90) != -1 {
		t.Error("one step says how long the rest takes")
	}
}
