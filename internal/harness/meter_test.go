package harness

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
)

// drive takes a meter through three steps of ten seconds, the second one wrong.
func drive(mode string, terminal bool, width int) string {
	var out bytes.Buffer
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	m := &meter{out: &out, now: func() time.Time { return now }, started: now, width: func() int { return width }}
	m.choose(mode, terminal)
	m.note("deployed")
	m.begin(3)
	for _, step := range []string{"llama3 cpu", "llama3 cpu#2", "qwen1 cpu"} {
		m.step(step)
		now = now.Add(10 * time.Second)
		if step == "llama3 cpu#2" {
			m.stepped(step+" crashed: x", true)
		} else {
			m.stepped(step+" pp64 100 t/s", false)
		}
	}
	m.end()
	m.note("done")
	return out.String()
}

func TestMeter(t *testing.T) {
	plain := `[  0.0s] deployed
[ 10.0s]   1 of 3  llama3 cpu pp64 100 t/s, about 20s left
[ 20.0s]   2 of 3  llama3 cpu#2 crashed: x, about 10s left
[ 30.0s]   3 of 3  qwen1 cpu pp64 100 t/s, about 0s left
[ 30.0s] done
`
	for _, mode := range []string{ProgressPlain, ProgressAuto, ""} {
		if got := drive(mode, false, 80); got != plain {
			t.Errorf("%s:\n%s", mode, got)
		}
	}
	if got := drive(ProgressNone, true, 80); got != "" {
		t.Errorf("none: %q", got)
	}
	// What is left on a terminal: notes and what went wrong, in order, and no bar.
	bar := drive(ProgressAuto, true, 64)
	var screen []string
	for _, line := range strings.Split(bar, "\n") {
		parts := strings.Split(line, "\r\x1b[K")
		screen = append(screen, parts[len(parts)-1])
		for _, part := range parts {
			if n := len(part); n > 63 && strings.HasPrefix(part, "[#") {
				t.Errorf("a bar of %d columns: %q", n, part)
			}
		}
	}
	want := "[  0.0s] deployed\n[ 20.0s]   2 of 3  llama3 cpu#2 crashed: x, about 10s left\n[ 30.0s] done\n"
	if got := strings.Join(screen, "\n"); got != want {
		t.Errorf("the screen reads\n%s", got)
	}
	if !regexp.MustCompile(`\[######\.{14}\] 1/3, about 20s left; llama3 cpu#2, 0s`).MatchString(bar) {
		t.Errorf("%q", bar)
	}
}
