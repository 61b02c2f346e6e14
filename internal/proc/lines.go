package proc

import "bytes"

// MaxLine is the length in bytes at which Lines cuts a line that does not end.
const MaxLine = 1 << 20

// Lines is a writer that calls a function for each line written to it, without
// the line's end. Carriage returns before the newline are dropped, since a
// device's terminal layer adds any number of them; others stay. Close hands
// over a last line that has no newline.
type Lines struct {
	each    func(line string)
	pending []byte
}

// NewLines makes a line writer. The function is called from Write and Close.
func NewLines(each func(line string)) *Lines { return &Lines{each: each} }

// Write never fails.
func (l *Lines) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		switch {
		case end < 0 && len(l.pending)+len(p) <= MaxLine:
			l.pending = append(l.pending, p...)
			return written, nil
		case end < 0 || len(l.pending)+end > MaxLine:
			n := MaxLine - len(l.pending)
			l.pending = append(l.pending, p[:n]...)
			p = p[n:]
		default:
			l.pending = append(l.pending, p[:end]...)
			p = p[end+1:]
		}
		l.flush()
	}
	return written, nil
}

// Close hands over what is left. It never fails.
func (l *Lines) Close() error {
	if len(l.pending) > 0 {
		l.flush()
	}
	return nil
}

func (l *Lines) flush() {
	line := string(bytes.TrimRight(l.pending, "\r"))
	l.pending = l.pending[:0]
	l.each(line)
}
