package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"hexab/internal/compare"
)

// Cost is what one arm asks of the simulated NPU for one model: cost counters
// for one evaluation of a prompt and for one token more.
type Cost struct {
	Model, Arm          string
	PerPrompt, PerToken map[string]float64
}

// Costs renders cost counters for a terminal: one row for each counter, for
// each model two columns an arm. Counters are exact; equal inputs give equal
// ones.
func Costs(costs []Cost, prompt string, o Options) []byte {
	var b bytes.Buffer
	put := func(text string) {
		for _, line := range wrap(text, "", o.Width) {
			b.WriteString(line + "\n")
		}
	}
	put("Cost counters of the simulated NPU (exact, no statistics): " + prompt + " is one evaluation of a prompt, tg one token.")
	put(compare.SimulatedNotice)
	for _, model := range distinct(costs, func(c Cost) string { return c.Model }) {
		var g grid
		g.column(clean(model), false)
		var columns []map[string]float64
		for _, c := range costs {
			if c.Model != model {
				continue
			}
			g.column(prompt+" "+clean(c.Arm), true)
			g.column("tg "+clean(c.Arm), true)
			columns = append(columns, c.PerPrompt, c.PerToken)
		}
		for _, name := range counterNames(columns) {
			row := []string{clean(name)}
			for _, values := range columns {
				row = append(row, count(values[name]))
			}
			g.rows = append(g.rows, row)
		}
		text, err := draw(g, o.Color)
		if err != nil {
			text = err.Error() + "\n"
		}
		b.WriteString("\n" + text)
	}
	return b.Bytes()
}

func distinct(costs []Cost, of func(Cost) string) (list []string) {
	for _, c := range costs {
		if !slices.Contains(list, of(c)) {
			list = append(list, of(c))
		}
	}
	return list
}

// counterNames are the counters that are not zero everywhere, sorted.
func counterNames(columns []map[string]float64) (names []string) {
	for _, values := range columns {
		for name, v := range values {
			if v != 0 && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// count shows a whole number as it is, and a mean with two decimals.
func count(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
