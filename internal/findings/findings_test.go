package findings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const good = `seed: 1
slices:
  - {op: DIV, archs: [73, 79]}
  - {op: MUL_MAT_ID, archs: [73], params: "k=[0-9]*8,"}
findings:
  - name: coarse-inverse
    fault: upstream
    summary: The inverse is coarse.
    upstream: [ggml/src/a.h:10]
    cases:
      - archs: [73]
        op: DIV
        may_fail: type=f16,.*
        always_fail: type=f16,ne=\[[1-2],.*
        fails: ["type=f16,ne=[1,1]", "type=f16,ne=[2,2]"]
    reports:
      - archs: [73]
        op: DIV
        params: type=f16,.*
        says: "dma: overlap: .*; in op_div, .*"
`

func parse(t *testing.T, text string) List {
	t.Helper()
	l, err := Parse("list.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestProject reads the project's own list; each finding has its folder.
func TestProject(t *testing.T) {
	path := filepath.Join("..", "..", "sim", "findings", "expected.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Parse("expected.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range l.Findings {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), f.Name)); err != nil {
			t.Error(err)
		}
	}
}

func TestExplain(t *testing.T) {
	l := parse(t, good)
	for _, c := range []struct {
		arch       int
		op, params string
		want       string
	}{
		{73, "DIV", "type=f16,ne=[9,9]", "coarse-inverse"},
		{73, "DIV", "x=1,type=f16,ne=[9,9]", ""}, // the whole text must match
		{73, "ADD", "type=f16,ne=[9,9]", ""},
		{79, "DIV", "type=f16,ne=[9,9]", ""},
	} {
		f, ok := l.Explain(c.arch, c.op, c.params)
		if f.Name != c.want || ok != (c.want != "") {
			t.Errorf("v%d %s(%s): %q %v", c.arch, c.op, c.params, f.Name, ok)
		}
	}
}

// TestExplainReport: a report is explained where a case of the finding ran.
func TestExplainReport(t *testing.T) {
	l := parse(t, good)
	ran := []Outcome{{Op: "ADD", Params: "type=f16"}, {Op: "DIV", Params: "type=f16,ne=[1,1]"}}
	const report = "dma: overlap: text: 0x1, 2 bytes: buffer; in op_div, thread t"
	for _, c := range []struct {
		arch int
		ran  []Outcome
		text string
		want string
	}{
		{73, ran, report, "coarse-inverse"},
		{79, ran, report, ""},
		{73, ran[:1], report, ""},
		{73, []Outcome{{Op: "DIV", Params: "type=f32,ne=[1,1]"}}, report, ""},
		{73, ran, "x " + report, ""}, // the whole text must match
		{73, ran, "dma: overlap: in op_add", ""},
	} {
		f, ok := l.ExplainReport(c.arch, c.ran, c.text)
		if f.Name != c.want || ok != (c.want != "") {
			t.Errorf("v%d %q after %v: %q %v", c.arch, c.text, c.ran, f.Name, ok)
		}
	}
}

