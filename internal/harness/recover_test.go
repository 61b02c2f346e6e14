package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/device"
	"hexab/internal/plan"
	"hexab/internal/store"
)

// scripted is a device whose launches end as a list says, "ok" after its end.
// It answers at once: what is under test is what a run concludes and does next.
type scripted struct {
	ends []string
	boot int
	gone bool
	// celsius are the temperatures of the readings in turn, the last one for
	// good; none: no sensor.
	celsius []float64
	// telemetry stands on every launch's stderr.
	telemetry string
	// canaries are the answers to the canary in turn; none: the shell fails.
	canaries []canarySays
	// row is what a launch that ends well prints; nil is rowPP.
	row func() string
	// launches, awaited and killed count what was asked of it.
	launches, awaited, killed int
}

// canarySays is what a canary took in milliseconds, and the share of the CPU time
// that others took meanwhile in percent.
type canarySays struct{ took, others int }

func (d *scripted) Serial() string                               { return "scripted" }
func (d *scripted) Root() string                                 { return "/data/local/tmp/hexab" }
func (d *scripted) Push(context.Context, string, string) error   { return errors.New("not here") }
func (d *scripted) Pull(context.Context, string, string) error   { return errors.New("not here") }
func (d *scripted) KillMarked(_ context.Context, _ string) error { d.killed++; return nil }
func (d *scripted) Close() error                                 { return nil }

func (d *scripted) Await(context.Context, time.Duration) error {
	d.awaited++
	if d.gone {
		return errors.New("nobody answers")
	}
	return nil
}

func (d *scripted) lost() error {
	return &device.Error{Op: "run", Serial: d.Serial(), Fault: bench.FaultInfrastructure, Outcome: bench.OutcomeTransportLost, Retry: true, Err: errors.New("cut")}
}

const rowPP = `{"n_prompt": 16, "n_gen": 0, "n_depth": 0, "samples_ns": [1000, 1001, 1002]}`

func (d *scripted) Run(_ context.Context, c device.Command) (device.Exit, error) {
	say := func(w io.Writer, format string, args ...any) {
		if w != nil {
			fmt.Fprintf(w, format+"\n", args...)
		}
	}
	switch {
	case d.gone:
		return device.Exit{}, d.lost()
	case strings.Contains(c.Script, "llama-bench"):
	case strings.Contains(c.Script, "@canary"):
		if len(d.canaries) == 0 {
			return device.Exit{Status: 1}, nil
		}
		now := d.canaries[0]
		d.canaries = d.canaries[1:]
		for round := range 4 {
			ran := round * now.took
			busy := round*100*now.others/100 + ran/10
			say(c.Stdout, "@canary %d %d cpu %d 0 0 %d 0 0 0 0", ran*1_000_000, round*int(time.Minute), busy, round*100-busy)
		}
		return device.Exit{}, nil
	case strings.Contains(c.Script, "boot_completed"):
		say(c.Stdout, "boot_completed=1")
		return device.Exit{}, nil
	default:
		say(c.Stdout, "@boot\n%08d-0000-0000-0000-000000000000", d.boot)
		if len(d.celsius) > 0 {
			say(c.Stdout, "@zones\ncpu=%.0f", d.celsius[0]*1000)
			d.celsius = d.celsius[min(1, len(d.celsius)-1):]
		}
		return device.Exit{}, nil
	}
	end := "ok"
	if d.launches < len(d.ends) {
		end = d.ends[d.launches]
	}
	d.launches++
	say(c.Stderr, "%s", d.telemetry)
	switch end {
	case "ok":
		row := rowPP
		if d.row != nil {
			row = d.row()
		}
		say(c.Stdout, "%s", row)
	case "garbled":
		say(c.Stdout, rowPP[:len(rowPP)-20])
	case "crash":
		return device.Exit{Status: 139}, nil
	case "kill":
		return device.Exit{Status: 137}, nil
	case "lost":
		return device.Exit{}, d.lost()
	case "gone":
		d.gone = true
		return device.Exit{}, d.lost()
	case "reboot":
		d.boot++
		return device.Exit{}, d.lost()
	}
	return device.Exit{}, nil
}

// onScripted is a session of an A/A plan on a scripted device, with time that
// passes only by sleeping.
func onScripted(t *testing.T, d *scripted, rounds int) (*session, *[]time.Duration) {
	t.Helper()
	arms := []bench.Arm{{Label: "cpu", Variant: "cpu"}, {Label: "cpu#2", Variant: "cpu"}}
	launches, err := plan.New(1, rounds, []string{"m"}, []string{"cpu", "cpu#2"})
	if err != nil {
		t.Fatal(err)
	}
	run := bench.Run{
		Schema: bench.SchemaVersion, ID: "r", Tests: []bench.Test{{Prompt: 16}}, Repetitions: 3, Rounds: rounds,
		Arms: arms, Baseline: "cpu", Models: []bench.Model{{Alias: "m"}}, Plan: launches,
	}
	w := &Workspace{Err: io.Discard, Out: io.Discard}
	s := w.newSession()
	if s.archive, err = store.Create(t.TempDir(), run); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.archive.Close() })
	s.onto(d, run)
	now, slept := time.Unix(0, 0), &[]time.Duration{}
	s.clock = clock{now: func() time.Time { return now }, sleep: func(ctx context.Context, d time.Duration) error {
		*slept = append(*slept, d)
		now = now.Add(d)
		return context.Cause(ctx)
	}}
	return s, slept
}

