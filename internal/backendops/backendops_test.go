package backendops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReal(t *testing.T) {
	r, err := Parse(read(t, "pass.txt"), Want{Test, "CPU"})
	if err != nil {
		t.Fatal(err)
	}
	if total := r.Total(); total != (Summary{Passed: 82}) || r.Description != "A CPU" || len(r.ByOp()) != 5 {
		t.Errorf("%+v, %+v", total, r.ByOp())
	}
	r, err = Parse(read(t, "perf.txt"), Want{Perf, "CPU"})
	if err != nil || len(r.Cases) != 3 {
		t.Fatal(err, r.Cases)
	}
	if s := r.Cases[2].Speed; *s != (Speed{Runs: 69, Microseconds: 35315.84, FLOPS: 3.33e9}) || r.Cases[2].Op != "MUL_MAT" {
		t.Errorf("%+v", s)
	}
	if s := r.Cases[0].Speed; s.GiBPerSecond != 14.5 || s.FLOPS != 0 {
		t.Errorf("%+v", s)
	}
}

// Noise and carriage returns change nothing that is read.
func TestFailures(t *testing.T) {
	for _, name := range []string{"fail.txt", "noisy.txt"} {
		r, err := Parse(read(t, name), Want{Test, "HTP0"})
		if err != nil {
			t.Fatal(name, err)
		}
		if total := r.Total(); total != (Summary{Passed: 3, Failed: 3, Unsupported: 1}) {
			t.Errorf("%s: %+v", name, total)
		}
		failed := r.Failures()
		if failed[0].Detail != "[MUL_MAT] ERR = 0.201938477 > 0.000500000" || !strings.Contains(failed[1].Detail, "NaN at index 3") ||
			!strings.Contains(failed[2].Params, "m=99999") || !strings.Contains(failed[2].Detail, "allocated") {
			t.Errorf("%s: %+v", name, failed)
		}
	}
}

// Whatever is missing from the end is noticed, at whatever byte.
func TestCutOff(t *testing.T) {
	for name, want := range map[string]Want{"pass.txt": {Test, "CPU"}, "fail.txt": {Test, "HTP0"}, "perf.txt": {Perf, "CPU"}} {
		text := read(t, name)
		end := strings.LastIndex(text, " backends passed")
		step := 1 + end/150
		for cut := 0; cut < end; cut += step {
			if end-cut < 200 {
				step = 1 // every byte of the summary
			}
			if _, err := Parse(text[:cut], want); err == nil {
				t.Fatalf("%s cut at %d reads as whole", name, cut)
			}
		}
	}
	for _, end := range []string{"", "\n", "\r\n"} { // a device's shell may end the line
		_, err := Parse(read(t, "crash.txt")+end, Want{Test, "HTP0"})
		var cut *IncompleteError
		if !errors.As(err, &cut) || cut.Cases != 3 || !strings.HasPrefix(cut.Last, "MUL_MAT(type_a=q4_0,type_b=f32,m=16,n=8,") {
			t.Errorf("%q: %v", end, err)
		}
	}
}

func TestWhatIsNoPass(t *testing.T) {
	pass, fail := read(t, "pass.txt"), read(t, "fail.txt")
	var missing *BackendError
	if _, err := Parse(pass, Want{Test, "HTP0"}); !errors.As(err, &missing) || missing.Present[0] != "CPU" {
		t.Errorf("%v", err)
	}
	none := "Testing 1 devices\n\nBackend 1/1: CPU\n\n  0/0 tests passed\n  Backend CPU: OK\n1/1 backends passed\nOK\n"
	var empty *NoCasesError
	if _, err := Parse(none, Want{Test, "CPU"}); !errors.As(err, &empty) {
		t.Errorf("%v", err)
	}
	var count *CountError
	for _, change := range [][2]string{{"  3/6 tests", "  4/6 tests"}, {"  3/6 tests", "  3/7 tests"}, {"Backend HTP0: \x1b[1;31mFAIL", "Backend HTP0: \x1b[1;32mOK"}} {
		if _, err := Parse(strings.Replace(fail, change[0], change[1], 1), Want{Test, "HTP0"}); !errors.As(err, &count) {
			t.Errorf("%s: %v", change[1], err)
		}
	}
	var parse *ParseError
	for _, change := range [][2]string{{"\x1b[1;32mOK", "MAYBE"}, {"\x1b[1;32mOK", "12 runs - 1.0 us/run - 3 kB/run - 1.0 GB/s"}} {
		if _, err := Parse(strings.Replace(fail, change[0], change[1], 1), Want{Test, "HTP0"}); !errors.As(err, &parse) || parse.Line != 7 {
			t.Errorf("%s: %v", change[1], err)
		}
	}
	if _, err := Parse(strings.Replace(read(t, "perf.txt"), " 3.16 us", " 3.1.6 us", 1), Want{Perf, "CPU"}); !errors.As(err, &parse) {
		t.Errorf("%v", err)
	}
}

func TestArguments(t *testing.T) {
	args, err := Arguments(Perf, "HTP0", "MUL_MAT", "type_a=q4_0")
	if err != nil || strings.Join(args, " ") != "perf -b HTP0 --output console -o MUL_MAT -p type_a=q4_0" {
		t.Error(args, err)
	}
	for _, filter := range []string{"-o", "A'B", "A\nB", strings.Repeat("A", MaxFilter+1)} {
		if _, err := Arguments(Test, "CPU", filter, ""); err == nil {
			t.Errorf("%q was taken", filter)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"pass.txt", "fail.txt", "noisy.txt", "crash.txt", "perf.txt"} {
		text := read(f, name)
		f.Add(text[:min(len(text), 3000)], name == "perf.txt")
	}
	f.Fuzz(func(t *testing.T, text string, perf bool) {
		want := Want{Test, "HTP0"}
		if perf {
			want = Want{Perf, "CPU"}
		}
		r, err := Parse(text, want)
		total := r.Total()
		if total.Passed+total.Failed+total.Unsupported != len(r.Cases) || len(r.Other) > maxOther {
			t.Errorf("%+v of %d cases", total, len(r.Cases))
		}
		if err == nil && (len(r.Cases) == 0 || !strings.Contains(text, "backends passed")) {
			t.Error("nothing reads as a whole report")
		}
		for _, c := range r.Cases {
			if s := c.Speed; s != nil && (s.Runs < 1 || !(s.Microseconds >= 0)) {
				t.Errorf("%+v", s)
			}
		}
	})
}
