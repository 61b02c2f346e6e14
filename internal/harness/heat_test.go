package harness

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/device"
)

func TestGate(t *testing.T) {
	warm := make([]float64, 100)
	for i := range warm {
		warm[i] = 60
	}
	for _, test := range []struct {
		name, cool string
		ceiling    bench.Celsius
		celsius    []float64 // of the readings, in turn
		sleeps     int
		mark       bench.Mark
		reason     string
	}{
		{"cool", "wait", 0, []float64{30}, 0, "", ""},
		{"unknown", "wait", 0, nil, 0, "", ""},
		{"cools down", "wait", 0, []float64{30, 30, 60, 50, 40, 34}, 3, "", ""},
		{"stays hot", "wait", 0, append([]float64{30, 30}, warm...), 11, bench.MarkHot, "60.0 degrees"},
		{"marked at once", "mark", 0, append([]float64{30, 30}, warm...), 0, bench.MarkHot, "60.0 degrees"},
		{"off", "off", 0, append([]float64{30, 30}, warm...), 0, "", ""},
		{"above the ceiling", "off", 55, append([]float64{30, 30}, warm...), 11, "", "ceiling is 55.0"},
		{"below it again", "off", 55, []float64{30, 30, 60, 54}, 1, "", ""},
	} {
		s, slept := onScripted(t, &scripted{celsius: test.celsius}, 1)
		s.run.Cool, s.heat.ceiling = test.cool, test.ceiling
		first, err := s.launch(t.Context(), s.run.Plan[0], 1)
		if err != nil || first.Outcome != bench.OutcomeOK || len(first.Marks) > 0 {
			t.Fatalf("%s: %+v, %v", test.name, first, err)
		}
		second, err := s.launch(t.Context(), s.run.Plan[1], 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(*slept) != test.sleeps || slices.Contains(second.Marks, bench.MarkHot) != (test.mark == bench.MarkHot) {
			t.Errorf("%s: slept %v, marks %v", test.name, *slept, second.Marks)
		}
		if text := second.Reason + strings.Join(second.Evidence, "\n"); !strings.Contains(text, test.reason) {
			t.Errorf("%s: %q", test.name, text)
		}
		if ended := second.Outcome == bench.OutcomeThrottled && second.Fault == bench.FaultDevice; ended != (test.name == "above the ceiling") {
			t.Errorf("%s: %s", test.name, second.Outcome)
		}
	}
}

// A phone that comes hot from elsewhere is no measure of cool, and a resumed
// run keeps the measure it began with.
func TestBaseline(t *testing.T) {
	at := func(chip, battery bench.Celsius) bench.Sensors {
		return bench.Sensors{Temperatures: map[string]bench.Celsius{"cpu": chip}, BatteryTemperature: &battery}
	}
	var h heat
	for _, chip := range []bench.Celsius{70, 60, 52, 48} {
		if !h.begin(at(chip, 30), false) {
			t.Fatalf("at %v the baseline is taken", chip)
		}
	}
	if h.begin(at(47.8, 30), false) || *h.baseline != 47.8 {
		t.Errorf("%v", *h.baseline)
	}
	for name, begin := range map[string]func(*heat) bool{
		"at once":   func(h *heat) bool { return h.begin(at(70, 30), true) },
		"idle-cool": func(h *heat) bool { return h.begin(at(36, 30), false) },
		"unknown":   func(h *heat) bool { return h.begin(bench.Sensors{}, false) },
	} {
		var h heat
		if begin(&h) || !h.begun {
			t.Errorf("%s: waits", name)
		}
	}
	cool := at(31, 30)
	var again heat
	again.recall([]bench.Record{{}, {Before: &cool}})
	if !again.begun || *again.baseline != 31 {
		t.Errorf("%+v", again)
	}
	if why := again.outside(at(36.5, 30)); !strings.Contains(why, "ends at 36.0") {
		t.Errorf("%q", why)
	}
}

func TestCeilings(t *testing.T) {
	status, battery := 5, bench.Celsius(56)
	for _, test := range []struct {
		now  bench.Sensors
		want string
	}{
		{bench.Sensors{}, ""},
		{bench.Sensors{ThermalStatus: &status}, "thermal status 5"},
		{bench.Sensors{BatteryTemperature: &battery}, "battery at 56.0"},
		{bench.Sensors{Temperatures: map[string]bench.Celsius{"a": 89, "b": 90}}, "90.0 degrees"},
		{bench.Sensors{Temperatures: map[string]bench.Celsius{"a": 89}}, ""},
	} {
		if got := (&heat{ceiling: 90}).over(test.now); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%+v: %q", test.now, got)
		}
	}
}

