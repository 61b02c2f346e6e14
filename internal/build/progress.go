package build

import (
	"regexp"
	"strconv"
	"time"

	"hexab/internal/bench"
)

// Phase is what a build is doing.
type Phase string

// The phases of a build.
const (
	PhaseWait      Phase = "wait" // for another process that builds the same
	PhaseConfigure Phase = "configure"
	PhaseCompile   Phase = "compile"
	PhaseAssemble  Phase = "assemble"
)

// Event is progress on one component of a bundle.
type Event struct {
	Variant   bench.Variant
	Platform  bench.Platform
	Component string
	Phase     Phase
	// Done of Total steps are finished; Total is zero where there are none.
	Done, Total int
	// Elapsed is the time since the phase began.
	Elapsed time.Duration
	// Left is the time that the rest takes at this rate; -1 when unknown.
	Left time.Duration
}

// ninjaStatus makes ninja print finished and total steps in a form of ours.
const ninjaStatus = "[%f/%t] "

var stepPattern = regexp.MustCompile(`^\[(\d+)/(\d+)\] `)

// parseStep reads the step count at the beginning of ninja's line.
func parseStep(line string) (done, total int, ok bool) {
	m := stepPattern.FindStringSubmatch(line)
	if m == nil {
		return 0, 0, false
	}
	done, err1 := strconv.Atoi(m[1])
	total, err2 := strconv.Atoi(m[2])
	return done, total, err1 == nil && err2 == nil && done <= total
}

// steps follows ninja's count. Builds inside the build (external projects)
// print counts of their own in between, which are passed over: ninja counts up
// by one and never raises its total.
type steps struct{ done, total int }

func (s *steps) next(line string) bool {
	done, total, ok := parseStep(line)
	if !ok || done != s.done+1 || (s.total > 0 && total > s.total) {
		return false
	}
	s.done, s.total = done, total
	return true
}

// timeLeft extrapolates from the steps done since the start. The first few
// steps say little.
func timeLeft(elapsed time.Duration, done, total int) time.Duration {
	if done < 3 || total < done {
		return -1
	}
	return time.Duration(float64(elapsed) / float64(done) * float64(total-done))
}
