package opprofile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// traceEvent is one event of the Trace Event Format, the JSON that Perfetto and
// Chrome read. Times are in microseconds.
type traceEvent struct {
	Name      string         `json:"name"`
	Category  string         `json:"cat,omitempty"`
	Phase     string         `json:"ph"`
	Timestamp *float64       `json:"ts,omitempty"`
	Duration  *float64       `json:"dur,omitempty"`
	Process   int            `json:"pid"`
	Thread    int            `json:"tid"`
	Args      map[string]any `json:"args,omitempty"`
}

// Track numbers: operations, batches, then fences and cache work, the matrix
// unit, HVX threads, and DMA by thread. A track's further lanes are laneStep
// apart.
const (
	batchTrack  = 1
	opTrack     = 2
	fenceTrack  = 3
	systemTrack = 4
	matrixTrack = 5
	hvxTracks   = 100
	dmaTracks   = 200
	laneStep    = 10_000
)

// slice is what is drawn on a track, in nanoseconds.
type slice struct {
	session, track  int
	trackName, name string
	from, to        int64
	args            map[string]any
}

// WriteTrace writes a log as JSON for Perfetto: one process for each session,
// with one track each for batches, operations, fences, cache and buffer work,
// the matrix unit, every HVX thread and every thread's DMA. Transfers that are
// under way at the same time have lanes of their own: of slices on one track
// that overlap without one holding the other Perfetto drops one. Batches follow
// one another with the gap of their cycle counters; label says what was
// measured.
func (l *Log) WriteTrace(w io.Writer, label string) error {
	var names []string
	var list []slice
	clocks := map[string]sessionClock{}
	for i := range l.Batches {
		b := &l.Batches[i]
		c, known := clocks[b.Session]
		if !known {
			names = append(names, b.Session)
			c = l.clockOf(b.Session, len(names))
			clocks[b.Session] = c
		}
		list = append(list, c.batch(b)...)
	}
	out := traceOutput{w: w, separator: "\n"}
	out.write(`{"displayTimeUnit":"ns","traceEvents":[`)
	for i, name := range names {
		out.event(traceEvent{Name: "process_name", Phase: "M", Process: i + 1, Args: map[string]any{"name": name + " " + label}})
	}
	out.tracks(list)
	out.write("\n]}\n")
	return out.err
}

// sessionClock turns a session's cycles into nanoseconds since its first batch.
type sessionClock struct {
	session     int
	origin      uint64
	nanoseconds float64 // in a cycle
}

// clockOf takes a session's speed from all of its batches: with a speed for
// each, a batch could begin before the one ahead of it has ended.
func (l *Log) clockOf(session string, number int) sessionClock {
	c := sessionClock{session: number, nanoseconds: 1, origin: math.MaxUint64}
	var cycles, microseconds uint64
	for _, b := range l.Batches {
		if b.Session == session {
			c.origin = min(c.origin, b.Start)
			if b.Cycles > 0 && b.Microseconds > 0 {
				cycles, microseconds = cycles+b.Cycles, microseconds+uint64(b.Microseconds)
			}
		}
	}
	if cycles > 0 {
		c.nanoseconds = 1000 * float64(microseconds) / float64(cycles)
	}
	return c
}

// at is the time of a cycle counter, at most a century.
func (c sessionClock) at(cycles float64) int64 {
	const century = 100 * 366 * 24 * 3600 * 1e9
	return int64(math.Round(min(cycles*c.nanoseconds, century)))
}

