package fetch

import (
	"context"
	"io"
	"sync"
	"time"
)

// Phase is what is being done to a file.
type Phase string

// The phases of a file.
const (
	PhaseDownload Phase = "download"
	PhaseVerify   Phase = "verify"
	PhaseWait     Phase = "wait" // before another try, or for another process
	PhaseCopy     Phase = "copy"
	PhaseUnpack   Phase = "unpack"
	PhaseDone     Phase = "done"
)

// Event is progress on one file.
type Event struct {
	// Name is the file's name for people.
	Name  string
	Phase Phase
	// Bytes of Total are done. Total is -1 when unknown.
	Bytes, Total int64
	// BytesPerSecond is the rate since the phase began, resumed bytes left out.
	BytesPerSecond float64
	// Left is the time that the rest takes at this rate; -1 when unknown.
	Left time.Duration
	// Note explains a wait; empty otherwise.
	Note string
}

// Progress receives events, from several goroutines at the same time.
type Progress func(Event)

// progressEvery is the least time between two events of one phase.
const progressEvery = 100 * time.Millisecond

// meter turns counted bytes into events. A nil meter counts nothing.
type meter struct {
	mu      sync.Mutex
	to      Progress
	event   Event
	resumed int64
	began   time.Time
	told    time.Time
}

// newMeter starts a phase whose first event.Bytes were done before.
func newMeter(to Progress, event Event) *meter {
	if to == nil {
		return nil
	}
	event.Left = -1
	m := &meter{to: to, event: event, resumed: event.Bytes, began: time.Now()}
	to(event)
	return m
}

func (m *meter) add(n int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.event.Bytes += n
	now := time.Now()
	if now.Sub(m.told) < progressEvery && m.event.Bytes != m.event.Total {
		return
	}
	m.told = now
	if s := now.Sub(m.began).Seconds(); s > 0 {
		m.event.BytesPerSecond = float64(m.event.Bytes-m.resumed) / s
	}
	m.event.Left = -1
	if m.event.Total >= 0 && m.event.BytesPerSecond > 0 {
		m.event.Left = time.Duration(float64(m.event.Total-m.event.Bytes) / m.event.BytesPerSecond * float64(time.Second))
	}
	m.to(m.event)
}

// countingReader stops with its context and reports what it read.
type countingReader struct {
	ctx   context.Context
	r     io.Reader
	meter *meter
}

func (c *countingReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err := c.r.Read(p)
	c.meter.add(int64(n))
	return n, err
}
