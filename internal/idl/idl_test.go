package idl

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// sdk is the simulated SDK in the repository.
var sdk = filepath.Join("..", "..", "sim", "sdk")

func includeDirs() []string {
	return []string{filepath.Join(sdk, "incs"), filepath.Join(sdk, "incs", "stddef")}
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.idl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no IDL files in testdata: %v", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			dir := t.TempDir()
			if err := Compile(f, includeDirs(), dir); err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(f), ".idl")
			for _, out := range []string{name + ".h", name + "_stub.c", name + "_skel.c"} {
				got, err := os.ReadFile(filepath.Join(dir, out))
				if err != nil {
					t.Fatal(err)
				}
				golden := filepath.Join("testdata", "golden", out)
				if *update {
					if err := os.WriteFile(golden, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != string(want) {
					t.Errorf("%s differs from %s (-update writes it):\n%s", out, golden, got)
				}
			}
		})
	}
}

// memory opens files of a map.
func memory(files map[string]string) Opener {
	return func(name, from string) ([]byte, string, error) {
		if s, ok := files[name]; ok {
			return []byte(s), name, nil
		}
		return nil, "", fmt.Errorf("no such file: %s", name)
	}
}

func TestErrors(t *testing.T) {
	const head = "#include <remote.idl>\n" // line 1; what is under test starts on line 2
	in := func(method string) string { return "interface i : remote_handle64 {\n" + method + "\n};" }
	for _, c := range []struct{ src, want string }{
		{"struct s { };", "a.idl:2:8: structure s has no members"},
		{"struct s { long a; long a; };", "a.idl:2:25: second member a"},
		{"struct s { string a; };", "a.idl:2:12: members of structures have a fixed size"},
		{"struct s { long a[0]; };", "a.idl:2:18: array length 0 is not between"},
		{"struct s { long a[n]; };", "a.idl:2:19: n is not a constant"},
		{"struct s { double a[1000][1000]; };", "array of more than"},
		{"typedef long t; typedef long t;", "a.idl:2:30: t is declared already at a.idl:2:14"},
		{"typedef unsigned t;", `a.idl:2:9: "unsigned" is not a type`},
		{"typedef sequence<sequence<octet>> t;", "elements of sequences have a fixed size"},
		{"typedef sequence<octet, 5> t;", "bounded sequences are not supported"},
		{"typedef wstring t;", "a.idl:2:9: wstring is not supported"},
		{"typedef foo t;", "a.idl:2:9: unknown type foo"},
		{"typedef long int;", `"int" can not name a type`},
		{"typedef long _t;", "names that start with _"},
		{"const long c = 99999999999999999999;", "is not an integer of 64 bits"},
		{"const float c = 1;", "a.idl:2:7: constants are integers"},
		{"enum e { A = 0x1ffffffff };", "does not fit 32 bits"},
		{"interface i {};", "does not inherit remote_handle64"},
		{"interface i : j {};", "interfaces inherit remote_handle64"},
		{"interface i : remote_handle64 {}", `expected ";" after the interface, found end of file`},
		{in("long open();"), "a.idl:3:6: method open is there already"},
		{in("long f(); long f();"), "a.idl:3:16: method f is there already"},
		{in("double f();"), "a.idl:3:1: methods return AEEResult or long"},
		{in("long f(long a);"), "a.idl:3:8: expected in, rout or inrout"},
		{in("long f(in long a, in long a);"), "second parameter a in C"},
		{in("long f(in long aLen, in sequence<octet> a);"), "second parameter aLen in C"},
		{in("long f(in long a[2]);"), "arrays as parameters are not supported"},
		{in("long f(in remote_handle64 h);"), "interface remote_handle64 as a type"},
		{in("long f(in long a in long b);"), `expected "," between parameters, found "in"`},
		{in(manyMethods(30)), "more than 29 methods"},
		{"#if 1\n#endif", "a.idl:2:1: unsupported directive #if"},
		{"#ifdef A\n", "a.idl:2:1: conditional without #endif"},
		{"#else", "#else without #ifdef"},
		{"#ifdef A\n#else\n#else\n#endif", "a.idl:4:1: second #else"},
		{"#define A 5", "takes one name and no value"},
		{"#include foo.idl", "#include needs"},
		{"#include \"foo.h\"", "only .idl files"},
		{"#include \"foo.idl\"", "a.idl:2:1: no such file: foo.idl"},
		{"#include \"deep.idl\"", "includes nested deeper than 16 files"},
		{"/* ", "a.idl:2:1: comment without end"},
		{"struct s { # x", "# only starts a directive"},
		{"$", `a.idl:2:1: unexpected character '$'`},
		{"foo", "expected a typedef, struct, enum, const or interface"},
	} {
		_, err := Parse("a.idl", memory(map[string]string{
			"a.idl": head + c.src, "remote.idl": "interface remote_handle64 {};", "deep.idl": "#include <deep.idl>",
		}))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: error %v is not an *Error", c.src, err)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %q does not contain %q", c.src, err, c.want)
		}
	}
}

