package hexclang

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

var sdk = filepath.Join("..", "..", "sim", "sdk")

// TestRewriteGolden rewrites a preprocessed source that has every instruction, in every surrounding.
func TestRewriteGolden(t *testing.T) {
	src, err := os.ReadFile("testdata/forms.i")
	if err != nil {
		t.Fatal(err)
	}
	got, n, err := Rewrite(src, "forms.c", false)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(string(src), "/*statement*/"); n != want {
		t.Errorf("%d statements, want %d", n, want)
	}
	const golden = "testdata/forms.golden"
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
		t.Errorf("differs from %s (-update writes it):\n%s", golden, got)
	}
}

func TestRewriteErrors(t *testing.T) {
	in := func(s string) string { return "# 7 \"dir/x.c\"\nvoid f(int a) {\n" + s + "\n}\n" }
	for _, c := range []struct{ src, want string }{
		{in(`asm volatile("frobnicate %0" :: "r"(a));`), `dir/x.c:8: error: inline assembly can not be simulated: unknown instruction "frobnicate%0"`},
		{in("\n\nasm(\"{ syncht\\n nop }\");"), `dir/x.c:10: error: inline assembly can not be simulated: unknown packet { syncht; nop }`},
		{in(`asm("weight.hf = mxmem(%0, %1)" :: "r"(a), "r"(a));`), `unknown instruction "weight.hf=mxmem(%0,%1)"`},
		{in(`asm("dmstart(%1)" :: "r"(a));`), `%1 is not an input operand`},
		{in(`asm("%1 = dmpoll" : "=r"(a));`), `%1 is not an output operand`},
		{in(`asm("%0 = dmpoll" :: "r"(a));`), `%0 is not an output operand`},
		{in(`asm("dmstart(%0)" : "=r"(a));`), `%0 is not an input operand`},
		{in(`asm("pause(#5000)");`), `immediate 5000 is not between 0 and 1023`},
		{in(`asm("%0 = upmucnt8" : "=r"(a));`), `immediate 8 is not between 0 and 7`},
		{in(`asm("dmstart(%0)" :: "m"(a));`), `constraint "m" of operand a: only "r" is known`},
		{in(`asm("%0 = dmpoll" : "+r"(a));`), `constraint "+r" of operand a: only "=r" is known`},
		{in(`asm("dmstart(%[x])" :: [x] "r"(a));`), `operand [x] "r"(a) is not "r"(expression)`},
		{in(`asm("dmstart(%0)" :: "r"(a),);`), `empty operand`},
		{in(`asm("{ syncht");`), `braces do not match`},
		{in(`asm(syncht);`), `the template is not a string: syncht`},
		{in(`asm goto("syncht" :::: out);`), `asm goto`},
		{in(`asm("syncht" ::::: out);`), `6 parts where 4 are known`},
		{in(`asm volatile syncht;`), `expected ( after asm`},
		{in(`asm("syncht"`), `no ) at the end`},
		{in(`register int r asm("r0");`), `assembler name of the local declaration of r`},
		{"asm(\"nop\");", `x.c:1: error: inline assembly can not be simulated: assembly at file scope`},
	} {
		_, _, err := Rewrite([]byte(c.src), "x.c", false)
		var e *AsmError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\nerror %v\nwant %s", c.src, err, c.want)
		}
	}
}

// TestUntouched shows what is no statement: nothing of it may change.
func TestUntouched(t *testing.T) {
	for _, src := range []string{
		"",
		"int asmx; int xasm;\n",
		"const char * s = \"asm(\\\"nop\\\")\"; char c = '\"';\n",
		"int f(void) __asm__ (\"f_impl\");\nextern int v asm(\"w\");\n",
		"# 1 \"/usr/include/x.h\" 1 3\nstatic void f(void) { __asm__ volatile (\"cpuid\"); }\n",
		"#pragma asm(\"x\")\nint a;\n",
		"const char * r = R\"x(asm(\"nop\") )\" )x\";\n",
		"unfinished \" asm\n",
	} {
		got, n, err := Rewrite([]byte(src), "x.c", false)
		if err != nil || n != 0 || string(got) != src {
			t.Errorf("%q: became %q, %d statements, error %v", src, got, n, err)
		}
	}
}

// TestHeader compiles the driver's own declarations together with hexsim_asm.h: they must agree, and the header must
// declare nothing that no instruction becomes.
func TestHeader(t *testing.T) {
	header, err := os.ReadFile(filepath.Join(sdk, "incs", "hexsim_asm.h"))
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	for _, m := range regexp.MustCompile(`\b(hexsim_\w+)\(`).FindAllStringSubmatch(string(header), -1) {
		declared[m[1]] = true
	}
	doc, err := os.ReadFile(filepath.Join(sdk, "ASM.md"))
	if err != nil {
		t.Fatal(err)
	}
	src := string(header)
	for _, in := range instructions {
		if !declared[in.fn] {
			t.Errorf("%s is not declared in hexsim_asm.h", in.fn)
		}
		delete(declared, in.fn)
		src += in.prototype() + "\n"
		if !strings.Contains(string(doc), "`"+in.fn+"(") && !strings.Contains(string(doc), in.fn+"(") {
			t.Errorf("%s is not in ASM.md", in.fn)
		}
	}
	for fn := range declared {
		t.Errorf("no instruction becomes %s", fn)
	}
	cc, err := exec.LookPath("clang-19")
	if err != nil {
		t.Skip("clang-19 is not installed")
	}
	cmd := exec.CommandContext(context.Background(), cc, "-x", "c", "-fsyntax-only", "-Wall", "-Werror", "-")
	cmd.Stdin = strings.NewReader(src)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func FuzzRewrite(f *testing.F) {
	src, err := os.ReadFile("testdata/forms.i")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(src))
	f.Add("void f(void) { asm volatile(\"syncht\" ::: \"memory\"); }")
	f.Add("# 1 \"a.h\" 3\nasm\n# 9 \"b.c\"\n{ asm(\"{\\n}\") R\"x(y)x\" '\\'' }")
	f.Fuzz(func(t *testing.T, src string) {
		out, n, err := Rewrite([]byte(src), "x.c", false)
		if err != nil {
			return
		}
		if n == 0 && string(out) != src {
			t.Errorf("changed without a statement: %q", out)
		}
		if n > 0 && strings.Count(string(out), "do {") < n {
			t.Errorf("%d statements and fewer replacements: %q", n, out)
		}
	})
}
