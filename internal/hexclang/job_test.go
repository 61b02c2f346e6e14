package hexclang

import (
	"slices"
	"strings"
	"testing"
)

// upstream's command lines, as its toolchain file makes them, shortened where flags repeat.
const (
	compileLine = "-DNDEBUG=1 -I/sdk/rtos -isystem /sdk/incs -mcpu=v79 -mv79 -mhvx=v79 -mhmx -fvectorize -flto -Wall -Werror " +
		"-fno-zero-initialized-in-bss -G0 -fdata-sections -fpic -O2 -fPIC -MD -MT main.obj -MF main.obj.d -o main.obj -c /src/main.c"
	linkLine = "-mcpu=v79 -mv79 -mhvx=v79 -mhmx -G0 -fpic -Wl,-Bsymbolic -Wl,-L/tools/lib/v79/G0/pic -Wl,-L/tools/lib/ " +
		"-Wl,--no-threads -Wl,--wrap=malloc -Wl,--wrap=memalign -shared -o libx.so -Wl,-soname,libx.so -Wl,--start-group " +
		"a.obj b.o -Wl,--end-group -lc"
)

func TestParse(t *testing.T) {
	j, err := parse(strings.Fields(compileLine), false)
	if err != nil {
		t.Fatal(err)
	}
	if j.mode != compiling || j.arch != 79 || !j.hvx || j.output != "main.obj" || !j.depFile ||
		!slices.Equal(j.inputs, []input{{"/src/main.c", "c"}}) {
		t.Errorf("job %+v", j)
	}
	check := func(what string, got []string, want string) {
		t.Helper()
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s\nwant %s", what, s, want)
		}
	}
	check("preprocess", j.pre, "-DNDEBUG=1 -I/sdk/rtos -isystem /sdk/incs -Wall -fPIC -O2 -fPIC")
	check("compile", j.comp, "-fvectorize -Wall -fdata-sections -fPIC -O2 -fPIC")
	check("dependencies", j.deps, "-MD -MT main.obj -MF main.obj.d")

	if j, err = parse(strings.Fields(linkLine), false); err != nil {
		t.Fatal(err)
	}
	var link []string
	for _, a := range j.link {
		if a.flag == "" {
			a.flag = j.inputs[a.input].path
		}
		link = append(link, a.flag)
	}
	check("link", link, "-fPIC -Wl,-Bsymbolic -Wl,--wrap=malloc -Wl,--wrap=memalign -shared -Wl,-soname,libx.so "+
		"-Wl,--start-group a.obj b.o -Wl,--end-group")
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "no input files"},
		{"-c x.c -mfoo", "unknown flag -mfoo"},
		{"-c x.c -fnew-flag", "unknown flag -fnew-flag"},
		{"-c x.c -mhvx-length=64B", "unknown flag -mhvx-length=64B"},
		{"x.o -Wl,--new", "unknown flag -Wl,--new"},
		{"x.o -Wl,-soname", "-Wl,-soname needs a value"},
		{"-c x.c -mv68", "architecture v68 is not simulated"},
		{"-c x.c -mcpu=cortex-a76", "does not name an architecture"},
		{"-c x.c -mv73x", "does not name an architecture"},
		{"-c x.c -mv73 -mhvx=v75", "-mhvx=v75 contradicts architecture v73"},
		{"-c x.S", "x.S: error: assembly sources can not be simulated"},
		{"-c x.rs", "what is x.rs?"},
		{"-c x.c -x fortran", "-x fortran"},
		{"-c a.c b.c -o x.o", "one output x.o for 2 inputs"},
		{"-c x.c -o", "-o needs a value"},
		{"-c x.c -D", "-D needs a value"},
	} {
		if _, err := parse(strings.Fields(c.args), false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v does not contain %q", c.args, err, c.want)
		}
	}
}

// TestRules keeps the table honest: every rule can be reached, and says why where it drops or changes a flag.
func TestRules(t *testing.T) {
	for _, table := range [][]rule{rules, linkerRules} {
		for i := range table {
			r := &table[i]
			flag := r.flag
			if p, ok := strings.CutSuffix(flag, "*"); ok {
				flag = p + "xyz"
			}
			if got, _ := find(table, flag); got != r {
				t.Errorf("%s is shadowed by %v", r.flag, got)
			}
			if (r.steps == drop || r.as != nil) && r.reason == "" {
				t.Errorf("%s is dropped or changed without a reason", r.flag)
			}
		}
	}
}
