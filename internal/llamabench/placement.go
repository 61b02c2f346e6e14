package llamabench

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Placement is where the operations of a model's graphs are computed: how many
// nodes of each operation by backend. It is read from what the scheduler logs
// with GGML_SCHED_DEBUG=2, over all graphs that were built; the numbers show
// proportions, not a count for one token.
type Placement map[string]map[string]int

// SchedulerLog makes ggml's scheduler log the placement. It costs time at every
// graph, so it is for a launch of its own that is not timed.
const SchedulerLog = "GGML_SCHED_DEBUG=2"

// nodeLine is one node: number, operation, name, size, backend (cut to five
// characters) and cause.
var nodeLine = regexp.MustCompile(`^node #\s*[0-9]+ \(\s*([A-Z0-9_.]+)\): .{1,64}? \(\s*\S+\) \[\s*([A-Za-z0-9_.:-]+)\s`)

// MaxPlacement bounds the pairs of backend and operation kept.
const MaxPlacement = 512

// ReadPlacement gathers the placement from a log.
func ReadPlacement(log string) Placement {
	placement, pairs := Placement{}, 0
	for _, text := range strings.Split(log, "\n") {
		m := nodeLine.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		op, backend := m[1], m[2]
		if placement[backend] == nil {
			placement[backend] = map[string]int{}
		}
		if placement[backend][op] == 0 {
			if pairs++; pairs > MaxPlacement {
				continue
			}
		}
		placement[backend][op]++
	}
	return placement
}

// Share is the share of all nodes, 0 to 1, that backends beginning with a
// prefix compute.
func (p Placement) Share(prefix string) float64 {
	mine, all := 0, 0
	for backend, ops := range p {
		for _, n := range ops {
			all += n
			if strings.HasPrefix(backend, prefix) {
				mine += n
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(mine) / float64(all)
}

// Elsewhere lists the operations that are computed on other backends than
// those beginning with the prefix, as OP x N, the most frequent first.
func (p Placement) Elsewhere(prefix string) []string {
	counts := map[string]int{}
	for backend, ops := range p {
		if strings.HasPrefix(backend, prefix) {
			continue
		}
		for op, n := range ops {
			counts[op] += n
		}
	}
	var names []string
	for op := range counts {
		names = append(names, op)
	}
	slices.SortFunc(names, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	for i, op := range names {
		names[i] = fmt.Sprintf("%s x %d", op, counts[op])
	}
	return names
}
