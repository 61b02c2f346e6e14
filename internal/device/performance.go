package device

import (
	"bytes"
	"context"
	"errors"
	"strconv"
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
// second of one core at a time. Around each round it shows how long the shell
// has run and waited for a processor so far, in nanoseconds (/proc/PID/schedstat,
// Documentation/scheduler/sched-stats.rst), and the device's CPU times. Files
// are read by the shell's own means.
const canaryScript = `c() { r=-; w=-; l=; { read -r r w n </proc/$$/schedstat; read -r l </proc/stat; } 2>/dev/null; echo "@canary ${r:--} ${w:--} $l"; }
c; for k in 1 2 3; do i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; c; done`

// Canary is what a fixed piece of work on one core took.
type Canary struct {
	// Took is the shortest of three times, as seen from here, less what the
	// work waited for a processor that others had: that is no heat.
	Took bench.Nanoseconds
	// OtherCPUShare is the share of the device's CPU time that others took
	// meanwhile, 0 to 1; nil when the device does not tell.
	OtherCPUShare *float64
}

// RunCanary runs the canary. The same work takes longer on a throttled device.
func RunCanary(ctx context.Context, d Device) (Canary, error) {
	heard := &canaryWriter{now: time.Now}
	exit, err := d.Run(ctx, Command{OfDevice: true, Script: canaryScript, Stdout: heard})
	if err != nil {
		return Canary{}, err
	}
	if exit.Status != 0 || len(heard.notes) != canaryRounds+1 {
		return Canary{}, &Error{Op: "run the canary", Serial: d.Serial(), Fault: bench.FaultDevice, Outcome: bench.OutcomeNotRun,
			Err: errors.New("the device's shell did not do its work")}
	}
	return heard.canary(), nil
}

// canaryNote is a line of the canary.
type canaryNote struct {
	at          time.Time
	ran, waited time.Duration
	scheduled   bool // ran and waited are known
	cpu         *CPUTime
}

// canaryWriter notes the lines of the canary and when each came.
type canaryWriter struct {
	now   func() time.Time
	part  []byte
	notes []canaryNote
}

func (c *canaryWriter) Write(p []byte) (int, error) {
	at := c.now()
	c.part = append(c.part, p...)
	for {
		line, rest, whole := bytes.Cut(c.part, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		c.part = rest
		if text, ok := strings.CutPrefix(string(line), "@canary "); ok && len(c.notes) <= canaryRounds {
			c.notes = append(c.notes, parseCanary(at, strings.TrimSpace(text)))
		}
	}
}

// parseCanary reads a line of the canary without its mark.
func parseCanary(at time.Time, text string) canaryNote {
	n := canaryNote{at: at}
	ranText, rest, _ := strings.Cut(text, " ")
	waitedText, cpu, _ := strings.Cut(rest, " ")
	ran, err1 := strconv.ParseInt(ranText, 10, 64)
	waited, err2 := strconv.ParseInt(waitedText, 10, 64)
	if err1 == nil && err2 == nil && ran >= 0 && waited >= 0 {
		n.ran, n.waited, n.scheduled = time.Duration(ran), time.Duration(waited), true
	}
	n.cpu = parseCPU(cpu, nil)
	return n
}

// canary concludes from the lines of all rounds.
func (c *canaryWriter) canary() Canary {
	var result Canary
	for i, end := range c.notes[1:] {
		begin := c.notes[i]
		took := end.at.Sub(begin.at)
		if begin.scheduled && end.scheduled && end.waited > begin.waited {
			took = max(took-(end.waited-begin.waited), end.ran-begin.ran)
		}
		if ns := bench.Nanoseconds(took); i == 0 || ns < result.Took {
			result.Took = ns
		}
	}
	first, last := c.notes[0], c.notes[len(c.notes)-1]
	if first.cpu == nil || last.cpu == nil {
		return result
	}
	own := last.at.Sub(first.at) // one core, all the time
	if first.scheduled && last.scheduled {
		own = last.ran - first.ran
	}
	if share, ok := last.cpu.OtherShare(*first.cpu, own.Seconds()); ok {
		result.OtherCPUShare = &share
	}
	return result
}
