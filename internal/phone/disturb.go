package phone

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// stages puts what the faults do to output before the wire.
func (l *launch) stages(x *session, wire outputStage, id byte) outputStage {
	if x.svc.kind == serviceExec {
		return wire // raw bytes: no terminal, no log
	}
	next := wire
	for _, a := range l.hits {
		if a.Trigger.After == AtOutput && id == shellStdout {
			next = &tripwire{next: next, fault: a.Fault, session: x}
		}
	}
	if f, ok := l.in.has(FaultCR); ok {
		next = &crStage{next: next, share: f.Share, random: l.in.random(1, uint64(l.number), uint64(id))}
	}
	if f, ok := l.in.has(FaultNoise); ok && id == shellStdout && l.starts(f.Trigger.Program) {
		next = &noiseStage{next: next, share: f.Share, random: l.in.random(2, uint64(l.number)), lineStart: true}
	}
	return next
}

// tripwire passes output on up to a byte or the end of a line, then lets the
// fault happen.
type tripwire struct {
	next    outputStage
	fault   Fault
	session *session
	bytes   int64
	lines   int
	tripped bool
}

func (t *tripwire) Write(p []byte) (int, error) {
	end := t.reach(p)
	if end < 0 {
		return t.next.Write(p)
	}
	if _, err := t.next.Write(p[:end]); err != nil {
		return 0, err
	}
	t.tripped = true
	t.session.phone.happen(t.fault, t.session)
	if _, err := t.next.Write(p[end:]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// reach returns the place in p where the fault happens, or -1.
func (t *tripwire) reach(p []byte) int {
	if t.tripped {
		return -1
	}
	limit := t.fault.Trigger
	if limit.Bytes > 0 && t.bytes+int64(len(p)) >= limit.Bytes {
		return int(limit.Bytes - t.bytes)
	}
	t.bytes += int64(len(p))
	if limit.Lines == 0 {
		return -1
	}
	for at := 0; ; {
		i := bytes.IndexByte(p[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
		if t.lines++; t.lines == limit.Lines {
			return at
		}
	}
}

func (t *tripwire) finish() error { return t.next.finish() }

// crStage ends lines with CR LF, as a terminal does.
type crStage struct {
	next   outputStage
	share  float64
	random *rand.Rand
}

func (s *crStage) Write(p []byte) (int, error) {
	b := make([]byte, 0, len(p)+len(p)/16+2)
	for _, c := range p {
		if c == '\n' && s.random.Float64() < s.share {
			b = append(b, '\r')
		}
		b = append(b, c)
	}
	if _, err := s.next.Write(b); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *crStage) finish() error { return s.next.finish() }

// noiseLines are of the kinds that vendor libraries print among a program's
// own output. %d is a number that differs each time.
var noiseLines = []string{
	"WARNING: linker: libcdsprpc.so: unused DT entry: type 0x6ffffef5 arg 0x%x",
	"apps_std_imp.c:%d: fopen failed for oemconfig.so, errno 2 (No such file or directory)",
	"E/adsprpc: remote_handle_control: latency vote %d us ignored",
	"{\"vendor_log\": \"fastrpc\", \"pid\": %d}",
	"D vendor.perf: boost handle %d released",
	"[%d] QNN-like: skel version check skipped",
}

// noiseStage puts lines of a vendor's log before lines of the output: always
// one first, then before a share of the others.
type noiseStage struct {
	next      outputStage
	share     float64
	random    *rand.Rand
	begun     bool
	lineStart bool
}

func (s *noiseStage) Write(p []byte) (int, error) {
	var b []byte
	for rest := p; len(rest) > 0; {
		if s.lineStart && (!s.begun || s.random.Float64() < s.share) {
			b = s.append(b)
		}
		s.begun = true
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i+1]
		}
		b = append(b, line...)
		s.lineStart = line[len(line)-1] == '\n'
		rest = rest[len(line):]
	}
	if _, err := s.next.Write(b); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *noiseStage) append(b []byte) []byte {
	return fmt.Appendf(b, noiseLines[s.random.IntN(len(noiseLines))]+"\n", 1+s.random.IntN(9999))
}

func (s *noiseStage) finish() error { return s.next.finish() }
