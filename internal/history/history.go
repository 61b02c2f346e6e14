// Package history follows speeds from commit to commit: one line of JSON for
// each commit, device, model, test and arm. A value that leaves its series is a
// suspect; it becomes a change point only when the next value confirms it.
package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"hexab/internal/bench"
	"hexab/internal/compare"
)

// Schema is the version of a line's form.
const Schema = 1

// Bounds on a file.
const (
	MaxBytes     = 256 << 20
	maxLineBytes = 16 << 10
)

// Entry is a line: how fast one arm ran one test of one model.
type Entry struct {
	Schema int       `json:"schema"`
	Time   time.Time `json:"time"`
	// Commit is that of the code that was measured, Run the run's id.
	Commit string `json:"commit"`
	Run    string `json:"run"`
	// Device is the device's model and serial; Simulated labels figures that
	// say nothing about a real phone.
	Device    string     `json:"device"`
	Simulated bool       `json:"simulated,omitempty"`
	Model     string     `json:"model"`
	StandIn   bool       `json:"stand_in,omitempty"`
	Test      bench.Test `json:"test"`
	Arm       string     `json:"arm"`
	// Median is that of Launches launches; HalfWidth is about its relative
	// error, absent where it is not known.
	Median    bench.TokensPerSecond `json:"median_tokens_per_second"`
	HalfWidth *float64              `json:"half_width,omitempty"`
	Launches  int                   `json:"launches"`
	// Verdict is the comparison with Baseline in that run, Estimate its log
	// ratio; both are absent for a baseline.
	Baseline string   `json:"baseline,omitempty"`
	Verdict  string   `json:"verdict,omitempty"`
	Estimate *float64 `json:"estimate,omitempty"`
}

// Key names a series.
type Key struct {
	Device    string
	Simulated bool
	Model     string
	StandIn   bool
	Test      bench.Test
	Arm       string
}

// Key is the series that the entry belongs to.
func (e Entry) Key() Key {
	return Key{e.Device, e.Simulated, e.Model, e.StandIn, e.Test, e.Arm}
}

// String names the series for people.
func (k Key) String() string {
	text := fmt.Sprintf("%s %s %s on %s", k.Model, k.Test, k.Arm, k.Device)
	if k.Simulated {
		text += " (simulated)"
	}
	return text
}

var commitPattern = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// Of makes the entries of a run's parts. A part's arms from trees count as that
// commit: head's, and base's as base's own.
func Of(parts []compare.Part, commit string) ([]Entry, error) {
	var list []Entry
	for _, part := range parts {
		run := part.Run
		commits := map[string]string{"": commit}
		for _, tree := range run.Trees {
			commits[tree.Name] = tree.Commit
		}
		for _, s := range part.Comparisons.Speeds {
			if s.Launches == 0 {
				continue
			}
			e := Entry{
				Schema: Schema, Time: run.Created.UTC().Truncate(time.Second), Run: run.ID, Device: device(run.Device), Simulated: run.Simulated(),
				Model: s.Model, Test: s.Test, Arm: s.Arm, Median: s.Median, Launches: s.Launches,
			}
			for _, a := range run.Arms {
				if a.Label == s.Arm {
					e.Commit = commits[a.Tree]
					if a.Tree != "" {
						e.Arm = strings.TrimPrefix(s.Arm, a.Tree+":")
					}
				}
			}
			if !commitPattern.MatchString(e.Commit) {
				return nil, fmt.Errorf("history: run %s: %q is not a commit; name the one that was measured", run.ID, e.Commit)
			}
			for _, m := range run.Models {
				e.StandIn = e.StandIn || m.Alias == s.Model && m.StandIn
			}
			if width := float64(s.HalfWidth); !math.IsNaN(width) && !math.IsInf(width, 0) {
				e.HalfWidth = &width
			}
			for _, cell := range part.Comparisons.Cells {
				if cell.Model == s.Model && cell.Test == s.Test && cell.Arm == s.Arm && cell.Decision != nil {
					estimate := float64(cell.Decision.Estimate)
					e.Baseline, e.Verdict, e.Estimate = cell.Baseline, string(cell.Decision.Verdict), &estimate
				}
			}
			list = append(list, e)
		}
	}
	return list, nil
}

func device(d bench.Device) string {
	if model := d.Properties["model"]; model != "" {
		return model + " " + d.Serial
	}
	return d.Serial
}

// Add appends the entries that the history does not have yet.
func Add(known, more []Entry) []Entry {
	type id struct {
		key         Key
		run, commit string
	}
	seen := map[id]bool{}
	for _, e := range known {
		seen[id{e.Key(), e.Run, e.Commit}] = true
	}
	for _, e := range more {
		if at := (id{e.Key(), e.Run, e.Commit}); !seen[at] {
			seen[at] = true
			known = append(known, e)
		}
	}
	return known
}

// Write makes the file's text, oldest first.
func Write(entries []Entry) ([]byte, error) {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return a.Time.Compare(b.Time) })
	var b bytes.Buffer
	for _, e := range sorted {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes(), nil
}

// Parse reads a file. Errors name the file and the line.
func Parse(name string, text []byte) ([]Entry, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, MaxBytes)
	}
	scanner := bufio.NewScanner(bytes.NewReader(text))
	scanner.Buffer(nil, maxLineBytes)
	var list []Entry
	number := 0
	for scanner.Scan() {
		number++
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		e, err := parseLine(scanner.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		list = append(list, e)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, number+1, err)
	}
	return list, nil
}

func parseLine(line []byte) (Entry, error) {
	var e Entry
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, err
	}
	if _, err := d.Token(); err != io.EOF {
		return e, fmt.Errorf("text after the end of the object")
	}
	switch {
	case e.Schema != Schema:
		return e, fmt.Errorf("schema %d; this hexab reads schema %d", e.Schema, Schema)
	case !(e.Median > 0) || math.IsInf(float64(e.Median), 0):
		return e, fmt.Errorf("median %v is not a speed", e.Median)
	case e.Model == "" || e.Arm == "" || e.Device == "" || e.Test.Tokens() == 0:
		return e, fmt.Errorf("no model, arm, device or test")
	case e.Time.IsZero():
		return e, fmt.Errorf("no time")
	}
	return e, nil
}
