package device

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"hexab/internal/bench"
)

// SetFixedPerformance turns Android's fixed-performance mode on or off: clocks
// that the device can hold for ever (PowerManager, since Android 11). offered
// is false when the device does not know the mode. Android does not tell
// whether it is on; off is how a phone boots.
func SetFixedPerformance(ctx context.Context, d Device, on bool) (offered bool, err error) {
	script := "cmd power set-fixed-performance-mode-enabled false"
	if on {
		script = "cmd power set-fixed-performance-mode-enabled true"
	}
	var out bytes.Buffer
	exit, err := d.Run(ctx, Command{OfDevice: true, Script: script + " 2>&1", Stdout: &out})
	if err != nil {
		return false, err
	}
	// It has been seen to say so and to end with zero all the same.
	return exit.Status == 0 && !strings.Contains(out.String(), "Failed") && !strings.Contains(out.String(), "Unknown"), nil
}

// canaryRounds is how often the canary's work is done; the shortest counts.
const canaryRounds = 3

// canaryScript counts in the shell, which every device has: about a tenth of a
// second of one core at a time.
const canaryScript = `echo @canary; for n in 1 2 3; do i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; echo @canary; done`

// Canary runs a fixed piece of work on one core and gives the shortest time of
// three, as seen from here: the same work takes longer on a throttled device.
func Canary(ctx context.Context, d Device) (bench.Nanoseconds, error) {
	ticks := &tickWriter{}
	exit, err := d.Run(ctx, Command{Script: canaryScript, Stdout: ticks})
	if err != nil {
		return 0, err
	}
	if exit.Status != 0 || len(ticks.at) != canaryRounds+1 {
		return 0, &Error{Op: "run the canary", Serial: d.Serial(), Fault: bench.FaultDevice, Outcome: bench.OutcomeNotRun,
			Err: errors.New("the device's shell did not do its work")}
	}
	var spans []time.Duration
	for i := range canaryRounds {
		spans = append(spans, ticks.at[i+1].Sub(ticks.at[i]))
	}
	return bench.Nanoseconds(slices.Min(spans)), nil
}

// tickWriter notes when each line of the canary came.
type tickWriter struct{ at []time.Time }

func (t *tickWriter) Write(p []byte) (int, error) {
	for range bytes.Count(p, []byte("@canary")) {
		t.at = append(t.at, time.Now())
	}
	return len(p), nil
}
