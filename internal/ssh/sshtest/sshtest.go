// Package sshtest starts a real sshd on a loopback port for tests, with a
// configuration and keys of its own, behind a relay that can cut connections.
package sshtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hexab/internal/ssh"
)

// Server is a running sshd.
type Server struct {
	t     *testing.T
	dir   string
	sshd  int // its port
	relay net.Listener
	user  string

	// wrapper and view are scripts, see Wrapped and View.
	wrapper, view string

	mu      sync.Mutex
	conns   map[net.Conn]bool
	refused bool
	// cutTo and cutFrom are the bytes to the board and from it before all is
	// cut; slow are those a second. Zero is no limit.
	cutTo, cutFrom, slow int64
	work                 sync.WaitGroup
}

// Option changes how the server is set up.
type Option func(*Server)

// Wrapped runs every command inside a bash script, as a board's own
// ForceCommand does; the command is in SSH_ORIGINAL_COMMAND. Transfers are left
// alone.
func Wrapped(script string) Option { return func(s *Server) { s.wrapper = script } }

// View runs a shell script of mounts before sshd, which change what the board
// sees and nobody else does. It takes root; the test is skipped elsewhere.
func View(script string) Option { return func(s *Server) { s.view = script } }

// Start starts an sshd that ends with the test. It skips the test where
// OpenSSH's server is not installed.
func Start(t *testing.T, options ...Option) *Server {
	t.Helper()
	program := ""
	for _, name := range []string{"sshd", "/usr/sbin/sshd"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	for _, name := range []string{"ssh", "sftp", "ssh-keygen"} {
		if _, err := exec.LookPath(name); err != nil || program == "" {
			t.Skip("sshd, ssh, sftp and ssh-keygen are not all installed (Debian: apt-get install openssh-server openssh-client)")
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, dir: t.TempDir(), user: me.Username, conns: map[net.Conn]bool{}}
	for _, option := range options {
		option(s)
	}
	if os.Getuid() == 0 { // as root it changes into this folder before a sign-in
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Skipf("sshd takes /run/sshd: %v", err)
		}
	}
	s.key("host_key")
	s.key("id")
	public, err := os.ReadFile(s.path("id.pub"))
	s.must(err)
	s.write("authorized_keys", string(public))
	s.launch(program)
	s.relay, err = net.Listen("tcp4", "127.0.0.1:0")
	s.must(err)
	t.Cleanup(func() {
		_ = s.relay.Close()
		s.Cut()
		s.work.Wait()
	})
	s.work.Go(s.accept)
	s.TrustHost()
	s.write("ssh_config", fmt.Sprintf("Host *\n IdentityFile %s\n IdentitiesOnly yes\n IdentityAgent none\n UserKnownHostsFile %s\n GlobalKnownHostsFile none\n StrictHostKeyChecking yes\n UpdateHostKeys no\n",
		s.path("id"), s.path("known_hosts")))
	return s
}

// launch starts sshd on a free port and waits until it answers.
func (s *Server) launch(program string) {
	s.t.Helper()
	for range 5 { // somebody may take the port between our look and sshd's
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		s.must(err)
		s.sshd = l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
		s.write("sshd_config", s.forced()+strings.Join([]string{
			"Port " + strconv.Itoa(s.sshd), "ListenAddress 127.0.0.1", "HostKey " + s.path("host_key"), "PidFile none",
			"AuthorizedKeysFile " + s.path("authorized_keys"), "StrictModes no", "UsePAM no", "PasswordAuthentication no",
			"KbdInteractiveAuthentication no", "PermitRootLogin yes", "Subsystem sftp internal-sftp", "PrintMotd no", "LogLevel ERROR", "",
		}, "\n"))
		ctx, cancel := context.WithCancel(context.Background())
		var said bytes.Buffer
		line := append(s.viewed(), program, "-D", "-e", "-f", s.path("sshd_config"))
		cmd := exec.CommandContext(ctx, line[0], line[1:]...)
		cmd.Stdout, cmd.Stderr = &said, &said
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		cmd.WaitDelay = time.Second
		s.must(cmd.Start())
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		if s.answers(ended) {
			s.t.Cleanup(func() { cancel(); <-ended })
			return
		}
		cancel()
		<-ended
		s.t.Logf("sshd did not start: %s", said.String())
	}
	s.t.Fatal("sshd does not start")
}

// forced is the line of sshd's configuration for the wrapper.
func (s *Server) forced() string {
	if s.wrapper == "" {
		return ""
	}
	s.write("wrapper", "case $SSH_ORIGINAL_COMMAND in internal-sftp*) for p in /usr/lib/openssh /usr/libexec/openssh /usr/lib/ssh; do [ -x $p/sftp-server ] && exec $p/sftp-server; done; esac\n"+s.wrapper)
	return "ForceCommand bash " + s.path("wrapper") + "\n"
}

// viewed is the command before sshd's that changes what it sees.
func (s *Server) viewed() []string {
	if s.view == "" {
		return nil
	}
	s.t.Helper()
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		s.t.Skipf("a board with a view of its own takes root and mount namespaces: %v %s", err, out)
	}
	return []string{"unshare", "--mount", "--propagation", "private", "--", "sh", "-ec", s.view + "\nexec \"$@\"", "sh"}
}

