package phone

import (
	"syscall"
	"time"
)

// happen lets a fault happen now. x is the shell command it happens to, nil
// if to none. It never waits for what it causes.
func (p *Phone) happen(f Fault, x *session) {
	p.stats.FaultsHappened.Add(1)
	p.log.Warn("fault", "kind", string(f.Kind))
	switch f.Kind {
	case FaultDrop:
		p.Drop()
	case FaultOffline:
		p.Offline(f.For)
	case FaultReboot:
		p.Reboot(f.For)
	case FaultLowMemory:
		p.killBiggest()
	case FaultClock:
		p.sensors.shiftClock(f.By)
	case FaultHang:
		if x != nil {
			x.hang(f.For)
		}
	case FaultExit:
		if x != nil {
			x.launch.setStatus(f.Code)
		}
	}
}

// Drop cuts every connection, as a pulled cable does. The phone can be
// connected to again at once.
func (p *Phone) Drop() { p.dropTransports() }

// Offline cuts every connection; later ones get no answer for a time, or for
// good if that is 0.
func (p *Phone) Offline(d time.Duration) {
	p.mu.Lock()
	select {
	case <-p.online:
		online := make(chan struct{})
		p.online = online
		if d > 0 {
			p.after(d, func() { close(online) })
		}
	default: // offline already
	}
	p.mu.Unlock()
	p.dropTransports()
}

// Reboot kills every process, changes the boot id, cuts every connection and
// refuses new ones for d. Files stay.
func (p *Phone) Reboot(d time.Duration) {
	next := newBoot(d)
	p.mu.Lock()
	close(p.boot.down)
	p.boot = next
	p.mu.Unlock()
	p.stats.RebootsCounted.Add(1)
	p.dropTransports()
	p.killAll()
	p.sensors.rebooted()
}

// killBiggest kills the process with the most resident memory, as Android's
// low-memory killer does. The shell that runs a command is spared while the
// command has other processes: beside a real benchmark it is never the biggest.
func (p *Phone) killBiggest() {
	list := p.processes()
	members := map[int]int{}
	for _, q := range list {
		members[q.session]++
	}
	var biggest process
	for _, q := range list {
		if leader := q.pid == q.session; leader && members[q.session] > 1 {
			continue
		}
		if q.residentBytes > biggest.residentBytes {
			biggest = q
		}
	}
	if biggest.pid > 1 {
		p.log.Info("low memory: process killed", "name", biggest.name, "pid", biggest.pid)
		_ = syscall.Kill(biggest.pid, syscall.SIGKILL)
	}
}

// hang stops the command's processes, for good if d is 0. Only SIGKILL, which
// the end of its stream brings, gets through.
func (x *session) hang(d time.Duration) {
	x.setHung(true)
	signalGroup(x.pgid, syscall.SIGSTOP)
	if d == 0 {
		return
	}
	x.phone.work.Go(func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			x.setHung(false)
			signalGroup(x.pgid, syscall.SIGCONT)
		case <-x.ended:
		}
	})
}

func (x *session) setHung(hung bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hung = hung
}

func (x *session) isHung() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.hung
}
