package adb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"hexab/internal/proc"
	"hexab/internal/shell"
)

// killTime bounds the attempt to end a command on the device.
const killTime = 15 * time.Second

// ShellOptions say how to run a command.
type ShellOptions = shell.Options

// Output is what came of a command on a device.
type Output struct {
	// Stdout and Stderr are text: each line ends in one newline, whatever
	// carriage returns the device added.
	Stdout, Stderr string
	// Truncated is set when more came than was to be kept.
	Truncated bool
	// Status is the exit status as the device's shell has it: 128+N for a
	// death by signal N.
	Status int
	// Wall is how long it took as seen from here.
	Wall time.Duration
	// CPU is the accounting that was asked for; nil when the device does not
	// tell.
	CPU *shell.Accounting
}

// Shell runs a script in the device's shell and waits for its end. The error
// is nil if and only if the script ran to its end and its exit status arrived,
// whatever that status is. When ctx ends first, the script and all that it
// started is ended on the device too; the error then wraps the context's cause
// and Output holds what came until then.
func (d *Device) Shell(ctx context.Context, script string, options ShellOptions) (Output, error) {
	run, err := d.newRun(ctx, script, options)
	if err != nil {
		return Output{Status: -1}, err
	}
	output, err := run.start(ctx)
	if pid, begun := run.script.Begun(); begun && KindOf(err) == KindCanceled {
		if killErr := d.kill(ctx, pid, run.script.Nonce); killErr != nil {
			err = errors.Join(err, killErr)
		}
	}
	return output, err
}

// Sh runs a script that must succeed and gives its standard output. A status
// other than zero is an *Error of KindStatus, or of a more telling kind.
func (d *Device) Sh(ctx context.Context, op, script string) (string, error) {
	output, err := d.Shell(ctx, script, ShellOptions{})
	if err != nil {
		var e *Error
		if errors.As(err, &e) && e.Op == opShell {
			e.Op = op
		}
		return "", err
	}
	if output.Truncated {
		return "", &Error{Op: op, Serial: d.serial, Kind: KindUnknown, Detail: fmt.Sprintf("more than %d bytes of output", shell.DefaultKeep)}
	}
	if output.Status != 0 {
		return output.Stdout, d.statusError(op, output)
	}
	return output.Stdout, nil
}

// statusError makes an error of a command's own failure.
func (d *Device) statusError(op string, output Output) *Error {
	lines := splitLines(output.Stderr + "\n" + output.Stdout)
	e := &Error{Op: op, Serial: d.serial, Kind: KindStatus, Detail: fmt.Sprintf("exit status %d", output.Status), Evidence: evidenceFrom(lines, "")}
	switch kind, evidence := classify(lines); kind {
	case KindNoSpace, KindDenied, KindNoFile:
		e.Kind, e.Evidence = kind, evidence
	}
	return e
}

const opShell = "shell"

// shellRun is one command on its way.
type shellRun struct {
	device *Device
	script *shell.Script
	v2     bool
}

func (d *Device) newRun(ctx context.Context, script string, options ShellOptions) (*shellRun, error) {
	v2, err := d.hasFeature(ctx, "shell_v2")
	if err != nil {
		return nil, err
	}
	// Without shell_v2 the daemon merges stderr into stdout.
	wrapped, err := shell.New(script, options, shell.Way{Merged: !v2, TempDir: d.TempDir})
	if err != nil {
		return nil, &Error{Op: opShell, Serial: d.serial, Kind: KindUnknown, Detail: err.Error()}
	}
	if !v2 && len(wrapped.Command) > maxOldCommand {
		wrapped.Command, err = d.asFile(ctx, wrapped.Command)
	}
	return &shellRun{device: d, script: wrapped, v2: v2}, err
}

// maxOldCommand is what adb takes for a device without shell_v2: 4 KiB with the
// service's name, else "error: shell command too long".
const maxOldCommand = 4<<10 - 64