// replaceArchive begins another run on the session's device.
func (s *session) replaceArchive(t *testing.T, run bench.Run) {
	t.Helper()
	a, err := store.Create(t.TempDir(), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	s.archive, s.run = a, run
}

// recordsOf reads an archive's journal.
func recordsOf(t *testing.T, a *store.Archive) []bench.Record {
	t.Helper()
	records, err := a.Records()
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func (s *session) onto(d *scripted, run bench.Run) {
	s.run, s.target, s.bootID = run, &target{Device: d, embedded: true}, fmt.Sprintf("%08d-0000-0000-0000-000000000000", d.boot)
	s.arms, s.bundles, s.models = map[string]bench.Arm{}, map[bench.BundleID]string{}, map[string]string{"m": "/m.gguf"}
	for _, a := range run.Arms {
		s.arms[a.Label] = a
	}
}

func TestRecovery(t *testing.T) {
	for _, test := range []struct {
		name, ends string // of the launches, in turn
		outcomes   string // of the records
		awaited    int
		failure    string
	}{
		{"quiet", "", "ok ok ok ok", 0, ""},
		{"lost once", "ok lost", "ok transport-lost ok ok ok", 1, ""},
		{"lost twice", "lost lost", "transport-lost transport-lost ok ok ok ok", 2, ""},
		{"garbled is tried again", "garbled", "parse-error ok ok ok ok", 0, ""},
		{"killed is tried again", "ok kill", "ok killed ok ok ok", 1, ""},
		{"rebooted", "ok reboot", "ok rebooted ok ok ok", 1, ""},
		{"a crash is the variant's", "crash", "crashed ok ok ok", 0, ""},
		{"a cell is given up", "kill kill kill", "killed killed killed ok ok not-run", 3, ""},
		{"lost thrice, tried once more at the end", "lost lost lost", "transport-lost transport-lost transport-lost ok ok ok ok", 3, ""},
		{"lost and rebooted, tried once more at the end", "lost kill reboot", "transport-lost killed rebooted ok ok ok ok", 3, ""},
		{"lost to the end", "lost lost lost ok ok ok lost lost lost", "transport-lost transport-lost transport-lost ok ok ok transport-lost transport-lost transport-lost", 6, ""},
		{"a device that does not come back", "ok gone", "ok transport-lost", 1, "out of reach"},
		{"a device that reboots for ever", "reboot reboot reboot reboot reboot reboot", "rebooted rebooted rebooted rebooted rebooted rebooted", 6, "6 faults of the device in a row"},
	} {
		d := &scripted{ends: strings.Fields(test.ends)}
		s, slept := onScripted(t, d, 2)
		err := s.launches(t.Context())
		if (err == nil) != (test.failure == "") || err != nil && !strings.Contains(err.Error(), test.failure) {
			t.Errorf("%s: %v", test.name, err)
		}
		var outcomes []string
		for _, r := range recordsOf(t, s.archive) {
			outcomes = append(outcomes, string(r.Outcome))
			if r.Outcome == bench.OutcomeOK && (r.Attempt > 1) != slices.Contains(r.Marks, bench.MarkRetried) {
				t.Errorf("%s: launch %d, attempt %d, marks %v", test.name, r.Seq, r.Attempt, r.Marks)
			}
		}
		if got := strings.Join(outcomes, " "); got != test.outcomes {
			t.Errorf("%s:\n%s, want\n%s", test.name, got, test.outcomes)
		}
		if d.awaited != test.awaited {
			t.Errorf("%s: waited for the device %d times", test.name, d.awaited)
		}
		for i, d := range *slept {
			if d < firstBackoff || d > maxBackoff {
				t.Errorf("%s: wait %d took %v", test.name, i, d)
			}
		}
	}
}

// What came from outside is tried anew by a resumed run; what an arm did to
// itself is not.
func TestResumeTriesAnew(t *testing.T) {
	for _, test := range []struct{ ends, after string }{
		{"ok gone", "ok transport-lost ok ok ok"},
		{"kill kill kill ok ok", "killed killed killed ok ok not-run ok ok"},
		{"crash ok crash gone", "crashed ok crashed transport-lost ok"},
	} {
		d := &scripted{ends: strings.Fields(test.ends)}
		s, _ := onScripted(t, d, 2)
		_ = s.launches(t.Context())
		again := s.w.newSession()
		again.archive, again.clock = s.archive, s.clock
		again.onto(&scripted{}, s.run)
		if err := again.launches(t.Context()); err != nil {
			t.Errorf("%s: %v", test.ends, err)
		}
		var outcomes []string
		for _, r := range recordsOf(t, s.archive) {
			outcomes = append(outcomes, string(r.Outcome))
		}
		if got := strings.Join(outcomes, " "); got != test.after {
			t.Errorf("%s: %s, want %s", test.ends, got, test.after)
		}
	}
}

func TestBackoffIsBounded(t *testing.T) {
	last := time.Duration(0)
	for attempt := 1; attempt < 200; attempt++ {
		d := backoff(attempt)
		if d < last || d > maxBackoff {
			t.Fatalf("attempt %d: %v after %v", attempt, d, last)
		}
		last = d
	}
}
