// Package opprofile reads what the Hexagon backend logs with
// GGML_HEXAGON_PROFILE: times and cycles of each operation, performance
// counters, and with mode 3 a trace of every thread. It adds them up by
// operation and shape, compares two arms, measures how much of the DMA runs
// beside computation, and writes traces for Perfetto.
package opprofile

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Op is one profiled operation.
type Op struct {
	// Session is the backend's, such as HTP0; Name the operation's, such as
	// MUL_MAT or, fused, RMS_NORM+MUL.
	Session, Name string
	// Names, Dims, Types, Strides and Params are the fields as logged.
	Names, Dims, Types, Strides, Params string
	// Microseconds and Cycles are the time it took on the DSP; Start is the
	// lower half of the cycle counter when it began.
	Microseconds, Cycles, Start uint32
	// Counters are performance counters, empty without them.
	Counters []uint32
}

// Event is one trace event of a thread.
type Event struct {
	// Kind is the event's name, such as DMA or HVX_COMP; Thread is an HVX
	// thread, or Matrix for the matrix unit's.
	Kind   string
	Thread int
	Info   uint32
	// Stop is set for an end; Cycles is the lower half of the cycle counter.
	Stop   bool
	Cycles uint32
}

// MatrixThread is the trace's thread of the matrix unit: the one behind the HVX
// threads (HTP_MAX_NTHREADS in ggml/src/ggml-hexagon/htp/htp-ops.h).
const MatrixThread = 10

// Batch is one message to the DSP with its operations and trace events.
type Batch struct {
	Session string
	// Microseconds and Cycles are the whole batch's, Start the cycle counter
	// when it began.
	Microseconds  uint32
	Cycles, Start uint64
	// Declared is the number of operations that the batch says it has.
	Declared int
	Ops      []Op
	Events   []Event
}

// Log is what was found in a launch's log.
type Log struct {
	Batches []Batch
	// Lines is the number of lines read, Torn lists those that begin as
	// profile lines and can not be read, for at most the first ten.
	Lines int
	Torn  []string
	// Simulated is set when the log tells of the embedded phone, whose times
	// say nothing of a real DSP.
	Simulated bool
}

// MaxLine bounds a line in bytes; longer ones are an error.
const MaxLine = 1 << 20

const prefix = "ggml-hex: "

// embedded stands in what hexab says before it runs a program on the embedded
// phone.
const embedded = "starting the embedded phone"

// Parse reads a log. Lines of others are passed over; lines of the profiler
// that can not be read are kept aside, with their numbers.
func Parse(r io.Reader) (*Log, error) {
	log := &Log{}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), MaxLine)
	for lines.Scan() {
		log.Lines++
		line := lines.Text()
		log.Simulated = log.Simulated || strings.Contains(line, embedded)
		at := strings.Index(line, prefix)
		if at < 0 {
			continue
		}
		if err := log.line(strings.TrimRight(line[at+len(prefix):], "\r")); err != nil && len(log.Torn) < 10 {
			log.Torn = append(log.Torn, fmt.Sprintf("line %d: %v", log.Lines, err))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", log.Lines+1, err)
	}
	return log, nil
}

// line reads what follows the prefix.
func (l *Log) line(text string) error {
	session, rest, ok := strings.Cut(text, " ")
	if !ok {
		return nil
	}
	switch {
	case strings.HasPrefix(rest, "profile-op "):
		return l.operation(session, strings.TrimPrefix(rest, "profile-op "))
	case strings.HasPrefix(rest, "trace-evt "):
		return l.event(session, strings.TrimPrefix(rest, "trace-evt "))
	}
	return nil
}

