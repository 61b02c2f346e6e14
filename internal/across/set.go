package across

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"

	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/stat"
)

// Set is figures that belong together: a run, or what somebody published.
type Set struct {
	// Name is the run's id or the file's name without its ending.
	Name string
	// Published is set for figures that are not a run of hexab.
	Published bool
	// Device and Method say on what and how they were measured.
	Device, Method string
	// Simulated is set when the figures say nothing of a real phone.
	Simulated bool
	// Facts are further properties that two sets may differ in, by name.
	Facts map[string]string
	// Sources are where published figures stand; Read is the date at which
	// they were taken from there.
	Sources []string
	Read    string
	Figures []Figure
}

// Figure is the speed of one arm on one test of one model.
type Figure struct {
	// Model is an alias; SHA256 is the file's hash, empty where it is unknown.
	Model, SHA256 string
	StandIn       bool
	// Test is a test such as pp512, or "pp" and "tg" where the number of
	// tokens was not published.
	Test string
	Arm  string
	// Settings are all settings in force; nil where they were not published.
	Settings map[string]string
	Speed    bench.TokensPerSecond
	// HalfWidth is about the relative error of Speed (compare.Speed); zero is
	// unknown. Launches is the number of launches; zero is unknown.
	HalfWidth stat.LogRatio
	Launches  int
	// Date is that of a published figure.
	Date string
	// Source is the address of a published figure.
	Source string
}

// Place is the figure's model, test and arm.
func (f Figure) Place() string { return f.Model + " " + f.Test + " " + f.Arm }

// kind is pp, tg or pg: what tests are matched by where one of them has no
// number of tokens.
func (f Figure) kind() string { return f.Test[:min(2, len(f.Test))] }

// exact tells whether the number of tokens is known.
func (f Figure) exact() bool { return len(f.Test) > 2 }

// FromRun gives a run's figures.
func FromRun(run bench.Run, parts []compare.Part) Set {
	s := Set{
		Name: run.ID, Simulated: run.Simulated(), Device: deviceOf(run.Device),
		Method: fmt.Sprintf("llama-bench, %d balanced blocks, %d samples a launch, medians", run.Rounds, run.Repetitions),
		Facts:  map[string]string{"hexab": run.Version},
	}
	for _, b := range run.Bundles {
		s.Facts["bundle of "+string(b.Variant)] = b.ID.Short()
		s.Facts["llama.cpp of "+string(b.Variant)] = b.Source
		s.Facts["compiler of "+string(b.Variant)] = b.Compiler
	}
	models, arms := map[string]bench.Model{}, map[string]bench.Arm{}
	for _, m := range run.Models {
		models[m.Alias] = m
	}
	for _, a := range run.Arms {
		arms[a.Label] = a
	}
	seen := map[string]bool{}
	for _, part := range parts {
		for _, speed := range part.Comparisons.Speeds {
			f := Figure{
				Model: speed.Model, SHA256: models[speed.Model].SHA256, StandIn: models[speed.Model].StandIn, Test: speed.Test.String(),
				Arm: speed.Arm, Settings: arms[speed.Arm].Settings, Speed: speed.Median, HalfWidth: speed.HalfWidth, Launches: speed.Launches,
			}
			if id := f.Model + "\x00" + f.Test + "\x00" + f.Arm; speed.Launches > 0 && !seen[id] {
				seen[id] = true
				s.Figures = append(s.Figures, f)
			}
		}
	}
	return s
}

func deviceOf(d bench.Device) string {
	text := d.Serial
	for _, key := range []string{"model", "soc", "android"} {
		if value := d.Properties[key]; value != "" {
			text += ", " + key + " " + value
		}
	}
	return text
}

// fingerprint is a short hash of settings, to tell sets of them apart.
func fingerprint(settings map[string]string) string {
	if settings == nil {
		return "not published"
	}
	keys := make([]string, 0, len(settings))
	for key := range settings {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	h := sha256.New()
	for _, key := range keys {
		fmt.Fprintf(h, "%d:%s%d:%s", len(key), key, len(settings[key]), settings[key])
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
