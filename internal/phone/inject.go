package phone

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"path"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"
)

// injector holds the faults of a phone and what they have done so far.
type injector struct {
	seed uint64

	mu       sync.Mutex // guards all below
	armed    []*armed
	launches int   // shell commands so far, for the seeds of their streams
	pushed   int64 // bytes
}

// armed is a fault and its history.
type armed struct {
	Fault
	index    int   // among the faults, part of its seed
	fired    int   // times it happened
	launches int   // of its program
	moved    int64 // bytes pushed or pulled since it last happened
}

func newInjector(faults []Fault, seed uint64) *injector {
	in := &injector{seed: seed}
	for i, f := range faults {
		in.armed = append(in.armed, &armed{Fault: f, index: i})
	}
	return in
}

// spent reports whether the fault has happened as often as it may.
func (a *armed) spent() bool { return a.Trigger.Times > 0 && a.fired >= a.Trigger.Times }

// has returns the first fault of a kind.
func (in *injector) has(kind FaultKind) (Fault, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, a := range in.armed {
		if a.Kind == kind {
			return a.Fault, true
		}
	}
	return Fault{}, false
}

// started returns the faults that happen when the phone starts.
func (in *injector) started() (list []Fault) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, a := range in.armed {
		if a.Trigger.After == AtStart && !a.spent() {
			a.fired++
			list = append(list, a.Fault)
		}
	}
	return list
}

// chance is a number in [0,1) that depends on the seed and the numbers given.
func (in *injector) chance(numbers ...uint64) float64 {
	return in.random(numbers...).Float64()
}

func (in *injector) random(numbers ...uint64) *rand.Rand {
	h := fnv.New64a()
	for _, n := range numbers {
		var b [8]byte
		for i := range b {
			b[i] = byte(n >> (8 * i))
		}
		h.Write(b[:])
	}
	return rand.New(rand.NewPCG(in.seed, h.Sum64()))
}

// launch is what the faults do to one shell command.
type launch struct {
	in      *injector
	number  int      // among the shell commands of the phone
	names   []string // programs it starts
	hits    []*armed // faults that happen to it
	statusN int
	status  bool // statusN is shown as the exit status
	mu      *sync.Mutex
}

// launch counts a shell command and decides which faults hit it.
func (in *injector) launch(command string) launch {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.launches++
	l := launch{in: in, number: in.launches, names: programs(command), mu: new(sync.Mutex)}
	for _, a := range in.armed {
		t := a.Trigger
		if t.After != AtLaunch && t.After != AtOutput || !l.starts(t.Program) {
			continue
		}
		a.launches++
		hit := a.launches >= t.Nth
		if t.Probability > 0 {
			hit = in.chance(uint64(a.index), uint64(a.launches)) < t.Probability
		}
		if !hit || a.spent() {
			continue
		}
		a.fired++
		l.hits = append(l.hits, a)
	}
	return l
}

func (l *launch) starts(program string) bool {
	return program == "*" || slices.Contains(l.names, program)
}

// afterStart lets happen what happens a time after the launch.
func (l *launch) afterStart(x *session) {
	for _, a := range l.hits {
		if a.Trigger.After != AtLaunch {
			continue
		}
		if a.Trigger.Delay > 0 {
			timer := time.NewTimer(a.Trigger.Delay)
			select {
			case <-timer.C:
			case <-x.ended:
				timer.Stop()
				return
			}
		}
		x.phone.happen(a.Fault, x)
	}
}

// setStatus makes the command end with a status of the fault's choice.
func (l *launch) setStatus(code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statusN, l.status = code, true
}

// exitStatus is the status shown for the real one.
func (l *launch) exitStatus(code int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status {
		return l.statusN
	}
	return code
}

// pushBytes counts bytes that arrived by push.
func (in *injector) pushBytes(p *Phone, n int64) { in.move(p, AtPush, n) }

// pullBytes counts bytes that left by pull.
func (in *injector) pullBytes(p *Phone, n int64) { in.move(p, AtPull, n) }

func (in *injector) move(p *Phone, event Event, n int64) {
	var happening []Fault
	in.mu.Lock()
	for _, a := range in.armed {
		if a.Trigger.After != event || a.spent() {
			continue
		}
		if a.moved += n; a.moved >= a.Trigger.Bytes {
			a.moved = 0
			a.fired++
			happening = append(happening, a.Fault)
		}
	}
	in.mu.Unlock()
	for _, f := range happening {
		p.happen(f, nil)
	}
}

// freeBytes returns what still fits; limited is false on a phone with space.
func (in *injector) freeBytes() (free int64, limited bool) {
	f, ok := in.has(FaultFull)
	if !ok {
		return 0, false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return max(0, f.BytesFree-in.pushed), true
}

// takeSpace is ENOSPC when n more bytes do not fit.
func (in *injector) takeSpace(n int64) error {
	free, limited := in.freeBytes()
	if !limited {
		return nil
	}
	if free < n || free == 0 {
		return syscall.ENOSPC
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pushed += n
	return nil
}

// redirection is a redirection of output into the phone's files.
var redirection = regexp.MustCompile(`(>>?\|?\s*)(["']?)(/[A-Za-z0-9_/.-]*/root/[^\s;&|<>()"'` + "`" + `]*)`)

// rewrite changes a command whose output would go to a full disk: /dev/full
// gives the same error.
func (in *injector) rewrite(command string) string {
	if free, limited := in.freeBytes(); limited && free == 0 {
		return redirection.ReplaceAllString(command, "${1}${2}/dev/full")
	}
	return command
}

// searchPath is put before PATH: programs that fail on a full disk.
func (in *injector) searchPath(link string) string {
	if free, limited := in.freeBytes(); limited && free == 0 {
		return path.Join(link, "system/bin/full") + ":"
	}
	return ""
}

// wrapConn slows a connection.
func (in *injector) wrapConn(ctx context.Context, conn net.Conn) net.Conn {
	f, ok := in.has(FaultSlow)
	if !ok {
		return conn
	}
	return &slowConn{Conn: conn, ctx: ctx, bytesPerSecond: f.BytesPerSecond, latency: f.Latency}
}

// slowConn is a connection that carries so many bytes a second each way.
type slowConn struct {
	net.Conn
	ctx            context.Context
	bytesPerSecond int64
	latency        time.Duration
}

func (c *slowConn) pause(n int, extra time.Duration) {
	timer := time.NewTimer(extra + time.Duration(float64(n)/float64(c.bytesPerSecond)*float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
	}
}

func (c *slowConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), 16<<10)])
	c.pause(n, 0)
	return n, err
}

func (c *slowConn) Write(p []byte) (written int, err error) {
	for len(p) > 0 {
		k := min(len(p), 16<<10)
		c.pause(k, c.latency)
		n, err := c.Conn.Write(p[:k])
		written += n
		if err != nil {
			return written, err
		}
		p = p[k:]
	}
	return written, nil
}
