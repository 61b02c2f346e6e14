package harness

import (
	"sync"
	"time"

	"hexab/internal/bench"
	"hexab/internal/fetch"
)

// fetchProgress prints a line every few seconds and at each change of phase.
func (w *Workspace) fetchProgress() fetch.Progress {
	var mu sync.Mutex
	last := map[string]time.Time{}
	phase := map[string]fetch.Phase{}
	return func(e fetch.Event) {
		mu.Lock()
		defer mu.Unlock()
		if phase[e.Name] == e.Phase && time.Since(last[e.Name]) < 5*time.Second {
			return
		}
		phase[e.Name], last[e.Name] = e.Phase, time.Now()
		text := string(e.Phase) + " " + e.Name
		if e.Total > 0 {
			text += ": " + bench.Bytes(e.Bytes).String() + " of " + bench.Bytes(e.Total).String()
		}
		if e.Left > 0 {
			text += ", about " + e.Left.Round(time.Second).String() + " left"
		}
		if e.Note != "" {
			text += " (" + e.Note + ")"
		}
		w.Note("%s", text)
	}
}
