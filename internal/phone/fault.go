package phone

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FaultKind names what a fault does.
type FaultKind string

// The kinds of faults.
const (
	FaultCR           FaultKind = "cr"           // a CR before every LF that a shell command prints
	FaultNoise        FaultKind = "noise"        // extra lines on stdout, as vendor libraries log
	FaultFull         FaultKind = "full"         // no space left after BytesFree more bytes
	FaultDrop         FaultKind = "drop"         // the transport is cut
	FaultUnauthorized FaultKind = "unauthorized" // the adb key is not accepted, or only after For
	FaultOffline      FaultKind = "offline"      // the transport is cut and answers nothing, or only after For
	FaultReboot       FaultKind = "reboot"       // processes die, the boot id changes, back after For
	FaultSlow         FaultKind = "slow"         // the link carries BytesPerSecond, each write waits Latency
	FaultLowMemory    FaultKind = "lowmem"       // the biggest process gets SIGKILL
	FaultHang         FaultKind = "hang"         // the program stops, for good or For
	FaultExit         FaultKind = "exit"         // the exit status is Code, whatever the program says
	FaultClock        FaultKind = "clock"        // the wall clock jumps By
	FaultNoSensors    FaultKind = "nosensors"    // no temperature can be read
	FaultOddUnits     FaultKind = "oddunits"     // some sensors report degrees or tenths, some nonsense
)

// Event is what a fault waits for.
type Event string

// The events.
const (
	AtStart  Event = "start"  // active from the start
	AtPush   Event = "push"   // the phone received Bytes by push
	AtPull   Event = "pull"   // the phone sent Bytes by pull
	AtOutput Event = "output" // a launch of Program printed Bytes or Lines on stdout
	AtLaunch Event = "launch" // a launch of Program began
)

// Trigger says when a fault happens.
type Trigger struct {
	After       Event
	Program     string        // base name of the program; "*" is every shell command
	Nth         int           // the launch it happens at, counted from 1
	Probability float64       // if not 0, instead of Nth: each launch is hit with it
	Times       int           // how often it happens; 0 is without end
	Bytes       int64         // see Event
	Lines       int           // see Event
	Delay       time.Duration // from the launch's begin to the fault
}

// Fault describes one thing that goes wrong, and when. It is a value: what it
// has done so far is kept elsewhere, and depends on the seed alone.
type Fault struct {
	Kind           FaultKind
	Trigger        Trigger
	For            time.Duration // how long it lasts; 0 is for good, where that makes sense
	By             time.Duration // clock: size of the jump
	Code           int           // exit: the status shown
	BytesFree      int64         // full: what still fits
	BytesPerSecond int64         // slow
	Latency        time.Duration // slow: added to each write
	Share          float64       // cr, noise: share of the lines, 0 to 1
}

// defaultProgram is what launches are counted of when a fault names none.
const defaultProgram = "llama-bench"

// faultRules gives each kind its defaults and the keys it takes beside those
// of its trigger.
var faultRules = map[FaultKind]struct {
	defaults Fault
	keys     string
	trigger  bool // happens at an event
}{
	FaultCR:           {Fault{Share: 1}, "share", false},
	FaultNoise:        {Fault{Share: 0.2, Trigger: Trigger{Program: defaultProgram}}, "share program", false},
	FaultFull:         {Fault{}, "free", false},
	FaultDrop:         {Fault{Trigger: Trigger{After: AtLaunch}}, "", true},
	FaultUnauthorized: {Fault{}, "for", false},
	FaultOffline:      {Fault{Trigger: Trigger{After: AtStart}}, "for", true},
	FaultReboot:       {Fault{For: 2 * time.Second, Trigger: Trigger{After: AtLaunch}}, "for", true},
	FaultSlow:         {Fault{BytesPerSecond: 2_000_000}, "rate latency", false},
	FaultLowMemory:    {Fault{Trigger: Trigger{After: AtLaunch}}, "", true},
	FaultHang:         {Fault{Trigger: Trigger{After: AtLaunch}}, "for", true},
	FaultExit:         {Fault{Code: 1, Trigger: Trigger{After: AtLaunch}}, "code", true},
	FaultClock:        {Fault{By: time.Hour, Trigger: Trigger{After: AtStart}}, "by", true},
	FaultNoSensors:    {Fault{}, "", false},
	FaultOddUnits:     {Fault{}, "", false},
}

const triggerKeys = "after program nth p times bytes lines delay"

// Spec is a parsed profile: a device and what goes wrong with it.
type Spec struct {
	Profile string // arm64, cool, hot, old or sun
	Faults  []Fault
	// Seed decides whatever the faults leave to chance.
	Seed uint64
}

// defaultSeed is the seed of a profile that names none.
const defaultSeed = 1

// seedKey begins the part of a profile that names its seed.
const seedKey = "seed="

