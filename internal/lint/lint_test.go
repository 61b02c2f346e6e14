package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestSamples checks each rule on a source that breaks it and on one that does
// not. Every rule must have both, and a failing sample must fail by its rule.
func TestSamples(t *testing.T) {
	for _, r := range Rules {
		for _, kind := range []string{"fail", "pass"} {
			archive, err := txtar.ParseFile(filepath.Join("testdata", r.Name+"."+kind+".txtar"))
			if err != nil {
				t.Error(err)
				continue
			}
			var files []File
			want := ""
			for _, f := range archive.Files {
				if f.Name == "want" {
					want = string(f.Data)
				} else {
					files = append(files, File{f.Name, f.Data})
				}
			}
			got := ""
			for _, f := range Check(files) {
				got += fmt.Sprintln(f)
			}
			if got != want {
				t.Errorf("%s.%s:\n%swant\n%s", r.Name, kind, got, want)
			}
			if failed := strings.Contains(got, ": "+r.Name+": "); failed != (kind == "fail") {
				t.Errorf("%s.%s: breaks the rule: %v", r.Name, kind, failed)
			}
		}
	}
}

func TestBaseline(t *testing.T) {
	findings := []Finding{
		{Rule: "trace", File: "a/b/x-ops.c", Line: 3, Where: "worker", Subject: "worker"},
		{Rule: "flatten", File: "a/b/x-ops.c", Line: 9, Where: "op_x", Subject: "ne01"},
	}
	b, err := ParseBaseline("base", []byte("# known\ntrace x-ops.c worker worker\n\nflatten y-ops.c op_y ne01\n"))
	if err != nil {
		t.Fatal(err)
	}
	fresh, known, gone := b.Split(findings)
	if len(fresh) != 1 || fresh[0].Rule != "flatten" || len(known) != 1 || len(gone) != 1 || gone[0] != "flatten y-ops.c op_y ne01" {
		t.Errorf("fresh %v, known %v, gone %v", fresh, known, gone)
	}
	for text, want := range map[string]string{"nonsense x y z": "base:1:", "\ntrace x": "base:2:"} {
		if _, err := ParseBaseline("base", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	samples, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, sample := range samples {
		text, err := os.ReadFile(sample)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, f := range Check([]File{{"x-ops.c", text}, {"x-ops.h", text}, {"x.cpp", text}}) {
			if f.Line < 1 || f.Text == "" {
				t.Errorf("%+v", f)
			}
		}
	})
}
