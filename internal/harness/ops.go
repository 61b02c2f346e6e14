package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"hexab/internal/backendops"
	"hexab/internal/bench"
	"hexab/internal/device"
	"hexab/internal/diagnose"
	"hexab/internal/report"
)

// OpsOptions say what test-backend-ops is to do.
type OpsOptions struct {
	Mode backendops.Mode
	// Op is a filter on operations; empty is all of them. Params is a regular
	// expression on a case's parameters.
	Op, Params string
	// Arm is one arm, by default cpu. Device is as in Options.
	Arm, Device string
	// Check turns checkers of the simulated NPU on: coherency, dma, vtcm,
	// sharing, window, stack, or all; with commas.
	Check string
	// Out is the folder of the logs; empty is results/ops.
	Out string
}

// opsTimeout bounds a run of test-backend-ops: all cases of an NPU take a
// phone about half an hour.
const opsTimeout = 3 * time.Hour

var errOpsTimeout = fmt.Errorf("test-backend-ops outlived its limit of %s", opsTimeout)

// OpsError is a run of test-backend-ops that has no whole report.
type OpsError struct {
	Outcome  bench.Outcome
	Fault    bench.Fault
	Reason   string
	Evidence []string
	Log      string
	Err      error
}

func (e *OpsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "test-backend-ops: %s: %s", e.Outcome, e.Reason)
	if e.Err != nil {
		fmt.Fprintf(&b, "; %v", e.Err)
	}
	for _, line := range e.Evidence {
		b.WriteString("\n  | " + line)
	}
	if e.Log != "" {
		b.WriteString("\nthe log is " + e.Log)
	}
	return b.String()
}

// Unwrap gives the underlying error.
func (e *OpsError) Unwrap() error { return e.Err }

// Ops runs test-backend-ops on the device and prints its summary. The error is
// not nil when a case failed or the report is not whole; on the simulated NPU,
// when cases came out in another way than sim/findings/expected.yaml says.
func Ops(ctx context.Context, o OpsOptions) (err error) {
	if _, err := backendops.Arguments(o.Mode, "CPU", o.Op, o.Params); err != nil {
		return &UsageError{err}
	}
	checked, err := withChecks(o.Arm, o.Check)
	if err != nil {
		return &UsageError{err}
	}
	one, err := openSingle(ctx, ProgramOptions{Arm: checked, Device: o.Device}, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, one.Close()) }()
	w := one.w
	if o.Check != "" && !one.counted(one.arm) {
		return usage("check: %s does not compute on the simulated NPU, which has the checkers", one.arm.Label)
	}
	dir := o.Out
	if dir == "" {
		dir = filepath.Join(w.Root, "results", "ops")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	where := one.target.describe()
	log, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%s-%s-%s.log", time.Now().UTC().Format("20060102T150405.000Z"), o.Mode, fileWord(one.arm.Label))),
		os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	backend := backendOf(one.arm)
	w.Note("test-backend-ops %s of %s on %s, backend %s", o.Mode, one.arm.Label, where.Serial, backend)
	r, failure := one.operations(ctx, one.arm, o, opsTimeout, log)
	title := fmt.Sprintf("%s of %s (backend %s%s) on %s", map[backendops.Mode]string{backendops.Test: "correctness", backendops.Perf: "speed"}[o.Mode],
		one.arm.Label, backend, described(r.Description), where.Serial)
	if where.Simulated {
		title += " (simulated)"
	}
	if failure != nil {
		title = "INCOMPLETE " + title
	}
	expected, err := one.expected(r)
	if err != nil {
		return err
	}
	known := expected.failures(r)
	if failure == nil || len(r.Cases) > 0 {
		if _, err := w.Out.Write(report.Operations(r, known, title, where.Simulated, w.reportOptions())); err != nil {
			return err
		}
		fmt.Fprintf(w.Out, "\nLog: %s\n", log.Name())
	}
	var broken *OpsError
	if errors.As(failure, &broken) {
		broken.Log = log.Name()
	}
	if failure != nil {
		return failure
	}
	unexplained := 0
	if checks := one.arm.Settings["env.HEXSIM_CHECK"]; checks != "" {
		reports, err := checkerReports(log.Name())
		if err != nil {
			return err
		}
		unexplained = writeReports(w.Out, checks, reports, expected, r)
	}
	if err := casesError(r, known, backend); err != nil {
		return err
	}
	if unexplained > 0 {
		return fmt.Errorf("the checkers reported %d faults that %s does not explain", unexplained, findingsFile)
	}
	return nil
}

