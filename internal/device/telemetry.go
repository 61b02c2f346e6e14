package device

import (
	"bytes"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"hexab/internal/bench"
)

// telemetryMark begins every line of telemetry on a launch's stderr.
const telemetryMark = "@hexab-telemetry "

// Watched wraps a script so that about once a second a line of telemetry goes
// to its stderr while it runs. The lines come from the same shell, so that they
// end with it whatever happens. Each reads files by the shell's own means and
// starts no process but sleep: what watches must not warm the phone. The
// thermal status is not among it, since asking for it wakes a service.
//
// The status of the whole is the script's.
func Watched(script string) string {
	return watchScript + script + "\nhexab_s=$?; { kill -9 $hexab_w; wait $hexab_w; } 2>/dev/null; (exit $hexab_s)"
}

// watchScript is the background part. A header line names the sensors in the
// order in which later lines give their values.
const watchScript = `(
c=/sys/devices/system/cpu; b=/sys/class/power_supply/battery
h=
for z in /sys/class/thermal/thermal_zone*; do v=; read -r v <"$z/type"; h="$h z:$v"; done 2>/dev/null
for z in $c/cpu[0-9]*; do [ -r "$z/cpufreq/scaling_max_freq" ] && h="$h f:${z##*/} m:${z##*/}"; done
echo "` + telemetryMark + `head$h" >&2
while kill -0 $$ 2>/dev/null; do
u=; read -r u v </proc/uptime
l="$u"
v=; [ -r $b/capacity ] && read -r v <$b/capacity; l="$l b:$v"
v=; [ -r $b/temp ] && read -r v <$b/temp; l="$l t:$v"
v=; while read -r k v w; do [ "$k" = MemAvailable: ] && break; done </proc/meminfo; l="$l a:$v"
for z in /sys/class/thermal/thermal_zone*; do v=; read -r v <"$z/temp"; l="$l $v,"; done 2>/dev/null
for z in $c/cpu[0-9]*; do [ -r "$z/cpufreq/scaling_max_freq" ] || continue; v=; read -r v <"$z/cpufreq/scaling_cur_freq"; l="$l $v,"; v=; read -r v <"$z/cpufreq/scaling_max_freq"; l="$l $v,"; done 2>/dev/null
echo "` + telemetryMark + `$l" >&2
sleep 1 </dev/null >/dev/null 2>&1
done ) </dev/null >/dev/null & hexab_w=$!
`

// KHz is a frequency in kilohertz, the kernel's unit.
type KHz int

// Sample is one line of telemetry. What could not be read is absent.
type Sample struct {
	// Uptime is the device's, in seconds.
	Uptime float64
	bench.Sensors
	// Frequencies and Limits are the present frequency of each core and the
	// one that it is held to.
	Frequencies, Limits map[string]KHz
}

// Telemetry takes the telemetry out of a launch's stderr: it is written all of
// the stream, passes the rest on, and hands each sample over as it comes.
type Telemetry struct {
	next   io.Writer
	sample func(Sample)
	head   []string
	part   []byte
}

// NewTelemetry passes on to next and hands samples to sample.
func NewTelemetry(next io.Writer, sample func(Sample)) *Telemetry {
	return &Telemetry{next: next, sample: sample}
}

// maxTelemetryLine bounds what is held back of a line without an end.
const maxTelemetryLine = 64 << 10

func (t *Telemetry) Write(p []byte) (int, error) {
	t.part = append(t.part, p...)
	for {
		end := bytes.IndexByte(t.part, '\n')
		if end < 0 && len(t.part) <= maxTelemetryLine {
			return len(p), nil
		}
		if end < 0 {
			end = len(t.part) - 1
		}
		if err := t.line(t.part[:end+1]); err != nil {
			return 0, err
		}
		t.part = append(t.part[:0], t.part[end+1:]...)
	}
}

// Close passes on what is left.
func (t *Telemetry) Close() error {
	if len(t.part) == 0 {
		return nil
	}
	err := t.line(t.part)
	t.part = nil
	return err
}

