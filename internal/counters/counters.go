// Package counters reads the cost counters of the simulated NPU: how many
// packets or invokes, bytes by DMA, cache lines maintained and instructions a
// program took. They count what the DSP was asked to do, not time; equal inputs
// give equal counters, so they are compared exactly and need no statistics.
package counters

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Set is a counter's value by its name, summed over all DSP processes. Calls
// by method number read invokes.N.
type Set map[string]uint64

// Prefix begins the line that holds a document of counters in a log.
const Prefix = `{"simulated":true,`

// MaxDocument bounds a document in bytes.
const MaxDocument = 1 << 20

// Find reads the last document of counters that stands on a line of its own in
// a log; found is false without one.
func Find(log string) (set Set, found bool, err error) {
	at := strings.LastIndex(log, Prefix)
	if at < 0 || at > 0 && log[at-1] != '\n' {
		return nil, false, nil
	}
	line, _, _ := strings.Cut(log[at:], "\n")
	set, err = Parse([]byte(strings.TrimRight(line, "\r")))
	return set, true, err
}

// Parse reads one document.
func Parse(data []byte) (Set, error) {
	if len(data) > MaxDocument {
		return nil, fmt.Errorf("counters: %d bytes are more than %d", len(data), MaxDocument)
	}
	var document struct {
		Simulated bool                         `json:"simulated"`
		Processes []map[string]json.RawMessage `json:"processes"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("counters: %w", err)
	}
	if !document.Simulated || len(document.Processes) == 0 {
		return nil, errors.New("counters: no counters of a simulated NPU")
	}
	set := Set{}
	for _, process := range document.Processes {
		for name, raw := range process {
			switch name {
			case "domain", "session": // who, not how much
			case "invokes":
				var calls map[string]uint64
				if err := json.Unmarshal(raw, &calls); err != nil {
					return nil, fmt.Errorf("counters: invokes: %w", err)
				}
				for method, n := range calls {
					set["invokes."+method] += n
				}
			default:
				var n uint64
				if err := json.Unmarshal(raw, &n); err != nil {
					return nil, fmt.Errorf("counters: %s: %w", name, err)
				}
				set[name] += n
			}
		}
	}
	return set, nil
}

// Names are the names in any of the sets, sorted.
func Names(sets ...Set) []string {
	var names []string
	for _, set := range sets {
		for name := range set {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Differ names the counters in which two sets are not equal, sorted. Those in
// except are left out.
func Differ(a, b Set, except ...string) []string {
	return slices.DeleteFunc(Names(a, b), func(name string) bool {
		return a[name] == b[name] || slices.Contains(except, name)
	})
}

// PerToken is the cost of one token more: the difference of two sets that were
// counted with a different number of tokens, divided by that number. What both
// pay, such as loading the model, cancels out.
func PerToken(fewer, more Set, tokens int) map[string]float64 {
	cost := map[string]float64{}
	for _, name := range Names(fewer, more) {
		cost[name] = (float64(more[name]) - float64(fewer[name])) / float64(tokens)
	}
	return cost
}
