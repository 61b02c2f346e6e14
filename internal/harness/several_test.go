package harness

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/store"
)

func TestSplitDevices(t *testing.T) {
	for list, want := range map[string][]string{
		"":          {""},
		"auto":      {"auto"},
		"A1, B2":    {"A1", "B2"},
		"sim,sim":   {"sim", "sim"},
		"sim:hot,X": {"sim:hot", "X"},
		"sim:cool+drop:after=launch,nth=2,sim:old,10.0.0.1:5555": {"sim:cool+drop:after=launch,nth=2", "sim:old", "10.0.0.1:5555"},
		"sim:cool+drop:after=push,bytes=9":                       {"sim:cool+drop:after=push,bytes=9"},
	} {
		if got, err := splitDevices(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
	for _, list := range []string{"A,A", "A,", "auto,A", "A,nth=2,A"} {
		if got, err := splitDevices(list); ExitStatus(err) != 2 {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
	if err := ABTest(t.Context(), Options{Device: "A,B", Resume: "x"}); ExitStatus(err) != 2 {
		t.Errorf("%v", err)
	}
}

func TestPrefixedLinesStayWhole(t *testing.T) {
	var out bytes.Buffer
	var mu sync.Mutex
	var wait sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		w := &prefixed{out: &out, prefix: name + ": ", mu: &mu}
		wait.Go(func() {
			for range 50 {
				_, _ = w.Write([]byte("one "))
				_, _ = w.Write([]byte("line\nan"))
				_, _ = w.Write([]byte("other\n"))
			}
		})
	}
	wait.Wait()
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if _, rest, _ := strings.Cut(line, ": "); rest != "one line" && rest != "another" {
			t.Fatalf("%q", line)
		}
	}
}

// Two phones side by side: each has its own archive, and what befalls one does
// not touch the other.
func TestTwoDevices(t *testing.T) {
	heavy(t)
	o := shortRun(1, 3, "")
	o.Device, o.Out = "sim,sim:old+reboot:after=launch,nth=2,for=1s", t.TempDir()
	if err := ABTest(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	heads, err := filepath.Glob(filepath.Join(o.Out, "*", store.RunFile))
	if err != nil || len(heads) != 2 {
		t.Fatalf("%v, %v", heads, err)
	}
	rebooted := 0
	for _, head := range heads {
		run, records, _, err := store.Read(filepath.Dir(head))
		if err != nil || len(run.Plan) != 2 {
			t.Fatalf("%+v, %v", run, err)
		}
		ok := 0
		for _, r := range records {
			switch r.Outcome {
			case bench.OutcomeOK:
				ok++
			case bench.OutcomeRebooted:
				rebooted++
			}
		}
		if ok != 2 {
			t.Errorf("%s: %d launches", run.Device.Serial, ok)
		}
	}
	if rebooted != 1 {
		t.Errorf("%d reboots", rebooted)
	}
}

// A run on a device that another one uses is refused with the holder's name, or
// waits, as asked.
func TestBusyDevice(t *testing.T) {
	heavy(t)
	o := shortRun(1, 3, "")
	o.Out = t.TempDir()
	var refused error
	once := false
	o.Recorded = func(bench.Record) {
		if once {
			return
		}
		once = true
		lock, err := filepath.Glob(filepath.Join(phoneHome, "sim/data/local/tmp/hexab/lock/holder"))
		if err != nil || len(lock) != 1 {
			refused = err
		}
	}
	if err := ABTest(t.Context(), o); err != nil || refused != nil || !once {
		t.Fatal(err, refused)
	}
}
