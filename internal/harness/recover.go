package harness

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"time"

	"hexab/internal/bench"
	"hexab/internal/deploy"
	"hexab/internal/device"
)

// Bounds on trying again.
const (
	// maxAttempts bounds the attempts at one launch, or at one step of the
	// preparations, before the run goes on without it.
	maxAttempts = 3
	// maxFailures in a row of one cell (a model with an arm): it is given up. A
	// launch that the link was lost to counts once, however often it was tried:
	// a loose cable is not the cell's.
	maxFailures = 3
	// maxDeviceFaults in a row over all cells: the run stops.
	maxDeviceFaults = 6
	// firstBackoff is the wait before the second attempt; it doubles.
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = time.Minute
	// How long a lost device is waited for. A phone boots in a minute or two.
	reconnectEmbedded = 30 * time.Second
	reconnectPhone    = 5 * time.Minute
	// awaitInterval is how often it is asked meanwhile.
	awaitInterval = time.Second
)

// clock is how a run tells the time and waits; tests have one of their own.
type clock struct {
	now   func() time.Time
	sleep func(ctx context.Context, d time.Duration) error
}

var wallClock = clock{now: time.Now, sleep: func(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}}

// backoff is the wait after the given attempt, counted from one.
func backoff(attempt int) time.Duration {
	return min(firstBackoff<<min(attempt-1, 16), maxBackoff)
}

// repeatable tells whether a launch may be tried again: when what ended it came
// from outside, so that it says nothing yet of the arm. A fault of the variant
// never is.
func repeatable(r bench.Record) bool {
	switch r.Outcome {
	case bench.OutcomeTransportLost, bench.OutcomeRebooted, bench.OutcomeKilled, bench.OutcomeThrottled:
		return true
	}
	return r.Fault == bench.FaultInfrastructure
}

// tally counts failures in a row: of each cell, and of the device over all
// cells.
type tally struct {
	cells  map[string]int
	device int
}

func cellOf(l bench.Launch) string { return l.Model + "\x00" + l.Arm }

// count takes a record of this session.
func (t *tally) count(r bench.Record) {
	switch {
	case r.Outcome == bench.OutcomeOK:
		t.cells[cellOf(r.Launch)], t.device = 0, 0
	case r.Outcome == bench.OutcomeNotRun:
	default:
		if r.Fault != bench.FaultInfrastructure {
			t.cells[cellOf(r.Launch)]++
		}
		switch r.Outcome {
		case bench.OutcomeRebooted, bench.OutcomeTransportLost, bench.OutcomeNoSpace, bench.OutcomeKilled, bench.OutcomeThrottled:
			t.device++
		default:
			t.device = 0
		}
	}
}

// recall takes a record of an earlier session: what came from outside then says
// nothing of this one.
func (t *tally) recall(r bench.Record) {
	if !repeatable(r) {
		t.count(r)
	}
	t.device = 0
}

func (t *tally) givenUp(l bench.Launch) bool { return t.cells[cellOf(l)] >= maxFailures }

// settled tells which launches need no attempt in this session: those whose
// last record is final. What came from outside is tried anew after a resume,
// and so is what was left out for it.
func settled(records []bench.Record, t *tally) map[int]bool {
	done := map[int]bool{}
	for _, r := range records {
		t.recall(r)
	}
	for _, r := range records {
		done[r.Seq] = !repeatable(r) && (r.Outcome != bench.OutcomeNotRun || t.givenUp(r.Launch))
	}
	return done
}

// fromOutside are the launches of the plan whose last record says that something
// from outside ended them, but for those of cells that were given up.
func (s *session) fromOutside() (map[int]bool, error) {
	records, err := s.archive.Records()
	again := map[int]bool{}
	for _, r := range records {
		again[r.Seq] = repeatable(r) && !s.tally.givenUp(r.Launch)
	}
	maps.DeleteFunc(again, func(_ int, is bool) bool { return !is })
	return again, err
}

