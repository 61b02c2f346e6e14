package phone

import (
	"io"
	"sync"
)

// stream is one adb socket of a transport: an io.ReadWriteCloser. In each
// direction at most one WRTE is unacknowledged; the OKAY for what the peer
// sent goes out when a reader takes it, which is the protocol's flow control.
type stream struct {
	t         *transport
	id, peer  uint32
	incoming  chan []byte   // capacity 1: the one WRTE that may be pending
	credit    chan struct{} // capacity 1: the peer took our last WRTE
	done      chan struct{} // closed when either side or the transport ended
	closeOnce sync.Once
	deaf      chan struct{} // closed when nobody reads any more
	deafOnce  sync.Once
	rest      []byte // what the last Read left over; the reader's alone
}

func newStream(t *transport, id, peer uint32) *stream {
	return &stream{
		t: t, id: id, peer: peer,
		incoming: make(chan []byte, 1),
		credit:   make(chan struct{}, 1),
		done:     make(chan struct{}),
		deaf:     make(chan struct{}),
	}
}

// end wakes every reader and writer; what has arrived can still be read.
func (s *stream) end() { s.closeOnce.Do(func() { close(s.done) }) }

// stopReading makes Read return io.EOF; writing goes on.
func (s *stream) stopReading() { s.deafOnce.Do(func() { close(s.deaf) }) }

// deliver hands a payload to the reader without blocking. False means the
// peer sent a second WRTE before the first was acknowledged.
func (s *stream) deliver(data []byte) bool {
	select {
	case s.incoming <- data:
		return true
	default:
		return false
	}
}

// acknowledged notes that the peer took our last WRTE.
func (s *stream) acknowledged() {
	select {
	case s.credit <- struct{}{}:
	default: // an OKAY that answers nothing gives no second credit
	}
}

// Read returns what the peer wrote; io.EOF once the stream has ended and
// everything that arrived was read.
func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		select {
		case s.rest = <-s.incoming:
		case <-s.deaf:
			return 0, io.EOF
		case <-s.done:
			select {
			case s.rest = <-s.incoming:
			default:
				return 0, io.EOF
			}
		}
		_ = s.t.send(packet{command: cmdOkay, arg0: s.id, arg1: s.peer}) // the reader notices a lost transport
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Write sends p in WRTE packets, each after the peer took the one before.
// One writer at a time.
func (s *stream) Write(p []byte) (written int, err error) {
	for len(p) > 0 {
		select {
		case <-s.done:
			return written, io.ErrClosedPipe
		default:
		}
		n := min(len(p), int(s.t.maxPayload.Load()))
		err := s.t.send(packet{command: cmdWrite, arg0: s.id, arg1: s.peer, data: p[:n]})
		if err != nil {
			return written, err
		}
		select {
		case <-s.credit:
		case <-s.done:
			return written, io.ErrClosedPipe
		}
		written += n
		p = p[n:]
	}
	return written, nil
}

// Close ends the stream and tells the peer, once.
func (s *stream) Close() error {
	s.end()
	if !s.t.forget(s.id) {
		return nil
	}
	return s.t.send(packet{command: cmdClose, arg0: s.id, arg1: s.peer})
}
