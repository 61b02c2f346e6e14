package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/device"
	"hexab/internal/diagnose"
	"hexab/internal/llamabench"
)

// disturbedShare is the share of the device's CPU time taken by others from
// which on a launch is marked, and a canary says nothing of heat.
const disturbedShare = 0.15

// launchTimeoutEmbedded is shorter, since the embedded phone's models are small;
// tests make it shorter still.
var launchTimeoutEmbedded = 3 * time.Minute

// launchTimeoutPhone bounds a launch elsewhere.
var launchTimeoutPhone = 30 * time.Minute

var errLaunchTimeout = errors.New("the launch outlived its time limit")

// launch runs one llama-bench process and records all that was observed. It
// never fails: what goes wrong is in the record. The error is only set when the
// run was interrupted.
func (s *session) launch(ctx context.Context, l bench.Launch, attempt int) (bench.Record, error) {
	record := bench.Record{Launch: l, Attempt: attempt}
	before, err := s.gate(ctx, &record)
	if err != nil {
		return s.lost(ctx, record, err)
	}
	log, name, err := s.archive.Log(l.Seq, attempt)
	if err != nil {
		return record, err
	}
	record.Log = name
	a := s.arms[l.Arm]
	args, err := llamabench.Arguments(s.models[l.Model], s.run.Tests, s.run.Repetitions, arm.Arguments(a))
	if err != nil {
		return record, errors.Join(err, log.Close())
	}
	script := device.Watched("("+s.script(a, "./llama-bench", args)+")") + "; s=$?; times >&2; " + s.showCounters(a) + "exit $s"
	fmt.Fprintf(log, "# %s\n", script)

	limit := launchTimeoutPhone
	if s.target.embedded {
		limit = launchTimeoutEmbedded
	}
	timed, cancel := context.WithTimeoutCause(ctx, limit, errLaunchTimeout)
	defer cancel()
	timed, stop := context.WithCancelCause(timed)
	defer stop(nil)
	out := &cappedBuffer{limit: maxKept}
	tail, beside := &tailWriter{}, &watch{}
	stderr := device.NewTelemetry(io.MultiWriter(tail, log), func(sample device.Sample) { beside.take(sample, &s.heat, stop) })
	record.Started = s.clock.now().UTC()
	exit, err := s.target.Run(timed, device.Command{
		Script: script, Stdout: io.MultiWriter(out, log), Stderr: stderr,
	})
	record.Wall = bench.Nanoseconds(s.clock.now().Sub(record.Started))
	if closed := errors.Join(stderr.Close(), log.Close(), s.keep(&record, beside.all())); closed != nil {
		return record, closed
	}
	if err != nil {
		return s.lost(ctx, record, err)
	}
	s.conclude(&record, a, exit, out.kept.Bytes(), tail.String())
	s.observe(ctx, &record, before, tail.String(), beside.all())
	return record, nil
}

// script is the shell text that runs a program of the arm's bundle.
func (s *session) script(a bench.Arm, program string, args []string) string {
	folder := device.Quote(s.bundles[a.Bundle])
	words := []string{"HEXAB_LAUNCH=" + s.target.launchMark(), "LD_LIBRARY_PATH=" + folder, "ADSP_LIBRARY_PATH=" + folder}
	if s.counted(a) {
		words = append(words, "HEXSIM_COUNTERS="+device.Quote(s.countersFile()))
	}
	for _, setting := range arm.Env(a) {
		name, value, _ := strings.Cut(setting, "=")
		words = append(words, name+"="+device.Quote(value))
	}
	for _, word := range s.target.info.Interpreter {
		words = append(words, device.Quote(word))
	}
	words = append(words, program)
	for _, arg := range args {
		words = append(words, device.Quote(arg))
	}
	return "cd " + folder + " && " + strings.Join(words, " ")
}

// conclude says how the launch ended.
func (s *session) conclude(record *bench.Record, a bench.Arm, exit device.Exit, stdout []byte, log string) {
	status := exit.Status
	record.ExitStatus = &status
	output, parse := llamabench.Parse(stdout, llamabench.Want{Tests: s.run.Tests, Repetitions: s.run.Repetitions, Echoes: arm.Echoes(a)})
	finding := diagnose.Launch(status, log+"\n"+strings.Join(output.Other, "\n"), parse)
	record.Outcome, record.Fault, record.Reason = finding.Outcome, finding.Fault, finding.Reason
	record.Evidence = append(record.Evidence, finding.Evidence...)
	record.Results = output.Results
	record.Proof = llamabench.Proof(log)
	s.concludeNPU(record, a, log)
}

