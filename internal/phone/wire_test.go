package phone

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// peer is a hostile adb server: it writes packets of its own making.
type peer struct {
	t    *testing.T
	conn net.Conn
}

func dial(t *testing.T, p *Phone) *peer {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &peer{t, conn}
}

func (h *peer) send(p packet) {
	h.t.Helper()
	if _, err := h.conn.Write(append(appendHeader(nil, p, true), p.data...)); err != nil {
		h.t.Logf("write: %v", err) // the phone may have had enough already
	}
}

func (h *peer) receive() packet {
	h.t.Helper()
	p, err := readPacket(h.conn, maxPayloadBytes, false)
	if err != nil {
		h.t.Fatalf("read: %v", err)
	}
	return p
}

func (h *peer) connect() {
	h.t.Helper()
	h.send(packet{cmdConnect, protocolVersion, maxPayloadBytes, []byte("host::")})
	if p := h.receive(); p.command != cmdConnect || !bytes.HasPrefix(p.data, []byte("device::")) {
		h.t.Fatalf("answer to CNXN: %v %q", p.command, p.data)
	}
}

func (h *peer) open(service string) (id uint32) {
	h.t.Helper()
	h.send(packet{cmdOpen, 77, 0, []byte(service + "\x00")})
	p := h.receive()
	if p.command != cmdOkay || p.arg1 != 77 {
		h.t.Fatalf("answer to OPEN: %v", p.command)
	}
	return p.arg0
}

// closed reads on until the phone closes the connection.
func (h *peer) closed() {
	h.t.Helper()
	_, err := io.Copy(io.Discard, h.conn)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		h.t.Error("the phone has not closed the connection")
	}
}

func TestHostilePeer(t *testing.T) {
	p := startPhone(t, "cool")
	for name, attack := range map[string]func(*peer){
		"garbage":        func(h *peer) { h.conn.Write(bytes.Repeat([]byte("GET / HTTP/1.1\r\n"), 4)) },
		"open first":     func(h *peer) { h.send(packet{cmdOpen, 1, 0, []byte("sync:\x00")}) },
		"long hello":     func(h *peer) { h.send(packet{cmdConnect, protocolVersion, 1 << 20, make([]byte, 5000)}) },
		"tiny payload":   func(h *peer) { h.send(packet{cmdConnect, protocolVersion, 5, nil}) },
		"tls":            func(h *peer) { h.send(packet{cmdTLS, 1, 0, nil}) },
		"unknown packet": func(h *peer) { h.connect(); h.send(packet{command: 0x41414141}) },
		"id 0":           func(h *peer) { h.connect(); h.send(packet{cmdOpen, 0, 0, []byte("sync:\x00")}) },
		"giant payload": func(h *peer) {
			h.connect()
			b := appendHeader(nil, packet{command: cmdWrite}, false)
			binary.LittleEndian.PutUint32(b[12:], 1<<31)
			h.conn.Write(b)
		},
		"flood": func(h *peer) {
			h.connect()
			id := h.open("shell,v2,raw:sleep 1000")
			for range 5 { // nobody reads: a child's stdin is full after 64 KiB
				h.send(packet{cmdWrite, 77, id, make([]byte, 1<<20)})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := dial(t, p)
			attack(h)
			h.closed()
		})
	}
	eventually(t, "no process on the phone", func() bool { return len(p.processes()) == 0 })

	for name, c := range map[string]struct{ request, want string }{
		"long path":       {"STA2\xff\xff\x00\x00", "path of 65535 bytes"},
		"unknown request": {"XXXX\x01\x00\x00\x00a", "unknown sync request"},
		"no mode":         {"SEND\x01\x00\x00\x00a", "no mode"},
		"long data":       {"SEND\x06\x00\x00\x00/a,420DATA\x00\x00\x00\x10", "DATA of 268435456 bytes"},
		"not data":        {"SEND\x06\x00\x00\x00/a,420STAT\x00\x00\x00\x00", "instead of DATA"},
	} {
		t.Run(name, func(t *testing.T) {
			h := dial(t, p)
			h.connect()
			id := h.open("sync:")
			h.send(packet{cmdWrite, 77, id, []byte(c.request)})
			for {
				q := h.receive()
				if q.command == cmdOkay {
					continue
				}
				if q.command != cmdWrite || !bytes.HasPrefix(q.data, []byte("FAIL")) || !strings.Contains(string(q.data), c.want) {
					t.Errorf("answer %v %q, want FAIL with %q", q.command, q.data, c.want)
				}
				return
			}
		})
	}
}

func TestInteractiveShell(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool")
	cmd := r.server.Command(t.Context(), "-s", p.Serial(), "shell", "-tt")
	cmd.Stdin = strings.NewReader("tty; cd data/local/tmp; pwd; exit 5\n")
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 5 || !strings.Contains(string(out), "\r\n/data/local/tmp\r\n") || !strings.Contains(string(out), "/dev/pts/") {
		t.Errorf("%q, %v", out, err)
	}
	cmd = r.server.Command(t.Context(), "-s", p.Serial(), "shell", "-tt")
	cmd.Stdin = strings.NewReader("sleep 1000 &\nsleep 1001\n")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "three processes in two groups", func() bool { return len(p.processes()) == 3 })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually(t, "no process on the phone", func() bool { return len(p.processes()) == 0 })
}