// ParseSpec parses a profile, its faults and their seed, joined by "+", each
// fault with options after a colon:
//
//	hot
//	cool+cr+noise:share=0.5
//	cool+drop:p=0.1,times=0+seed=7
//	cool+drop:after=push,bytes=1000000
//	old+exit:code=0,nth=3+offline:after=launch,nth=5,for=3s
//
// The profile may be left out and is then cool, the seed is then 1. Errors name
// the part that is wrong and what is allowed.
func ParseSpec(text string) (Spec, error) {
	spec := Spec{Profile: "cool", Seed: defaultSeed}
	seeded := false
	for i, part := range strings.Split(text, "+") {
		part = strings.TrimSpace(part)
		if _, ok := profiles[part]; ok && i == 0 {
			spec.Profile = part
			continue
		}
		if part == "" && text == "" {
			break
		}
		if value, ok := strings.CutPrefix(part, seedKey); ok {
			seed, err := strconv.ParseUint(value, 10, 64)
			if err != nil || seeded {
				return Spec{}, fmt.Errorf("profile %q: %q: want one %sN with a whole number from 0 on", text, part, seedKey)
			}
			spec.Seed, seeded = seed, true
			continue
		}
		f, err := ParseFault(part)
		if err != nil {
			if i == 0 && !strings.Contains(part, ":") {
				return Spec{}, fmt.Errorf("profile %q: want one of %s, or a fault of %s, or %sN",
					part, listNames(profiles), listNames(faultRules), seedKey)
			}
			return Spec{}, err
		}
		spec.Faults = append(spec.Faults, f)
	}
	return spec, nil
}

// ParseFault parses one fault, such as "drop:after=push,bytes=1000000".
func ParseFault(text string) (Fault, error) {
	kind, options, hasOptions := strings.Cut(text, ":")
	rule, ok := faultRules[FaultKind(kind)]
	if !ok {
		return Fault{}, fmt.Errorf("fault %q: unknown kind, want one of %s", text, listNames(faultRules))
	}
	f := rule.defaults
	f.Kind = FaultKind(kind)
	if rule.trigger {
		t := &f.Trigger
		t.Program, t.Nth, t.Times = defaultProgram, 1, 1
	}
	allowed := strings.Fields(rule.keys)
	if rule.trigger {
		allowed = append(allowed, strings.Fields(triggerKeys)...)
	}
	if !hasOptions {
		return f, nil
	}
	for _, option := range strings.Split(options, ",") {
		key, value, ok := strings.Cut(option, "=")
		if !ok || !slices.Contains(allowed, key) {
			return Fault{}, fmt.Errorf("fault %q: option %q: want KEY=VALUE with KEY one of %s",
				text, option, strings.Join(allowed, ", "))
		}
		if err := f.set(key, value); err != nil {
			return Fault{}, fmt.Errorf("fault %q: option %q: %w", text, option, err)
		}
	}
	if err := f.check(); err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", text, err)
	}
	return f, nil
}

// set sets one option.
func (f *Fault) set(key, value string) (err error) {
	t := &f.Trigger
	switch key {
	case "after":
		t.After = Event(value)
		if !slices.Contains([]Event{AtStart, AtPush, AtPull, AtOutput, AtLaunch}, t.After) {
			err = fmt.Errorf("want start, push, pull, output or launch")
		}
	case "program":
		t.Program = value
		if value == "" {
			err = fmt.Errorf("want a program's base name, or *")
		}
	case "nth":
		t.Nth, err = whole(value, 1, 1<<30)
	case "times":
		t.Times, err = whole(value, 0, 1<<30)
	case "lines":
		t.Lines, err = whole(value, 1, 1<<30)
	case "code":
		f.Code, err = whole(value, 0, 255)
	case "bytes":
		t.Bytes, err = byteCount(value)
	case "free":
		f.BytesFree, err = byteCount(value)
	case "rate":
		f.BytesPerSecond, err = byteCount(value)
		if err == nil && f.BytesPerSecond < 1000 {
			err = fmt.Errorf("want at least 1000 bytes per second")
		}
	case "p":
		t.Probability, err = share(value)
	case "share":
		f.Share, err = share(value)
	case "delay":
		t.Delay, err = span(value, false)
	case "for":
		f.For, err = span(value, false)
	case "latency":
		f.Latency, err = span(value, false)
	case "by":
		f.By, err = span(value, true)
	default:
		err = fmt.Errorf("unknown key")
	}
	return err
}

// check finds options that do not go together.
func (f *Fault) check() error {
	t := f.Trigger
	switch {
	case (t.After == AtPush || t.After == AtPull) && t.Bytes == 0:
		return fmt.Errorf("after=%s needs bytes=", t.After)
	case t.After == AtOutput && t.Bytes == 0 && t.Lines == 0:
		return fmt.Errorf("after=output needs bytes= or lines=")
	case t.After != AtOutput && t.Lines != 0:
		return fmt.Errorf("lines= goes with after=output")
	case t.Bytes != 0 && (t.After == AtStart || t.After == AtLaunch):
		return fmt.Errorf("bytes= goes with after=push, pull or output")
	case t.After == AtStart && f.Kind != FaultOffline && f.Kind != FaultClock && faultRules[f.Kind].trigger:
		return fmt.Errorf("%s can not happen at the start", f.Kind)
	case (f.Kind == FaultExit || f.Kind == FaultHang) && t.After != AtLaunch && t.After != AtOutput:
		return fmt.Errorf("%s happens to a launch: after=launch or after=output", f.Kind)
	}
	return nil
}

func whole(s string, low, high int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("want a whole number from %d to %d", low, high)
	}
	return n, nil
}

func byteCount(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("want a number of bytes")
	}
	return n, nil
}

func share(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, fmt.Errorf("want a number from 0 to 1")
	}
	return x, nil
}

func span(s string, negative bool) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 && !negative {
		return 0, fmt.Errorf("want a duration such as 3s or 250ms")
	}
	return d, nil
}

func listNames[K ~string, V any](m map[K]V) string {
	var names []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}
