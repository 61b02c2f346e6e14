// Package phone is the embedded phone: a device-side adb daemon on a loopback
// port that the real adb client and server talk to, with a folder as its file
// system, real processes, sensors, a thermal model and faults on request. It
// stands in for a phone in tests and for users who have none; nothing that it
// measures is a phone's.
//
// It is no sandbox: shell commands run as the user who started it, with the
// phone's absolute paths mapped textually onto the folder (see pathMap).
package phone

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Config says what phone to start.
type Config struct {
	// Dir is the folder that holds the phone's files. They stay from run to
	// run. One phone at a time uses a folder.
	Dir string

	// Profile is the kind of phone, its faults and their seed, see ParseSpec;
	// cool if empty.
	Profile string

	// Name is the product name, e.g. "hexab-phone"; that if empty.
	Name string

	// Env is added to the environment of the phone's processes, which
	// otherwise holds nothing of the caller's.
	Env []string

	// Vendor are files of this machine that the phone has in /vendor/lib64,
	// where programs find libraries without being told.
	Vendor []string

	// Log takes what happens; nil for nowhere.
	Log *slog.Logger
}

// Stats counts what a phone did since it was started.
type Stats struct {
	FilesPushed, BytesPushed int64 // completed pushes
	FilesPulled, BytesPulled int64 // completed pulls
	ShellCommands            int64 // shell and exec services
	Transports               int64 // connections accepted
	FaultsHappened           int64
	Reboots                  int64
}

type counters struct {
	FilesPushed, BytesPushed, FilesPulled, BytesPulled        atomic.Int64
	ShellCommands, Transports, FaultsHappened, RebootsCounted atomic.Int64
}

// maxTransports caps the connections at one time.
const maxTransports = 16

// Phone is a running embedded phone.
type Phone struct {
	config   Config
	spec     Spec
	profile  profile
	log      *slog.Logger
	ctx      context.Context
	cancel   context.CancelFunc
	listener net.Listener
	files    *fileSystem
	paths    pathMap
	guard    *guard
	faults   *injector
	sensors  *sensors
	stats    counters
	// interpreter starts the phone's programs; empty where they start themselves.
	interpreter string
	work        sync.WaitGroup // every goroutine of the phone

	closeOnce sync.Once
	closeErr  error

	mu         sync.Mutex // guards all below
	boot       boot
	transports map[*transport]bool
	sessions   map[int]*session // by session id; nil when only a left-over process lives
	online     chan struct{}    // closed while the phone answers
	authorized chan struct{}    // closed once the adb key is accepted
}

// boot is the time from one start of the phone's system to the next.
type boot struct {
	id      string
	started time.Time     // the phone is reachable from then on
	down    chan struct{} // closed when it ends
}

// Start starts a phone. It ends with Close or when ctx does, with everything
// it has started.
func Start(ctx context.Context, config Config) (*Phone, error) {
	spec, err := ParseSpec(config.Profile)
	if err != nil {
		return nil, err
	}
	if config.Dir == "" {
		return nil, errors.New("phone: no folder given")
	}
	if config.Name == "" {
		config.Name = "hexab-phone"
	}
	log := config.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	p := &Phone{
		config: config, spec: spec, profile: profiles[spec.Profile], log: log.With("phone", config.Name),
		faults:     newInjector(spec.Faults, spec.Seed),
		transports: map[*transport]bool{}, sessions: map[int]*session{},
		online: closedChannel(), authorized: closedChannel(),
		boot: newBoot(0),
	}
	p.ctx, p.cancel = context.WithCancel(ctx)
	if err := p.start(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	context.AfterFunc(p.ctx, func() { _ = p.Close() })
	return p, nil
}

func (p *Phone) start() (err error) {
	if p.profile.arm64 {
		if p.interpreter, err = arm64Interpreter(); err != nil {
			return err
		}
	}
	if p.files, err = openFileSystem(p.config.Dir); err != nil {
		return err
	}
	l, err := makeLinks(p.files.folder)
	if err != nil {
		return fmt.Errorf("link to the phone's folder: %w", err)
	}
	p.paths = pathMap{link: l.link, folder: p.files.folder}
	if p.guard, err = startGuard(l.dir); err != nil {
		l.remove()
		return err
	}
	p.sensors = newSensors(p)
	if err := p.install(); err != nil {
		return fmt.Errorf("set up the phone's folder: %w", err)
	}
	if p.listener, err = listen(); err != nil {
		return err
	}
	if f, ok := p.faults.has(FaultUnauthorized); ok {
		p.authorized = make(chan struct{})
		if f.For > 0 {
			p.after(f.For, func() { close(p.authorized) })
		}
	}
	for _, f := range p.faults.started() {
		p.happen(f, nil)
	}
	p.work.Go(p.acceptLoop)
	p.work.Go(p.sensors.run)
	p.log.Debug("phone started", "address", p.Addr(), "profile", p.config.Profile)
	return nil
}

// listen takes a loopback port of the kernel's choice that adb does not probe
// for emulators (5555 to 5585).
func listen() (net.Listener, error) {
	for range 64 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		if port := l.Addr().(*net.TCPAddr).Port; port < 5554 || port > 5585 {
			return l, nil
		}
		l.Close()
	}
	return nil, errors.New("no loopback port outside 5554 to 5585")
}

