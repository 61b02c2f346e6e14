package harness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hexab/internal/bench"
)

// care is how a run treats its device, understood from the options.
type care struct {
	// cool is the gate's policy, ceiling the hottest sensor's limit, zero for
	// none.
	cool    string
	ceiling bench.Celsius
	// wait for a device that another run uses, instead of refusing.
	wait bool
	// fixed performance is wanted where the device offers it.
	fixed bool
	// until is the half width of intervals at which the run stops early, as a
	// fraction, and maxRounds its bound; both zero for never.
	until     float64
	maxRounds int
}

// Bounds of the options.
const (
	minCeiling, maxCeiling = 30, 120 // degrees Celsius
	maxUntil               = 50      // percent
)

// understandCare checks the options of care.
func (o Options) understandCare() (care, error) {
	c := care{cool: o.Cool, wait: o.Busy != "refuse", fixed: o.Fixed != "off"}
	if c.cool == "" {
		c.cool = coolByWaiting
	}
	if !slices.Contains([]string{coolByWaiting, coolByMarking, coolOff}, c.cool) {
		return c, usage("cool: %q is not wait, mark or off", o.Cool)
	}
	if !slices.Contains([]string{"", "wait", "refuse"}, o.Busy) {
		return c, usage("busy: %q is not wait or refuse", o.Busy)
	}
	if !slices.Contains([]string{"", "auto", "off"}, o.Fixed) {
		return c, usage("fixed: %q is not auto or off", o.Fixed)
	}
	if o.Ceiling != "" {
		celsius, err := strconv.ParseFloat(o.Ceiling, 64)
		if err != nil || !(celsius >= minCeiling && celsius <= maxCeiling) {
			return c, usage("ceiling: %q is not a temperature from %d to %d degrees Celsius", o.Ceiling, minCeiling, maxCeiling)
		}
		c.ceiling = bench.Celsius(celsius)
	}
	if o.Until != "" {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(o.Until, "%"), 64)
		if err != nil || !(percent > 0 && percent <= maxUntil) {
			return c, usage("until: %q is not a percentage above 0, up to %d", o.Until, maxUntil)
		}
		c.until = percent / 100
		if c.maxRounds = o.MaxRounds; c.maxRounds == 0 {
			c.maxRounds = DefaultMaxRounds
		}
	}
	switch {
	case o.MaxRounds < 0:
		return c, usage("maxRounds: %d is not a number of rounds", o.MaxRounds)
	case o.MaxRounds > 0 && o.Until == "":
		return c, usage("maxRounds: goes with -until; -rounds=%d is a fixed number of rounds", o.MaxRounds)
	case o.Until != "" && o.Rounds > 0:
		return c, usage("rounds: with -until it is -maxRounds that bounds the run")
	}
	return c, nil
}

// DefaultMaxRounds bounds a run with -until.
const DefaultMaxRounds = 30

// words are the options that differ from the defaults, for the command that
// runs the same again.
func (c care) words() string {
	var b strings.Builder
	if c.cool != coolByWaiting {
		b.WriteString(" -cool=" + c.cool)
	}
	if c.ceiling > 0 {
		fmt.Fprintf(&b, " -ceiling=%g", float64(c.ceiling))
	}
	if !c.fixed {
		b.WriteString(" -fixed=off")
	}
	return b.String()
}
