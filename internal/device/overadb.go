package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"hexab/internal/adb"
	"hexab/internal/bench"
)

// overADB is a device behind an adb server.
type overADB struct {
	adb  *adb.Device
	root string
}

// OverADB gives the device of a serial behind an adb server. root is the folder
// on the device that hexab may use, such as /data/local/tmp/hexab.
func OverADB(ctx context.Context, client *adb.Client, serial, root string) (Device, error) {
	return makeRoot(ctx, &overADB{adb: client.Device(serial), root: root})
}

// makeRoot makes the folder that hexab may use.
func makeRoot(ctx context.Context, d Device) (Device, error) {
	var out bytes.Buffer
	exit, err := d.Run(ctx, Command{Script: "mkdir -p " + Quote(d.Root()), Stdout: &out, Stderr: &out})
	if err != nil {
		return nil, err
	}
	if exit.Status != 0 {
		e := Refused("make "+d.Root(), d.Serial(), out.String(), fmt.Errorf("status %d", exit.Status))
		if e.Next == "" {
			e.Next = "name another folder with -root="
		}
		return nil, e
	}
	return d, nil
}

func (d *overADB) Serial() string { return d.adb.Serial() }
func (d *overADB) Root() string   { return d.root }
func (d *overADB) Close() error   { return nil }

// Run runs the script in the device's own session for it, so that a phone's
// accounts of the session hold it too, and takes nothing but the end marker as
// proof of its end: the adb client exits 0 when a device vanishes.
func (d *overADB) Run(ctx context.Context, c Command) (Exit, error) {
	output, err := d.adb.Shell(ctx, c.Script, adb.ShellOptions{OnStdout: lineTo(c.Stdout), OnStderr: lineTo(c.Stderr), Keep: -1})
	if err != nil {
		return Exit{}, d.explain(ctx, "run a command", err)
	}
	return Exit{Status: output.Status, Wall: output.Wall}, nil
}

// lineTo writes lines to w.
func lineTo(w io.Writer) func(string) {
	if w == nil {
		return nil
	}
	return func(line string) { _, _ = io.WriteString(w, line+"\n") } // a command is not ended because its output can not be kept
}

func (d *overADB) Push(ctx context.Context, local, remote string) error {
	return d.explain(ctx, "push "+path.Base(remote), d.adb.Send(ctx, local, remote))
}

func (d *overADB) Pull(ctx context.Context, remote, local string) error {
	return d.explain(ctx, "pull "+path.Base(remote), d.adb.Pull(ctx, remote, local))
}

func (d *overADB) Await(ctx context.Context, interval time.Duration) error {
	return d.explain(ctx, "wait for the device", d.adb.WaitReady(ctx, interval))
}

func (d *overADB) KillMarked(ctx context.Context, word string) error {
	return d.explain(ctx, "end what a killed run left", d.adb.KillMarked(ctx, word))
}

// explain puts what adb concluded in a device's terms: what it means for a
// launch that met it.
func (d *overADB) explain(ctx context.Context, op string, err error) error {
	var known *adb.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %s: %w", d.Serial(), op, err)
	case !errors.As(err, &known):
		return err
	}
	e := &Error{Op: op, Serial: d.Serial(), Fault: known.Fault(), Outcome: bench.OutcomeTransportLost,
		Retry: known.Retryable(), Evidence: known.Evidence, Err: err}
	switch known.Kind {
	case adb.KindKilled:
		e.Outcome = bench.OutcomeKilled
	case adb.KindNoSpace:
		e.Outcome = bench.OutcomeNoSpace
	}
	return e
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