// asFile puts a command that is too long into a file on the device, by shorter
// commands, and gives the command that runs and removes it.
func (d *Device) asFile(ctx context.Context, command string) (string, error) {
	remote := d.TempDir + "/.hexab-" + rand.Text() + ".sh"
	rest := "rm -f " + shell.Quote(remote) + "\n" + command
	for rest != "" {
		piece := firstLines(rest)
		rest = rest[len(piece):]
		if _, err := d.Sh(ctx, opShell, "printf %s "+shell.Quote(piece)+" >>"+shell.Quote(remote)); err != nil {
			return "", err
		}
	}
	return "exec sh " + shell.Quote(remote), nil
}

// pieceLength leaves room in an old command for what is put around a piece.
const pieceLength = maxOldCommand - 1000

// firstLines takes as many lines off the front of a text as fit into a command,
// in which they are quoted twice; at least a part of the first.
func firstLines(text string) string {
	fits := func(n int) bool { return len(shell.Quote(shell.Quote(text[:n]))) <= pieceLength }
	end := 0
	for end < len(text) {
		n := strings.IndexByte(text[end:], '\n') + 1
		if n == 0 {
			n = len(text) - end
		}
		if !fits(end + n) {
			break
		}
		end += n
	}
	if end > 0 {
		return text[:end]
	}
	for end = min(len(text), pieceLength); end > 1 && !fits(end); end /= 2 {
	}
	return text[:end]
}

// start runs the command to its end, or until ctx ends.
func (r *shellRun) start(ctx context.Context) (Output, error) {
	out, errs := proc.NewLines(r.script.Out), proc.NewLines(r.script.Err)
	result, err := r.device.client.run(ctx, proc.Command{Label: "adb shell", Stdout: out, Stderr: errs, Keep: 1}, "-s", r.device.serial, "shell", r.script.Command)
	_, _ = out.Close(), errs.Close()
	r.script.Close()
	output := Output{Stdout: r.script.Stdout(), Stderr: r.script.Stderr(), Truncated: r.script.Truncated(), Status: -1, Wall: result.Wall}
	if status, ended := r.script.Ended(); ended {
		output.Status, output.CPU = status, r.script.Accounting()
		return output, nil
	}
	return output, r.failure(ctx, result, err)
}

// failure concludes why no end marker came.
func (r *shellRun) failure(ctx context.Context, result proc.Result, err error) error {
	d := r.device
	e := d.client.failure(ctx, opShell, d.serial, r.script.Outside(), err)
	if e.Kind == KindCanceled || e.Kind == KindMissing {
		return e
	}
	d.forget() // what answers next under this serial may be another system
	if _, begun := r.script.Begun(); !begun {
		if e.Kind == KindUnknown {
			e.Kind, e.Detail = KindLost, "the device's shell did not answer"
		}
		return e
	}
	state, stateErr := d.client.stateOf(ctx, d.serial)
	e.Kind, e.Detail = KindLost, "the connection ended before the command did"
	switch {
	case stateErr == nil && state == StateDevice && r.v2 && err != nil && result.ExitCode >= 1:
		e.Kind = KindKilled
		e.Detail = fmt.Sprintf("the shell around the command ended with status %d", result.ExitCode)
	case stateErr == nil:
		e.Detail += "; the device is now: " + string(state)
	case KindOf(stateErr) == KindNotFound:
		e.Detail += "; the device is gone"
	}
	e.Evidence = append(e.Evidence, r.script.LastWords(3)...)
	return e
}

// kill ends on the device what a cancelled run started there, and verifies it.
func (d *Device) kill(ctx context.Context, pid int, nonce string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	return d.killMatching(ctx, pid, nonce)
}

// killMatching ends the process group of a shell whose command line holds the
// nonce, then every process that has the nonce in its command line or its
// environment.
func (d *Device) killMatching(ctx context.Context, group int, nonce string) error {
	script := shell.KillText(group, nonce, d.TempDir)
	run, err := d.newRun(ctx, script, ShellOptions{})
	if err != nil {
		return err
	}
	output, err := run.start(ctx)
	const op = "end the command on the device"
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			e.Op = op
		}
		return err
	}
	for _, line := range splitLines(output.Stdout) {
		if strings.HasPrefix(line, "left /proc/") {
			return &Error{Op: op, Serial: d.serial, Kind: KindStatus, Detail: "processes are left", Evidence: evidenceFrom(splitLines(output.Stdout), line)}
		}
	}
	return nil
}