// one runs a launch, again after faults from outside, and journals every
// attempt before the next begins. The error means that the run ends here.
func (s *session) one(ctx context.Context, l bench.Launch) (bench.Record, error) {
	if unfit, is := s.unfitRecord(l); is {
		if err := s.archive.Append(unfit); err != nil {
			return unfit, err
		}
		if s.recorded != nil {
			s.recorded(unfit)
		}
		return unfit, nil
	}
	for try := 1; ; try++ {
		record, lost, err := s.attempt(ctx, l)
		if err != nil {
			return record, err
		}
		if record.Attempt > 1 && record.Outcome == bench.OutcomeOK {
			record.Marks = append(record.Marks, bench.MarkRetried)
		}
		if err := s.archive.Append(record); err != nil {
			return record, err
		}
		if s.recorded != nil {
			s.recorded(record)
		}
		s.tally.count(record)
		switch {
		case ctx.Err() != nil:
			return record, fmt.Errorf("interrupted: %w", context.Cause(ctx))
		case lost != nil:
			return record, fmt.Errorf("the device is out of reach: %w", lost)
		case s.tally.device >= maxDeviceFaults:
			return record, fmt.Errorf("%d faults of the device in a row, the last: %s", s.tally.device, record.Reason)
		case try >= maxAttempts && record.Fault == bench.FaultInfrastructure:
			s.tally.cells[cellOf(l)]++
			return record, nil
		case !repeatable(record) || try >= maxAttempts || s.tally.givenUp(l):
			return record, nil
		}
		s.w.Note("launch %d: %s: %s; trying again", l.Seq+1, record.Outcome, record.Reason)
		if err := s.clock.sleep(ctx, backoff(try)); err != nil {
			return record, fmt.Errorf("interrupted: %w", err)
		}
	}
}

// attempt is one attempt at a launch. lost is why the device did not come back
// after it.
func (s *session) attempt(ctx context.Context, l bench.Launch) (record bench.Record, lost, err error) {
	attempt := s.archive.Attempts(l.Seq) + 1
	if s.tally.givenUp(l) {
		return bench.Record{Launch: l, Attempt: attempt, Started: s.clock.now().UTC(), Outcome: bench.OutcomeNotRun,
			Reason: fmt.Sprintf("given up after %d failures in a row of %s with %s", s.tally.cells[cellOf(l)], l.Arm, l.Model)}, nil, nil
	}
	record, err = s.launch(ctx, l, attempt)
	if err == nil && (record.Outcome == bench.OutcomeTransportLost || record.Outcome == bench.OutcomeKilled) {
		lost = s.await(ctx, &record)
	}
	return record, lost, err
}

// await waits for the device to come back after a launch whose end is not
// known, and learns from it whether it rebooted meanwhile.
func (s *session) await(ctx context.Context, record *bench.Record) error {
	if err := s.reconnect(ctx); err != nil {
		return err
	}
	boot, err := device.BootID(ctx, s.target)
	if err == nil && boot != "" && s.bootID != "" && boot != s.bootID {
		record.Outcome, record.Fault = bench.OutcomeRebooted, bench.FaultDevice
		record.Reason = "the device rebooted during the launch"
		record.Evidence = append(record.Evidence, fmt.Sprintf("boot id %s, before %s", boot, s.bootID))
	}
	return nil // when this question was lost too, the next attempt finds out
}

// reconnect waits until the device answers, for a bounded time.
func (s *session) reconnect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	return s.target.Await(ctx, awaitInterval)
}

// patience is how long a lost device is waited for.
func (s *session) patience() time.Duration {
	if s.target.embedded {
		return reconnectEmbedded
	}
	return reconnectPhone
}

// rebooted takes note of a new boot of the device: waits for its end and makes
// sure of the bundles, sending again what the reboot spoilt.
func (s *session) rebooted(ctx context.Context, boot string) error {
	s.w.Note("the device has rebooted: waiting for the boot's end, verifying the bundles")
	booting, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	if err := device.AwaitBooted(booting, s.target, s.clock.sleep); err != nil {
		return err
	}
	t := &deploy.Target{Device: s.target.Device}
	for _, b := range s.built {
		if _, _, err := t.Bundle(ctx, b.Bundle, b.Dir); err != nil {
			return err
		}
	}
	if s.heat.fixed {
		if _, err := device.SetFixedPerformance(ctx, s.target, true); err != nil {
			return err
		}
	}
	s.bootID = boot
	return nil
}

// retrying runs a step of the preparations, again after faults that pass by
// themselves.
func (s *session) retrying(ctx context.Context, step func() error) error {
	for try := 1; ; try++ {
		err := step()
		var fault *device.Error
		if err == nil || ctx.Err() != nil || try >= maxAttempts || !errors.As(err, &fault) || !fault.Retry {
			return err
		}
		s.w.Note("%v; trying again", err)
		if err := s.clock.sleep(ctx, backoff(try)); err != nil {
			return err
		}
		if lost := s.reconnect(ctx); lost != nil {
			return errors.Join(err, lost)
		}
	}
}

// launchMark is in the environment of every launch on the device, so that what
// a killed run left behind can be found. It holds the serial, since on the
// embedded phone processes of several phones live side by side.
func (t *target) launchMark() string {
	sum := sha256.Sum256([]byte(t.Serial()))
	return fmt.Sprintf("hexab-launch-%x", sum[:6])
}
