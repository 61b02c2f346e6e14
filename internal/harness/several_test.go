package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
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

// A second run on a device is refused with the holder's name, or waits and then
// runs, as asked.
func TestBusyDevice(t *testing.T) {
	heavy(t)
	o := shortRun(1, 3, "")
	o.Out = t.TempDir()
	second := shortRun(1, 4, "")
	second.Out = t.TempDir()
	var waiting *exec.Cmd
	var said bytes.Buffer
	o.Recorded = func(bench.Record) {
		if waiting != nil {
			return
		}
		refused := second
		refused.Busy = "refuse"
		if out, err := child(t, refused).CombinedOutput(); err == nil || !strings.Contains(string(out), fmt.Sprintf("process %d", os.Getpid())) {
			t.Errorf("not refused, or without the holder: %v: %s", err, out)
		}
		waiting = child(t, second)
		waiting.Stdout, waiting.Stderr = &said, &said
		if err := waiting.Start(); err != nil {
			t.Error(err)
		}
	}
	if err := ABTest(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := waiting.Wait(); err != nil {
		t.Fatalf("the one that waited: %v: %s", err, said.String())
	}
	dir, err := store.Find(second.Out, "latest")
	if err != nil {
		t.Fatal(err)
	}
	if _, records, _, err := store.Read(dir); err != nil || len(records) != 2 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// A device that could not be used stands in the table of all with its reason.
func TestFailedDeviceIsInTheTableOfAll(t *testing.T) {
	s, _ := onScripted(t, &scripted{}, 2)
	if err := s.launches(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := &Workspace{Out: &out}
	err := w.showParts([]*part{{name: "A1", dir: s.archive.Dir()}, {name: "B2", failure: errors.New("B2 is unauthorized")}})
	if ExitStatus(err) != 1 || !strings.Contains(err.Error(), "B2 is unauthorized") {
		t.Errorf("%v", err)
	}
	_, all, _ := strings.Cut(out.String(), "All devices: 2\n")
	if !strings.Contains(all, "A1") || !strings.Contains(all, "no data") || !strings.Contains(all, "B2: B2 is unauthorized") {
		t.Errorf("%s", out.String())
	}
}
