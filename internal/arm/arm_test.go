package arm

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"hexab/internal/bench"
)

var known = []bench.Variant{bench.FastRPC, bench.DSPQueue, bench.CPU}

func labels(t *testing.T, list string) []string {
	t.Helper()
	specs, err := Parse(list, known)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range Resolve(specs, Context{BigCores: 2, Embedded: true}) {
		got = append(got, a.Label)
	}
	return got
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		list string
		want []string
	}{
		{"cpu", []string{"cpu"}},
		{"cpu,cpu", []string{"cpu", "cpu#2"}},
		{" cpu , cpu:threads=1 ", []string{"cpu", "cpu:threads=1"}},
		{"cpu:ubatch=64,env.NAME=VALUE", []string{"cpu:env.NAME=VALUE,ubatch=64"}},
		{"cpu:ubatch=64,env.NAME=a:b,dspqueue", []string{"cpu:env.NAME=a:b,ubatch=64", "dspqueue"}},
		{`dspqueue:env.GGML_HEXAGON_DEVICES=HTP0:0\,HTP0:1,cpu`, []string{`dspqueue:env.GGML_HEXAGON_DEVICES=HTP0:0\,HTP0:1`, "cpu"}},
		{"dspqueue:nhvx=4,mm-select=1", []string{"dspqueue:env.GGML_HEXAGON_MM_SELECT=1,env.GGML_HEXAGON_NHVX=4"}},
		{"fastrpc,dspqueue,cpu,cpu:env.EMPTY=", []string{"fastrpc", "dspqueue", "cpu", "cpu:env.EMPTY="}},
	} {
		if got := labels(t, test.list); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %q, want %q", test.list, got, test.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ list, want string }{
		{"", "the list is empty"},
		{" , ", "the list is empty"},
		{"gpu", `"gpu" is not a variant; there are fastrpc, dspqueue, cpu`},
		{"threads=1", "comes before any variant"},
		{"cpu:", `"" in cpu is not of the form KEY=VALUE`},
		{"cpu:threads", `"threads" in cpu`},
		{"cpu:threads=0", "threads=0: want a whole number from 1 to 512"},
		{"cpu:threads=01", "threads=01"},
		{"cpu:threads=1,threads=2", "threads is stated twice"},
		{"cpu:thread=1", `no setting "thread"; there are device, threads`},
		{"cpu:nhvx=4", `cpu has no setting "nhvx"`},
		{"dspqueue:nhvx=many", "GGML_HEXAGON_NHVX=many: want a whole number from 0 to 16"},
		{"dspqueue:nhvx=1,env.GGML_HEXAGON_NHVX=2", "env.GGML_HEXAGON_NHVX is stated twice"},
		{"cpu:flash-attn=yes", "want one of on, off, auto"},
		{"cpu:env.LD_LIBRARY_PATH=/x", "set by the harness"},
		{"cpu:env.A B=1", "not a name of an environment variable"},
		{"cpu:cpu-mask=fc", "a mask such as 0xfc"},
		{strings.Repeat("cpu,", 2000), "more than 4096"},
	} {
		if _, err := Parse(test.list, known); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: %v, want %q", test.list, err, test.want)
		}
	}
}

func TestArgumentsAndEnvironment(t *testing.T) {
	specs, err := Parse("cpu:threads=1,env.GGML_HEXAGON_OPPOLL=0,dspqueue", known)
	if err != nil {
		t.Fatal(err)
	}
	arms := Resolve(specs, Context{BigCores: 8, Backends: map[bench.Variant]string{bench.DSPQueue: "HTP0"}})
	want := "-dev none -t 1 -b 2048 -ub 1024 -fa on --poll 50 -ngl 99 -ctk f16 -ctv f16"
	if got := strings.Join(Arguments(arms[0]), " "); got != want {
		t.Errorf("cpu: %s, want %s", got, want)
	}
	want = "-dev HTP0 -t 6 -b 2048 -ub 1024 -fa on --poll 50 -ngl 99 -ctk f16 -ctv f16"
	if got := strings.Join(Arguments(arms[1]), " "); got != want {
		t.Errorf("dspqueue: %s, want %s", got, want)
	}
	if got := Env(arms[0]); !slices.Contains(got, "GGML_HEXAGON_OPPOLL=0") || !slices.Contains(got, "GGML_NO_BACKTRACE=1") {
		t.Errorf("environment: %q", got)
	}
}

func TestDefaultThreads(t *testing.T) {
	for _, test := range []struct {
		context Context
		want    string
	}{
		{Context{}, "6"}, {Context{BigCores: 8}, "6"}, {Context{BigCores: 4}, "4"},
		{Context{BigCores: 2, Embedded: true}, "2"}, {Context{BigCores: 16, Embedded: true}, "16"},
	} {
		if got := threads(bench.CPU, test.context); got != test.want {
			t.Errorf("%+v: %s, want %s", test.context, got, test.want)
		}
	}
}

func TestComparable(t *testing.T) {
	resolve := func(list string, cores int) []bench.Arm {
		specs, err := Parse(list, known)
		if err != nil {
			t.Fatal(err)
		}
		return Resolve(specs, Context{BigCores: cores, Backends: map[bench.Variant]string{bench.DSPQueue: "HTP0"}})
	}
	declared := resolve("cpu,cpu:threads=1,dspqueue", 4)
	if err := Comparable(declared[0], declared[1]); err != nil {
		t.Errorf("a declared factor is refused: %v", err)
	}
	if err := Comparable(declared[0], declared[2]); err != nil {
		t.Errorf("the variant's own device is refused: %v", err)
	}
	if declared[0].Fingerprint == declared[1].Fingerprint {
		t.Error("two settings, one fingerprint")
	}
	elsewhere := resolve("cpu", 3)
	err := Comparable(declared[0], elsewhere[0])
	if err == nil || !strings.Contains(err.Error(), `threads ("4" and "3")`) {
		t.Errorf("undeclared difference: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("cpu,cpu:threads=1")
	f.Add(`dspqueue:env.A=HTP0:0\,HTP0:1,ubatch=64,cpu`)
	f.Add("cpu:device=HTP0[0-1]")
	f.Fuzz(func(t *testing.T, list string) {
		specs, err := Parse(list, known)
		if err != nil {
			return
		}
		var text []string
		for _, s := range specs {
			text = append(text, s.String())
		}
		again, err := Parse(strings.Join(text, ","), known)
		if err != nil || !reflect.DeepEqual(specs, again) {
			t.Errorf("%q: %q reads back as %v, %v", list, text, again, err)
		}
	})
}

func TestTrees(t *testing.T) {
	specs, err := Parse("base:cpu,head:cpu:threads=1,poll=0,cpu", known)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range Resolve(specs, Context{}) {
		got = append(got, a.Tree+" "+string(a.Variant)+" "+a.Label)
	}
	want := []string{"base cpu base:cpu", "head cpu head:cpu:poll=0,threads=1", " cpu cpu"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, list := range []string{"base", "base:", "base:head:cpu", "base:threads=1", "tail:cpu", "base::cpu"} {
		if specs, err := Parse(list, known); err == nil {
			t.Errorf("%q reads as %+v", list, specs)
		}
	}
}
