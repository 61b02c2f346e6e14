package history

import (
	"math"
	"slices"
)

// Limits of what counts as a change.
const (
	// MinPoints is the number of values that make a level to leave.
	MinPoints = 4
	// deviations is how many standard deviations of the series' own noise a
	// value must be away.
	deviations = 4
	// madToSD makes a median absolute deviation a standard deviation, for the
	// normal distribution (Rousseeuw and Croux 1993).
	madToSD = 1.4826
)

// Change is a place where a series left its level.
type Change struct {
	// At is the first value's place in the series.
	At int
	// Ratio is the natural logarithm of the new level to the old one.
	Ratio float64
	// Confirmed is set when the value after it says the same. Without that it
	// is a suspect, to be measured again.
	Confirmed bool
}

// Series is the values of one key in the order of time.
type Series struct {
	Key     Key
	Entries []Entry
	Changes []Change
}

// Suspect is the last change when nothing has confirmed it yet.
func (s Series) Suspect() *Change {
	if n := len(s.Changes); n > 0 && !s.Changes[n-1].Confirmed {
		return &s.Changes[n-1]
	}
	return nil
}

// Split sorts entries into series with their changes; threshold is the
// smallest difference that matters, as a fraction.
func Split(entries []Entry, threshold float64) []Series {
	at := map[Key]int{}
	var list []Series
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return a.Time.Compare(b.Time) })
	for _, e := range sorted {
		i, ok := at[e.Key()]
		if !ok {
			i = len(list)
			at[e.Key()] = i
			list = append(list, Series{Key: e.Key()})
		}
		list[i].Entries = append(list[i].Entries, e)
	}
	for i := range list {
		values := make([]float64, len(list[i].Entries))
		for n, e := range list[i].Entries {
			values[n] = math.Log(float64(e.Median))
		}
		list[i].Changes = Changes(values, threshold)
	}
	return list
}

// Changes finds where values (logarithms of speeds, in order) leave their
// level: a value further away than the threshold and the series' own noise is
// a suspect, and a change when the next one is on the same side, as far, and
// about where the first one was. A suspect that is not confirmed was chance,
// except the last value, which may yet be.
func Changes(values []float64, threshold float64) []Change {
	var changes []Change
	start := 0
	for i := 0; i < len(values); i++ {
		if i-start < MinPoints {
			continue
		}
		level, limit := levelOf(values[start:i], threshold)
		away := values[i] - level
		if math.Abs(away) <= limit {
			continue
		}
		if i+1 == len(values) {
			changes = append(changes, Change{At: i, Ratio: away})
			break
		}
		next := values[i+1] - level
		if math.Signbit(next) == math.Signbit(away) && math.Abs(next) > limit && math.Abs(next-away) <= max(limit, math.Abs(away)/2) {
			changes = append(changes, Change{At: i, Ratio: (away + next) / 2, Confirmed: true})
			start = i
			i++
		}
	}
	return changes
}

// levelOf gives the middle of values and how far a value may be from it.
func levelOf(values []float64, threshold float64) (level, limit float64) {
	level = median(values)
	away := make([]float64, len(values))
	for i, v := range values {
		away[i] = math.Abs(v - level)
	}
	return level, max(math.Log1p(threshold), deviations*madToSD*median(away))
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