// line takes one line with its end. A program's unfinished line may stand
// before the telemetry; it is passed on.
func (t *Telemetry) line(line []byte) error {
	at := bytes.Index(line, []byte(telemetryMark))
	if at < 0 {
		_, err := t.next.Write(line)
		return err
	}
	text := strings.TrimSpace(string(line[at+len(telemetryMark):]))
	if names, ok := strings.CutPrefix(text, "head"); ok {
		t.head = strings.Fields(names)
		if len(t.head) > 2*maxZones {
			t.head = nil
		}
	} else if s, ok := parseSample(text, t.head); ok && t.sample != nil {
		t.sample(s)
	}
	if at == 0 {
		return nil
	}
	_, err := t.next.Write(append(line[:at:at], '\n'))
	return err
}

// parseSample reads "UPTIME b:82 t:310 a:1234 45000, 46000, 3000000, ...": the
// values with commas stand in the header's order.
func parseSample(text string, head []string) (Sample, bool) {
	var s Sample
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return s, false
	}
	var err error
	if s.Uptime, err = strconv.ParseFloat(fields[0], 64); err != nil || !(s.Uptime >= 0 && s.Uptime < 1e10) {
		return s, false
	}
	var r Reading
	value := func(field, prefix string) string { v, _ := strings.CutPrefix(field, prefix); return v }
	r.battery("level: " + value(fields[1], "b:"))
	r.battery("temperature: " + value(fields[2], "t:"))
	if n, err := strconv.ParseInt(value(fields[3], "a:"), 10, 64); err == nil && n > 0 && n < 1<<40 {
		kib := bench.Bytes(n) * bench.KiB
		r.MemoryAvailable = &kib
	}
	// An unreadable sensor leaves a comma of its own.
	if values := fields[4:]; len(values) == len(head) {
		for i, name := range head {
			s.take(&r, name, strings.TrimSuffix(values[i], ","))
		}
	}
	s.Sensors = r.Sensors
	return s, true
}

// take keeps one value of a sample.
func (s *Sample) take(r *Reading, name, value string) {
	kind, name, _ := strings.Cut(name, ":")
	if kind == "z" {
		r.addTemperature(name, value)
		return
	}
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 || n > 100_000_000 {
		return
	}
	into := &s.Frequencies
	if kind == "m" {
		into = &s.Limits
	}
	if *into == nil {
		*into = map[string]KHz{}
	}
	(*into)[name] = KHz(n)
}

// TelemetryCSV renders samples as a table with a column for each sensor that
// any of them has; empty is unknown. Times count from the first sample.
func TelemetryCSV(samples []Sample) []byte {
	zones, cores := map[string]bool{}, map[string]bool{}
	for _, s := range samples {
		for name := range s.Temperatures {
			zones[name] = true
		}
		for name := range s.Limits {
			cores[name] = true
		}
	}
	var out bytes.Buffer
	out.WriteString("seconds,battery_percent,battery_celsius,memory_available_bytes")
	for _, name := range sortedNames(cores) {
		fmt.Fprintf(&out, ",%[1]s_khz,%[1]s_limit_khz", name)
	}
	for _, name := range sortedNames(zones) {
		fmt.Fprintf(&out, ",%s_celsius", csvName(name))
	}
	out.WriteByte('\n')
	for _, s := range samples {
		fmt.Fprintf(&out, "%.2f,%s,%s,%s", s.Uptime-samples[0].Uptime, show(s.BatteryPercent), show(s.BatteryTemperature), number(s.MemoryAvailable))
		for _, name := range sortedNames(cores) {
			fmt.Fprintf(&out, ",%s,%s", known(s.Frequencies, name), known(s.Limits, name))
		}
		for _, name := range sortedNames(zones) {
			fmt.Fprintf(&out, ",%s", known(s.Temperatures, name))
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}

func sortedNames(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// csvName makes a sensor's name fit for a column's.
func csvName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(",\"'\x7f", r) {
			return '_'
		}
		return r
	}, name)
}

func show[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}

func number(b *bench.Bytes) string {
	if b == nil {
		return ""
	}
	return strconv.FormatInt(int64(*b), 10)
}

func known[T any](m map[string]T, name string) string {
	v, ok := m[name]
	if !ok {
		return ""
	}
	return fmt.Sprint(v)
}