// A launch on a device that holds a core back is marked by that evidence, and
// what was seen is in the archive.
func TestThrottledByEvidence(t *testing.T) {
	d := &scripted{celsius: []float64{30}, telemetry: "@hexab-telemetry head z:cpu f:cpu0 m:cpu0\n@hexab-telemetry 1.0 b:80 t:300 a:1000 31000, 3000000, 3000000,"}
	s, _ := onScripted(t, d, 1)
	s.run.Cool = coolByMarking
	first, err := s.launch(t.Context(), s.run.Plan[0], 1)
	if err != nil || len(first.Marks) > 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	d.telemetry = strings.Replace(d.telemetry, "3000000, 3000000", "2250000, 2250000", 1)
	second, err := s.launch(t.Context(), s.run.Plan[1], 1)
	if err != nil || !slices.Contains(second.Marks, bench.MarkThrottled) || !strings.Contains(strings.Join(second.Evidence, ""), "cpu0 was held to 2250 of 3000 MHz") {
		t.Errorf("%+v, %v", second, err)
	}
	text, err := os.ReadFile(filepath.Join(s.archive.Dir(), second.Telemetry))
	if err != nil || !strings.Contains(string(text), "0.00,80,30,1024000,2250000,2250000,31\n") {
		t.Errorf("%s: %s, %v", second.Telemetry, text, err)
	}
	if log, _ := os.ReadFile(filepath.Join(s.archive.Dir(), second.Log)); strings.Contains(string(log), "@hexab-telemetry 1.0") {
		t.Errorf("telemetry is in the log: %s", log)
	}
}

// A slow canary is a throttled device, unless others were at work: then it says
// nothing, and it is no measure of later ones either.
func TestCanaryOfABusyDevice(t *testing.T) {
	d := &scripted{celsius: []float64{30}, canaries: []canarySays{{60, 40}, {100, 5}, {105, 5}, {130, 40}, {130, 5}, {95, 0}, {106, 0}}}
	s, _ := onScripted(t, d, 4)
	s.run.Cool = coolByMarking
	for i, want := range []string{"", "", "", "", "1.30 times", "", "1.12 times"} {
		r, err := s.launch(t.Context(), s.run.Plan[i], 1)
		if err != nil || r.CanaryNs == nil || r.CanaryOtherCPUShare == nil {
			t.Fatalf("launch %d: %+v, %v", i, r, err)
		}
		if marked := slices.Contains(r.Marks, bench.MarkThrottled); marked != (want != "") || !strings.Contains(strings.Join(r.Evidence, ""), want) {
			t.Errorf("launch %d: marks %v, %q", i, r.Marks, r.Evidence)
		}
	}
}

