package knobs

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const sample = `
static int    opt_nhvx = 0; // use all
static bool   opt_a = false, opt_b;
static size_t opt_mbuf
    = 1ul * 1024;           // max
#define opt_nhvx opt_nhvx
void init(void) {
    // getenv("GGML_HEXAGON_COMMENT")
    const char * str_nhvx = getenv("GGML_HEXAGON_NHVX");
    const char * str_mbuf = getenv( "GGML_HEXAGON_MBUF" );
    const char * other    = getenv("HOME");
    if (getenv("GGML_HEXAGON_BARE")) { }
    opt_nhvx = str_nhvx ? strtoul(str_nhvx, NULL, 0) : opt_nhvx;
    switch (x) { case 1: opt_mbuf = v[0]; }
    opt_mbuf = str_mbuf ? f(str_mbuf)*MiB : opt_mbuf;
}`

func TestExtract(t *testing.T) {
	want := []Read{
		{Variable: "GGML_HEXAGON_BARE", Line: 12},
		{Variable: "GGML_HEXAGON_MBUF", Line: 10, Local: "str_mbuf", Option: "opt_mbuf", Initial: "1ul * 1024",
			Assigned: []string{"opt_mbuf = v[0]", "opt_mbuf = str_mbuf ? f(str_mbuf) * MiB : opt_mbuf"}},
		{Variable: "GGML_HEXAGON_NHVX", Line: 9, Local: "str_nhvx", Option: "opt_nhvx", Initial: "0",
			Assigned: []string{"opt_nhvx = str_nhvx ? strtoul(str_nhvx, NULL, 0) : opt_nhvx"}},
	}
	if got := Extract([]byte(sample)); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestMentions(t *testing.T) {
	got := Mentions("a GGML_HEXAGON_B=1 $GGML_HEXAGON_A GGML_HEXAGON_B `GGML_HEXAGON_*`")
	if want := []string{"GGML_HEXAGON", "GGML_HEXAGON_A", "GGML_HEXAGON_B"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTable(t *testing.T) {
	if !slices.IsSortedFunc(Table, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted by name")
	}
	for _, v := range Table {
		if v.Meaning == "" || v.Values == "" || v.Default == "" || !strings.HasPrefix(v.Name, Prefix) {
			t.Errorf("%+v is incomplete", v)
		}
		if again, ok := Find(v.Short); !ok || again.Name != v.Name {
			t.Errorf("%s is not found by %s", v.Name, v.Short)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, value string
		ok          bool
	}{
		{"nhvx", "4", true}, {"nhvx", "", false}, {"nhvx", "all", false}, {"nhvx", "-1", false}, {"nhvx", "04", false},
		{"arch", "v79", true}, {"arch", "73", true}, {"arch", "68", false},
		{"profile", "3", true}, {"profile", "0x3,0x111,0x100,0x105,0x240,0x256,0x7D,0x8C", true}, {"profile", "1,2", false}, {"profile", "4", false},
		{"devices", "2", true}, {"devices", "HTP0:0,HTP1:0", true}, {"devices", "HTP0[0-1]", true}, {"devices", "HTP0[0,1:1],HTP1[2-3]", true},
		{"devices", "GPU0", false}, {"devices", "HTP0[", false}, {"devices", "0", false}, {"devices", "HTP0,", false},
		{"opfilter", "ADD|SUB", true}, {"opfilter", "(", false}, {"opfilter", "", false},
		{"opfusion", "36", true}, {"opfusion", "128", false},
	} {
		v, found := Find(test.name)
		if !found {
			t.Fatal(test.name)
		}
		if err := v.Check(test.value); (err == nil) != test.ok {
			t.Errorf("%s=%s: %v", test.name, test.value, err)
		}
	}
}

func TestNearest(t *testing.T) {
	for wrong, want := range map[string]string{
		"GGML_HEXAGON_NHXV": "GGML_HEXAGON_NHVX", "GGML_HEXAGON_OPFUSON": "GGML_HEXAGON_OPFUSION", "GGML_HEXAGON_EXPERIMENTAL": "",
	} {
		if got := Nearest(wrong); got != want {
			t.Errorf("%s: %q, want %q", wrong, got, want)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`x = getenv("GGML_HEXAGON_`))
	f.Fuzz(func(t *testing.T, source []byte) {
		for _, read := range Extract(source) {
			if !strings.HasPrefix(read.Variable, Prefix) || read.Line < 1 {
				t.Errorf("%+v", read)
			}
		}
	})
}

func FuzzCheck(f *testing.F) {
	f.Add("HTP0[0-1],HTP1:0")
	f.Add("0x3,1")
	f.Fuzz(func(t *testing.T, value string) {
		for _, v := range Table {
			if v.Check(value) == nil && strings.ContainsAny(value, "\x00\n") && v.Short != "opfilter" {
				t.Errorf("%s takes %q", v.Name, value)
			}
		}
	})
}
