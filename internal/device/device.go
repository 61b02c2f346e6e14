// Package device is what a run takes place on, seen through a narrow
// interface: run a command, send a file, fetch a file. Everything else that a
// device can tell (what it is, how hot it is) is asked for by commands, so that
// a new kind of device is a handful of methods.
package device

import (
	"context"
	"fmt"
	"io"
	"time"

	"hexab/internal/bench"
	"hexab/internal/shell"
)

// Device is one phone, board or embedded phone. Its methods may be called from
// several goroutines.
type Device interface {
	// Serial names the device as its user names it.
	Serial() string
	// Root is the folder on the device below which hexab keeps everything,
	// such as /data/local/tmp/hexab. It is absolute and slash-separated.
	Root() string
	// Run runs a command and waits for its end. The error is nil when the
	// command's own exit status is known, whatever it is; otherwise it is an
	// *Error. Ending the context ends the command on the device as well.
	Run(ctx context.Context, c Command) (Exit, error)
	// Push copies a local file to a path on the device. It does not verify,
	// and may leave part of the file behind when it fails.
	Push(ctx context.Context, local, remote string) error
	// Pull copies a file of the device to a local path.
	Pull(ctx context.Context, remote, local string) error
	// Await waits until a command runs on the device again, connecting anew
	// where that takes it, and asks every interval until ctx ends. What only
	// a person can mend is an error at once.
	Await(ctx context.Context, interval time.Duration) error
	// KillMarked ends every process on the device that has the word in its
	// command line or environment: what a killed run left behind. The word
	// must be unmistakable, at least eight letters, digits or - _ . :
	KillMarked(ctx context.Context, word string) error
	// Close gives the device back.
	Close() error
}

// Command is what Run runs: a script for the device's shell.
type Command struct {
	// Script is text for a POSIX shell. Quote what comes from elsewhere.
	Script string
	// OfDevice tells that the script asks about the device as a whole, or sets
	// it up, and touches nothing below Root.
	OfDevice bool
	// Stdout and Stderr receive the output while it comes, CR removed at line
	// ends where the transport adds it; nil discards. They are never called at
	// the same time.
	Stdout, Stderr io.Writer
}

// Exit is how a command ended.
type Exit struct {
	// Status is the exit status; death by signal N reads 128+N.
	Status int
	// Wall is the time from start to end as seen from here.
	Wall time.Duration
}

// Error is a failure to learn how a command or a transfer ended, with whose
// fault it is.
type Error struct {
	// Op is what was attempted, for people.
	Op     string
	Serial string
	Fault  bench.Fault
	// Outcome is what a launch that met this error ended with.
	Outcome bench.Outcome
	// Retry tells that the same may succeed a little later.
	Retry bool
	// Evidence are the lines that this was concluded from.
	Evidence []string
	// Next is what a person can do; may be empty.
	Next string
	Err  error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s: %v", e.Serial, e.Op, e.Err)
	if e.Next != "" {
		text += "; " + e.Next
	}
	return text
}

// Unwrap gives the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// Quote makes s one word for a POSIX shell. It must not hold NUL.
func Quote(s string) string { return shell.Quote(s) }
