package shell

import (
	"regexp"
	"strconv"
	"strings"
)

// demux takes apart the lines of a wrapped command. The protocol, with NONCE
// a random word of each command:
//
//	NONCE begin PID     stdout, and stderr unless merged: the script starts
//	NONCE stat LINE     first line of /proc/stat, before and after
//	...                 the script's output, then one newline
//	NONCE times         followed by the shell's `times`
//	NONCE err           stderr follows (where it is merged)
//	NONCE end STATUS    the script has ended; on both streams unless merged
//
// Whatever stands before begin or after end is the transport's or the shell's
// own. The
// newline before a marker makes it stand on a line of its own; it is taken out
// again.
type demux struct {
	nonce          string
	stdout, stderr *stream
	merged         bool // stdout is the only stream
	inErr          bool // where merged: stderr has begun
	inTimes        bool
	status         int
	outside        []string
	stats          []string
	times          []string
}

// maxOutside bounds what is kept of lines outside the script.
const maxOutside = 50

func newDemux(nonce string, stdout, stderr *stream, merged bool) *demux {
	d := &demux{nonce: nonce, stdout: stdout, stderr: stderr, merged: merged}
	if merged {
		stderr.begun = true
	}
	return d
}

// out takes a line of stdout.
func (d *demux) out(line string) { d.line(d.stdout, line) }

// err takes a line of stderr.
func (d *demux) err(line string) {
	if d.merged { // all that stands here is the transport's own
		d.keepOutside(line)
		return
	}
	d.line(d.stderr, line)
}

func (d *demux) line(s *stream, line string) {
	if word, rest, ok := d.marker(line); ok && d.mark(s, word, rest) {
		return
	}
	switch {
	case !s.begun || s.ended:
		d.keepOutside(line)
	case s == d.stdout && d.inErr:
		d.stderr.add(line)
	case s == d.stdout && d.inTimes:
		if len(d.times) < 16 {
			d.times = append(d.times, line)
		}
	default:
		s.add(line)
	}
}

// marker cuts a marker's line in word and rest.
func (d *demux) marker(line string) (word, rest string, ok bool) {
	line, ok = strings.CutPrefix(strings.Trim(line, "\r"), d.nonce+" ")
	if !ok {
		return "", "", false
	}
	word, rest, _ = strings.Cut(strings.TrimRight(line, "\r "), " ")
	return word, rest, true
}

// mark acts on a marker and tells whether it was one.
func (d *demux) mark(s *stream, word, rest string) bool {
	switch word {
	case "begin":
		pid, err := strconv.Atoi(rest)
		if err != nil || pid < 1 || s.begun {
			return false
		}
		s.begun, s.pid = true, pid
	case "stat":
		if len(d.stats) < 2 {
			d.stats = append(d.stats, rest)
		}
		if len(d.stats) == 2 {
			s.close(true)
		}
	case "times":
		s.close(true)
		d.inTimes = true
	case "err":
		if !d.merged {
			return false
		}
		s.close(true)
		d.inErr, d.inTimes = true, false
	case "end":
		status, err := strconv.Atoi(rest)
		if err != nil || status < 0 || status > 255 || !s.begun || s.ended {
			return false
		}
		d.status = status
		s.close(true)
		s.ended = true
		if s == d.stderr {
			break // stdout may not be that far yet: its accounting is still to come
		}
		if d.inErr {
			d.stderr.close(true)
			d.stderr.ended = true
		}
		d.inTimes, d.inErr = false, false
	default:
		return false
	}
	return true
}

func (d *demux) keepOutside(line string) {
	if strings.TrimSpace(line) != "" && len(d.outside) < maxOutside {
		d.outside = append(d.outside, line)
	}
}

// ended tells whether the script ran to its end and all its output is here.
func (d *demux) ended() bool { return d.stdout.ended && (d.stderr.ended || d.merged) }

// close hands over what was held back.
func (d *demux) close() {
	d.stdout.close(false)
	d.stderr.close(false)
}

// Accounting is the CPU time around a command.
type Accounting struct {
	// Before and After are the device's totals around the command.
	Before, After CPUTimes
	// Own is the CPU time of the command and of the children it waited for,
	// in seconds.
	Own float64
}