// TestCompare: each kind of difference, and none.
func TestCompare(t *testing.T) {
	l := parse(t, good)
	one := Outcome{Op: "DIV", Params: "type=f16,ne=[1,1]", Failed: true, Detail: "ERR = 1"}
	two := Outcome{Op: "DIV", Params: "type=f16,ne=[2,2]", Failed: true}
	other := Outcome{Op: "DIV", Params: "type=f32,ne=[1,1]"}
	passes := one
	passes.Failed, passes.Detail = false, ""
	fails := other
	fails.Failed = true
	more := Outcome{Op: "DIV", Params: "type=f16,ne=[3,3]", Failed: true}
	for _, c := range []struct {
		name     string
		arch     int
		outcomes []Outcome
		want     []string
	}{
		{"as listed", 73, []Outcome{one, two, other}, nil},
		{"another architecture", 79, []Outcome{passes, other}, nil},
		{"starts to pass", 73, []Outcome{passes, two, other}, []string{"DIV(type=f16,ne=[1,1]): passes, but coarse-inverse says that it fails"}},
		{"unexpected", 73, []Outcome{one, two, fails}, []string{"DIV(type=f32,ne=[1,1]): fails, and no finding says so"}},
		{"not listed", 73, []Outcome{one, two, more}, []string{"DIV(type=f16,ne=[3,3]): fails with this seed too; coarse-inverse is to list it"}},
		{"unexpected elsewhere", 79, []Outcome{one}, []string{"DIV(type=f16,ne=[1,1]): fails, and no finding says so: ERR = 1"}},
		{"not run", 73, []Outcome{one}, []string{"DIV(type=f16,ne=[2,2]): was not run, but coarse-inverse names it"}},
	} {
		differences, err := l.Compare(c.arch, l.Slices[0], c.outcomes)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range differences {
			got = append(got, d.String())
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestJudge: with any data a case that may fail comes out in either way.
func TestJudge(t *testing.T) {
	l := parse(t, good)
	outcome := func(params string, failed bool) Outcome { return Outcome{Op: "DIV", Params: params, Failed: failed} }
	always, some, other := "type=f16,ne=[1,1]", "type=f16,ne=[9,9]", "type=f32,ne=[1,1]"
	for _, c := range []struct {
		name           string
		arch           int
		outcome        Outcome
		expected, want string
	}{
		{"always fails", 73, outcome(always, true), "coarse-inverse", ""},
		{"starts to pass", 73, outcome(always, false), "", "DIV(type=f16,ne=[1,1]): passes, but coarse-inverse says that it fails"},
		{"fails with this data", 73, outcome(some, true), "coarse-inverse", ""},
		{"passes with this data", 73, outcome(some, false), "", ""},
		{"unexpected", 73, outcome(other, true), "", "DIV(type=f32,ne=[1,1]): fails, and no finding says so"},
		{"passes", 73, outcome(other, false), "", ""},
		{"unexpected elsewhere", 79, outcome(always, true), "", "DIV(type=f16,ne=[1,1]): fails, and no finding says so"},
		{"passes elsewhere", 79, outcome(always, false), "", ""},
	} {
		j := l.Judge(c.arch, []Outcome{c.outcome})
		expected, got := "", ""
		for _, e := range j.Expected {
			expected += e.Finding.Name
		}
		for _, d := range j.Differences {
			got += d.String()
		}
		if expected != c.expected || got != c.want {
			t.Errorf("%s: expected %q, differences %q", c.name, expected, got)
		}
	}
}

// TestMistakes: every mistake has its file and line.
func TestMistakes(t *testing.T) {
	change := func(from, to string) string {
		text := strings.Replace(good, from, to, 1)
		if text == good {
			t.Fatalf("%q is not in the list", from)
		}
		return text
	}
	for _, c := range []struct{ text, want string }{
		{"", "list.yaml:1: the file is empty"},
		{good[:strings.Index(good, "    cases:")], "list.yaml:6: a finding has neither cases nor reports"},
		{change(`says: "dma: overlap: .*; in op_div, .*"`, `says: "("`), `list.yaml:20: "(" is not a regular expression`},
		{change("        says:", "        say:"), "list.yaml:20: a report has no key \"say\""},
		{"- 1\n", "list.yaml:1: the list is not a mapping"},
		{"seed: [\n", "list.yaml:1: did not find expected node content"},
		{good + "---\na: 1\n", "list.yaml:21: there is more after the first document"},
		{change("seed: 1", "seed: -1"), `list.yaml:1: "-1" is not a whole number`},
		{change("seed: 1\n", ""), "list.yaml:1: the list lacks seed"},
		{change("seed: 1", "seed: 1\nseeds: 2"), `list.yaml:2: the list has no key "seeds"`},
		{change("seed: 1", "seed: 1\nseed: 2"), "list.yaml:2: seed is there twice"},
		{change("[73, 79]", "[73, 74]"), `list.yaml:3: "74" is not one of the architectures [73 75 79 81]`},
		{change("[73, 79]", "[]"), "list.yaml:3: a list is wanted here, with one element at least"},
		{change(`"k=[0-9]*8,"`, `"k=["`), `list.yaml:4: "k=[" is not a regular expression: error parsing`},
		{change("op: DIV", "op: div"), `list.yaml:3: "div" is not of the form`},
		{change("fault: upstream", "fault: nobody"), `list.yaml:7: "nobody" is not of the form`},
		{change("a.h:10", "a.h"), `list.yaml:9: "ggml/src/a.h" is not of the form`},
		{change("is coarse.", "is coarse"), "list.yaml:8: "},
		{change("type=f16,.*", "type=f32,.*"), `list.yaml:15: may_fail does not match "type=f16,ne=[1,1]"`},
		{change("type=f16,.*", "type=f16(,.*"), `list.yaml:13: "type=f16(,.*" is not a regular expression`},
		{change(`[[1-2],.*`, `[[1-2`), `list.yaml:14: "type=f16,ne=\\[[1-2" is not a regular expression`},
		{change("archs: [73]\n", "archs: &a [73]\n"), "list.yaml:11: anchors and aliases are not allowed"},
		{change("ne=[2,2]", "ne=[1,1]"), "v73 DIV(type=f16,ne=[1,1]) is in coarse-inverse and in coarse-inverse"},
		{change("[73, 79]", "[79]"), "0 slices run v73 DIV(type=f16,ne=[1,1]), want 1"},
		{change(`MUL_MAT_ID, archs: [73], params: "k=[0-9]*8,"`, "DIV, archs: [73]"), "2 slices run v73 DIV"},
		{strings.Repeat("#", maxBytes+1), "are more than"},
	} {
		_, err := Parse("list.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.300q\n  error %v\n  want  %s", c.text, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("seed: 1\nslices: [{op: A, archs: [73]}]\nfindings: [{}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse("list.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "list.yaml:") {
				t.Errorf("no place: %v", err)
			}
			return
		}
		for _, s := range l.Slices {
			if _, err := l.Compare(s.Archs[0], s, nil); err != nil {
				t.Error(err)
			}
		}
	})
}
