package across

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"hexab/internal/stat"
)

// Beside is two sets side by side.
type Beside struct {
	A, B Set
	// Differs says what is not the same in the two, a line each.
	Differs []string
	Rows    []Row
	// Within are differences between arms, each taken within its own set,
	// which is the only thing that two devices can be compared by.
	Within []Within
	// OnlyA and OnlyB are what one set has alone.
	OnlyA, OnlyB []Figure
}

// Row is one model, test and arm that both sets have.
type Row struct {
	A, B Figure
	// Difference is ln(B/A); Comparable is false where both did not measure
	// the same thing, and Why then says what differs.
	Difference stat.LogRatio
	Comparable bool
	// HalfWidth is about the error of Difference when the runs' errors are
	// independent; zero is unknown. Drift between the runs is not in it.
	HalfWidth stat.LogRatio
	Why       []string
}

// Within is the difference of an arm to another one, in each of the sets.
type Within struct {
	Model, TestA, TestB string
	Arm, Baseline       string
	A, B                stat.LogRatio
}

// Sets compares two sets.
func Sets(a, b Set) Beside {
	r := Beside{A: a, B: b, Differs: differences(a, b)}
	takenB := map[int]bool{}
	for _, f := range a.Figures {
		i := match(f, b.Figures, a.Published || b.Published)
		if i < 0 {
			r.OnlyA = append(r.OnlyA, f)
			continue
		}
		takenB[i] = true
		r.Rows = append(r.Rows, row(a, b, f, b.Figures[i]))
	}
	for i, f := range b.Figures {
		if !takenB[i] {
			r.OnlyB = append(r.OnlyB, f)
		}
	}
	r.Within = within(r.Rows)
	return r
}

// match finds the figure of the same model, arm and test: the same number of
// tokens, or any where one of the two does not say or loose is set.
func match(f Figure, list []Figure, loose bool) int {
	found := -1
	for i, g := range list {
		if g.Model != f.Model || g.Arm != f.Arm || g.kind() != f.kind() {
			continue
		}
		if g.Test == f.Test {
			return i
		}
		if found < 0 && (loose || !g.exact() || !f.exact()) {
			found = i
		}
	}
	return found
}

func row(a, b Set, f, g Figure) Row {
	r := Row{A: f, B: g}
	no := func(format string, args ...any) { r.Why = append(r.Why, fmt.Sprintf(format, args...)) }
	if a.Published || b.Published {
		no("other device, other method")
	} else if a.Device != b.Device {
		no("other device")
	}
	if a.Simulated != b.Simulated {
		no("one of the two is simulated")
	}
	if f.StandIn != g.StandIn {
		no("a stand-in and the real model")
	} else if f.SHA256 != g.SHA256 && f.SHA256 != "" && g.SHA256 != "" {
		no("the model's file is another one")
	}
	if f.Test != g.Test {
		no("%s and %s are not the same test", f.Test, g.Test)
	}
	if differ := settingsDiffer(f.Settings, g.Settings); differ != "" {
		no("%s", differ)
	}
	if r.Why != nil || !(f.Speed > 0) || !(g.Speed > 0) {
		return r
	}
	r.Comparable = true
	r.Difference = stat.LogRatio(math.Log(float64(g.Speed) / float64(f.Speed)))
	if h := math.Hypot(float64(f.HalfWidth), float64(g.HalfWidth)); f.HalfWidth > 0 && g.HalfWidth > 0 && !math.IsInf(h, 0) {
		r.HalfWidth = stat.LogRatio(h)
	}
	return r
}

// settingsDiffer names the settings that are not equal; empty when none is, or
// when one side's are not known.
func settingsDiffer(a, b map[string]string) string {
	if a == nil || b == nil {
		return ""
	}
	keys := map[string]bool{}
	for key := range a {
		keys[key] = true
	}
	for key := range b {
		keys[key] = true
	}
	var list []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if a[key] != b[key] {
			list = append(list, fmt.Sprintf("%s (%q and %q)", key, a[key], b[key]))
		}
	}
	if list == nil {
		return ""
	}
	return "settings differ: " + strings.Join(list, ", ")
}

// differences lists what is not the same in two sets as a whole.
func differences(a, b Set) []string {
	var list []string
	say := func(what, x, y string) {
		if x == "" {
			x = "unknown"
		}
		if y == "" {
			y = "unknown"
		}
		if x != y {
			list = append(list, fmt.Sprintf("%s: %s / %s", what, x, y))
		}
	}
	kind := func(s Set) string {
		switch {
		case s.Published:
			return "published figures (other device, other method)"
		case s.Simulated:
			return "simulated"
		}
		return "measured on a phone"
	}
	say("figures", kind(a), kind(b))
	say("device", a.Device, b.Device)
	say("method", a.Method, b.Method)
	if !a.Published && !b.Published {
		names := map[string]bool{}
		for name := range a.Facts {
			names[name] = true
		}
		for name := range b.Facts {
			names[name] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			say(name, a.Facts[name], b.Facts[name])
		}
	}
	arms := map[string][2]string{}
	for i, s := range []Set{a, b} {
		for _, f := range s.Figures {
			both := arms[f.Arm]
			both[i] = fingerprint(f.Settings)
			arms[f.Arm] = both
		}
	}
	for _, name := range slices.Sorted(maps.Keys(arms)) {
		if both := arms[name]; both[0] != "" && both[1] != "" {
			say("settings of "+name, both[0], both[1])
		}
	}
	if !a.Published && !b.Published {
		list = append(list, "time: the two were not measured in turn; what changed on the device in between is in the difference")
	}
	return list
}

// within takes the differences between arms that both sets have.
func within(rows []Row) []Within {
	var list []Within
	for i, r := range rows {
		for _, s := range rows[:i] {
			if s.A.Model != r.A.Model || s.A.Test != r.A.Test || s.B.Test != r.B.Test {
				continue
			}
			list = append(list, Within{
				Model: r.A.Model, TestA: r.A.Test, TestB: r.B.Test, Arm: r.A.Arm, Baseline: s.A.Arm,
				A: stat.LogRatio(math.Log(float64(r.A.Speed) / float64(s.A.Speed))),
				B: stat.LogRatio(math.Log(float64(r.B.Speed) / float64(s.B.Speed))),
			})
			break // to the first arm of the two sets alone
		}
	}
	return list
}
