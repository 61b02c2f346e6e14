package phone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ServerConfig says what adb server to start.
type ServerConfig struct {
	// Program is the adb program: a path or a name on PATH; adb if empty.
	Program string

	// Home is a folder for the server's keys; made if missing. A user's own
	// ~/.android is never touched.
	Home string

	// Log takes what happens; nil for nowhere.
	Log *slog.Logger
}

// Server is an adb server of our own, beside any that the user runs: on a port
// of its own, with a home of its own, and blind to USB and to emulators.
type Server struct {
	program string
	port    int
	home    string
	log     *slog.Logger
	guard   *guard
	cmd     *exec.Cmd
	output  *tail
	exited  chan struct{} // closed when the server has ended

	closeOnce sync.Once
	closeErr  error
}

const (
	serverStartTimeout = 10 * time.Second
	connectTimeout     = 15 * time.Second
	pollInterval       = 20 * time.Millisecond
)

// StartServer starts an adb server and returns when it answers. It ends with
// Close; if this process is killed it ends too.
func StartServer(ctx context.Context, config ServerConfig) (*Server, error) {
	name := config.Program
	if name == "" {
		name = "adb"
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("adb program %q: %w: install adb (Debian, Ubuntu: apt-get install adb) or name it in HEXAB_ADB", name, err)
	}
	if config.Home == "" {
		return nil, errors.New("adb server: no home folder given")
	}
	home, err := filepath.Abs(config.Home)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("adb server's home: %w", err)
	}
	log := config.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	var failures []error
	for range 3 { // somebody may take the port between our look and adb's
		s := &Server{program: program, home: home, log: log}
		if err = s.start(ctx); err == nil {
			return s, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failures...)
}

func (s *Server) start(ctx context.Context) error {
	l, err := listen()
	if err != nil {
		return err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	if s.guard, err = startGuard(""); err != nil {
		return err
	}
	s.output = &tail{limit: 4096}
	s.cmd = exec.Command(s.program, "-P", strconv.Itoa(s.port), "nodaemon", "server")
	s.cmd.Env = s.Environ()
	s.cmd.Dir = s.home
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is for the harness, which needs adb to clean up
	s.cmd.WaitDelay = time.Second
	s.exited = make(chan struct{})
	if err := s.cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", s.program, err), s.guard.close())
	}
	s.guard.add(s.cmd.Process.Pid)
	go func() {
		defer close(s.exited)
		if err := s.cmd.Wait(); err != nil {
			s.log.Debug("adb server ended", "error", err, "output", s.output.String())
		}
	}()
	if err := s.waitReady(ctx); err != nil {
		return errors.Join(fmt.Errorf("adb server on port %d: %w%s", s.port, err, quoteTail(s.output)), s.Close())
	}
	return nil
}

// waitReady waits until the server accepts connections.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, serverStartTimeout)
	defer cancel()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			conn.Close()
			return nil
		}
		if err := s.pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits a little, or tells that the server or the time has ended.
func (s *Server) pause(ctx context.Context) error {
	timer := time.NewTimer(pollInterval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.exited:
		return errors.New("it ended by itself")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Port is the server's port, for `adb -P PORT`.
func (s *Server) Port() int { return s.port }

// Program is the path of the adb program.
func (s *Server) Program() string { return s.program }

// Environ is the environment for adb clients of this server: a home of its
// own, its port, and a mark by which a server that such a client starts (when
// this one has died) is found and ended too.
func (s *Server) Environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + s.home, "LC_ALL=C.UTF-8",
		"ANDROID_ADB_SERVER_PORT=" + strconv.Itoa(s.port),
		"ADB_USB=0", "ADB_EMU=0", "ADB_MDNS=0",
		s.guard.mark,
	}
}

// Command is an adb client of this server with the given arguments.
func (s *Server) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.program, append([]string{"-P", strconv.Itoa(s.port)}, args...)...)
	cmd.Env = s.Environ()
	cmd.WaitDelay = time.Second
	return cmd
}

// Connect connects the server to a phone and returns when its state is
// "device". `adb connect` alone proves nothing: it exits 0 when refused.
func (s *Server) Connect(ctx context.Context, p *Phone) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	said, err := s.sayConnect(ctx, p)
	if err != nil {
		return err
	}
	for {
		state, err := s.State(ctx, p.Serial())
		switch {
		case state == "device":
			return nil
		case state == "unauthorized":
			return fmt.Errorf("phone %s is unauthorized: accept the key of this machine on the phone", p.Serial())
		case err != nil && strings.Contains(err.Error(), "not found"):
			// "already connected to" may speak of a connection that the
			// server was just about to drop.
			if !strings.Contains(said, "connected to "+p.Addr()) {
				return fmt.Errorf("phone %s is not connected: adb connect said %q", p.Serial(), said)
			}
			if said, err = s.sayConnect(ctx, p); err != nil {
				return err
			}
		}
		if e := s.pause(ctx); e != nil {
			return fmt.Errorf("phone %s has not become ready: %w (state %q, adb connect said %q)", p.Serial(), e, state, said)
		}
	}
}

// sayConnect runs `adb connect` and returns what it said.
func (s *Server) sayConnect(ctx context.Context, p *Phone) (string, error) {
	out, err := s.Command(ctx, "connect", p.Addr()).CombinedOutput()
	said := oneLine(out)
	if err != nil && ctx.Err() != nil {
		return said, fmt.Errorf("adb connect %s: %w (last said: %q)", p.Addr(), ctx.Err(), said)
	}
	return said, nil
}

// State is the server's view of a phone: device, offline, unauthorized, ...
func (s *Server) State(ctx context.Context, serial string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := s.Command(ctx, "-s", serial, "get-state")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err == nil {
		return strings.TrimSpace(stdout.String()), nil
	}
	said := oneLine(stderr.Bytes())
	for _, state := range []string{"unauthorized", "offline", "authorizing", "connecting"} {
		if strings.Contains(said, "device "+state) || strings.Contains(said, "device still "+state) {
			return state, nil
		}
	}
	return "", fmt.Errorf("adb get-state: %w: %s", err, said)
}

// Disconnect makes the server forget a phone.
func (s *Server) Disconnect(ctx context.Context, serial string) error {
	out, err := s.Command(ctx, "disconnect", serial).CombinedOutput()
	if err != nil {
		return fmt.Errorf("adb disconnect %s: %w: %s", serial, err, oneLine(out))
	}
	return nil
}

// Close ends the server and every client of it that still runs.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		select {
		case <-s.exited:
		default:
			_ = s.Command(ctx, "kill-server").Run() // what it leaves the guard ends
			select {
			case <-s.exited:
			case <-ctx.Done():
			}
		}
		s.closeErr = s.guard.close()
		<-s.exited
	})
	return s.closeErr
}

// tail keeps the last bytes that were written to it.
type tail struct {
	mu     sync.Mutex
	limit  int
	buffer []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buffer = append(t.buffer, p...)
	if n := len(t.buffer) - t.limit; n > 0 {
		t.buffer = append(t.buffer[:0], t.buffer[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buffer)
}

func quoteTail(t *tail) string {
	if text := strings.TrimSpace(t.String()); text != "" {
		return ": it said: " + text
	}
	return ""
}

func oneLine(b []byte) string { return strings.Join(strings.Fields(string(b)), " ") }
