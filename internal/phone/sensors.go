package phone

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	sensorInterval = 100 * time.Millisecond // while something runs
	throttlePeriod = 40 * time.Millisecond  // of stopping and continuing
)

// Where the phone keeps what its own programs print.
const (
	propertiesFile = "/dev/hexab/properties"
	clockFile      = "/dev/hexab/clock_offset"
	fullFile       = "/dev/hexab/full"
	fixedFile      = "/dev/hexab/fixed_performance"
	dumpFolder     = "/dev/hexab/dumpsys/"
)

// sensors steps the thermal model by the time that the phone's processes spent
// on processors, and keeps the files that show its state.
type sensors struct {
	phone     *Phone
	noSensors bool
	oddUnits  bool

	mu      sync.Mutex // guards all below
	model   ThermalModel
	last    time.Time
	spent   map[int]time.Duration // processor time seen, by session
	pending time.Duration         // of sessions that have ended since
	duty    float64
	status  ThermalStatus
	clock   time.Duration     // how far the wall clock is off
	written map[string]string // the files' present content
}

func newSensors(p *Phone) *sensors {
	s := &sensors{
		phone: p, model: p.profile.thermal(), last: time.Now(), duty: 1,
		spent: map[int]time.Duration{}, written: map[string]string{},
	}
	_, s.noSensors = p.faults.has(FaultNoSensors)
	_, s.oddUnits = p.faults.has(FaultOddUnits)
	// A phone that lies on the table is a little above its surroundings.
	for _, rc := range []*RC{&s.model.Chip, &s.model.Battery, &s.model.Skin} {
		rc.Set(rc.AmbientCelsius + s.model.IdleWatts*rc.ResistanceKelvinPerW)
	}
	return s
}

// run steps and throttles until the phone ends.
func (s *sensors) run() {
	tick := time.NewTicker(throttlePeriod)
	defer tick.Stop()
	next := time.Now()
	for {
		select {
		case <-s.phone.ctx.Done():
			return
		case now := <-tick.C:
			if now.After(next) && s.phone.busy() {
				s.refresh()
				next = now.Add(sensorInterval)
			}
			s.throttle()
		}
	}
}

// busy reports whether a process may run on the phone.
func (p *Phone) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sessions) > 0
}

// throttle stops every shell command for the share of the period that the
// duty in force leaves out.
func (s *sensors) throttle() {
	s.mu.Lock()
	duty := s.duty
	s.mu.Unlock()
	if duty >= 1 {
		return
	}
	stopped := s.phone.activeSessions()
	for _, x := range stopped {
		signalGroup(x.pgid, syscall.SIGSTOP)
	}
	timer := time.NewTimer(time.Duration((1 - duty) * float64(throttlePeriod)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.phone.ctx.Done():
	}
	for _, x := range stopped {
		x.resume()
	}
}

// activeSessions lists the commands that run and were not stopped by a fault.
func (p *Phone) activeSessions() (list []*session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.sessions {
		if x != nil && !x.isHung() {
			list = append(list, x)
		}
	}
	return list
}

// resume continues a throttled command, unless it has ended (its number may be
// somebody else's by now) or a fault has stopped it meanwhile.
func (x *session) resume() {
	x.phone.mu.Lock()
	defer x.phone.mu.Unlock()
	if x.phone.sessions[x.pgid] == x && !x.isHung() {
		signalGroup(x.pgid, syscall.SIGCONT)
	}
}

// ended takes the processor time that a command's last processes spent.
func (s *sensors) ended(x *session) {
	state := x.cmd.ProcessState
	total := state.UserTime() + state.SystemTime() // with its waited-for children
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending += max(0, total-s.spent[x.pgid])
	delete(s.spent, x.pgid)
}

// refresh steps the model to now and rewrites the files that changed.
func (s *sensors) refresh() {
	list := s.phone.processes()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	dt := now.Sub(s.last)
	s.last = now
	if dt > 0 {
		busy := s.takeSpent(list).Seconds() / dt.Seconds()
		busy = min(busy, float64(runtime.NumCPU())) // ticks are coarse, dt may be tiny
		s.duty, s.status = s.model.Step(dt, busy)
		if s.fixedPerformance() {
			s.duty = min(s.duty, s.model.FixedDuty)
		}
	}
	s.show()
}

// takeSpent returns the processor time spent since it was last asked.
func (s *sensors) takeSpent(list []process) time.Duration {
	total := map[int]time.Duration{}
	for _, p := range list {
		total[p.session] += p.cpu + p.children
	}
	spent := s.pending
	s.pending = 0
	for id, t := range total {
		spent += max(0, t-s.spent[id])
	}
	s.spent = total
	return spent
}

func (s *sensors) shiftClock(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock += by
	s.show()
}

func (s *sensors) rebooted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show()
}

// fixedPerformance reports what `cmd power` was last told.
func (s *sensors) fixedPerformance() bool {
	content, err := s.phone.files.root.ReadFile(local(fixedFile))
	return err == nil && strings.TrimSpace(string(content)) == "true"
}

