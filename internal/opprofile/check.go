package opprofile

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// readEvent is an event as a reader of the format sees it: fields that are
// missing are nil.
type readEvent struct {
	Name      *string        `json:"name"`
	Category  string         `json:"cat"`
	Phase     string         `json:"ph"`
	Timestamp *float64       `json:"ts"`
	Duration  *float64       `json:"dur"`
	Process   *float64       `json:"pid"`
	Thread    *float64       `json:"tid"`
	Args      map[string]any `json:"args"`
}

// CheckTrace holds a trace against the rules of the Trace Event Format, as
// Perfetto's importer applies them to the events that WriteTrace writes: whole
// nanoseconds, and the slices of each track in order, one after or wholly
// within the other, for the importer drops others. It gives the tracks' names.
func CheckTrace(text []byte) (tracks []string, err error) {
	var trace struct {
		DisplayTimeUnit string      `json:"displayTimeUnit"`
		TraceEvents     []readEvent `json:"traceEvents"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&trace); err != nil {
		return nil, err
	}
	under := map[[2]float64][]int64{} // ends of what is under way on a track
	for i, e := range trace.TraceEvents {
		if e.Name == nil || e.Process == nil || e.Thread == nil {
			return nil, fmt.Errorf("event %d lacks its name, process or thread", i)
		}
		switch e.Phase {
		case "M":
			if name, ok := e.Args["name"].(string); ok && *e.Name == "thread_name" {
				tracks = append(tracks, name)
			}
			continue
		case "X":
		default:
			return nil, fmt.Errorf("event %d: phase %q", i, e.Phase)
		}
		if e.Timestamp == nil || e.Duration == nil || *e.Timestamp < 0 || *e.Duration < 0 {
			return nil, fmt.Errorf("event %d has no time or no duration", i)
		}
		from, key := int64(*e.Timestamp*1000), [2]float64{*e.Process, *e.Thread}
		to, open := from+int64(*e.Duration*1000), under[key]
		for len(open) > 0 && open[len(open)-1] <= from {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && open[len(open)-1] < to {
			return nil, fmt.Errorf("event %d, from %d to %d ns, overlaps one on its track that ends at %d ns", i, from, to, open[len(open)-1])
		}
		under[key] = append(open, to)
	}
	return tracks, nil
}