func (s *Server) answers(ended <-chan struct{}) bool {
	for range 1000 {
		conn, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.sshd)))
		if err == nil {
			_ = conn.Close()
			return true
		}
		select {
		case <-ended:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// Client is an OpenSSH client that knows the server and has its key.
func (s *Server) Client() ssh.Client {
	return ssh.Client{Options: []string{"-F", s.path("ssh_config")}}
}

// Target is the server.
func (s *Server) Target() ssh.Target {
	return ssh.Target{User: s.user, Host: "127.0.0.1", Port: s.relay.Addr().(*net.TCPAddr).Port}
}

// Cut ends every connection, as a network does that fails.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

// CutAfter cuts every connection once so many more bytes have gone to the
// board, or have come from it; zero is never.
func (s *Server) CutAfter(to, from int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cutTo, s.cutFrom = to, from
}

// Slow lets so many bytes a second through, each way.
func (s *Server) Slow(bytesPerSecond int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slow = bytesPerSecond
}

// KillClient kills the client's processes that hold connections to the server.
func (s *Server) KillClient() (killed int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		text, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && strings.HasPrefix(string(text), "ssh\x00") && strings.Contains(string(text), s.path("ssh_config")) && strings.Contains(string(text), "ControlMaster=yes") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			killed++
		}
	}
	return killed
}

// Refuse lets no new connection in, or lets them in again.
func (s *Server) Refuse(refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = refuse
}

// TrustHost makes the server's key the known one.
func (s *Server) TrustHost() {
	public, err := os.ReadFile(s.path("host_key.pub"))
	s.must(err)
	s.Known(string(public))
}

// Known sets the key that is known of the server; empty is none.
func (s *Server) Known(public string) {
	line := ""
	if public != "" {
		line = fmt.Sprintf("[127.0.0.1]:%d %s", s.Target().Port, public)
	}
	s.write("known_hosts", line)
}

// OtherKey makes a key that is not the server's and gives its public half.
func (s *Server) OtherKey() string {
	s.key("other")
	public, err := os.ReadFile(s.path("other.pub"))
	s.must(err)
	return string(public)
}

// Authorize lets the client in, or not.
func (s *Server) Authorize(allow bool) {
	text := []byte{}
	if allow {
		var err error
		text, err = os.ReadFile(s.path("id.pub"))
		s.must(err)
	}
	s.write("authorized_keys", string(text))
}

func (s *Server) accept() {
	for {
		conn, err := s.relay.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.sshd)))
		s.mu.Lock()
		refused := s.refused || err != nil
		if !refused {
			s.conns[conn], s.conns[up] = true, true
		}
		s.mu.Unlock()
		if refused {
			_ = conn.Close()
			if err == nil {
				_ = up.Close()
			}
			continue
		}
		s.work.Go(func() { s.copy(conn, up, &s.cutFrom) })
		s.work.Go(func() { s.copy(up, conn, &s.cutTo) })
	}
}

// copy relays one way, of which left are the bytes before a cut.
func (s *Server) copy(to, from net.Conn, left *int64) {
	_, _ = io.Copy(to, readerFunc(func(p []byte) (int, error) {
		n, err := from.Read(p)
		s.mu.Lock()
		slow, cut := s.slow, false
		if *left > 0 {
			*left = max(*left-int64(n), 0)
			cut = *left == 0
		}
		s.mu.Unlock()
		if cut {
			s.Cut()
			return 0, net.ErrClosed
		}
		if slow > 0 {
			time.Sleep(time.Duration(n) * time.Second / time.Duration(slow)) // as a slow link does
		}
		return n, err
	}))
	_ = errors.Join(to.Close(), from.Close())
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, to)
	delete(s.conns, from)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (s *Server) path(name string) string { return filepath.Join(s.dir, name) }

func (s *Server) key(name string) {
	s.t.Helper()
	_ = os.Remove(s.path(name))
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.path(name)).CombinedOutput(); err != nil {
		s.t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
}

func (s *Server) write(name, text string) {
	s.t.Helper()
	s.must(os.WriteFile(s.path(name), []byte(text), 0o600))
}

func (s *Server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
