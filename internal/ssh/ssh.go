// Package ssh reaches a Linux board by the system's OpenSSH client: commands
// by ssh, files by sftp, so that a user's own configuration, keys, agent and
// known hosts count. One connection is kept open and shared by all commands.
package ssh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"hexab/internal/proc"
	"hexab/internal/shell"
)

// Target is whom to reach.
type Target struct {
	// User is empty for whom the user's configuration names.
	User string
	// Host is a name, an address, or a Host of the user's configuration.
	Host string
	// Port is zero for what the configuration says.
	Port int
}

var (
	userName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)
	hostName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:%-]{0,252}$`)
)

// ParseTarget parses [user@]host[:port]; an IPv6 address with a port stands in
// brackets.
func ParseTarget(text string) (Target, error) {
	t := Target{Host: text}
	if user, host, ok := strings.Cut(text, "@"); ok {
		t.User, t.Host = user, host
		if !userName.MatchString(user) {
			return Target{}, fmt.Errorf("%q is not a user's name", user)
		}
	}
	if host, port, err := net.SplitHostPort(t.Host); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return Target{}, fmt.Errorf("%q is not a port", port)
		}
		t.Host, t.Port = host, int(n)
	}
	if inner, ok := strings.CutPrefix(t.Host, "["); ok && strings.HasSuffix(inner, "]") {
		t.Host = inner[:len(inner)-1]
	}
	_, notIP := netip.ParseAddr(t.Host)
	if !hostName.MatchString(t.Host) || strings.Contains(t.Host, ":") && notIP != nil {
		return Target{}, fmt.Errorf("%q is not a host (want user@host or user@host:port)", t.Host)
	}
	return t, nil
}

// String is the target as it is typed.
func (t Target) String() string {
	text := t.Host
	if t.Port != 0 {
		text = net.JoinHostPort(t.Host, strconv.Itoa(t.Port))
	}
	if t.User != "" {
		text = t.User + "@" + text
	}
	return text
}

// Client is the OpenSSH programs.
type Client struct {
	// SSH and SFTP are the programs; empty finds "ssh" and "sftp" in PATH.
	SSH, SFTP string
	// Options are arguments put before all others, such as -F and a file.
	Options []string
}

// Time limits of a connection, in seconds: to make it, and to notice that it
// is dead.
const (
	connectSeconds = 10
	aliveSeconds   = 3
	aliveCount     = 3
)

// killTime bounds the attempt to end a command on the board.
const killTime = 15 * time.Second

// Host is one board. Its methods may be called from several goroutines.
type Host struct {
	client Client
	target Target
	folder string // of the control socket

	mu     sync.Mutex
	master *master
	// left are words of commands whose end is not known: what they started is
	// ended before the next command.
	left []string
}

// Dial connects to a board.
func (c Client) Dial(ctx context.Context, t Target) (*Host, error) {
	folder, err := socketFolder()
	if err != nil {
		return nil, err
	}
	h := &Host{client: c, target: t, folder: folder}
	if err := h.connect(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// socketFolder makes a folder whose path leaves room for a socket: the kernel
// allows 108 bytes, and ssh adds 17 while it makes one.
func socketFolder() (string, error) {
	folder, err := os.MkdirTemp("", "hexab-ssh-")
	if err == nil && len(folder) > 80 {
		_ = os.Remove(folder)
		folder, err = os.MkdirTemp("/tmp", "hexab-ssh-")
	}
	return folder, err
}

// Target is whom the host was dialled as.
func (h *Host) Target() Target { return h.target }

// Close ends the connection.
func (h *Host) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.master != nil {
		h.master.end()
		h.master = nil
	}
	return os.RemoveAll(h.folder)
}

// master is the process that holds the connection.
type master struct {
	cancel context.CancelFunc
	ended  chan struct{}
	// lines and err are what it said and how it ended; valid when ended is closed.
	lines []string
	err   error
}

func (m *master) alive() bool {
	select {
	case <-m.ended:
		return false
	default:
		return true
	}
}

func (m *master) end() {
	m.cancel()
	<-m.ended
}

func (h *Host) socket() string { return filepath.Join(h.folder, "m") }

// arguments are common to ssh and sftp.
func (h *Host) arguments(master string) []string {
	args := append([]string{}, h.client.Options...)
	args = append(args,
		"-o", "BatchMode=yes", "-o", "ConnectTimeout="+strconv.Itoa(connectSeconds),
		"-o", "ServerAliveInterval="+strconv.Itoa(aliveSeconds), "-o", "ServerAliveCountMax="+strconv.Itoa(aliveCount),
		"-o", "ControlPath="+h.socket(), "-o", "ControlMaster="+master, "-o", "ControlPersist=no",
		"-o", "LogLevel=ERROR", "-o", "ClearAllForwardings=yes", "-o", "RequestTTY=no", "-o", "PermitLocalCommand=no")
	if h.target.Port != 0 {
		args = append(args, "-o", "Port="+strconv.Itoa(h.target.Port))
	}
	if h.target.User != "" {
		args = append(args, "-o", "User="+h.target.User)
	}
	return args
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// connect makes sure that a connection is open.
func (h *Host) connect(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.master != nil && h.master.alive() {
		return nil
	}
	_ = os.Remove(h.socket())
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m := &master{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(m.ended)
		result, err := proc.Run(life, proc.Command{
			Path: orElse(h.client.SSH, "ssh"), Args: append(h.arguments("yes"), "-N", "--", h.target.Host), Label: "ssh " + h.target.String(), Grace: time.Second,
		})
		m.lines, m.err = splitLines(result.Stderr.String()+"\n"+result.Stdout.String()), err
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(h.socket()); err == nil {
			h.master = m
			return nil
		}
		select {
		case <-m.ended:
			cancel()
			return h.failure(ctx, "connect", m.lines, m.err)
		case <-ctx.Done():
			m.end()
			return h.failure(ctx, "connect", nil, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// Output is what came of a command.
type Output struct {
	// Status is the exit status, 128+N for a death by signal N.
	Status int
	// Wall is the time from start to end as seen from here.
	Wall time.Duration
}

// Run runs a script in the board's shell and waits for its end. The error is
// nil if and only if the script ran to its end and its status arrived. Ending
// the context ends the script on the board as well.
func (h *Host) Run(ctx context.Context, script string, o shell.Options) (Output, error) {
	if err := h.connect(ctx); err != nil {
		return Output{Status: -1}, err
	}
	h.sweep(ctx)
	output, s, err := h.run(ctx, script, o)
	if pid, begun := begunOf(s); begun && err != nil {
		if ctx.Err() == nil {
			h.leave(s.Nonce)
		} else if killErr := h.kill(ctx, pid, s.Nonce); killErr != nil {
			h.leave(s.Nonce)
			err = errors.Join(err, killErr)
		}
	}
	return output, err
}

func begunOf(s *shell.Script) (int, bool) {
	if s == nil {
		return 0, false
	}
	return s.Begun()
}

const (
	opRun  = "run a command"
	opKill = "end commands on the board"
)

func (h *Host) run(ctx context.Context, script string, o shell.Options) (Output, *shell.Script, error) {
	s, err := shell.New(script, o, shell.Way{TempDir: "/tmp"})
	if err != nil {
		return Output{Status: -1}, nil, &Error{Op: opRun, Target: h.target.String(), Kind: KindUnknown, Detail: err.Error()}
	}
	out, errs := proc.NewLines(s.Out), proc.NewLines(s.Err)
	result, err := proc.Run(ctx, proc.Command{
		Path: orElse(h.client.SSH, "ssh"), Label: "ssh " + h.target.String(), Stdout: out, Stderr: errs, Keep: 1, Grace: time.Second,
		// In a POSIX shell whatever the login shell is.
		Args: append(h.arguments("no"), "--", h.target.Host, "exec sh -c "+shell.Quote(s.Command)),
	})
	_, _ = out.Close(), errs.Close()
	s.Close()
	if status, ended := s.Ended(); ended {
		return Output{Status: status, Wall: result.Wall}, s, nil
	}
	failed := h.failure(ctx, opRun, s.Outside(), err)
	// 255 is ssh's own word for a lost connection, whatever the board's login
	// shell said about files; anything else is the status of the shell around
	// the script.
	switch _, begun := s.Begun(); {
	case failed.Kind == KindCanceled:
	case begun && (result.ExitCode == 255 || failed.Kind == KindUnknown && result.ExitCode < 0):
		failed.Kind, failed.Detail = KindLost, "the connection ended before the command did"
	case begun && failed.Kind == KindUnknown:
		failed.Kind, failed.Detail = KindKilled, fmt.Sprintf("the shell around the command ended with status %d", result.ExitCode)
	case failed.Kind == KindUnknown && result.ExitCode == 255:
		failed.Kind = KindLost
	}
	failed.Evidence = append(failed.Evidence, s.LastWords(3)...)
	return Output{Status: -1, Wall: result.Wall}, s, failed
}

// Await waits until a command runs on the board, connecting anew. It asks every
// interval until ctx ends, and gives up at once on what only a person can mend.
// The error is the last reason.
func (h *Host) Await(ctx context.Context, interval time.Duration) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		_, err := h.Run(ctx, "true", shell.Options{Keep: -1})
		if err == nil {
			return nil
		}
		switch KindOf(err) {
		case KindMissing, KindAuth, KindUnknownID, KindChangedID:
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for the board until %w: %w", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// KillMarked ends every process on the board that has the word in its command
// line or environment, and verifies it. The word must be unmistakable, at least
// eight letters, digits or - _ . :
func (h *Host) KillMarked(ctx context.Context, word string) error {
	if len(word) < 8 || !shell.Plain(word) {
		return &Error{Op: opKill, Target: h.target.String(), Kind: KindUnknown, Detail: fmt.Sprintf("%q is no unmistakable word", word)}
	}
	return h.kill(ctx, 0, word)
}

// leave remembers a command that may still run.
func (h *Host) leave(nonce string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.left) < 64 {
		h.left = append(h.left, nonce)
	}
}

// sweep ends what earlier commands left: unlike a phone's daemon, sshd lets a
// command live on when its connection is lost, and it would disturb whatever
// is measured next.
func (h *Host) sweep(ctx context.Context) {
	h.mu.Lock()
	left := h.left
	h.left = nil
	h.mu.Unlock()
	for _, nonce := range left {
		if h.kill(ctx, 0, nonce) != nil {
			h.leave(nonce)
		}
	}
}

// kill ends on the board what a command started there.
func (h *Host) kill(ctx context.Context, pid int, nonce string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	if err := h.connect(ctx); err != nil {
		return err
	}
	var left []string
	_, _, err := h.run(ctx, shell.KillText(pid, nonce, "/tmp"), shell.Options{Keep: -1, OnStdout: func(line string) {
		if strings.HasPrefix(line, "left /proc/") && len(left) < 8 {
			left = append(left, shell.Clean(line))
		}
	}})
	if err == nil && len(left) > 0 {
		err = &Error{Op: opKill, Target: h.target.String(), Kind: KindUnknown, Detail: "processes are left", Evidence: left}
	}
	return err
}

// Push copies a local file to a path on the board. It may leave a part behind.
func (h *Host) Push(ctx context.Context, local, remote string) error {
	info, err := os.Stat(local)
	if err != nil {
		return err
	}
	err = h.transfer(ctx, "push "+filepath.Base(remote), "put", local, remote)
	var failed *Error
	if errors.As(err, &failed) && failed.Kind == KindUnknown {
		// sftp has one word for everything that a write can meet.
		if free, ok := h.free(ctx, filepath.Dir(remote)); ok && free < info.Size() {
			failed.Kind = KindNoSpace
		}
	}
	return err
}

// Pull copies a file of the board to a local path.
func (h *Host) Pull(ctx context.Context, remote, local string) error {
	return h.transfer(ctx, "pull "+filepath.Base(remote), "get", remote, local)
}

// free is what may still be written to a folder's disk, in bytes.
func (h *Host) free(ctx context.Context, dir string) (int64, bool) {
	var last string
	_, _, err := h.run(ctx, "df -Pk "+shell.Quote(dir), shell.Options{Keep: -1, OnStdout: func(line string) { last = line }})
	fields := strings.Fields(last)
	if err != nil || len(fields) < 4 {
		return 0, false
	}
	kib, err := strconv.ParseInt(fields[3], 10, 44)
	return kib << 10, err == nil
}

func (h *Host) transfer(ctx context.Context, op, verb, from, to string) error {
	words := make([]string, 0, 2)
	for _, path := range []string{from, to} {
		word, err := sftpQuote(path)
		if err != nil {
			return &Error{Op: op, Target: h.target.String(), Kind: KindUnknown, Detail: err.Error()}
		}
		words = append(words, word)
	}
	if err := h.connect(ctx); err != nil {
		return err
	}
	h.sweep(ctx)
	result, err := proc.Run(ctx, proc.Command{
		Path: orElse(h.client.SFTP, "sftp"), Label: "sftp " + h.target.String(), Grace: time.Second,
		Args:  append(h.arguments("no"), "-q", "-b", "-", "--", h.target.Host),
		Stdin: strings.NewReader(verb + " " + strings.Join(words, " ") + "\n"),
	})
	if err == nil {
		return nil
	}
	lines := splitLines(result.Stderr.String())
	failed := h.failure(ctx, op, lines, err)
	// 255 is what sftp ends with when its connection is closed, SIGPIPE what
	// ends it when it writes to one that was closed before.
	if failed.Kind == KindUnknown && (result.ExitCode == 255 || result.Signal != 0) {
		failed.Kind, failed.Detail = KindLost, "the transfer was interrupted"
	}
	return failed
}

// sftpQuote makes a path one word of sftp's batch language.
func sftpQuote(path string) (string, error) {
	if path == "" || strings.ContainsAny(path, "\n\r\x00") {
		return "", fmt.Errorf("%q can not be transferred", path)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`, nil
}

// failure makes an error of what the programs said and how they ended.
func (h *Host) failure(ctx context.Context, op string, lines []string, err error) *Error {
	e := &Error{Op: op, Target: h.target.String(), Err: err}
	switch {
	case ctx.Err() != nil:
		e.Kind, e.Err = KindCanceled, context.Cause(ctx)
		return e
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		e.Kind = KindMissing
		return e
	}
	e.Kind, e.Evidence = classify(lines)
	return e
}
