package phone

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestSensors(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool")
	for command, want := range map[string]string{
		"dumpsys battery":                           `^Current Battery Service state:\n(  .*\n)*  level: 82\n(  .*\n)*  temperature: 2\d\d\n`,
		"dumpsys thermalservice":                    `^IsStatusOverride: false\n(.*\n)*Thermal Status: 0\nCached temperatures:\n(\tTemperature\{mValue=\d+\.\d, mType=\d, mName=\w+, mStatus=0\}\n)+HAL Ready: true\n`,
		"dumpsys power":                             `(?m)^  mWakefulness=Awake$`,
		"dumpsys display":                           `(?m)^  mScreenState=ON$`,
		"cat /sys/class/thermal/thermal_zone*/type": `^aoss-0\ncpuss-0\n(.*\n)*battery\n`,
		"cat /sys/class/thermal/thermal_zone0/temp": `^2\d\d00\n$`,
		"cat /proc/meminfo":                         `^MemTotal: +\d+ kB\nMemFree: +\d+ kB\nMemAvailable: +\d+ kB\n`,
		"cat /proc/uptime":                          `^\d+\.\d\d \d+\.\d\d\n$`,
		"uptime":                                    `^ \d\d:\d\d:\d\d up 0:\d\d,  0 users,  load average: [\d., ]+\n$`,
		"df /data/local/tmp":                        `^Filesystem +1K-blocks +Used +Available Use% Mounted on\n/dev/block/dm-5 +\d+ +\d+ +\d+ +\d+% /data\n$`,
		"df -h /data":                               `^Filesystem +Size +Used Avail Use% Mounted on\n/dev/block/dm-5 +\d+G +\d+G +\d+G +\d+% /data\n$`,
		"id":                                        `^uid=2000\(shell\) gid=2000\(shell\) groups=`,
		"getprop":                                   `(?m)^\[ro\.serialno\]: \[test-phone\]$`,
		"env":                                       `(?m)^ANDROID_DATA=/data$`,
		"cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq":                   `^3000000\n$`,
		"sleep 7 & pidof sleep; pgrep -f 'sleep 7'; ps -A -o PID,NAME; killall sleep": `^(\d+)\n\d+\n +PID NAME\n( *\d+ .*\n)+$`,
	} {
		got := r.shell(p, command)
		if !regexp.MustCompile(want).MatchString(got.stdout) || got.stderr != "" || got.code != 0 {
			t.Errorf("%s: got %+v\nwant %s", command, got, want)
		}
	}
	// Nothing of the caller's environment gets through.
	if got := r.shell(p, "env"); strings.Contains(got.stdout, "CANARY") || strings.Contains(got.stdout, "PATH=/root") {
		t.Errorf("env: %+v", got)
	}
	if got := r.shell(p, "pidof sleep; pgrep init"); got.code != 1 || got.stdout != "" {
		t.Errorf("processes of the host: %+v", got)
	}
}

func TestFixedPerformanceMode(t *testing.T) {
	r := newRig(t)
	p := r.connect("hot")
	for _, on := range []bool{true, false} {
		got := r.shell(p, fmt.Sprintf("cmd power set-fixed-performance-mode-enabled %v", on))
		if got != (result{}) || p.FixedPerformanceMode() != on {
			t.Errorf("%v: %+v, mode is %v", on, got, p.FixedPerformanceMode())
		}
		if _, duty, _ := p.Heat(); (duty < 1) != on {
			t.Errorf("%v: duty %v", on, duty)
		}
	}
}

func TestSensorFaults(t *testing.T) {
	r := newRig(t)
	p := r.connect("nosensors")
	if got := r.shell(p, "cat /sys/class/thermal/thermal_zone0/temp"); got.code != 1 {
		t.Errorf("zone: %+v", got)
	}
	if got := r.shell(p, "dumpsys thermalservice"); !strings.Contains(got.stdout, "HAL Ready: false\n") || strings.Contains(got.stdout, "mValue") {
		t.Errorf("thermalservice: %+v", got)
	}
	p = r.connect("oddunits")
	got := r.shell(p, "cd /sys/class/thermal; for z in thermal_zone*; do echo $(cat $z/type $z/temp); done")
	for _, want := range []string{`cpuss-0 2\d`, `battery 2\d\d`, `gpuss-0 -273000`, `ddr`, `cpu-0-0-0 2\d\d00`} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(got.stdout) {
			t.Errorf("no line %s in %q", want, got.stdout)
		}
	}
}

// TestHot makes the model hot and sees that load warms it further, that the
// throttle really holds the program back, and that every view agrees.
func TestHot(t *testing.T) {
	r := newRig(t)
	p := r.connect("hot")
	p.sensors.mu.Lock()
	p.sensors.model.Chip.Set(79)
	p.sensors.mu.Unlock()
	r.program(p, "while :; do :; done")
	cmd := r.server.Command(t.Context(), "-s", p.Serial(), "shell", "/data/local/tmp/llama-bench")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program is busy", func() bool { return busyTime(p) > 50*time.Millisecond })
	eventually(t, "the program is stopped for a while", func() bool {
		for _, q := range p.processes() {
			if q.state == 'T' {
				return true
			}
		}
		return false
	})
	celsius, duty, status := p.Heat()
	if duty != 0.55 || status != 2 || celsius < 60 {
		t.Errorf("%.1f degrees, duty %v, status %v", celsius, duty, status)
	}
	got := r.shell(p, "dumpsys thermalservice; cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq")
	if !strings.Contains(got.stdout, "Thermal Status: 2\n") || !strings.HasSuffix(got.stdout, "\n1650000\n") {
		t.Errorf("%+v", got)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually(t, "no process on the phone", func() bool { return len(p.processes()) == 0 })
}

func busyTime(p *Phone) (total time.Duration) {
	for _, q := range p.processes() {
		total += q.cpu
	}
	return total
}

func TestLoadWarms(t *testing.T) {
	r := newRig(t)
	p := r.connect("hot")
	before, _, _ := p.Heat()
	if got := r.shell(p, "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if after, _, _ := p.Heat(); after <= before {
		t.Errorf("%.2f degrees before the load, %.2f after", before, after)
	}
}
