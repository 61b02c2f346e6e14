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

	mu      sync.Mutex
	conns   map[net.Conn]bool
	refused bool
	work    sync.WaitGroup
}

// Start starts an sshd that ends with the test. It skips the test where
// OpenSSH's server is not installed.
func Start(t *testing.T) *Server {
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
		s.write("sshd_config", strings.Join([]string{
			"Port " + strconv.Itoa(s.sshd), "ListenAddress 127.0.0.1", "HostKey " + s.path("host_key"), "PidFile none",
			"AuthorizedKeysFile " + s.path("authorized_keys"), "StrictModes no", "UsePAM no", "PasswordAuthentication no",
			"KbdInteractiveAuthentication no", "PermitRootLogin yes", "Subsystem sftp internal-sftp", "PrintMotd no", "LogLevel ERROR", "",
		}, "\n"))
		ctx, cancel := context.WithCancel(context.Background())
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, program, "-D", "-e", "-f", s.path("sshd_config"))
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
		s.work.Go(func() { s.copy(conn, up) })
		s.work.Go(func() { s.copy(up, conn) })
	}
}

func (s *Server) copy(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = errors.Join(to.Close(), from.Close())
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, to)
	delete(s.conns, from)
}

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
