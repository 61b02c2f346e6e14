package simsdk

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var repository, _ = filepath.Abs(filepath.Join("..", ".."))

// shared is one SDK for the tests of this package, with empty HVX headers.
var shared struct {
	sync.Once
	sdk *SDK
	err error
	dir string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

func sdk(t *testing.T) *SDK {
	t.Helper()
	if _, err := findCompiler(t.Context(), ""); err != nil {
		t.Skip(err)
	}
	shared.Do(func() {
		if shared.dir, shared.err = os.MkdirTemp("", "simsdk"); shared.err != nil {
			return
		}
		shared.err = os.MkdirAll(filepath.Join(shared.dir, "hvx"), 0o755)
		if shared.err == nil {
			shared.sdk, shared.err = Materialise(context.Background(), filepath.Join(shared.dir, "cache"), options())
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.sdk
}

func options() Options {
	return Options{Repository: repository, Vectors: filepath.Join(shared.dir, "hvx")}
}

// driver runs one of the SDK's tools and returns what it says.
func driver(t *testing.T, tool string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(sdk(t).ToolsRoot, "Tools", "bin", tool), args...).CombinedOutput()
	return string(out), err
}

func must(t *testing.T, tool string, args ...string) string {
	t.Helper()
	out, err := driver(t, tool, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, out)
	}
	return out
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestMaterialiseConcurrently has several callers make one SDK at once.
func TestMaterialiseConcurrently(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the SDK's programs again")
	}
	first := sdk(t)
	cache := t.TempDir()
	var wg sync.WaitGroup
	got := make([]*SDK, 4)
	errs := make([]error, len(got))
	for i := range got {
		wg.Go(func() { got[i], errs[i] = Materialise(context.Background(), cache, options()) })
	}
	wg.Wait()
	for i := range got {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if got[i].ID != first.ID || got[i].Root != got[0].Root {
			t.Errorf("SDK %+v, want id %s in %s", got[i], first.ID, got[0].Root)
		}
	}
	entries, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 { // the SDK and its lock
		t.Errorf("left in the cache: %v", entries)
	}
}

// TestIDCoversInputs shows that a change of headers or target makes another SDK.
func TestIDCoversInputs(t *testing.T) {
	sdk(t)
	cc, err := findCompiler(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	hash := func(o Options) string {
		id, err := (&maker{Options: o, cc: cc}).hash(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	a := options()
	b := a
	b.Vectors = t.TempDir()
	write(t, filepath.Join(b.Vectors, "hexagon_types.h"), "typedef int HVX_Vector;\n")
	c := a
	c.TargetFlags = []string{"-mavx512f"}
	ids := []string{hash(a), hash(b), hash(c)}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 3 {
		t.Errorf("ids %v are not three", ids)
	}
	before := hash(b)
	write(t, filepath.Join(b.Vectors, "notes.md"), "no header\n")
	if hash(b) != before {
		t.Error("a file that is not laid out makes another SDK")
	}
}

func TestNoCompiler(t *testing.T) {
	_, err := Materialise(context.Background(), t.TempDir(), Options{Repository: repository, Clang: "no-such-clang"})
	if err == nil || !strings.Contains(err.Error(), "needs clang 19 or later") || !strings.Contains(err.Error(), "no-such-clang is not installed") {
		t.Errorf("error %v", err)
	}
}

const librarySource = `
#include <HAP_farf.h>
#include <qurt.h>
#include <stdint.h>
#if !defined(__hexagon__) || __HEXAGON_ARCH__ != 79 || __HVX_ARCH__ != 79 || __HVX_LENGTH__ != 128
#error not the DSP
#endif
uint64_t lib_cycles(void) {
    uint64_t c = 0;
    asm volatile(" %0 = c15:14\n" : "=r"(c));
    return c;
}
float lib_half(__fp16 a) { return a * 2.0f; }
void * lib_alloc(void) {
    FARF(ERROR, "allocating on thread %d", qurt_thread_get_id());
    return memalign(128, 256);
}
`

// TestLibrary builds a DSP library as upstream's toolchain does and looks into it.
func TestLibrary(t *testing.T) {
	s := sdk(t)
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "lib.c"), librarySource)
	obj, dep, so := filepath.Join(dir, "lib.obj"), filepath.Join(dir, "lib.d"), filepath.Join(dir, "lib.so")
	arch := []string{"-mcpu=v79", "-mv79", "-mhvx=v79", "-mhmx"}
	args := append(slices.Clone(arch), "-fvectorize", "-flto", "-Wall", "-Werror", "-fno-zero-initialized-in-bss", "-G0",
		"-fdata-sections", "-fpic", "-O2", "-isystem", s.Root+"/incs", "-isystem", s.Root+"/incs/stddef",
		"-I"+s.Root+"/rtos/qurt/computev79/include/qurt", "-MD", "-MT", "lib.obj", "-MF", dep, "-o", obj, "-c", src)
	if out := must(t, "hexagon-clang", args...); out != "" {
		t.Errorf("messages:\n%s", out)
	}
	deps, err := os.ReadFile(dep)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lib.obj:", src, "HAP_farf.h", "qurt_thread.h"} {
		if !strings.Contains(string(deps), want) {
			t.Errorf("the dependency file lacks %s:\n%s", want, deps)
		}
	}
	must(t, "hexagon-clang", append(slices.Clone(arch), "-G0", "-fpic", "-Wl,-Bsymbolic", "-Wl,--no-threads", "-Wl,--wrap=memalign",
		"-shared", "-o", so, "-Wl,-soname,lib.so", "-Wl,--start-group", obj, "-Wl,--end-group", "-lc")...)
	f, err := elf.Open(so)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]elf.Symbol{}
	for _, y := range symbols {
		have[y.Name] = y
	}
	for _, want := range []string{"hexsim_upcycle", "__wrap_memalign", "HAP_debug_v2", "qurt_thread_get_id"} {
		if y, ok := have[want]; !ok || y.Section != elf.SHN_UNDEF {
			t.Errorf("the library does not need %s: %+v", want, y)
		}
	}
	if y := have["lib_cycles"]; y.Section == elf.SHN_UNDEF {
		t.Errorf("lib_cycles: %+v", y)
	}
	if y, ok := have["hexsim_arch"]; !ok || y.Section != elf.SHN_ABS || y.Value != 79 {
		t.Errorf("hexsim_arch: %+v", y)
	}
	if v, err := f.DynValue(elf.DT_FLAGS); err != nil || len(v) != 1 || elf.DynFlag(v[0])&elf.DF_SYMBOLIC == 0 {
		t.Errorf("not linked -Bsymbolic: %v %v", v, err)
	}
	// Debug information names the source, not what was compiled in between.
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	if e, err := d.Reader().Next(); err != nil || e == nil || e.Val(0x03) != src { // DW_AT_name
		t.Errorf("compilation unit %v, %v; want %s", e, err, src)
	}
	if out := must(t, "hexagon-ar", "rcs", filepath.Join(dir, "lib.a"), obj); out != "" {
		t.Errorf("hexagon-ar: %s", out)
	}
}

// TestDriverMessages shows what a user sees when something is wrong: the file and line of the original.
func TestDriverMessages(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ops.h"), "#define FROB(x) \"frobnicate \" x \"\\n\"\n")
	for _, c := range []struct{ text, want string }{
		{"#include \"ops.h\"\nvoid f(int a) {\n\n    asm volatile(\n        FROB(\"%0\")\n        :: \"r\"(a));\n}\n",
			"x.c:4: error: inline assembly can not be simulated: unknown instruction \"frobnicate%0\""},
		{"void f(int a) {\n    asm volatile(\"dmstart(%0)\"\n        :: \"r\"(a));\n    b = 1;\n}\n", "x.c:4:5: error: use of undeclared identifier 'b'"},
		{"#include <missing.h>\n", "x.c:1:10: fatal error: 'missing.h' file not found"},
	} {
		src := write(t, filepath.Join(dir, "x.c"), c.text)
		out, err := driver(t, "hexagon-clang", "-mv79", "-c", src, "-o", filepath.Join(dir, "x.o"))
		if err == nil || !strings.Contains(out, filepath.Join(dir, c.want)) {
			t.Errorf("error %v, output\n%s\nwant %s", err, out, c.want)
		}
		if _, err := os.Stat(filepath.Join(dir, "x.o")); err == nil {
			t.Error("an object in spite of the error")
		}
	}
	if out, err := driver(t, "hexagon-clang", "-mv79", "-fmystery", "-c", "x.c"); err == nil || !strings.Contains(out, "unknown flag -fmystery") {
		t.Errorf("error %v, output %s", err, out)
	}
}

// TestProgram builds and runs a program, as build systems do to find out about a compiler.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	for tool, src := range map[string]string{
		"hexagon-clang":   write(t, filepath.Join(dir, "a.c"), "#include <math.h>\nint main(int n, char ** v) { (void) v; return (int) sqrtf(n * 9.0f) - 3; }\n"),
		"hexagon-clang++": write(t, filepath.Join(dir, "a.cpp"), "#include <string>\nint main() { return std::string(\"ab\").size() - 2; }\n"),
	} {
		prog := filepath.Join(dir, tool)
		must(t, tool, src, "-o", prog)
		if out, err := exec.CommandContext(t.Context(), prog).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", tool, err, out)
		}
	}
	if out := must(t, "hexagon-clang", "--version"); !strings.Contains(out, "clang version") {
		t.Errorf("--version says %s", out)
	}
}

// TestUpstream looks at what llama.cpp's own CMake files built with the SDK, nothing patched: the host's plug-in and the
// four DSP libraries of the dspqueue variant.
func TestUpstream(t *testing.T) {
	bundle := os.Getenv("HEXAB_BUNDLE_DSPQUEUE")
	if bundle == "" {
		t.Skip("needs HEXAB_BUNDLE_DSPQUEUE, the dspqueue variant built")
	}
	for _, a := range []int{73, 75, 79, 81} {
		checkSkel(t, filepath.Join(bundle, fmt.Sprintf("libggml-htp-v%d.so", a)), a)
	}
	if _, err := os.Stat(filepath.Join(bundle, "libggml-hexagon.so")); err != nil {
		t.Error(err)
	}
}

func checkSkel(t *testing.T, path string, arch int) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Error(err)
	}
	found := 0
	for _, y := range symbols {
		if y.Name == "htp_iface_skel_handle_invoke" && y.Section != elf.SHN_UNDEF || y.Name == "hexsim_arch" && y.Value == uint64(arch) {
			found++
		}
	}
	if found != 2 {
		t.Errorf("%s is not a library for v%d", filepath.Base(path), arch)
	}
}