// OtherShare is the share, 0 to 1, of the device's CPU time that others took
// while the command ran. It is false when too little time passed to tell.
func (a Accounting) OtherShare() (float64, bool) {
	total := a.After.Total - a.Before.Total
	if total < 0.05 { // a few ticks of a hundredth of a second
		return 0, false
	}
	others := a.After.Busy - a.Before.Busy - a.Own
	return max(0, min(1, others/total)), true
}

func (d *demux) accounting() *Accounting {
	if len(d.stats) != 2 {
		return nil
	}
	before, okBefore := ParseProcStat(d.stats[0])
	after, okAfter := ParseProcStat(d.stats[1])
	own, okOwn := parseTimes(d.times)
	if !okBefore || !okAfter || !okOwn {
		return nil
	}
	return &Accounting{Before: before, After: after, Own: own}
}

// CPUTimes are totals over all processors since boot, in seconds.
type CPUTimes struct {
	// Busy is the time spent running anything, Total that and idle time.
	Busy, Total float64
}

// userHZ is the unit of /proc/stat: USER_HZ, 100 a second on every Linux ABI
// in question (proc(5)).
const userHZ = 100

// ParseProcStat parses the first line of /proc/stat, "cpu  user nice system
// idle iowait irq softirq steal guest guest_nice" (proc(5)). Guest time is
// within user time; idle and iowait are not busy.
func ParseProcStat(line string) (CPUTimes, bool) {
	fields := strings.Fields(line)
	if len(fields) < 5 || fields[0] != "cpu" {
		return CPUTimes{}, false
	}
	var times CPUTimes
	for i, field := range fields[1:min(len(fields), 9)] {
		ticks, err := strconv.ParseUint(field, 10, 62)
		if err != nil {
			return CPUTimes{}, false
		}
		seconds := float64(ticks) / userHZ
		times.Total += seconds
		if i != 3 && i != 4 {
			times.Busy += seconds
		}
	}
	return times, true
}

var timesLine = regexp.MustCompile(`^\s*([0-9]{1,9})m([0-9]{1,2}(?:\.[0-9]{1,9})?)s\s+([0-9]{1,9})m([0-9]{1,2}(?:\.[0-9]{1,9})?)s\s*$`)

// parseTimes finds the second line of the shell's `times`: user and system
// time of its children, in seconds.
func parseTimes(lines []string) (float64, bool) {
	seen := 0
	for _, line := range lines {
		match := timesLine.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		if seen++; seen < 2 {
			continue
		}
		var sum float64
		for i, factor := range []float64{60, 1, 60, 1} {
			value, err := strconv.ParseFloat(match[i+1], 64)
			if err != nil {
				return 0, false
			}
			sum += factor * value
		}
		return sum, true
	}
	return 0, false
}

// stream is one stream of a command. One empty line is held back, since it may
// be the newline of a marker's.
type stream struct {
	each      func(line string)
	keep      int
	kept      strings.Builder
	truncated bool
	begun     bool
	ended     bool
	closed    bool
	pid       int
	blank     bool
	last      []string
}

func newStream(each func(string), keep int) *stream {
	if keep == 0 {
		keep = DefaultKeep
	}
	return &stream{each: each, keep: max(keep, 0)}
}

func (s *stream) add(line string) {
	if s.closed { // noise between the script's end and the marker
		return
	}
	if s.blank {
		s.blank = false
		s.hand("")
	}
	if line == "" {
		s.blank = true
		return
	}
	s.hand(line)
}

// close ends the stream's text; before a marker a blank held back is the
// marker's own.
func (s *stream) close(marker bool) {
	if s.blank && !marker {
		s.hand("")
	}
	s.blank = false
	s.closed = s.closed || marker
}

func (s *stream) hand(line string) {
	if s.each != nil {
		s.each(line)
	}
	if s.last = append(s.last, line); len(s.last) > 8 {
		s.last = s.last[1:]
	}
	if s.truncated || s.kept.Len()+len(line)+1 > s.keep {
		s.truncated = s.truncated || s.keep > 0
		return
	}
	s.kept.WriteString(line)
	s.kept.WriteByte('\n')
}

// lastLines are the last lines that say something.
func (s *stream) lastLines(n int) []string {
	var list []string
	for _, line := range s.last {
		if line = Clean(line); line != "" {
			list = append(list, line)
		}
	}
	return list[max(0, len(list)-n):]
}
