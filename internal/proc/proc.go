// Package proc runs child processes to their end: each in a process group of
// its own that does not outlive it, ended with its context, its output copied
// on and the beginning and the end of it kept for error messages.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// DefaultGrace is how long a cancelled command may take to end by itself.
const DefaultGrace = 5 * time.Second

// pipeWait bounds the wait for output after the group has ended. Only a
// process that left the group (a daemon) can hold a pipe open that long.
const pipeWait = 2 * time.Second

// Command says what to run.
type Command struct {
	// Path is the program: a path, or a name to be found in PATH.
	Path string
	// Args are the arguments after the program's name.
	Args []string
	// Label stands for the command in messages; empty is the command line.
	Label string
	// Dir is the working folder; empty is the caller's.
	Dir string
	// Env is the whole environment as NAME=VALUE, the last of a name counting;
	// nil inherits the caller's.
	Env []string
	// Stdin is what the command reads; nil is the null device. A reader that
	// is no *os.File must not block for ever: nothing can end its Read.
	Stdin io.Reader
	// Stdout and Stderr receive the output as it comes; nil discards it. They
	// are never written to at the same time, so they may be the same writer.
	// An error from either closes that stream and is reported by Run.
	Stdout, Stderr io.Writer
	// StdoutFile, where it is set, is the command's standard output itself, in
	// place of Stdout: for much output, of which no excerpt is kept.
	StdoutFile *os.File
	// StopSignal is sent to the group when the context ends; zero is SIGTERM.
	StopSignal syscall.Signal
	// Grace is the time from the stop signal to SIGKILL; zero is DefaultGrace.
	Grace time.Duration
	// Keep bounds each of the four excerpts of the output (head and tail of
	// both streams), in bytes; zero is DefaultKeep.
	Keep int
}

// String is the label, or the command as a person would type it: for messages
// only.
func (c Command) String() string {
	if c.Label != "" {
		return c.Label
	}
	return strings.Join(append([]string{filepath.Base(c.Path)}, c.Args...), " ")
}

// Result is how a command ended.
type Result struct {
	// ExitCode is the exit status, or -1 when a signal ended the command.
	ExitCode int
	// Signal is what ended the command, or zero.
	Signal syscall.Signal
	// Wall is the time from start to end; User and System are the CPU time of
	// the command and the children it waited for.
	Wall, User, System time.Duration
	// Stdout and Stderr are excerpts of the output.
	Stdout, Stderr Excerpt
}

// ShellStatus is the status as shells have it: 128+N after a death by signal N.
func (r Result) ShellStatus() int {
	if r.Signal != 0 {
		return 128 + int(r.Signal)
	}
	return r.ExitCode
}

// Error is a command that was started and did not end well.
type Error struct {
	// Command is the command for people.
	Command string
	Result  Result
	// Cause is why the command was stopped (the context's cause), or what went
	// wrong with its output; nil when it failed by itself.
	Cause error
}

// Error names the command, its status and the last line that it said.
func (e *Error) Error() string {
	var how string
	switch {
	case e.Cause != nil:
		how = e.Cause.Error()
	case e.Result.Signal != 0:
		how = fmt.Sprintf("ended by signal %d (%s)", int(e.Result.Signal), unix.SignalName(e.Result.Signal))
	default:
		how = fmt.Sprintf("exit status %d", e.Result.ExitCode)
	}
	line := e.Result.Stderr.LastLine()
	if line == "" {
		line = e.Result.Stdout.LastLine()
	}
	if line != "" {
		how += ": " + line
	}
	return e.Command + ": " + how
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Run starts the command and waits for its end. When ctx ends first, the whole
// process group gets the stop signal, and SIGKILL after the grace period. When
// Run returns, the command is reaped and what was left of its group is killed.
//
// The error is nil only for exit status zero. It is an *Error when the command
// ran, and wraps the start's error (exec.ErrNotFound, fs.ErrPermission) when
// it could not be started.
func Run(ctx context.Context, c Command) (Result, error) {
	if ctx.Err() != nil {
		return Result{ExitCode: -1}, fmt.Errorf("%s: not started: %w", c, context.Cause(ctx))
	}
	// The kernel sends the parent-death signal when the thread that forked
	// ends, so the thread must stay as long as the child does.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	stop := c.StopSignal
	if stop == 0 {
		stop = syscall.SIGTERM
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, c.Stdin
	cmd.WaitDelay = pipeWait
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: stop}
	var writing sync.Mutex
	stdout := &tee{mu: &writing, to: c.Stdout, kept: newKeeper(c.Keep)}
	stderr := &tee{mu: &writing, to: c.Stderr, kept: newKeeper(c.Keep)}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if c.StdoutFile != nil {
		cmd.Stdout = c.StdoutFile
	}

	started := time.Now()
	if err := cmd.Start(); err != nil {
		return Result{ExitCode: -1}, fmt.Errorf("start %s: %w", c, err)
	}
	stopped := supervise(ctx, cmd.Process.Pid, stop, c.Grace)
	waitErr := cmd.Wait()

	result := Result{ExitCode: -1, Wall: time.Since(started), Stdout: stdout.kept.excerpt(), Stderr: stderr.kept.excerpt()}
	if state := cmd.ProcessState; state != nil {
		result.ExitCode, result.User, result.System = state.ExitCode(), state.UserTime(), state.SystemTime()
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			result.Signal = status.Signal()
		}
	}
	failed := &Error{Command: c.String(), Result: result}
	var exit *exec.ExitError
	switch {
	case stopped:
		failed.Cause = context.Cause(ctx)
	case errors.As(waitErr, &exit):
	case waitErr != nil && !errors.Is(waitErr, exec.ErrWaitDelay):
		failed.Cause = waitErr
	default:
		return result, nil
	}
	return result, failed
}

// supervise waits until the process pid is a zombie, stopping its group when
// ctx ends first, and kills what is left of the group. The leader is reaped by
// the caller afterwards, so that the group's number can not have been reused.
// It tells whether the context ended the command.
func supervise(ctx context.Context, pid int, stop syscall.Signal, grace time.Duration) bool {
	if grace <= 0 {
		grace = DefaultGrace
	}
	exited, done := make(chan struct{}), make(chan bool)
	go func() {
		select {
		case <-exited:
			done <- false
			return
		case <-ctx.Done():
		}
		_ = syscall.Kill(-pid, stop)
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-exited:
		case <-timer.C:
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		}
		done <- true
	}()
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	close(exited)
	stopped := <-done
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	return stopped
}

// tee keeps an excerpt of a stream and passes it on.
type tee struct {
	mu   *sync.Mutex
	to   io.Writer
	kept *keeper
}

func (t *tee) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept.write(p)
	if t.to == nil {
		return len(p), nil
	}
	return t.to.Write(p)
}
