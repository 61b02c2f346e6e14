package device

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"hexab/internal/adb"
	"hexab/internal/bench"
	"hexab/internal/shell"
)

// RunAsPrefix begins a root that is an app's own folder, such as
// run-as:com.example.app.
const RunAsPrefix = "run-as:"

// packageName is Android's rule for the names of applications.
var packageName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$`)

// CheckPackage refuses what is no name of an Android application.
func CheckPackage(name string) error {
	if !packageName.MatchString(name) {
		return fmt.Errorf("%q is no name of an application, such as com.example.app", name)
	}
	return nil
}

// stageFolder is where files wait on their way into an app's folder, which the
// shell's user, adb's, may not enter.
const stageFolder = "/data/local/tmp"

// runAs is a phone on which everything lies in the folder of an app and runs as
// its user, by Android's run-as. What asks about the phone as a whole stays
// with the shell's user: an app may not.
type runAs struct {
	*overADB // the shell's user
	app      string
}

// OverRunAs gives the phone of a serial with hexab's folder in the one of an
// app, which must be installed and debuggable.
func OverRunAs(ctx context.Context, client *adb.Client, serial, app string) (Device, error) {
	if err := CheckPackage(app); err != nil {
		return nil, err
	}
	d := &runAs{&overADB{adb: client.Device(serial)}, app}
	var out bytes.Buffer
	exit, err := d.overADB.Run(ctx, Command{Script: "run-as " + app + " pwd", Stdout: &out, Stderr: &out})
	if err != nil {
		return nil, err
	}
	home := strings.TrimSpace(out.String())
	if exit.Status != 0 || !path.IsAbs(home) || strings.ContainsAny(home, "\r\n") {
		return nil, &Error{Op: "run as " + app, Serial: serial, Fault: bench.FaultDevice, Outcome: bench.OutcomeNotRun,
			Evidence: lines(home), Err: errors.New(shell.Clean(home)), Next: "the app has to be installed, and its manifest has to say android:debuggable"}
	}
	d.root = path.Join(home, "hexab")
	return makeRoot(ctx, d)
}

// Run runs the script as the app, or as the shell's user where the phone as a
// whole is meant.
func (d *runAs) Run(ctx context.Context, c Command) (Exit, error) {
	if c.OfDevice {
		return d.overADB.Run(ctx, c)
	}
	word := "hexab-app-" + rand.Text()
	inner := c
	inner.Script = "exec " + d.as("export HEXAB_RUN_AS="+word+"\n"+c.Script)
	exit, err := d.overADB.Run(ctx, inner)
	if err != nil && ctx.Err() != nil {
		// The shell's user may not end what is the app's.
		err = errors.Join(err, d.end(context.WithoutCancel(ctx), word))
	}
	return exit, err
}

func (d *runAs) as(script string) string { return "run-as " + d.app + " sh -c " + Quote(script) }

// endTime bounds the attempt to end an app's processes.
const endTime = 15 * time.Second

// end ends the app's processes that carry the word.
func (d *runAs) end(ctx context.Context, word string) error {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	return d.do(ctx, d.overADB, "end the app's processes", d.as(shell.KillText(0, word, stageFolder))+" | grep '^left /proc/' && exit 1; true")
}

// KillMarked ends the processes of the shell's user and of the app.
func (d *runAs) KillMarked(ctx context.Context, word string) error {
	return errors.Join(d.overADB.KillMarked(ctx, word), d.end(ctx, word))
}

// Push sends the file to a place that both users reach, and copies it as the
// app. While it does, the file is on the phone twice.
func (d *runAs) Push(ctx context.Context, local, remote string) error {
	stage := path.Join(stageFolder, ".hexab-stage-"+rand.Text())
	defer d.unstage(ctx, stage)
	if err := d.overADB.Push(ctx, local, stage); err != nil {
		return err
	}
	if err := d.do(ctx, d.overADB, "push "+path.Base(remote), "chmod 644 "+stage); err != nil {
		return err
	}
	return d.do(ctx, d, "push "+path.Base(remote), "cp "+stage+" "+Quote(remote))
}

// Pull goes the other way.
func (d *runAs) Pull(ctx context.Context, remote, local string) error {
	stage := path.Join(stageFolder, ".hexab-stage-"+rand.Text())
	defer d.unstage(ctx, stage)
	if err := d.do(ctx, d.overADB, "pull "+path.Base(remote), d.as("cat "+Quote(remote))+" >"+stage); err != nil {
		return err
	}
	return d.overADB.Pull(ctx, stage, local)
}

func (d *runAs) unstage(ctx context.Context, stage string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	_ = d.do(ctx, d.overADB, "remove a temporary file", "rm -f "+stage) // as well as it can
}

// do runs a script that must succeed.
func (d *runAs) do(ctx context.Context, user interface {
	Run(context.Context, Command) (Exit, error)
}, op, script string) error {
	var out bytes.Buffer
	exit, err := user.Run(ctx, Command{Script: script, Stdout: &out, Stderr: &out})
	if err != nil || exit.Status == 0 {
		return err
	}
	e := Refused(op, d.Serial(), out.String(), fmt.Errorf("status %d", exit.Status))
	if e.Outcome == bench.OutcomeNoSpace {
		e.Next += " (a file on its way into an app's folder is there twice)"
	}
	return e
}
