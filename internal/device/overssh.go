package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"hexab/internal/bench"
	"hexab/internal/shell"
	"hexab/internal/ssh"
)

// overSSH is a board behind sshd.
type overSSH struct {
	host *ssh.Host
	root string
}

// OverSSH connects to a board by OpenSSH. root is the folder on the board that
// hexab may use; empty is hexab in the user's home.
func OverSSH(ctx context.Context, client ssh.Client, target ssh.Target, root string) (Device, error) {
	host, err := client.Dial(ctx, target)
	if err != nil {
		return nil, explainSSH(ctx, SSHPrefix+target.String(), "connect", err)
	}
	d := &overSSH{host: host, root: root}
	made, err := d.start(ctx)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return made, nil
}

// SSHPrefix begins the serial of a device that is reached over SSH.
const SSHPrefix = "ssh:"

func (d *overSSH) start(ctx context.Context) (Device, error) {
	if d.root == "" {
		var out bytes.Buffer
		if _, err := d.Run(ctx, Command{Script: `cd && pwd -P`, Stdout: &out}); err != nil {
			return nil, err
		}
		home := strings.TrimSpace(out.String())
		if !path.IsAbs(home) || strings.Contains(home, "\n") {
			return nil, &Error{Op: "find the home folder", Serial: d.Serial(), Fault: bench.FaultDevice, Outcome: bench.OutcomeNotRun,
				Evidence: lines(home), Err: fmt.Errorf("%.80q is no folder", home)}
		}
		d.root = path.Join(home, "hexab")
	}
	return makeRoot(ctx, d)
}

func (d *overSSH) Serial() string { return SSHPrefix + d.host.Target().String() }
func (d *overSSH) Root() string   { return d.root }
func (d *overSSH) Close() error   { return d.host.Close() }

func (d *overSSH) Run(ctx context.Context, c Command) (Exit, error) {
	output, err := d.host.Run(ctx, c.Script, shell.Options{OnStdout: lineTo(c.Stdout), OnStderr: lineTo(c.Stderr), Keep: -1})
	if err != nil {
		return Exit{}, d.explain(ctx, "run a command", err)
	}
	return Exit{Status: output.Status, Wall: output.Wall}, nil
}

func (d *overSSH) Push(ctx context.Context, local, remote string) error {
	return d.explain(ctx, "push "+path.Base(remote), d.host.Push(ctx, local, remote))
}

func (d *overSSH) Pull(ctx context.Context, remote, local string) error {
	return d.explain(ctx, "pull "+path.Base(remote), d.host.Pull(ctx, remote, local))
}

func (d *overSSH) Await(ctx context.Context, interval time.Duration) error {
	return d.explain(ctx, "wait for the board", d.host.Await(ctx, interval))
}

func (d *overSSH) KillMarked(ctx context.Context, word string) error {
	return d.explain(ctx, "end what a killed run left", d.host.KillMarked(ctx, word))
}

func (d *overSSH) explain(ctx context.Context, op string, err error) error {
	return explainSSH(ctx, d.Serial(), op, err)
}

// explainSSH puts what ssh concluded in a device's terms: what it means for a
// launch that met it.
func explainSSH(ctx context.Context, serial, op string, err error) error {
	var known *ssh.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %s: %w", serial, op, err)
	case !errors.As(err, &known):
		return err
	}
	e := &Error{Op: op, Serial: serial, Fault: known.Fault(), Outcome: bench.OutcomeTransportLost,
		Retry: known.Retryable(), Evidence: known.Evidence, Err: err}
	switch known.Kind {
	case ssh.KindKilled:
		e.Outcome = bench.OutcomeKilled
	case ssh.KindNoSpace:
		e.Outcome = bench.OutcomeNoSpace
	}
	return e
}
