package phone

import (
	"encoding/binary"
	"io"
	"sync"
)

// outputStage is one step between a child's output and the wire.
type outputStage interface {
	io.Writer
	finish() error // passes on what was held back
}

// Packet ids of the shell protocol, version 2 (AOSP, shell_protocol.h).
const (
	shellStdin       = 0
	shellStdout      = 1
	shellStderr      = 2
	shellExit        = 3
	shellCloseStdin  = 4
	shellWindowSize  = 5
	shellHeaderBytes = 5
)

// frames writes the stdout, stderr and exit packets of one stream.
type frames struct {
	mu     sync.Mutex
	w      io.Writer
	limit  int // payload bytes of one frame
	buffer []byte
}

func (f *frames) write(id byte, p []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		n := min(len(p), f.limit)
		f.buffer = append(f.buffer[:0], id)
		f.buffer = binary.LittleEndian.AppendUint32(f.buffer, uint32(n))
		f.buffer = append(f.buffer, p[:n]...)
		if _, err := f.w.Write(f.buffer); err != nil {
			return err
		}
		if p = p[n:]; len(p) == 0 {
			return nil
		}
	}
}

// frameStage sends a child's output as packets of one id.
type frameStage struct {
	f  *frames
	id byte
}

func (s frameStage) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.f.write(s.id, p); err != nil {
		return 0, err
	}
	return len(p), nil
}
func (s frameStage) finish() error { return nil }

// rawStage sends a child's output as it is (the services without v2).
type rawStage struct{ w io.Writer }

func (s rawStage) Write(p []byte) (int, error) { return s.w.Write(p) }
func (s rawStage) finish() error               { return nil }

// copyOutput reads a pipe to its end. The child keeps running when the wire
// is gone; the session's end kills it.
func copyOutput(stage outputStage, r io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := r.Read(buffer)
		if n > 0 {
			if _, err := stage.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			_ = stage.finish()
			return
		}
	}
}