// batch gives a batch with its operations and spans.
func (c sessionClock) batch(b *Batch) []slice {
	var list []slice
	base := float64(b.Start - c.origin)
	add := func(track int, trackName, name string, from, to uint64, args map[string]any) {
		list = append(list, slice{c.session, track, trackName, name, c.at(base + float64(from)), c.at(base + float64(to)), args})
	}
	add(batchTrack, "batches", fmt.Sprintf("batch of %d", b.Declared), 0, b.Cycles, nil)
	unwrap := clock{low: uint32(b.Start)}
	for _, op := range b.Ops {
		from := unwrap.at(op.Start)
		add(opTrack, "operations", op.Name, from, from+uint64(op.Cycles),
			map[string]any{"dims": op.Dims, "types": op.Types, "names": op.Names, "params": op.Params})
	}
	spans, _ := b.Spans()
	for _, s := range spans {
		track, name := track(s)
		add(track, name, s.Kind, s.From, s.To, map[string]any{"info": s.Info})
	}
	return list
}

func track(s Span) (number int, name string) {
	switch {
	case s.Kind == dmaKind:
		return dmaTracks + s.Thread, fmt.Sprintf("DMA %d", s.Thread)
	case s.Kind == "FENCE":
		return fenceTrack, "fences"
	case s.Thread == MatrixThread || strings.HasPrefix(s.Kind, "HMX_"):
		return matrixTrack, "HMX"
	case !computes(s.Kind):
		return systemTrack, "cache and buffers"
	}
	return hvxTracks + s.Thread, fmt.Sprintf("HVX %d", s.Thread)
}

// lane is a track, or a further one below it: the ends of the slices that
// are under way on it, the innermost last.
type lane struct{ open []int64 }

// takes tells whether a slice fits: after, or wholly within, what is under way.
func (l *lane) takes(s slice) bool {
	for len(l.open) > 0 && l.open[len(l.open)-1] <= s.from {
		l.open = l.open[:len(l.open)-1]
	}
	if len(l.open) > 0 && l.open[len(l.open)-1] < s.to {
		return false
	}
	l.open = append(l.open, s.to)
	return true
}

// traceOutput writes events and keeps the first error.
type traceOutput struct {
	w         io.Writer
	separator string
	err       error
}

func (o *traceOutput) write(text string) {
	if o.err == nil {
		_, o.err = io.WriteString(o.w, text)
	}
}

func (o *traceOutput) event(e traceEvent) {
	text, err := json.Marshal(e)
	if o.err == nil {
		o.err = err
	}
	o.write(o.separator + string(text))
	o.separator = ",\n"
}

// tracks writes the slices in the order of their tracks and times.
func (o *traceOutput) tracks(list []slice) {
	slices.SortStableFunc(list, func(a, b slice) int {
		return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.track, b.track), cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	var lanes []lane
	for i, s := range list {
		if i == 0 || list[i-1].session != s.session || list[i-1].track != s.track {
			lanes = nil
		}
		n := 0
		for n < len(lanes) && !lanes[n].takes(s) {
			n++
		}
		if n == len(lanes) {
			lanes = append(lanes, lane{open: []int64{s.to}})
			o.name(s, n)
		}
		timestamp, duration := microseconds(s.from), microseconds(s.to-s.from)
		o.event(traceEvent{
			Name: s.name, Category: strings.ToLower(s.trackName), Phase: "X", Timestamp: &timestamp, Duration: &duration,
			Process: s.session, Thread: s.track + n*laneStep, Args: s.args,
		})
	}
}

// name names the nth lane of a slice's track.
func (o *traceOutput) name(s slice, n int) {
	name, thread := s.trackName, s.track+n*laneStep
	if n > 0 {
		name = fmt.Sprintf("%s, lane %d", name, n+1)
	}
	o.event(traceEvent{Name: "thread_name", Phase: "M", Process: s.session, Thread: thread, Args: map[string]any{"name": name}})
	o.event(traceEvent{Name: "thread_sort_index", Phase: "M", Process: s.session, Thread: thread, Args: map[string]any{"sort_index": s.track*laneStep + n}})
}

// microseconds is a number of microseconds that, times 1000, is not below the
// nanoseconds: readers cut fractions off.
func microseconds(nanoseconds int64) float64 {
	us := float64(nanoseconds) / 1000
	for int64(us*1000) < nanoseconds {
		us = math.Nextafter(us, math.Inf(1))
	}
	return us
}
