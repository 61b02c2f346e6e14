package harness

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"hexab/internal/bench"
	"hexab/internal/fetch"
)

// How often progress is shown: a line that is written over on a terminal, a
// line of its own in a log.
const (
	statusEvery = 250 * time.Millisecond
	lineEvery   = 15 * time.Second
)

// fetchView shows the progress of several files.
type fetchView struct {
	note func(format string, args ...any)
	// terminal takes the status line; nil where there is none.
	terminal io.Writer
	width    int

	mu      sync.Mutex
	now     map[string]fetch.Event // files at work by name
	told    map[string]time.Time
	phase   map[string]fetch.Phase
	status  time.Time
	showing bool
}

// fetchProgress shows downloads: on a terminal one line that is written over,
// elsewhere a line at each change of phase and every few seconds.
func (w *Workspace) fetchProgress() fetch.Progress {
	v := &fetchView{note: w.Note, now: map[string]fetch.Event{}, told: map[string]time.Time{}, phase: map[string]fetch.Phase{}}
	if f, ok := w.Err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		v.terminal = f
		if v.width, _, _ = term.GetSize(int(f.Fd())); v.width < 20 {
			v.width = 80
		}
	}
	return v.event
}

func (v *fetchView) event(e fetch.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	changed := v.phase[e.Name] != e.Phase || e.Note != ""
	v.phase[e.Name] = e.Phase
	v.now[e.Name] = e
	if e.Phase == fetch.PhaseDone {
		delete(v.now, e.Name)
	}
	if changed || v.terminal == nil && time.Since(v.told[e.Name]) >= lineEvery {
		v.told[e.Name] = time.Now()
		v.clear()
		v.note("%s", eventLine(e))
	}
	if v.terminal != nil && (changed || time.Since(v.status) >= statusEvery) {
		v.status = time.Now()
		v.show()
	}
}

// show writes the status line over the last one.
func (v *fetchView) show() {
	v.clear()
	if len(v.now) == 0 {
		return
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v.now)) {
		parts = append(parts, eventShort(v.now[name]))
	}
	text := strings.Join(parts, " | ")
	if r := []rune(text); len(r) > v.width-1 {
		text = string(r[:v.width-1])
	}
	_, _ = io.WriteString(v.terminal, text)
	v.showing = true
}

func (v *fetchView) clear() {
	if v.showing {
		_, _ = io.WriteString(v.terminal, "\r\x1b[K")
		v.showing = false
	}
}

// eventLine is an event as a line of a log.
func eventLine(e fetch.Event) string {
	text := string(e.Phase) + " " + e.Name
	if e.Total > 0 {
		text += ": " + bench.Bytes(e.Bytes).String() + " of " + bench.Bytes(e.Total).String()
	}
	if e.BytesPerSecond > 0 {
		text += ", " + bench.Bytes(e.BytesPerSecond).String() + "/s"
	}
	if e.Left > 0 {
		text += ", about " + e.Left.Round(time.Second).String() + " left"
	}
	if e.Note != "" {
		text += " (" + e.Note + ")"
	}
	return text
}

// eventShort is an event as a part of the status line.
func eventShort(e fetch.Event) string {
	name := e.Name
	if r := []rune(name); len(r) > 24 {
		name = string(r[:23]) + "…"
	}
	if e.Phase != fetch.PhaseDownload {
		name = string(e.Phase) + " " + name
	}
	if e.Total > 0 {
		name += fmt.Sprintf(" %.0f %%", 100*float64(e.Bytes)/float64(e.Total))
	} else if e.Bytes > 0 {
		name += " " + bench.Bytes(e.Bytes).String()
	}
	if e.BytesPerSecond > 0 {
		name += " " + bench.Bytes(e.BytesPerSecond).String() + "/s"
	}
	if e.Left > 0 {
		name += " " + e.Left.Round(time.Second).String()
	}
	return name
}
