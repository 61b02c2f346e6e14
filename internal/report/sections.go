package report

import (
	"fmt"
	"sort"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/compare"
)

// Limits of the places that one warning lists and of the lines of holes; the
// JSON form has all of them.
const (
	maxPlaces = 6
	maxHoles  = 40
)

// section is a titled list below the table. Lines hold raw text.
type section struct {
	title string
	lines []string
}

func (v view) sections() []section {
	return []section{
		{"Reading the table", v.legend()},
		{"No verdict", v.noVerdicts()},
		{"Warnings", v.warnings()},
		{"Missing launches", v.holes()},
		{"Environment", v.environment()},
	}
}

func (v view) legend() []string {
	lines := []string{fmt.Sprintf(
		"differences are of each arm to %s, with their %.4g %% interval; positive is faster; q is the p value adjusted for the %d comparisons of the table",
		v.c.Baseline, 100*(1-v.c.Limits.Alpha), v.adjusted)}
	lines = append(lines, fmt.Sprintf("less than %.3g %% counts as no difference", 100*v.c.Limits.Threshold))
	if _, some := v.aa(); some {
		lines = append(lines, "A/A: the same arm on both sides, a test of the method: it should come out inconclusive or equivalent")
	}
	star, gaps := false, false
	for _, cell := range v.c.Cells {
		star = star || starred(cell)
		gaps = gaps || len(cell.Pairs) < v.blocks[cell.Model]
	}
	if star {
		lines = append(lines, "*: indicative, "+compare.KindIndicative.Explain())
	}
	if gaps {
		lines = append(lines, "[n/m]: n of m planned blocks count")
	}
	for i, a := range v.run.Arms {
		if clean(a.Label) != v.names[a.Label] {
			lines = append(lines, fmt.Sprintf("arm %d: %s", i+1, a.Label))
		}
	}
	return lines
}

func (v view) noVerdicts() []string {
	var lines []string
	for _, cell := range v.c.Cells {
		if cell.Decision == nil {
			lines = append(lines, v.at(cell.Model, cell.Test.String(), cell.Arm)+": "+cell.NoVerdict)
		}
	}
	return bounded(lines, maxHoles)
}

// warnings has a line for each kind: what it means, and where. Simulated and
// indicative figures are marked in the table and its legend already.
func (v view) warnings() []string {
	var lines []string
	for _, kind := range compare.Kinds {
		if kind == compare.KindSimulated || kind == compare.KindIndicative {
			continue
		}
		var found []compare.Warning
		for _, w := range v.c.Warnings {
			if w.Kind == kind {
				found = append(found, w)
			}
		}
		if len(found) == 0 {
			continue
		}
		line := fmt.Sprintf("%s: %s", kind, kind.Explain())
		if where := v.where(found); where != "" {
			line += ": " + where
		}
		lines = append(lines, line)
	}
	return lines
}

// where lists the places of one kind of warning, those with equal details
// together.
func (v view) where(found []compare.Warning) string {
	places := map[string][]string{}
	var details []string
	for _, w := range found {
		if _, ok := places[w.Detail]; !ok {
			details = append(details, w.Detail)
		}
		if at := v.at(w.Model, w.Test, w.Arm); at != "" {
			places[w.Detail] = append(places[w.Detail], at)
		}
	}
	var parts []string
	for _, detail := range details {
		at := strings.Join(places[detail], ", ")
		if n := len(places[detail]); n > maxPlaces {
			at = fmt.Sprintf("%d places", n)
			if found[0].Test != "" && n == len(v.c.Cells) {
				at = fmt.Sprintf("all %d comparisons", n)
			} else if found[0].Arm == "" && n == len(v.run.Models) {
				at = fmt.Sprintf("all %d models", n)
			}
		}
		if detail != "" {
			at = strings.TrimSpace(at + " (" + detail + ")")
		}
		if at != "" {
			parts = append(parts, at)
		}
	}
	if len(parts) > maxPlaces {
		parts = append(parts[:maxPlaces], fmt.Sprintf("and %d more", len(parts)-maxPlaces))
	}
	return strings.Join(parts, "; ")
}

// holes has a line for each way in which launches went missing.
func (v view) holes() []string {
	groups := map[string][]compare.Hole{}
	var order []string
	for _, h := range v.c.Holes {
		line := fmt.Sprintf("%s: %s", v.at(h.Model, "", h.Arm), h.Outcome)
		if h.Test != "" {
			line = fmt.Sprintf("%s: %s missing", v.at(h.Model, "", h.Arm), h.Test)
		}
		if h.Fault != bench.FaultNone {
			line += " (" + string(h.Fault) + ")"
		}
		line += ": " + h.Reason
		if groups[line] == nil {
			order = append(order, line)
		}
		groups[line] = append(groups[line], h)
	}
	var lines []string
	for _, line := range order {
		lines = append(lines, line+" ["+launches(groups[line])+"]")
	}
	return bounded(lines, maxHoles)
}

