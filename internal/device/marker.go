package device

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

// markPrefix begins the lines by which a device's shell tells that a command
// ended. A random token keeps output from imitating them.
const markPrefix = "hexab-end:"

// maxHeld bounds what a marker holds back while it waits for a line's end.
const maxHeld = 1 << 20

// marker passes output on line by line and takes the marks out. Carriage
// returns before a line's end are dropped.
type marker struct {
	mark    string
	out     io.Writer
	err     io.Writer
	held    []byte
	blank   bool // a newline is held back: it may belong to a mark
	inStart bool
	ended   bool
	status  int
}

func newMarker(token string, out, err io.Writer) *marker {
	return &marker{mark: markPrefix + token + ":", out: nonNil(out), err: nonNil(err)}
}

// Write never fails: a command is not to be ended because its output can not
// be kept.
func (m *marker) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			m.held = append(m.held, p...)
			if len(m.held) > maxHeld {
				m.pass(m.held)
				m.held = m.held[:0]
			}
			break
		}
		m.held = append(m.held, p[:end]...)
		m.line(bytes.TrimRight(m.held, "\r"))
		m.held = m.held[:0]
		p = p[end+1:]
	}
	return n, nil
}

func (m *marker) line(text []byte) {
	// Vendor libraries may leave a line of theirs unfinished before ours.
	at := strings.Index(string(text), m.mark)
	if at < 0 {
		if m.blank {
			m.blank = false
			m.pass([]byte("\n"))
		}
		if len(text) == 0 {
			m.blank = true
			return
		}
		m.pass(append(bytes.Clone(text), '\n'))
		return
	}
	m.blank = false
	if at > 0 {
		m.pass(append(bytes.Clone(text[:at]), '\n'))
	}
	value := string(text[at+len(m.mark):])
	if value == "stderr" {
		m.inStart = true
		return
	}
	if status, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && status >= 0 && status < 256 {
		m.ended, m.status = true, status
	}
}

func (m *marker) pass(p []byte) {
	if m.inStart {
		_, _ = m.err.Write(p)
		return
	}
	_, _ = m.out.Write(p)
}

func (m *marker) flush() {
	if m.blank {
		m.pass([]byte("\n"))
	}
	if len(m.held) > 0 {
		m.pass(m.held)
	}
	m.held, m.blank = nil, false
}