func manyMethods(n int) (s string) {
	for i := range n {
		s += fmt.Sprintf("long m%d();\n", i)
	}
	return s
}

// TestErrorInInclude shows that an included file is named in messages about it.
func TestErrorInInclude(t *testing.T) {
	_, err := Parse("a.idl", memory(map[string]string{"a.idl": "\n#include <b.idl>", "b.idl": "\n\n bad"}))
	if want := `b.idl:3:2: expected a typedef`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v does not start with %q", err, want)
	}
}

// TestUnchangedOutputStays shows that a second run does not touch files whose content is the same.
func TestUnchangedOutputStays(t *testing.T) {
	dir := t.TempDir()
	stat := func() os.FileInfo {
		if err := Compile("testdata/all.idl", includeDirs(), dir); err != nil {
			t.Fatal(err)
		}
		i, err := os.Stat(filepath.Join(dir, "all.h"))
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	if a, b := stat(), stat(); !os.SameFile(a, b) || a.ModTime() != b.ModTime() {
		t.Error("the header was written again")
	}
}

// TestRoundTrip compiles stub and skel, links them in one program over an invoke that copies every buffer, and runs it.
func TestRoundTrip(t *testing.T) {
	cc, err := exec.LookPath("clang-19")
	if err != nil {
		if cc, err = exec.LookPath("cc"); err != nil {
			t.Skip("no C compiler (clang-19 or cc)")
		}
	}
	dir := t.TempDir()
	if err := Compile("testdata/all.idl", includeDirs(), dir); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", filepath.Base(name), err, out)
		}
	}
	flags := []string{"-std=c11", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I", dir}
	for _, d := range includeDirs() {
		flags = append(flags, "-I", d)
	}
	// The two sides are separate programs on a device: rename the stub's functions to link both into one.
	stub := filepath.Join(dir, "stub.o")
	run(cc, append(flags, "-include", "testdata/rename.h", "-c", filepath.Join(dir, "all_stub.c"), "-o", stub)...)
	prog := filepath.Join(dir, "roundtrip")
	run(cc, append(flags, "testdata/roundtrip.c", filepath.Join(dir, "all_skel.c"), stub, "-o", prog)...)
	run(prog)
}

func FuzzParse(f *testing.F) {
	for _, n := range []string{"testdata/all.idl", "testdata/htp_iface.idl"} {
		b, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	std := "typedef long AEEResult; typedef octet uint8; typedef unsigned long uint32; typedef unsigned long long uint64;"
	f.Fuzz(func(t *testing.T, src string) {
		u, err := Parse("a.idl", memory(map[string]string{
			"a.idl": src, "AEEStdDef.idl": std, "remote.idl": "interface remote_handle64 {};",
		}))
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Pos.Line < 1 || e.Pos.Col < 1 {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		Generate(u)
	})
}