// Addr is the address of the daemon, 127.0.0.1:PORT.
func (p *Phone) Addr() string { return p.listener.Addr().String() }

// Serial is the name by which adb knows the phone once it is connected.
func (p *Phone) Serial() string { return p.Addr() }

// Dir is the folder of the phone's files, absolute and without links.
func (p *Phone) Dir() string { return p.files.folder }

// Stats returns the counts so far.
func (p *Phone) Stats() Stats {
	c := &p.stats
	return Stats{
		FilesPushed: c.FilesPushed.Load(), BytesPushed: c.BytesPushed.Load(),
		FilesPulled: c.FilesPulled.Load(), BytesPulled: c.BytesPulled.Load(),
		ShellCommands: c.ShellCommands.Load(), Transports: c.Transports.Load(),
		FaultsHappened: c.FaultsHappened.Load(), Reboots: c.RebootsCounted.Load(),
	}
}

// Close ends the phone and every process that it started, and returns when
// nothing of it is left but its files.
func (p *Phone) Close() error {
	p.closeOnce.Do(func() {
		p.cancel()
		if p.listener != nil {
			_ = p.listener.Close()
		}
		p.dropTransports()
		p.work.Wait()
		if p.guard != nil {
			p.closeErr = p.guard.close()
		}
		if p.files != nil {
			p.files.close()
		}
	})
	return p.closeErr
}

func (p *Phone) acceptLoop() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			if p.ctx.Err() == nil {
				p.log.Error("phone stopped listening", "error", err)
			}
			return
		}
		if p.rebooting() {
			_ = conn.Close()
			continue
		}
		t := newTransport(p, conn)
		if !p.addTransport(t) {
			_ = conn.Close()
			continue
		}
		p.stats.Transports.Add(1)
		p.work.Go(func() {
			t.serve()
			p.mu.Lock()
			delete(p.transports, t)
			p.mu.Unlock()
		})
	}
}

func (p *Phone) addTransport(t *transport) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.transports) >= maxTransports || p.ctx.Err() != nil {
		p.log.Warn("connection refused", "reason", fmt.Sprintf("%d transports are open", len(p.transports)))
		return false
	}
	p.transports[t] = true
	return true
}

// dropTransports cuts every connection, and by it every stream.
func (p *Phone) dropTransports() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t := range p.transports {
		t.abort()
	}
}

func (p *Phone) runService(s *stream, svc service) {
	switch svc.kind {
	case serviceShell, serviceExec:
		p.runShell(s, svc)
	case serviceSync:
		p.runSync(s)
	case serviceReboot:
		p.Reboot(2 * time.Second)
	}
}

func (p *Phone) addSession(x *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[x.pgid] = x
}

// removeSession keeps the id: a process in the background may live on.
func (p *Phone) removeSession(x *session) {
	p.sensors.ended(x)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[x.pgid] = nil
}

// processes lists what runs on the phone, and forgets sessions without any.
func (p *Phone) processes() []process {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := map[int]bool{}
	for id := range p.sessions {
		ids[id] = true
	}
	var list []process
	alive := map[int]bool{}
	for _, q := range processes(ids) {
		if p.sessions[q.session] == nil && !carriesMark(q.pid, p.guard.mark) {
			continue // the number is somebody else's by now
		}
		alive[q.session] = true
		list = append(list, q)
	}
	for id, x := range p.sessions {
		if x == nil && !alive[id] {
			delete(p.sessions, id)
		}
	}
	return list
}

// after runs f in d unless the phone ends before.
func (p *Phone) after(d time.Duration, f func()) {
	p.work.Go(func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			f()
		case <-p.ctx.Done():
		}
	})
}

func (p *Phone) unauthorized() bool {
	select {
	case <-p.authorized:
		return false
	default:
		return true
	}
}

// waitAuthorized waits until the key is accepted; false when the phone ends.
func (p *Phone) waitAuthorized() bool { return p.wait(p.authorized) }

// waitOnline waits until the phone answers; false when it ends.
func (p *Phone) waitOnline() bool {
	p.mu.Lock()
	online := p.online
	p.mu.Unlock()
	return p.wait(online)
}

func (p *Phone) wait(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-p.ctx.Done():
		return false
	}
}

func (p *Phone) rebooting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.boot.started)
}

// goingDown returns a channel that is closed when the present boot ends.
func (p *Phone) goingDown() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.boot.down
}

func newBoot(in time.Duration) boot {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // a random UUID, RFC 9562
	return boot{
		id:      fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:]),
		started: time.Now().Add(in),
		down:    make(chan struct{}),
	}
}

func closedChannel() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// killAll ends every process on the phone.
func (p *Phone) killAll() {
	for _, q := range p.processes() {
		_ = syscall.Kill(q.pid, syscall.SIGKILL)
	}
}
