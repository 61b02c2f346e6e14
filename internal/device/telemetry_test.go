package device

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestTelemetryIsTakenOutOfTheStream(t *testing.T) {
	var rest bytes.Buffer
	var samples []Sample
	w := NewTelemetry(&rest, func(s Sample) { samples = append(samples, s) })
	for _, part := range []string{
		"load\n@hexab-telemetry head z:cpu-0 z:dead z:odd f:cpu0 m:cpu0\n....", "@hexab-telemetry 12.50 b:82 t:310 a:2048 45", "500, , 46, 2000000, 3000000,\n....\n",
		"@hexab-telemetry 13.50 b: t: a: 46000,\n", "@hexab-telemetry garbage\r\n", "last",
	} {
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if rest.String() != "load\n....\n....\nlast" {
		t.Errorf("passed on: %q", rest.String())
	}
	if len(samples) != 2 {
		t.Fatalf("%+v", samples)
	}
	s := samples[0]
	if s.Uptime != 12.5 || *s.BatteryPercent != 82 || *s.BatteryTemperature != 31 || *s.MemoryAvailable != 2<<20 ||
		len(s.Temperatures) != 2 || s.Temperatures["cpu-0"] != 45.5 || s.Temperatures["odd"] != 46 || s.Frequencies["cpu0"] != 2_000_000 || s.Limits["cpu0"] != 3_000_000 {
		t.Errorf("%+v", s)
	}
	if s = samples[1]; s.BatteryPercent != nil || s.BatteryTemperature != nil || s.MemoryAvailable != nil || s.Temperatures != nil {
		t.Errorf("%+v", s)
	}
	want := "seconds,battery_percent,battery_celsius,memory_available_bytes,cpu0_khz,cpu0_limit_khz,cpu-0_celsius,odd_celsius\n" +
		"0.00,82,31,2097152,2000000,3000000,45.5,46\n1.00,,,,,,,\n"
	if got := string(TelemetryCSV(samples)); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// The script keeps its exit status and its output in every shell at hand, and
// leaves nothing running.
func TestWatchedScript(t *testing.T) {
	for _, shell := range []string{"sh", "dash", "bash", "mksh", "busybox"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		for script, status := range map[string]int{"true": 0, "sleep 1.2; exit 7": 7, "echo out; echo err >&2; sh -c 'kill -SEGV $$'": 139} {
			args := []string{"-c", "(" + Watched("("+script+")") + "); s=$?; echo \"status $s\""}
			if shell == "busybox" {
				args = append([]string{"sh"}, args...)
			}
			var out, stderr, rest bytes.Buffer
			c := exec.Command(path, args...)
			c.Stdout, c.Stderr = &out, &stderr
			if err := c.Run(); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(out.String(), "status "+strconv.Itoa(status)+"\n") {
				t.Errorf("%s: %s: %q", shell, script, out.String())
			}
			samples := 0
			w := NewTelemetry(&rest, func(Sample) { samples++ })
			_, _ = w.Write(stderr.Bytes())
			if left := strings.TrimPrefix(rest.String(), "err\n"); left != "" && !strings.Contains(left, "egmentation") {
				t.Errorf("%s: %s: stderr %q", shell, script, left)
			}
			if samples == 0 && strings.Contains(script, "sleep") {
				t.Errorf("%s: %s: no sample in %q", shell, script, stderr.String())
			}
		}
	}
}

func FuzzTelemetry(f *testing.F) {
	f.Add("@hexab-telemetry head z:a f:cpu0\n@hexab-telemetry 1 b:1 t:2 a:3 4, 5,\nrest")
	f.Fuzz(func(t *testing.T, text string) {
		var rest bytes.Buffer
		var samples []Sample
		w := NewTelemetry(&rest, func(s Sample) { samples = append(samples, s) })
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		if rest.Len() > len(text)+strings.Count(text, telemetryMark) {
			t.Errorf("%d bytes became %d", len(text), rest.Len())
		}
		lines := bytes.Count(TelemetryCSV(samples), []byte("\n"))
		if lines != len(samples)+1 {
			t.Errorf("%d lines for %d samples", lines, len(samples))
		}
	})
}