// operation reads "NAME|names|dims|types|strides|params|usec U cycles C start S
// mhz M", with " pmu [..]" behind it; OPBATCH opens a batch.
func (l *Log) operation(session, text string) error {
	fields := strings.Split(text, "|")
	if len(fields) < 7 {
		return fmt.Errorf("an operation of %d fields: %.80q", len(fields), text)
	}
	// A tensor's name may hold a bar: names is what lies between.
	names := strings.Join(fields[1:len(fields)-5], "|")
	tail := fields[len(fields)-5:]
	numbers := strings.Fields(tail[4])
	if len(numbers) < 8 || numbers[0] != "usec" || numbers[2] != "cycles" || numbers[4] != "start" || numbers[6] != "mhz" {
		return fmt.Errorf("times of an operation: %.80q", tail[4])
	}
	usec, err := strconv.ParseUint(numbers[1], 10, 32)
	if err != nil {
		return err
	}
	cycles, err := strconv.ParseUint(numbers[3], 10, 64)
	if err != nil {
		return err
	}
	start, err := strconv.ParseUint(numbers[5], 10, 64)
	if err != nil {
		return err
	}
	if fields[0] == "OPBATCH" {
		count, ok := strings.CutPrefix(tail[0], "n-ops ")
		declared, err := strconv.Atoi(count)
		if !ok || err != nil || declared < 0 {
			return fmt.Errorf("a batch without its number of operations: %.80q", tail[0])
		}
		l.Batches = append(l.Batches, Batch{Session: session, Microseconds: uint32(usec), Cycles: cycles, Start: start, Declared: declared})
		return nil
	}
	if cycles>>32 != 0 || start>>32 != 0 {
		return fmt.Errorf("an operation of %d cycles from %d: more than 32 bits", cycles, start)
	}
	op := Op{
		Session: session, Name: fields[0], Names: names, Dims: tail[0], Types: tail[1], Strides: tail[2], Params: tail[3],
		Microseconds: uint32(usec), Cycles: uint32(cycles), Start: uint32(start),
	}
	if op.Counters, err = counters(numbers[8:]); err != nil {
		return err
	}
	b, err := l.batch(session)
	if err != nil {
		return err
	}
	b.Ops = append(b.Ops, op)
	return nil
}

// counters reads "pmu [a,b,c]".
func counters(words []string) ([]uint32, error) {
	if len(words) == 0 {
		return nil, nil
	}
	if len(words) != 2 || words[0] != "pmu" {
		return nil, fmt.Errorf("behind an operation: %.80q", strings.Join(words, " "))
	}
	var list []uint32
	for _, text := range strings.Split(strings.Trim(words[1], "[]"), ",") {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, err
		}
		list = append(list, uint32(n))
	}
	return list, nil
}

// event reads "KIND: thread T info I start C".
func (l *Log) event(session, text string) error {
	kind, rest, ok := strings.Cut(text, ": ")
	words := strings.Fields(rest)
	if !ok || len(words) != 6 || words[0] != "thread" || words[2] != "info" || words[4] != "start" && words[4] != "stop" {
		return fmt.Errorf("a trace event: %.80q", text)
	}
	e := Event{Kind: kind, Stop: words[4] == "stop"}
	thread, err := strconv.ParseUint(words[1], 10, 8)
	if err != nil || thread > 64 {
		return fmt.Errorf("a trace event of thread %q", words[1])
	}
	e.Thread = int(thread)
	for at, into := range map[int]*uint32{3: &e.Info, 5: &e.Cycles} {
		n, err := strconv.ParseUint(words[at], 10, 32)
		if err != nil {
			return err
		}
		*into = uint32(n)
	}
	b, err := l.batch(session)
	if err != nil {
		return err
	}
	b.Events = append(b.Events, e)
	return nil
}

// batch is the session's last one: its lines follow it.
func (l *Log) batch(session string) (*Batch, error) {
	for i := len(l.Batches) - 1; i >= 0; i-- {
		if l.Batches[i].Session == session {
			return &l.Batches[i], nil
		}
	}
	return nil, fmt.Errorf("%s has no batch yet", session)
}