func described(text string) string {
	if text == "" {
		return ""
	}
	return ", " + text
}

var notInFileNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// fileWord makes a label part of a file name.
func fileWord(label string) string {
	word := notInFileNames.ReplaceAllString(label, "_")
	return word[:min(len(word), 60)]
}

// backendOf is the llama.cpp device that an arm computes on.
func backendOf(a bench.Arm) string {
	name, _, _ := strings.Cut(a.Settings["device"], "/")
	if name == "" || name == "none" {
		return "CPU"
	}
	return name
}

// operations runs test-backend-ops for an arm whose bundle is on the device.
// The error is an *OpsError when there is no whole report; what could be read
// of it is given all the same.
func (s *session) operations(ctx context.Context, a bench.Arm, o OpsOptions, limit time.Duration, log io.Writer) (backendops.Report, error) {
	backend := backendOf(a)
	args, err := backendops.Arguments(o.Mode, backend, o.Op, o.Params)
	if err != nil {
		return backendops.Report{}, &UsageError{err}
	}
	script := s.script(a, "./test-backend-ops", args)
	fmt.Fprintf(log, "# %s\n", script)
	timed, cancel := context.WithTimeoutCause(ctx, limit, errOpsTimeout)
	defer cancel()
	out := &cappedBuffer{limit: maxOpsOutput}
	tail := &tailWriter{}
	counter := newCaseCounter(s.w.Note, time.Now)
	defer every(ctx, silence/2, counter.remind)()
	exit, err := s.target.Run(timed, device.Command{
		Script: script, Stdout: io.MultiWriter(out, counter, log), Stderr: io.MultiWriter(tail, log),
	})
	r, parse := backendops.Parse(out.String(), backendops.Want{Mode: o.Mode, Backend: backend})
	if err != nil {
		return r, opsLost(ctx, err, parse)
	}
	fmt.Fprintf(log, "# status %d\n", exit.Status)
	return r, opsVerdict(r, exit.Status, tail.String(), parse)
}

// opsVerdict says whether the report is whole, and if not why.
func opsVerdict(r backendops.Report, status int, log string, parse error) error {
	if parse == nil {
		want := 0
		if r.Total().Failed > 0 {
			want = 1
		}
		if status == want {
			return nil
		}
	}
	words := log + "\n" + strings.Join(r.Other, "\n")
	var empty *backendops.NoCasesError
	var missing *backendops.BackendError
	switch {
	case errors.As(parse, &empty):
		return &OpsError{Outcome: bench.OutcomeMissingTest, Fault: bench.FaultVariant, Err: parse,
			Reason: "no case matches: operations have ggml's names, such as MUL_MAT"}
	case errors.As(parse, &missing):
		return &OpsError{Outcome: bench.OutcomeSessionError, Fault: bench.FaultVariant, Err: parse,
			Reason: "the backend did not load or has no device; see the log", Evidence: diagnose.Launch(1, words, nil).Evidence}
	case status != 0:
		finding := diagnose.Launch(status, words, nil)
		return &OpsError{Outcome: finding.Outcome, Fault: finding.Fault, Reason: finding.Reason, Evidence: finding.Evidence, Err: parse}
	case parse == nil:
		return &OpsError{Outcome: bench.OutcomeParseError, Fault: bench.FaultInfrastructure,
			Reason: fmt.Sprintf("%d cases failed, but the program ended with status %d", r.Total().Failed, status)}
	}
	return &OpsError{Outcome: bench.OutcomeParseError, Fault: bench.FaultInfrastructure, Reason: "its output can not be read", Err: parse}
}

// opsLost is for a run whose end is not known.
func opsLost(ctx context.Context, err, parse error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	e := &OpsError{Outcome: bench.OutcomeTransportLost, Fault: bench.FaultInfrastructure, Reason: err.Error(), Err: parse}
	var fault *device.Error
	switch {
	case errors.Is(err, errOpsTimeout):
		e.Outcome, e.Fault = bench.OutcomeTimeout, bench.FaultVariant
	case errors.As(err, &fault):
		e.Outcome, e.Fault, e.Evidence = fault.Outcome, fault.Fault, fault.Evidence
	}
	return e
}

// maxOpsOutput bounds what is kept of the report: all cases are about 3 MiB.
const maxOpsOutput = 64 << 20
