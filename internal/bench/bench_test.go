package bench

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseTest(t *testing.T) {
	for _, test := range []struct {
		name string
		want Test
	}{
		{"pp512", Test{Prompt: 512}}, {"tg128", Test{Gen: 128}}, {"pg512+128", Test{Prompt: 512, Gen: 128}},
		{"tg128@d4096", Test{Gen: 128, Depth: 4096}}, {"tg128 @ d4096", Test{Gen: 128, Depth: 4096}},
	} {
		if got, err := ParseTest(test.name); err != nil || got != test.want {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
	}
	for _, name := range []string{"", "pp", "pp0", "pp-1", "tg1.5", "xx12", "pp9999999999999999999", "pp2000000", "pp1,tg1"} {
		if got, err := ParseTest(name); err == nil {
			t.Errorf("%q reads as %+v", name, got)
		}
	}
}

func FuzzParseTest(f *testing.F) {
	f.Add("pg512+128@d4096")
	f.Fuzz(func(t *testing.T, name string) {
		got, err := ParseTest(name)
		if err != nil {
			return
		}
		if again, err := ParseTest(got.String()); err != nil || again != got {
			t.Errorf("%q: %s reads back as %+v, %v", name, got, again, err)
		}
	})
}

func TestBundleID(t *testing.T) {
	sum := strings.Repeat("a", 64)
	b := Bundle{Variant: CPU, Flags: []string{"B=1", "A=1"}, Files: []File{{Path: "b", SHA256: sum}, {Path: "a", SHA256: sum}}}
	first, err := b.ID()
	if err != nil || !IsSHA256(string(first)) {
		t.Fatal(first, err)
	}
	b.Files[0], b.Files[1] = b.Files[1], b.Files[0]
	b.Flags[0], b.Flags[1] = b.Flags[1], b.Flags[0]
	if second, _ := b.ID(); second != first {
		t.Error("the order of files or flags changes the id")
	}
	b.Files[0].SHA256 = strings.Repeat("b", 64)
	if third, _ := b.ID(); third == first {
		t.Error("another content has the same id")
	}
}

func TestBundleCheck(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for _, test := range []struct {
		file File
		ok   bool
	}{
		{File{Path: "lib/a.so", SHA256: sum}, true}, {File{Path: "/a", SHA256: sum}, false}, {File{Path: "../a", SHA256: sum}, false},
		{File{Path: "a/../../b", SHA256: sum}, false}, {File{Path: "", SHA256: sum}, false}, {File{Path: "a", SHA256: "x"}, false},
		{File{Path: "a", SHA256: strings.ToUpper(strings.Repeat("a", 64))}, false}, {File{Path: "a", SHA256: sum, Size: -1}, false},
	} {
		if err := (Bundle{Files: []File{test.file}}).Check(); (err == nil) != test.ok {
			t.Errorf("%+v: %v", test.file, err)
		}
	}
}

func TestUnits(t *testing.T) {
	for size, want := range map[Bytes]string{0: "0 B", 1023: "1023 B", KiB: "1.0 KiB", 47*MiB + MiB/2: "47.5 MiB", 3 * GiB: "3.00 GiB"} {
		if got := size.String(); got != want {
			t.Errorf("%d: %s, want %s", size, got, want)
		}
	}
	if got := Throughput(64, 2e9); got != 32 {
		t.Errorf("64 tokens in 2 s: %v", got)
	}
	if Throughput(64, 0) != 0 {
		t.Error("no time, some throughput")
	}
}

func TestRecordsReadBack(t *testing.T) {
	record := Record{Launch: Launch{Model: "llama3", Arm: "cpu"}, Attempt: 1, Outcome: OutcomeOK, Results: []Result{{Test: Test{Gen: 16}, SamplesNs: []Nanoseconds{1}}}}
	text, err := json.Marshal(record)
	if err != nil || !strings.Contains(string(text), `"test":"tg16"`) {
		t.Fatalf("%s, %v", text, err)
	}
	var again Record
	if err := json.Unmarshal(text, &again); err != nil || again.Results[0].Test.Gen != 16 {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestAA(t *testing.T) {
	arm := func(label, threads string) Arm {
		return Arm{Label: label, Variant: CPU, Settings: map[string]string{"threads": threads}}
	}
	run := Run{Arms: []Arm{arm("cpu", "2"), arm("cpu#2", "2"), arm("cpu:threads=1", "1")}}
	if !run.AA("cpu", "cpu#2") || run.AA("cpu", "cpu:threads=1") || run.AA("cpu", "gone") {
		t.Error("A/A is told wrongly")
	}
}