// observe adds what the device tells after the launch.
func (s *session) observe(ctx context.Context, record *bench.Record, before device.Reading, log string, samples []device.Sample) {
	after, err := device.ReadSensors(ctx, s.target)
	if err != nil {
		return // the next launch will find out
	}
	record.After = &after.Sensors
	if before.BootID != "" && after.BootID != "" && before.BootID != after.BootID {
		record.Outcome, record.Fault = bench.OutcomeRebooted, bench.FaultDevice
		record.Reason = "the device rebooted during the launch"
	}
	if own, ok := ownCPU(log); ok && before.CPU != nil && after.CPU != nil {
		if share, ok := after.CPU.OtherShare(*before.CPU, own); ok {
			record.OtherCPUShare = &share
			if share > disturbedShare {
				record.Marks = append(record.Marks, bench.MarkDisturbed)
			}
		}
	}
	s.throttled(ctx, record, samples)
}

// lost records a launch whose end is not known, or says that the run was
// interrupted.
func (s *session) lost(ctx context.Context, record bench.Record, err error) (bench.Record, error) {
	if ctx.Err() != nil {
		return record, context.Cause(ctx)
	}
	if record.Started.IsZero() {
		record.Started = s.clock.now().UTC()
	}
	var fault *device.Error
	over, hot := tooHot(err)
	switch {
	case hot:
		record.Outcome, record.Fault, record.Reason = bench.OutcomeThrottled, bench.FaultDevice, over.Error()
	case errors.Is(err, errLaunchTimeout):
		record.Outcome, record.Fault = bench.OutcomeTimeout, bench.FaultVariant
		record.Reason = "ended after its time limit; see the log for how far it came"
	case errors.As(err, &fault):
		record.Outcome, record.Fault, record.Evidence, record.Reason = fault.Outcome, fault.Fault, fault.Evidence, fault.Error()
	default:
		record.Outcome, record.Fault, record.Reason = bench.OutcomeTransportLost, bench.FaultInfrastructure, err.Error()
	}
	if record.Outcome == "" || record.Outcome == bench.OutcomeNotRun {
		record.Outcome = bench.OutcomeTransportLost
	}
	return record, nil
}

// times prints the shell's own time, then its children's: 1m2.34s 0m0.56s.
var timesLine = regexp.MustCompile(`(?m)^([0-9]+)m([0-9]+[.,][0-9]+)s ([0-9]+)m([0-9]+[.,][0-9]+)s\s*$`)

// ownCPU is the CPU time in seconds that the program took, from the last line
// of the shell's "times".
func ownCPU(log string) (seconds float64, ok bool) {
	matches := timesLine.FindAllStringSubmatch(log, -1)
	if len(matches) == 0 {
		return 0, false
	}
	m := matches[len(matches)-1]
	for i := 1; i < 5; i += 2 {
		minutes, err1 := strconv.ParseFloat(m[i], 64)
		rest, err2 := strconv.ParseFloat(strings.Replace(m[i+1], ",", ".", 1), 64)
		if err1 != nil || err2 != nil {
			return 0, false
		}
		seconds += minutes*60 + rest
	}
	return seconds, true
}

// maxKept bounds what is kept of a launch's streams in memory; the log file has
// all of it.
const maxKept = 8 << 20

// cappedBuffer keeps the first bytes up to its limit. It does not embed the
// buffer: its other methods would go past the limit.
type cappedBuffer struct {
	kept  bytes.Buffer
	limit int
}

func (b *cappedBuffer) Write(p []byte) (int, error) {
	if room := b.limit - b.kept.Len(); room > 0 {
		_, _ = b.kept.Write(p[:min(room, len(p))]) // never fails
	}
	return len(p), nil
}

func (b *cappedBuffer) String() string { return b.kept.String() }

// tailWriter keeps the first and the last half of maxKept bytes.
type tailWriter struct{ head, tail []byte }

func (t *tailWriter) Write(p []byte) (int, error) {
	n := len(p)
	if room := maxKept/2 - len(t.head); room > 0 {
		take := min(room, len(p))
		t.head = append(t.head, p[:take]...)
		p = p[take:]
	}
	t.tail = append(t.tail, p...)
	if extra := len(t.tail) - maxKept/2; extra > maxKept/2 {
		t.tail = append([]byte(nil), t.tail[extra:]...)
	}
	return n, nil
}

func (t *tailWriter) String() string { return string(t.head) + string(t.tail) }
