package opprofile

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hexab/internal/stat"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s%v", name, got, want, err)
	}
}

// launch is the beginning of one batch of a real launch on the simulator.
func launch(t testing.TB) *Log {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "launch.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestLaunch(t *testing.T) {
	log := launch(t)
	if log.Torn != nil || len(log.Batches) != 1 || log.Batches[0].Declared != 101 || len(log.Batches[0].Ops) != 12 || len(log.Batches[0].Events) != 80 {
		t.Fatalf("%+v", log)
	}
	var out bytes.Buffer
	for _, byShape := range []bool{false, true} {
		if err := WriteSums(&out, log.Sums(byShape)); err != nil {
			t.Fatal(err)
		}
	}
	spans, lost := log.Batches[0].Spans()
	fmt.Fprintf(&out, "%d spans, %d lost, %+v\n", len(spans), lost, log.Overlap())
	golden(t, "sums.golden", out.Bytes())
}

func TestExecuted(t *testing.T) {
	const (
		two = "ggml-hex: HTP0 profile-op OPBATCH|----|n-ops 2|----|----|----|usec 10 cycles 20000 start 5000000000 mhz 2000.0\n"
		add = "ggml-hex: HTP0 profile-op ADD|a x b -> c|4:2 -> 4:2|f32|16|----|usec 3 cycles 6000 start 705032704 mhz 2000.0\n"
		sum = "ggml-hex: HTP0 profile-op RMS_NORM+MUL|a x b -> c|4:2 -> 4:2|f32|16|----|usec 3 cycles 6000 start 705032704 mhz 2000.0\n"
	)
	for _, test := range []struct {
		log, err string
		want     map[string]uint64
	}{
		{"", "", map[string]uint64{}},
		{two + add + sum + "loading\n" + two + add + add, "", map[string]uint64{"ADD": 3, "RMS_NORM+MUL": 1}},
		{two + add + sum + two + add, "batch 2 of HTP0 has 1 operations", nil},
		{two + add + "ggml-hex: HTP0 profile-op ADD|torn\n", "line 3", nil},
	} {
		log, err := Parse(strings.NewReader(test.log))
		if err != nil {
			t.Fatal(err)
		}
		got, err := log.Executed()
		if test.err == "" && (err != nil || !reflect.DeepEqual(got, test.want)) {
			t.Errorf("%q: %v, %v", test.log, got, err)
		}
		if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%q: %v, want %s", test.log, err, test.err)
		}
	}
}

