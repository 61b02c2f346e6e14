package llamabench

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hexab/internal/bench"
)

var (
	pp64 = bench.Test{Prompt: 64}
	tg16 = bench.Test{Gen: 16}
	want = Want{Tests: []bench.Test{pp64, tg16}, Repetitions: 2, Echoes: map[string]string{"n_threads": "2", "type_k": "f16", "unknown_to_this_release": "1"}}
)

const (
	ppLine = `{"build_commit": "de3ff81", "build_number": 7, "n_threads": 2, "type_k": "f16", "n_prompt": 64, "n_gen": 0, "n_depth": 0, "samples_ns": [ 1000, 2000 ],"samples_ts": [ 1.0, 2.0 ], "new_field": [1]}`
	tgLine = `{"build_commit": "de3ff81", "build_number": 7, "n_threads": 2, "type_k": "f16", "n_prompt": 0, "n_gen": 16, "samples_ns": [ 3000, 4000 ]}`
)

func TestParse(t *testing.T) {
	whole := []bench.Result{
		{Test: pp64, SamplesNs: []bench.Nanoseconds{1000, 2000}},
		{Test: tg16, SamplesNs: []bench.Nanoseconds{3000, 4000}},
	}
	for _, test := range []struct {
		name, output string
		results      []bench.Result
		other        int
		err          string
	}{
		{"whole", ppLine + "\n" + tgLine + "\n", whole, 0, ""},
		{"other order", tgLine + "\n" + ppLine, whole, 0, ""},
		{"carriage returns", "\r" + ppLine[:40] + "\r" + ppLine[40:] + "\r\r\n" + tgLine + "\r\n", whole, 0, ""},
		{"noise between", "adsprpc: opened {session}\n" + ppLine + "\nI/vendor: x\n" + tgLine + "\n", whole, 2, ""},
		{"noise before on the line", "I/vendor: half" + ppLine + "\n" + tgLine, whole, 0, ""},
		{"a test not asked for", ppLine + "\n" + tgLine + "\n" + strings.Replace(tgLine, `"n_gen": 16`, `"n_gen": 8`, 1), whole, 1, ""},
		{"empty", "", nil, 0, "no result for pp64, tg16"},
		{"one missing", ppLine, whole[:1], 0, "no result for tg16"},
		{"cut short", ppLine + "\n" + tgLine[:len(tgLine)-20], whole[:1], 0, "line 2: not whole JSON"},
		{"noise within", ppLine[:60] + "vendor\n" + ppLine[60:] + "\n" + tgLine, whole[1:], 2, "no result for pp64"},
		{"spliced", strings.Replace(ppLine, `"n_gen"`, `vendor`, 1) + "\n" + tgLine, whole[1:], 0, "line 1: not whole JSON"},
		{"twice", ppLine + "\n" + ppLine + "\n" + tgLine, whole, 0, "pp64 was reported before"},
		{"no samples", strings.Replace(ppLine, "samples_ns", "samples", 1) + "\n" + tgLine, whole[1:], 0, "field samples_ns is missing"},
		{"too few samples", strings.Replace(ppLine, "1000, ", "", 1) + "\n" + tgLine, whole[1:], 0, "1 samples where 2 were asked for"},
		{"negative sample", strings.Replace(ppLine, "1000", "-5", 1) + "\n" + tgLine, whole[1:], 0, "sample 1 took -5 ns"},
		{"fractional sample", strings.Replace(ppLine, "1000", "0.5", 1) + "\n" + tgLine, whole[1:], 0, "not whole JSON"},
		{"negative test", strings.Replace(ppLine, "64", "-64", 1) + "\n" + tgLine, whole[1:], 0, "no sensible test"},
		{"a setting not taken", strings.Replace(ppLine, `"n_threads": 2`, `"n_threads": 4`, 1) + "\n" + tgLine, whole[1:], 0, "n_threads is 4 where 2 was asked for"},
	} {
		out, err := Parse([]byte(test.output), want)
		if !reflect.DeepEqual(out.Results, test.results) || len(out.Other) != test.other {
			t.Errorf("%s: %+v, other %q", test.name, out.Results, out.Other)
		}
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.err)
		}
	}
}

func TestErrorsTellKinds(t *testing.T) {
	_, err := Parse([]byte(ppLine), want)
	var missing *MissingError
	if !errors.As(err, &missing) || len(missing.Tests) != 1 {
		t.Errorf("%v", err)
	}
	_, err = Parse(make([]byte, MaxOutput+1), want)
	var parse *ParseError
	if !errors.As(err, &parse) {
		t.Errorf("%v", err)
	}
}

func TestArguments(t *testing.T) {
	for _, test := range []struct {
		tests string
		want  string
	}{
		{"pp64 tg16", "-m M -p 64 -n 16 -d 0 -r 3 -o jsonl -v -t 2"},
		{"tg128", "-m M -p 0 -n 128 -d 0 -r 3 -o jsonl -v -t 2"},
		{"pp512 pp64 pg64+16", "-m M -p 512,64 -n 0 -pg 64,16 -d 0 -r 3 -o jsonl -v -t 2"},
		{"tg16 tg16@d512", "-m M -p 0 -n 16 -d 0,512 -r 3 -o jsonl -v -t 2"},
		{"pp64 tg16@d512", "error: makes 4 tests of the 2"},
		{"pp64 pp64", "error: pp64 stands twice"},
	} {
		var tests []bench.Test
		for _, name := range strings.Fields(test.tests) {
			parsed, err := bench.ParseTest(name)
			if err != nil {
				t.Fatal(err)
			}
			tests = append(tests, parsed)
		}
		args, err := Arguments("M", tests, 3, []string{"-t", "2"})
		got := strings.Join(args, " ")
		if err != nil {
			got = fmt.Sprint("error: ", err)
		}
		if wantErr, isErr := strings.CutPrefix(test.want, "error: "); isErr && !strings.Contains(got, wantErr) || !isErr && got != test.want {
			t.Errorf("%s: %s, want %s", test.tests, got, test.want)
		}
	}
}

func TestProof(t *testing.T) {
	log := `load_tensors:        HTP0 model buffer size =   504.26 MiB
load_tensors:   CPU_Mapped model buffer size =    12.00 MiB
llama_kv_cache:       HTP0 KV buffer size =    64.00 MiB
sched_reserve: graph splits = 35 (with bs=256), 3 (with bs=1)`
	got := Proof(log)
	for key, value := range map[string]string{
		"HTP0 model buffer": "504.26 MiB", "CPU_Mapped model buffer": "12.00 MiB", "HTP0 KV buffer": "64.00 MiB", "graph splits": "35 (with bs=256), 3 (with bs=1)",
	} {
		if got[key] != value {
			t.Errorf("%s: %q, want %q", key, got[key], value)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(ppLine + "\n" + tgLine))
	f.Add([]byte("noise" + ppLine + "\r\n"))
	f.Fuzz(func(t *testing.T, output []byte) {
		out, err := Parse(output, want)
		if err == nil && len(out.Results) != len(want.Tests) {
			t.Errorf("no error and %d results", len(out.Results))
		}
		for _, r := range out.Results {
			if len(r.SamplesNs) != want.Repetitions {
				t.Errorf("%d samples", len(r.SamplesNs))
			}
		}
		Proof(string(output))
	})
}