func launches(holes []compare.Hole) string {
	var list []string
	for _, h := range holes {
		text := fmt.Sprint(h.Seq)
		if h.Attempts > 1 {
			text += fmt.Sprintf(" after %d attempts", h.Attempts)
		}
		if h.Log != "" {
			text += " " + h.Log
		}
		list = append(list, text)
	}
	if len(list) > maxPlaces {
		list = append(list[:maxPlaces], fmt.Sprintf("and %d more", len(list)-maxPlaces))
	}
	if len(list) == 1 {
		return "launch " + list[0]
	}
	return "launches " + strings.Join(list, ", ")
}

func (v view) environment() []string {
	run := v.run
	simulated := ""
	if v.c.Simulated {
		simulated = ", simulated"
	}
	lines := []string{
		fmt.Sprintf("device: %s (%s, %s%s)%s", run.Device.Serial, run.Device.Kind, run.Device.Platform, simulated, properties(": ", run.Device.Properties)),
		fmt.Sprintf("order: %d blocks, %d samples of each test in a launch, seed %d", run.Rounds, run.Repetitions, run.Seed),
	}
	var ends []string
	for _, outcome := range bench.Outcomes {
		if n := v.c.Outcomes[outcome]; n > 0 {
			ends = append(ends, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	lines = append(lines, fmt.Sprintf("launches: %d planned: %s", len(run.Plan), strings.Join(ends, ", ")))
	for _, a := range run.Arms {
		line := "arm " + a.Label + ":"
		if a.Label == v.c.Baseline {
			line = "arm " + a.Label + " (baseline):"
		}
		line += " variant " + string(a.Variant)
		if a.Bundle != "" {
			line += ", bundle " + a.Bundle.Short()
		}
		lines = append(lines, line+properties(", ", v.ownSettings(a)))
	}
	if shared := properties("", v.sharedSettings()); shared != "" {
		lines = append(lines, "settings of all arms: "+shared)
	}
	for _, b := range run.Bundles {
		line := fmt.Sprintf("bundle %s: %s for %s, llama.cpp %s, %s", b.ID.Short(), b.Variant, b.Platform, b.Source, b.Compiler)
		if b.SDK != "" {
			line += ", SDK " + b.SDK
		}
		lines = append(lines, line)
	}
	for _, m := range run.Models {
		name := m.Alias
		if m.StandIn {
			name += standInMark
		}
		lines = append(lines, fmt.Sprintf("model %s: %s, %s, sha256 %.12s", name, m.File, m.Size, m.SHA256))
	}
	if host := properties("", run.Host); host != "" {
		lines = append(lines, "host: "+host)
	}
	return append(lines, fmt.Sprintf("hexab %s, run of %s", run.Version, run.Created.UTC().Format("2006-01-02 15:04:05 UTC")))
}

// sharedSettings are those that all arms have in common.
func (v view) sharedSettings() map[string]string {
	shared := map[string]string{}
	if len(v.run.Arms) == 0 {
		return shared
	}
	for key, value := range v.run.Arms[0].Settings {
		same := true
		for _, a := range v.run.Arms {
			other, ok := a.Settings[key]
			same = same && ok && other == value
		}
		if same {
			shared[key] = value
		}
	}
	return shared
}

// ownSettings are those that not all arms have in common.
func (v view) ownSettings(a bench.Arm) map[string]string {
	own, shared := map[string]string{}, v.sharedSettings()
	for key, value := range a.Settings {
		if _, ok := shared[key]; !ok {
			own[key] = value
		}
	}
	return own
}

// properties lists a map sorted by key, after a prefix; empty for none.
func properties(prefix string, m map[string]string) string {
	list := make([]string, 0, len(m))
	for key, value := range m {
		list = append(list, key+"="+value)
	}
	if len(list) == 0 {
		return ""
	}
	sort.Strings(list)
	return prefix + strings.Join(list, ", ")
}

// bounded keeps the first lines and says how many were left out.
func bounded(lines []string, limit int) []string {
	if len(lines) <= limit {
		return lines
	}
	return append(lines[:limit:limit], fmt.Sprintf("and %d more; the JSON has all of them", len(lines)-limit))
}