// A launch that heats the device above the ceiling is ended.
func TestLaunchIsEndedAtTheCeiling(t *testing.T) {
	s, _ := onScripted(t, &scripted{}, 1)
	s.heat.ceiling = 90
	var w watch
	ended := false
	stop := func(cause error) { _, ended = tooHot(cause) }
	for _, c := range []bench.Celsius{60, 89, 91} {
		w.take(device.Sample{Sensors: bench.Sensors{Temperatures: map[string]bench.Celsius{"cpu": c}}}, &s.heat, stop)
		if ended != (c > 90) {
			t.Errorf("%v: ended %v", c, ended)
		}
	}
	record, err := s.lost(t.Context(), bench.Record{Launch: s.run.Plan[0], Started: time.Unix(1, 0)}, &ceilingError{"91"})
	if err != nil || record.Outcome != bench.OutcomeThrottled || record.Fault != bench.FaultDevice || !repeatable(record) {
		t.Errorf("%+v, %v", record, err)
	}
}

// A phone that throttles over adb: launches that it held back are marked with
// evidence of each kind, and an A/A run makes no difference of it.
func TestThrottlingPhone(t *testing.T) {
	heavy(t)
	run, records, _, err := compareHere(t, t.Context(), Options{
		Arms: "cpu,cpu", Models: "nanbeige-3b", Tests: "pp4", Rounds: 6, Seed: "4", Device: "sim:sun", Threshold: "10",
		Cool: coolByMarking, Fixed: "off", Progress: "none",
	})
	if err != nil {
		t.Fatal(err)
	}
	throttled, evidence, hottest := 0, map[string]int{}, bench.Celsius(0)
	for _, r := range records {
		for _, s := range []*bench.Sensors{r.Before, r.After} {
			if s != nil {
				c, _ := device.Hottest(*s)
				hottest = max(hottest, c)
			}
		}
		seen := false
		for _, line := range r.Evidence {
			for _, word := range []string{"thermal status", "was held to", "times the session's best"} {
				if strings.Contains(line, word) && !strings.HasPrefix(line, "before the launch") {
					evidence[word]++
					seen = true
				}
			}
		}
		marked := slices.Contains(r.Marks, bench.MarkThrottled)
		if marked {
			throttled++
		}
		if marked && !seen {
			t.Errorf("launch %d is marked without evidence: %q", r.Seq, r.Evidence)
		}
		if after := r.After; after != nil && after.ThermalStatus != nil && *after.ThermalStatus >= throttledStatus && !marked {
			t.Errorf("launch %d ended at thermal status %d and is not marked", r.Seq, *after.ThermalStatus)
		}
	}
	t.Logf("%d of %d launches throttled, evidence %v, hottest %.1f degrees", throttled, len(records), evidence, hottest)
	if throttled == 0 || evidence["was held to"] == 0 {
		t.Errorf("%d launches throttled, evidence %v", throttled, evidence)
	}
	wrongVerdicts(t, run, records)
}

// A host that is busy is no heat: on the cool phone nothing is marked as
// throttled, however much the launches and their canaries wait for a processor.
func TestBusyHostIsNoHeat(t *testing.T) {
	heavy(t)
	var stop atomic.Bool
	var others sync.WaitGroup
	defer others.Wait()
	defer stop.Store(true)
	o := shortRun(2, 32, "cool")
	o.Cool = coolByMarking
	o.Recorded = func(r bench.Record) {
		if r.Seq == 0 { // the first canary was alone
			for range 2 * runtime.NumCPU() {
				others.Go(func() {
					for !stop.Load() {
					}
				})
			}
		}
	}
	_, records, _, err := compareHere(t, t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.CanaryNs == nil || r.CanaryOtherCPUShare == nil {
			t.Fatalf("launch %d: no canary", r.Seq)
		}
		t.Logf("launch %d: canary %d us, others %.2f during it, marks %v", r.Seq, *r.CanaryNs/1000, *r.CanaryOtherCPUShare, r.Marks)
		if slices.Contains(r.Marks, bench.MarkThrottled) {
			t.Errorf("launch %d is marked as throttled: %q", r.Seq, r.Evidence)
		}
		if r.Seq > 0 && *r.CanaryOtherCPUShare <= disturbedShare {
			t.Errorf("launch %d: others took %v", r.Seq, *r.CanaryOtherCPUShare)
		}
	}
}