func TestParse(t *testing.T) {
	log, err := Parse(strings.NewReader(strings.Join([]string{
		"[  0.1s] starting the embedded phone (profile cool); its figures say nothing of a real phone",
		"ggml-hex: HTP0 profile-op OPBATCH|----|n-ops 2|----|----|----|usec 10 cycles 20000 start 5000000000 mhz 2000.0",
		"0.1 D ggml-hex: HTP0 profile-op ADD|a|b x c -> d|4:2 -> 4:2|f32|16|----|usec 3 cycles 6000 start 705032704 mhz 2000.0 pmu [1,2,3,4,5,6,7,8]\r",
		"ggml-hex: HTP0 trace-evt DMA: thread 1 info 7 start 705032710",
		"ggml-hex: HTP0 trace-evt DMA: thread 1 info 7 stop 705032720",
		"ggml-hex: HTP0 profile-op MUL|torn",
		"ggml-hex: HTP1 trace-evt DMA: thread 1 info 7 stop 1",
		"ggml-hex: HTP0 trace-evt DMA: thread x info 7 stop 1",
		"ggml-hex: HTP0 profile-op SUB|a|b|c|d|e|usec 3 cycles 99999999999 start 0 mhz 1.0",
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := Batch{
		Session: "HTP0", Microseconds: 10, Cycles: 20000, Start: 5000000000, Declared: 2,
		Ops: []Op{{Session: "HTP0", Name: "ADD", Names: "a|b x c -> d", Dims: "4:2 -> 4:2", Types: "f32", Strides: "16", Params: "----",
			Microseconds: 3, Cycles: 6000, Start: 705032704, Counters: []uint32{1, 2, 3, 4, 5, 6, 7, 8}}},
		Events: []Event{{"DMA", 1, 7, false, 705032710}, {"DMA", 1, 7, true, 705032720}},
	}
	if len(log.Batches) != 1 || !reflect.DeepEqual(log.Batches[0], want) {
		t.Errorf("%+v\nwant %+v", log.Batches, want)
	}
	if !log.Simulated || launch(t).Simulated {
		t.Error("simulated launches are not told from others")
	}
	if len(log.Torn) != 4 || !strings.HasPrefix(log.Torn[0], "line 6: ") || !strings.Contains(log.Torn[1], "HTP1 has no batch yet") {
		t.Errorf("torn: %q", log.Torn)
	}
	if _, err := Parse(strings.NewReader("a\n" + strings.Repeat("x", MaxLine+1))); err == nil || !strings.HasPrefix(err.Error(), "line 2:") {
		t.Error(err)
	}
}

// TestSpans pairs by number and by nesting, over a wrap of the counter.
func TestSpans(t *testing.T) {
	start := uint64(1)<<32 - 100
	event := func(kind string, thread int, info uint32, stop bool, at uint64) Event {
		return Event{kind, thread, info, stop, uint32(start + at)}
	}
	b := Batch{Start: start, Events: []Event{
		event("DMA", 0, 1, false, 10), event("DMA", 0, 2, false, 20), event("DMA", 0, 1, true, 60),
		event("HVX_COMP", 0, 0, false, 70), event("HVX_COMP", 0, 1, false, 80), event("HVX_COMP", 0, 1, true, 90), event("HVX_COMP", 0, 0, true, 150),
		event("DMA", 0, 2, true, 160), event("HVX_COMP", 1, 5, true, 170), event("HMX_COMP", MatrixThread, 0, false, 40),
		event("HMX_COMP", MatrixThread, 0, true, 50), event("DMA", 2, 9, false, 1),
	}}
	spans, lost := b.Spans()
	want := []Span{
		{"DMA", 0, 1, 10, 60}, {"DMA", 0, 2, 20, 160}, {"HMX_COMP", MatrixThread, 0, 40, 50}, {"HVX_COMP", 0, 0, 70, 150}, {"HVX_COMP", 0, 1, 80, 90},
	}
	if !reflect.DeepEqual(spans, want) || lost != 2 {
		t.Errorf("%+v, %d lost", spans, lost)
	}
	log := Log{Batches: []Batch{b}}
	if o := log.Overlap(); o != (Overlap{DMA: 150, Compute: 90, Both: 90, Lost: 2}) || o.Fraction() != 0.6 {
		t.Errorf("%+v", o)
	}
}

// TestTrace checks the trace against the Trace Event Format: what Perfetto's
// JSON importer reads.
func TestTrace(t *testing.T) {
	var out bytes.Buffer
	if err := launch(t).WriteTrace(&out, "(simulated)"); err != nil {
		t.Fatal(err)
	}
	golden(t, "trace.golden.json", out.Bytes())
	checkTrace(t, out.Bytes(), []string{"HVX 0", "HVX 1", "DMA 0", "DMA 1", "operations", "batches", "cache and buffers"})
}

func checkTrace(t *testing.T, text []byte, tracks []string) {
	t.Helper()
	named, err := CheckTrace(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, track := range tracks {
		if !slices.Contains(named, track) {
			t.Errorf("no track %s among %v", track, named)
		}
	}
}

// TestCheckTrace holds what is no sound trace.
func TestCheckTrace(t *testing.T) {
	for events, want := range map[string]string{
		`{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":1},{"name":"b","ph":"X","ts":2,"dur":2,"pid":1,"tid":1}`:   "overlaps",
		`{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":1},{"name":"b","ph":"X","ts":1.5,"dur":1,"pid":1,"tid":1}`: "",
		`{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":1},{"name":"b","ph":"X","ts":2,"dur":2,"pid":1,"tid":2}`:   "",
		`{"name":"a","ph":"X","ts":1,"pid":1,"tid":1}`:                                                                "no duration",
		`{"name":"a","ph":"X","ts":-1,"dur":2,"pid":1,"tid":1}`:                                                       "no time",
		`{"name":"a","ph":"B","ts":1,"pid":1,"tid":1}`:                                                                "phase",
		`{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1}`:                                                                   "lacks",
		`{"name":"a","ph":"M","pid":1,"tid":1,"x":1}`:                                                                 "unknown field",
	} {
		_, err := CheckTrace([]byte(`{"traceEvents":[` + events + `]}`))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", events, err, want)
		}
	}
}

// TestOverlappingTransfers holds that transfers which are under way at the same
// time are all drawn, on lanes of their own.
func TestOverlappingTransfers(t *testing.T) {
	b := Batch{Session: "HTP0", Cycles: 100, Microseconds: 33, Events: []Event{
		{Kind: "DMA", Info: 1, Cycles: 10}, {Kind: "DMA", Info: 2, Cycles: 20}, {Kind: "DMA", Info: 1, Cycles: 30, Stop: true},
		{Kind: "DMA", Info: 3, Cycles: 30}, {Kind: "DMA", Info: 2, Cycles: 40, Stop: true}, {Kind: "DMA", Info: 3, Cycles: 50, Stop: true},
	}}
	later := b
	later.Start, later.Microseconds, later.Events = 100, 20, slices.Clone(b.Events)
	for i := range later.Events {
		later.Events[i].Cycles += 100
	}
	var out bytes.Buffer
	if err := (&Log{Batches: []Batch{b, later}}).WriteTrace(&out, ""); err != nil {
		t.Fatal(err)
	}
	checkTrace(t, out.Bytes(), []string{"batches", "DMA 0", "DMA 0, lane 2"})
	if n := bytes.Count(out.Bytes(), []byte(`"name":"DMA"`)); n != 6 {
		t.Errorf("%d transfers of 6 are drawn:\n%s", n, out.Bytes())
	}
}

func TestCompare(t *testing.T) {
	arm := func(cycles ...uint32) []*Log {
		var logs []*Log
		for i, c := range cycles {
			add := Op{Name: "ADD", Dims: "4", Types: "f32", Cycles: 1000 + uint32(i%2)}
			logs = append(logs, &Log{Batches: []Batch{{Ops: []Op{{Name: "MUL", Dims: "4", Types: "f32", Cycles: c}, add, {Name: "SUB", Dims: fmt.Sprint(i), Cycles: 1}}}}})
		}
		return logs
	}
	list, err := Compare(arm(100, 101, 99, 100, 102, 98, 100, 101), arm(200, 205, 199, 201, 202, 197, 200, 203), stat.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Name != "MUL" || list[0].Decision.Verdict != stat.Slower || list[1].Decision.Verdict != stat.Equivalent {
		t.Errorf("%+v", list)
	}
	var out bytes.Buffer
	if err := WriteDifferences(&out, list); err != nil {
		t.Fatal(err)
	}
	golden(t, "differences.golden", out.Bytes())
	if _, err := Compare(arm(1), arm(1, 2), stat.DefaultOptions()); err == nil {
		t.Error("unequal numbers of launches are compared")
	}
	if _, err := Compare([]*Log{{}}, []*Log{{}}, stat.DefaultOptions()); err == nil {
		t.Error("nothing is compared")
	}
}

func FuzzParse(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "launch.log"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("ggml-hex: H profile-op OPBATCH|----|n-ops 2|----|----|----|usec 0 cycles 0 start 0 mhz 0\nggml-hex: H trace-evt DMA: thread 0 info 0 stop 1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		log, err := Parse(bytes.NewReader(text))
		if err != nil {
			return
		}
		if o := log.Overlap(); o.Both > o.DMA || o.Both > o.Compute {
			t.Errorf("%+v", o)
		}
		log.Sums(true)
		var out bytes.Buffer
		if err := log.WriteTrace(&out, "fuzz"); err != nil {
			t.Fatal(err)
		}
		checkTrace(t, out.Bytes(), nil)
	})
}