// FixedPerformanceMode reports whether a client has turned fixed-performance
// mode on and not off again.
func (p *Phone) FixedPerformanceMode() bool { return p.sensors.fixedPerformance() }

// Heat returns the chip's temperature in degrees Celsius, the share of time
// the processors may run, and the throttling status.
func (p *Phone) Heat() (celsius, duty float64, status ThermalStatus) {
	p.sensors.refresh()
	p.sensors.mu.Lock()
	defer p.sensors.mu.Unlock()
	return p.sensors.model.Chip.Celsius(), p.sensors.duty, p.sensors.status
}

// put writes a file if its content changed. The caller holds mu.
func (s *sensors) put(name, content string) {
	if s.written[name] == content {
		return
	}
	if err := s.phone.files.replace(name, []byte(content), 0o644); err != nil {
		s.phone.log.Warn("sensor file not written", "file", name, "error", err)
		return
	}
	s.written[name] = content
}

// show writes what the phone's files and programs show. The caller holds mu.
func (s *sensors) show() {
	s.showZones()
	s.showFrequencies()
	s.put(dumpFolder+"thermalservice", s.thermalService())
	s.put(dumpFolder+"battery", s.battery())
	s.put("/sys/class/power_supply/battery/temp", fmt.Sprintf("%d\n", tenths(s.model.Battery.Celsius())))
	s.phone.mu.Lock()
	boot := s.phone.boot
	s.phone.mu.Unlock()
	up := max(0, time.Since(boot.started).Seconds())
	s.put("/proc/uptime", fmt.Sprintf("%.2f %.2f\n", up, up*float64(runtime.NumCPU())*0.9))
	s.put("/proc/sys/kernel/random/boot_id", boot.id+"\n")
	s.put(clockFile, fmt.Sprintf("%d\n", int64(s.clock.Seconds())))
	if memory, err := os.ReadFile("/proc/meminfo"); err == nil {
		s.put("/proc/meminfo", string(memory))
	}
	if free, limited := s.phone.faults.freeBytes(); limited {
		s.put(fullFile, fmt.Sprintf("%d\n", free>>10))
	}
}

// zone is a thermal zone: what it reads lies between the surroundings and the
// chip, or is the battery's or the cover's.
type zone struct {
	kind  string
	share float64 // of the chip's rise above the surroundings
}

// zones are named as on recent Snapdragon phones.
var zones = []zone{
	{"aoss-0", 0.85}, {"cpuss-0", 0.97}, {"cpuss-1", 0.96}, {"cpu-0-0-0", 1}, {"cpu-1-0-0", 0.99},
	{"gpuss-0", 0.8}, {"nsphvx-0", 0.95}, {"nsphmx-0", 0.94}, {"ddr", 0.7}, {"battery", 0}, {"quiet-therm", 0},
}

func (s *sensors) celsius(z zone) float64 {
	switch z.kind {
	case "battery":
		return s.model.Battery.Celsius()
	case "quiet-therm":
		return s.model.Skin.Celsius()
	}
	chip := &s.model.Chip
	return chip.AmbientCelsius + z.share*(chip.Celsius()-chip.AmbientCelsius)
}

func (s *sensors) showZones() {
	if s.noSensors {
		return
	}
	for i, z := range zones {
		folder := fmt.Sprintf("/sys/class/thermal/thermal_zone%d/", i)
		s.put(folder+"type", z.kind+"\n")
		s.put(folder+"temp", s.zoneText(z)+"\n")
	}
}

// zoneText is what the kernel shows: thousandths of a degree, except where a
// vendor thinks otherwise.
func (s *sensors) zoneText(z zone) string {
	c := s.celsius(z)
	if s.oddUnits {
		switch z.kind {
		case "cpuss-0", "cpuss-1":
			return fmt.Sprintf("%d", int(c)) // degrees
		case "battery":
			return fmt.Sprintf("%d", tenths(c))
		case "gpuss-0":
			return "-273000" // switched off
		case "ddr":
			return ""
		}
	}
	return fmt.Sprintf("%d", int(math.Round(c*10))*100)
}

func tenths(celsius float64) int { return int(math.Round(celsius * 10)) }

// maxKHz is what each processor runs at when nothing holds it back.
const maxKHz = 3_000_000

func (s *sensors) showFrequencies() {
	limit := int(s.duty*maxKHz/1000) * 1000
	n := runtime.NumCPU()
	s.put("/sys/devices/system/cpu/possible", fmt.Sprintf("0-%d\n", n-1))
	s.put("/sys/devices/system/cpu/present", fmt.Sprintf("0-%d\n", n-1))
	s.put("/sys/devices/system/cpu/online", fmt.Sprintf("0-%d\n", n-1))
	for i := range n {
		folder := fmt.Sprintf("/sys/devices/system/cpu/cpu%d/cpufreq/", i)
		s.put(folder+"cpuinfo_max_freq", fmt.Sprintf("%d\n", maxKHz))
		s.put(folder+"scaling_max_freq", fmt.Sprintf("%d\n", limit))
		s.put(folder+"scaling_cur_freq", fmt.Sprintf("%d\n", limit))
	}
}
