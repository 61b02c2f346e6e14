// Package adb runs the adb program: one client for an adb server, and a device
// for each serial. It is the only place that quotes for a device's shell, and
// it takes nothing on adb's word: a command has ended when the end marker with
// its exit status arrived, a file is there when its hash was verified on the
// device. Errors say whose fault they are and what to do.
package adb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"hexab/internal/proc"
)

// DefaultPort is the port of the adb server that a user's own adb uses.
const DefaultPort = 5037

// questionTime bounds the short questions to the server that are asked when
// something else has failed already.
const questionTime = 10 * time.Second

// Client talks to one adb server by running the adb program.
type Client struct {
	// Path is the adb program; empty is "adb" in PATH.
	Path string
	// ServerPort is the server's port on loopback; zero is DefaultPort.
	ServerPort int
	// Home replaces HOME, where adb keeps its keys; empty leaves it.
	Home string
	// Env is added to the environment of the adb program, as NAME=VALUE.
	Env []string
}

// run runs adb with the arguments. Its output is in the result's excerpts.
func (c *Client) run(ctx context.Context, command proc.Command, args ...string) (proc.Result, error) {
	command.Path = c.Path
	if command.Path == "" {
		command.Path = "adb"
	}
	port := c.ServerPort
	if port == 0 {
		port = DefaultPort
	}
	command.Args = append([]string{"-P", strconv.Itoa(port)}, args...)
	command.Env = c.Environ()
	if command.Grace == 0 {
		command.Grace = time.Second
	}
	return proc.Run(ctx, command)
}

// ask runs a short adb command and gives its standard output. A failure is an
// *Error, concluded from all that adb said.
func (c *Client) ask(ctx context.Context, op, serial string, args ...string) (string, error) {
	var out bytes.Buffer
	result, err := c.run(ctx, proc.Command{Stdout: &limitedBuffer{buffer: &out, room: 1 << 20}}, args...)
	if err != nil {
		return "", c.failure(ctx, op, serial, splitLines(result.Stderr.String()+"\n"+result.Stdout.String()), err)
	}
	return out.String(), nil
}

// failure makes an error of adb's words and of how adb ended.
func (c *Client) failure(ctx context.Context, op, serial string, lines []string, err error) *Error {
	e := &Error{Op: op, Serial: serial, Err: err}
	switch {
	case ctx.Err() != nil:
		e.Kind, e.Err = KindCanceled, context.Cause(ctx)
		return e
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		e.Kind = KindMissing
		return e
	}
	e.Kind, e.Evidence = classify(lines)
	if e.Kind == KindNotFound && serial != "" {
		e.Detail = c.present(ctx)
	}
	return e
}

// present lists the devices that are there, for the message that one is not.
func (c *Client) present(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), questionTime)
	defer cancel()
	list, err := c.Devices(ctx)
	if err != nil {
		return ""
	}
	return describe(list)
}

// Version is the adb program's own version line, for example
// "Android Debug Bridge version 1.0.41 (29.0.6-debian)".
func (c *Client) Version(ctx context.Context) (string, error) {
	out, err := c.ask(ctx, "adb version", "", "version")
	if err != nil {
		return "", err
	}
	lines := splitLines(out)
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "Android Debug Bridge version") {
		return "", &Error{Op: "adb version", Kind: KindUnknown, Detail: "this is not adb", Evidence: evidenceFrom(lines, "")}
	}
	if len(lines) > 1 {
		if version, ok := strings.CutPrefix(lines[1], "Version "); ok {
			return fmt.Sprintf("%s (%s)", lines[0], version), nil
		}
	}
	return lines[0], nil
}

// StartServer starts the server unless one answers already.
func (c *Client) StartServer(ctx context.Context) error {
	_, err := c.ask(ctx, "start the adb server", "", "start-server")
	return err
}

// KillServer ends the server. It is for servers that hexab started itself:
// never call it on a user's own.
func (c *Client) KillServer(ctx context.Context) error {
	_, err := c.ask(ctx, "end the adb server", "", "kill-server")
	return err
}

// Connect connects to a device by network address, host:port. adb says that it
// failed only in words.
func (c *Client) Connect(ctx context.Context, address string) error {
	out, err := c.ask(ctx, "connect", address, "connect", address)
	if err != nil {
		return err
	}
	lines := splitLines(out)
	for _, line := range lines {
		if strings.HasPrefix(line, "connected to ") || strings.HasPrefix(line, "already connected to ") {
			return nil
		}
	}
	kind, evidence := classify(lines)
	if kind != KindUnauthorized && kind != KindOffline {
		kind = KindConnect
	}
	return &Error{Op: "connect", Serial: address, Kind: kind, Evidence: evidence}
}

// Disconnect ends the connection to a network address.
func (c *Client) Disconnect(ctx context.Context, address string) error {
	_, err := c.ask(ctx, "disconnect", address, "disconnect", address)
	return err
}

// Devices lists what the server sees, in its order.
func (c *Client) Devices(ctx context.Context) ([]Listed, error) {
	out, err := c.ask(ctx, "list devices", "", "devices", "-l")
	if err != nil {
		return nil, err
	}
	return ParseDevices(out)
}

// splitLines gives the lines that are not blank, without CR and blanks around.
func splitLines(text string) []string {
	var lines []string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// limitedBuffer keeps the beginning of a stream and counts the rest.
type limitedBuffer struct {
	buffer  *bytes.Buffer
	room    int
	dropped int64
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), l.room)
	l.buffer.Write(p[:n])
	l.room -= n
	l.dropped += int64(len(p) - n)
	return len(p), nil
}
