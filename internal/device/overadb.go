package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"hexab/internal/adb"
	"hexab/internal/bench"
	"hexab/internal/proc"
)

// overADB is a device behind an adb server.
type overADB struct {
	client *adb.Client
	serial string
	root   string
	adb    *adb.Device
}

// OverADB gives the device of a serial behind an adb server. root is the folder
// on the device that hexab may use, such as /data/local/tmp/hexab.
func OverADB(ctx context.Context, client *adb.Client, serial, root string) (Device, error) {
	d := &overADB{client: client, serial: serial, root: root, adb: client.Device(serial)}
	var out bytes.Buffer
	exit, err := d.Run(ctx, Command{Script: "mkdir -p " + Quote(root), Stdout: &out, Stderr: &out})
	if err != nil {
		return nil, err
	}
	if exit.Status != 0 {
		return nil, &Error{Op: "make " + root, Serial: serial, Fault: bench.FaultDevice, Outcome: bench.OutcomeNotRun,
			Evidence: lines(out.String()), Err: errors.New(strings.TrimSpace(out.String())), Next: "free some space, or name another folder"}
	}
	return d, nil
}

func (d *overADB) Serial() string { return d.serial }
func (d *overADB) Root() string   { return d.root }
func (d *overADB) Close() error   { return nil }

// command is an adb client for this device.
func (d *overADB) command(args ...string) proc.Command {
	program := d.client.Path
	if program == "" {
		program = "adb"
	}
	var all []string
	if d.client.ServerPort != 0 {
		all = append(all, "-P", strconv.Itoa(d.client.ServerPort))
	}
	all = append(append(all, "-s", d.serial), args...)
	return proc.Command{Path: program, Args: all, Env: d.client.Environ(), Grace: 2 * time.Second}
}

// Run runs the script in the device's own session for it, so that a phone's
// accounts of the session hold it too, and takes nothing but the end marker as
// proof of its end: the adb client exits 0 when a device vanishes.
func (d *overADB) Run(ctx context.Context, c Command) (Exit, error) {
	output, err := d.adb.Shell(ctx, c.Script, adb.ShellOptions{OnStdout: lineTo(c.Stdout), OnStderr: lineTo(c.Stderr), Keep: -1})
	exit := Exit{Status: output.Status, Wall: output.Wall}
	var known *adb.Error
	switch {
	case err == nil:
		return exit, nil
	case ctx.Err() != nil:
		return Exit{}, fmt.Errorf("%s: %w", d.serial, err)
	case errors.As(err, &known):
		e := &Error{Op: "run a command", Serial: d.serial, Fault: known.Fault(), Outcome: bench.OutcomeTransportLost,
			Retry: known.Retryable(), Evidence: known.Evidence, Err: err}
		if known.Kind == adb.KindKilled {
			e.Outcome = bench.OutcomeKilled
		}
		return Exit{}, e
	}
	return Exit{}, err
}

// lineTo writes lines to w.
func lineTo(w io.Writer) func(string) {
	if w == nil {
		return nil
	}
	return func(line string) { _, _ = io.WriteString(w, line+"\n") } // a command is not ended because its output can not be kept
}

func (d *overADB) Push(ctx context.Context, local, remote string) error {
	return d.transfer(ctx, "push "+path.Base(remote), "push", local, remote)
}

func (d *overADB) Pull(ctx context.Context, remote, local string) error {
	return d.transfer(ctx, "pull "+path.Base(remote), "pull", remote, local)
}

func (d *overADB) transfer(ctx context.Context, op string, args ...string) error {
	result, err := proc.Run(ctx, d.command(args...))
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %s: %w", d.serial, op, context.Cause(ctx))
	}
	return d.explain(ctx, op, result, err)
}

// explain says whose fault it is that an adb client did not do its work: by
// what it said, and else by what the server now sees of the device.
func (d *overADB) explain(ctx context.Context, op string, result proc.Result, err error) error {
	text := strings.TrimSpace(result.Stderr.String() + "\n" + result.Stdout.String())
	e := &Error{Op: op, Serial: d.serial, Fault: bench.FaultInfrastructure, Outcome: bench.OutcomeTransportLost, Retry: true, Evidence: lines(text), Err: err}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %s: %w", d.serial, op, context.Cause(ctx))
	}
	if strings.Contains(text, "No space left") || strings.Contains(text, "no space left") {
		e.Fault, e.Outcome, e.Retry = bench.FaultDevice, bench.OutcomeNoSpace, false
		e.Err, e.Next = errors.New("no space left on the device"), "free some space on the device"
		return e
	}
	var known *adb.Error
	if state := d.state(ctx); errors.As(state, &known) {
		e.Fault, e.Retry, e.Next, e.Err = known.Fault(), known.Retryable(), known.Next(), state
		return e
	}
	if e.Err == nil {
		e.Err = errors.New("the connection ended before the command did")
	}
	e.Next = "check the cable and the adb server, then resume"
	return e
}

// state is nil when the server sees the device ready.
func (d *overADB) state(ctx context.Context) error {
	listed, err := d.client.Devices(ctx)
	if err != nil {
		return err
	}
	for _, l := range listed {
		if l.Serial == d.serial {
			return l.Err()
		}
	}
	return &adb.Error{Op: "find the device", Serial: d.serial, Kind: adb.KindNotFound}
}

// lines are the last few lines of a text that are not blank.
func lines(text string) []string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			kept = append(kept, line)
		}
	}
	return kept[max(0, len(kept)-8):]
}
