package device

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"

	"hexab/internal/bench"
)

// Reading is the sensors of a device with what else is read along with them.
type Reading struct {
	bench.Sensors
	BootID string
	// CPU is the device's CPU time so far in clock ticks, from /proc/stat;
	// nil when it can not be read.
	CPU *CPUTime
}

// CPUTime is CPU time in clock ticks over all cores.
type CPUTime struct{ Busy, Total int64 }

// clockTicksPerSecond is USER_HZ, the unit of /proc/stat: 100 on every
// architecture that Linux runs phones on (asm-generic/param.h).
const clockTicksPerSecond = 100

// OtherShare is the share of the device's CPU time, 0 to 1, that others took
// since an earlier reading, given the seconds of CPU time that were one's own.
// It is false when no time passed.
func (t CPUTime) OtherShare(since CPUTime, ownSeconds float64) (float64, bool) {
	if t.Total <= since.Total {
		return 0, false
	}
	others := float64(t.Busy-since.Busy) - ownSeconds*clockTicksPerSecond
	return max(0, min(1, others/float64(t.Total-since.Total))), true
}

// sensorScript prints everything in one round trip, in sections. Files are read
// by the shell's own means: a phone has up to a hundred zones, and a process
// for each would take longer than the rest together and warm what it measures.
const sensorScript = `{ echo "@boot"; read -r v </proc/sys/kernel/random/boot_id && echo "$v"
echo "@memory"; while read -r k v w; do [ "$k" = MemAvailable: ] && echo "$k $v $w" && break; done </proc/meminfo
echo "@cpu"; read -r v </proc/stat && echo "$v"
echo "@zones"; for z in /sys/class/thermal/thermal_zone*; do k=; v=; read -r k <"$z/type"; read -r v <"$z/temp"; echo "$k=$v"; done
echo "@thermal"; dumpsys thermalservice | head -n 200
echo "@battery"; dumpsys battery | head -n 60
echo "@power"; dumpsys power | grep -m 1 mWakefulness=; } 2>/dev/null`

// ReadSensors asks a device for its sensors. What can not be read stays nil.
func ReadSensors(ctx context.Context, d Device) (Reading, error) {
	var out bytes.Buffer
	if _, err := d.Run(ctx, Command{OfDevice: true, Script: sensorScript, Stdout: &out}); err != nil {
		return Reading{}, err
	}
	return parseSensors(out.String()), nil
}

func parseSensors(text string) Reading {
	var r Reading
	section := ""
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "@"); ok {
			section = name
			continue
		}
		switch section {
		case "boot":
			if isBootID(line) {
				r.BootID = line
			}
		case "memory":
			if n := kibibytes(line); n > 0 {
				r.MemoryAvailable = &n
			}
		case "cpu":
			r.CPU = parseCPU(line, r.CPU)
		case "zones":
			if name, value, ok := strings.Cut(line, "="); ok {
				r.addTemperature(name, value)
			}
		case "thermal":
			r.thermal(line)
		case "battery":
			r.battery(line)
		case "power":
			if state, ok := strings.CutPrefix(line, "mWakefulness="); ok {
				on := state == "Awake"
				r.ScreenOn = &on
			}
		}
	}
	return r
}

// parseCPU reads the first line of /proc/stat: user, nice, system, idle,
// iowait, irq, softirq, steal (proc(5)); guest time is part of user time.
func parseCPU(line string, before *CPUTime) *CPUTime {
	fields := strings.Fields(line)
	if len(fields) < 5 || fields[0] != "cpu" {
		return before
	}
	var t CPUTime
	for i, field := range fields[1:min(len(fields), 9)] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || n < 0 {
			return before
		}
		t.Total += n
		if i != 3 && i != 4 {
			t.Busy += n
		}
	}
	return &t
}

// maxZones bounds the sensors kept; phones have up to about a hundred.
const maxZones = 256

// addTemperature keeps a zone's temperature where it makes sense. Kernels
// report milli-degrees, some vendors degrees or tenths; a value that is no
// temperature of a working phone in the unit its size suggests is unknown.
func (r *Reading) addTemperature(name, value string) {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || name == "" || len(r.Temperatures) >= maxZones {
		return
	}
	switch {
	case n >= 1000 || n <= -1000:
		n /= 1000
	case n > 130:
		n /= 10
	}
	if n <= -40 || n > 130 || n == 0 {
		return
	}
	if r.Temperatures == nil {
		r.Temperatures = map[string]bench.Celsius{}
	}
	r.Temperatures[name] = bench.Celsius(n)
}

var thermalStatus = regexp.MustCompile(`^Thermal Status: ([0-6])$`)

func (r *Reading) thermal(line string) {
	if m := thermalStatus.FindStringSubmatch(line); m != nil {
		status, _ := strconv.Atoi(m[1])
		r.ThermalStatus = &status
	}
}

func (r *Reading) battery(line string) {
	key, value, ok := strings.Cut(line, ": ")
	if !ok {
		return
	}
	switch key {
	case "level":
		if n, err := strconv.Atoi(value); err == nil && n >= 0 && n <= 100 {
			r.BatteryPercent = &n
		}
	case "temperature": // tenths of a degree
		if n, err := strconv.Atoi(value); err == nil && n > -400 && n < 1300 && n != 0 {
			c := bench.Celsius(n) / 10
			r.BatteryTemperature = &c
		}
	case "AC powered", "USB powered", "Wireless powered":
		powered := value == "true" || (r.Charging != nil && *r.Charging)
		r.Charging = &powered
	}
}

// Hottest is the highest temperature known, false when none is.
func Hottest(s bench.Sensors) (bench.Celsius, bool) {
	hottest, known := bench.Celsius(0), false
	for _, c := range s.Temperatures {
		if !known || c > hottest {
			hottest, known = c, true
		}
	}
	return hottest, known
}
