package phone

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxStreams caps the streams of one transport.
	maxStreams = 512

	// writeTimeout ends a transport whose peer has stopped reading.
	writeTimeout = 30 * time.Second
)

// transport is one connection from an adb server.
type transport struct {
	phone *Phone
	conn  net.Conn // possibly slowed by a fault
	raw   net.Conn
	log   *slog.Logger

	maxPayload atomic.Uint32 // the smaller of both sides' limits

	writeMu   sync.Mutex // guards w, header, checksums
	w         *bufio.Writer
	header    []byte
	checksums bool // the peer is too old to do without

	mu       sync.Mutex // guards streams, nextID
	streams  map[uint32]*stream
	nextID   uint32
	services sync.WaitGroup

	hello packet // the peer's CNXN, kept while the phone is not authorised
}

func newTransport(p *Phone, raw net.Conn) *transport {
	conn := p.faults.wrapConn(p.ctx, raw)
	t := &transport{
		phone: p, conn: conn, raw: raw,
		log:       p.log.With("peer", raw.RemoteAddr().String()),
		w:         bufio.NewWriterSize(conn, 64<<10),
		header:    make([]byte, 0, packetHeaderSize),
		checksums: true,
		streams:   map[uint32]*stream{},
	}
	t.maxPayload.Store(maxConnectBytes)
	return t
}

// abort cuts the connection as a pulled cable does; serve then cleans up.
func (t *transport) abort() {
	if tcp, ok := t.raw.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // unsent data is lost, the peer sees a reset
	}
	_ = t.raw.Close()
}

// serve speaks the protocol until the connection ends, and returns when every
// stream's work, child processes included, has ended too.
func (t *transport) serve() {
	err := t.readLoop()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		t.log.Info("transport closed", "reason", err)
	}
	_ = t.raw.Close()
	t.mu.Lock()
	for id, s := range t.streams {
		s.end()
		delete(t.streams, id)
	}
	t.mu.Unlock()
	t.services.Wait()
}

func (t *transport) readLoop() error {
	r := bufio.NewReaderSize(t.conn, 256<<10)
	if !t.phone.waitOnline() {
		return net.ErrClosed
	}
	for connected := false; !connected; {
		var err error
		if connected, err = t.handshake(r); err != nil {
			return err
		}
	}
	for {
		p, err := readPacket(r, t.maxPayload.Load(), t.checksums) // checksums no longer changes
		if err != nil {
			return err
		}
		switch p.command {
		case cmdOpen:
			err = t.open(p)
		case cmdWrite, cmdOkay, cmdClose:
			err = t.route(p)
		case cmdAuth: // left over from before the phone was authorised
		default:
			err = fmt.Errorf("unexpected packet %v", p.command)
		}
		if err != nil {
			return err
		}
	}
}

// handshake answers one packet of a peer that is not connected yet.
func (t *transport) handshake(r io.Reader) (connected bool, err error) {
	p, err := readPacket(r, maxConnectBytes, false)
	if err != nil {
		return false, err
	}
	switch {
	case p.command == cmdConnect && t.phone.unauthorized():
		t.hello = p
		return false, t.challenge()
	case p.command == cmdConnect:
		return true, t.accept(p)
	case p.command == cmdAuth && p.arg0 == authSignature:
		return false, t.challenge() // no key is known: ask for the next one
	case p.command == cmdAuth && p.arg0 == authPublicKey:
		// A real phone now shows its dialog.
		if t.hello.command == 0 || !t.phone.waitAuthorized() {
			return false, net.ErrClosed
		}
		return true, t.accept(t.hello)
	}
	return false, fmt.Errorf("packet %v before CNXN", p.command)
}

func (t *transport) challenge() error {
	token := make([]byte, 20)
	rand.Read(token)
	return t.send(packet{command: cmdAuth, arg0: authToken, data: token})
}

func (t *transport) accept(p packet) error {
	if p.arg1 < maxConnectBytes {
		return fmt.Errorf("CNXN offers a payload of %d bytes, at least %d are needed", p.arg1, maxConnectBytes)
	}
	t.maxPayload.Store(min(p.arg1, maxPayloadBytes))
	// The CNXN itself always carries a checksum.
	err := t.send(packet{cmdConnect, protocolVersion, maxPayloadBytes, []byte(t.phone.banner())})
	t.writeMu.Lock()
	t.checksums = p.arg0 < protocolVersion
	t.writeMu.Unlock()
	t.log.Debug("transport connected", "version", fmt.Sprintf("%#x", p.arg0), "maxPayload", t.maxPayload.Load())
	return err
}

func (t *transport) open(p packet) error {
	if p.arg0 == 0 {
		return errors.New("OPEN with id 0")
	}
	refuse := func(reason error) error {
		t.log.Info("stream refused", "reason", reason)
		return t.send(packet{command: cmdClose, arg1: p.arg0})
	}
	svc, err := parseService(p.data)
	if err != nil {
		return refuse(err)
	}
	t.mu.Lock()
	if len(t.streams) >= maxStreams {
		t.mu.Unlock()
		return refuse(fmt.Errorf("%d streams are open already", maxStreams))
	}
	for t.nextID++; t.nextID == 0 || t.streams[t.nextID] != nil; {
		t.nextID++
	}
	s := newStream(t, t.nextID, p.arg0)
	t.streams[s.id] = s
	t.services.Add(1)
	t.mu.Unlock()

	err = t.send(packet{command: cmdOkay, arg0: s.id, arg1: s.peer})
	go func() {
		defer t.services.Done()
		defer func() { _ = s.Close() }() // a lost transport needs no goodbye
		t.phone.runService(s, svc)
	}()
	return err
}

// route hands a packet to its stream. It never blocks on the stream.
func (t *transport) route(p packet) error {
	t.mu.Lock()
	s := t.streams[p.arg1]
	if s != nil && s.peer != p.arg0 && !(p.command == cmdClose && p.arg0 == 0) {
		s = nil // not this peer's stream
	}
	if s != nil && p.command == cmdClose {
		delete(t.streams, s.id)
	}
	t.mu.Unlock()
	if s == nil {
		if p.command == cmdWrite {
			return t.send(packet{command: cmdClose, arg1: p.arg0})
		}
		return nil
	}
	switch p.command {
	case cmdWrite:
		if !s.deliver(p.data) {
			return fmt.Errorf("stream %d: WRTE before the last one was acknowledged", s.id)
		}
	case cmdOkay:
		s.acknowledged()
	case cmdClose:
		s.end()
		return t.send(packet{command: cmdClose, arg0: s.id, arg1: s.peer})
	}
	return nil
}

// forget removes a stream and reports whether it was still known.
func (t *transport) forget(id uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, known := t.streams[id]
	delete(t.streams, id)
	return known
}

// send writes one packet. A failure ends the transport.
func (t *transport) send(p packet) error {
	t.writeMu.Lock()
	defer t.writeMu.Unlock()
	err := t.raw.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err == nil {
		t.header = appendHeader(t.header[:0], p, t.checksums)
		_, err = t.w.Write(t.header)
	}
	if err == nil {
		_, err = t.w.Write(p.data)
	}
	if err == nil {
		err = t.w.Flush()
	}
	if err != nil {
		_ = t.raw.Close()
	}
	return err
}
