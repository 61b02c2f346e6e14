package adb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"hexab/internal/proc"
)

// DefaultKeep is how much of each stream a command's Output keeps, in bytes.
const DefaultKeep = 4 << 20

// killTime bounds the attempt to end a command on the device.
const killTime = 15 * time.Second

// ShellOptions say how to run a command.
type ShellOptions struct {
	// OnStdout and OnStderr are called for each line as it comes, without its
	// end; never both at once. Without shell_v2 (old devices) the lines of
	// stderr come when the command has ended.
	OnStdout, OnStderr func(line string)
	// Keep bounds what Output keeps of each stream, in bytes; zero is
	// DefaultKeep, negative keeps nothing.
	Keep int
	// Account asks for Output.CPU.
	Account bool
	// Env is exported to the command.
	Env map[string]string
}

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
	CPU *Accounting
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
	if KindOf(err) == KindCanceled && run.stdout.begun {
		if killErr := d.kill(ctx, run); killErr != nil {
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
		return "", &Error{Op: op, Serial: d.serial, Kind: KindUnknown, Detail: fmt.Sprintf("more than %d bytes of output", DefaultKeep)}
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
	device         *Device
	nonce          string
	command        string
	options        ShellOptions
	v2             bool
	stdout, stderr *stream
	demux          *demux
}

func (d *Device) newRun(ctx context.Context, script string, options ShellOptions) (*shellRun, error) {
	if strings.ContainsRune(script, 0) {
		return nil, &Error{Op: opShell, Serial: d.serial, Kind: KindUnknown, Detail: "the command holds a NUL byte"}
	}
	exports, err := exportEnv(options.Env)
	if err != nil {
		return nil, err
	}
	v2, err := d.hasFeature(ctx, "shell_v2")
	if err != nil {
		return nil, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	r := &shellRun{device: d, nonce: "hexab-" + hex.EncodeToString(random[:]), options: options, v2: v2}
	r.stdout, r.stderr = newStream(options.OnStdout, options.Keep), newStream(options.OnStderr, options.Keep)
	r.demux = newDemux(r.nonce, r.stdout, r.stderr, v2)
	r.command = wrap(r.nonce, exports+script, d.TempDir, v2, options.Account)
	return r, nil
}

// wrap puts the protocol around a script, see demux. The script runs in a
// shell of its own, so that neither `exit` nor an error of syntax nor a signal
// to $$ skips the end marker, and with an empty stdin. On old devices stderr goes to a file, since the daemon would
// merge it into stdout.
func wrap(nonce, script, tempDir string, v2, account bool) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	// The nonce is never in the text as the markers print it, so that a
	// process list among the output can not look like one.
	line("m=%s; export HEXAB_SHELL=$m", nonce)
	line(`echo "$m begin $$"`)
	if v2 {
		line(`echo "$m begin $$" >&2`)
	} else {
		line(`e=%s`, Quote(tempDir+"/."+nonce+".err"))
		line(`(: >"$e") 2>/dev/null || e=/dev/null`)
		line(`exec 2>"$e"`) // the shell's own words on a crash as well
	}
	if account {
		line(`read -r l 2>/dev/null </proc/stat && echo "$m stat $l"`)
	}
	line("sh -c %s </dev/null", Quote(script))
	line("s=$?; echo")
	if account {
		line(`read -r l 2>/dev/null </proc/stat && echo "$m stat $l"`)
		line(`echo "$m times"; times`) // of children: the script's alone
	}
	if v2 {
		line(`echo "$m end $s"; { echo; echo "$m end $s"; } >&2`)
	} else {
		line(`echo "$m err"; cat "$e"; [ "$e" = /dev/null ] || rm -f "$e"; echo; echo "$m end $s"`)
	}
	return b.String()
}

// start runs the command to its end, or until ctx ends.
func (r *shellRun) start(ctx context.Context) (Output, error) {
	out, errs := proc.NewLines(r.demux.out), proc.NewLines(r.demux.err)
	result, err := r.device.client.run(ctx, proc.Command{Label: "adb shell", Stdout: out, Stderr: errs, Keep: 1}, "-s", r.device.serial, "shell", r.command)
	_, _ = out.Close(), errs.Close()
	r.demux.close()
	output := Output{
		Stdout: r.stdout.kept.String(), Stderr: r.stderr.kept.String(), Truncated: r.stdout.truncated || r.stderr.truncated,
		Status: -1, Wall: result.Wall,
	}
	if r.demux.ended() {
		output.Status = r.demux.status
		if r.options.Account {
			output.CPU = r.demux.accounting()
		}
		return output, nil
	}
	return output, r.failure(ctx, result, err)
}

// failure concludes why no end marker came.
func (r *shellRun) failure(ctx context.Context, result proc.Result, err error) error {
	d := r.device
	e := d.client.failure(ctx, opShell, d.serial, r.demux.outside, err)
	if e.Kind == KindCanceled || e.Kind == KindMissing {
		return e
	}
	d.forget() // what answers next under this serial may be another system
	if !r.stdout.begun {
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
	e.Evidence = append(e.Evidence, r.stderr.lastLines(3)...)
	return e
}

// kill ends on the device what a cancelled run started there, and verifies it.
func (d *Device) kill(ctx context.Context, r *shellRun) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	return d.killMatching(ctx, r.stdout.pid, r.nonce)
}

// killMatching ends the process group of a shell whose command line holds the
// nonce, then every process that has the nonce in its command line or its
// environment.
func (d *Device) killMatching(ctx context.Context, group int, nonce string) error {
	// In brackets the last letter still matches, but not this command itself.
	pattern := nonce[:len(nonce)-1] + "[" + nonce[len(nonce)-1:] + "]"
	script := fmt.Sprintf(`g=%d; n=%s
if [ $g -gt 1 ] && grep -q "$n" /proc/$g/cmdline 2>/dev/null; then
kill -TERM -$g; kill -CONT -$g; i=0
while [ $i -lt 20 ] && kill -0 -$g 2>/dev/null; do sleep 0.05; i=$((i+1)); done
kill -KILL -$g
fi 2>/dev/null
i=0
while [ $i -lt 20 ]; do
left=$(grep -l -e "$n" /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null)
[ -z "$left" ] && break
for f in $left; do p=${f#/proc/}; kill -KILL ${p%%/*} 2>/dev/null; done
sleep 0.05; i=$((i+1))
done
rm -f %s/.$n.err 2>/dev/null
for f in $left; do echo "left $f"; done`, group, pattern, Quote(d.TempDir))
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
