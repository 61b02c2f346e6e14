package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"

	"hexab/internal/bench"
	"hexab/internal/compare"
	"hexab/internal/stat"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// pageView is what the page is made of; the template escapes all of it.
type pageView struct {
	Title, State, Notice string
	Header               []pageCell
	Rows                 []pageRow
	// Scale is the greatest difference of the plots in percent.
	Scale    string
	Sections []pageSection
	Command  string
}

type pageCell struct {
	Text  string
	Right bool
	// Class colours a verdict.
	Class string
}

type pageRow struct {
	Cells []pageCell
	Plots []plot
}

type pageSection struct {
	Title string
	Lines []string
}

// plot is one interval drawn to scale: positions from 0 to 100 on a line whose
// middle is no difference.
type plot struct {
	Label        string
	Known        bool
	Lo, Hi, At   float64
	Class        string
	OpenLo       bool
	OpenHi       bool
	BandLo, Band float64 // what counts as no difference
}

// HTML renders a run's comparisons as a page that needs nothing beside itself:
// no script, no font, no picture from elsewhere. It has one row for each model
// and test, with the intervals drawn to one scale.
func HTML(c compare.Comparisons, run bench.Run) ([]byte, error) {
	v := newView(c, run)
	g := v.perTest(false)
	data := pageView{Title: v.title(), State: v.state(), Command: clean(run.Command)}
	if c.Simulated {
		data.Notice = compare.SimulatedNotice
	}
	for i, text := range g.header {
		data.Header = append(data.Header, pageCell{Text: text, Right: g.right[i]})
	}
	scale := v.scale()
	data.Scale = fmt.Sprintf("%.3g %%", 100*math.Expm1(scale))
	at := 0
	for _, m := range run.Models {
		for _, test := range run.Tests {
			row := pageRow{}
			for i, text := range g.rows[at] {
				row.Cells = append(row.Cells, pageCell{Text: text, Right: g.right[i]})
			}
			at++
			for i, a := range v.others() {
				p := v.plot(place{m.Alias, test, a}, scale)
				row.Plots = append(row.Plots, p)
				// The comparison's columns come in threes after model, test and speeds.
				row.Cells[2+len(run.Arms)+3*i+2].Class = p.Class
			}
			data.Rows = append(data.Rows, row)
		}
	}
	for _, s := range v.sections() {
		if len(s.lines) == 0 {
			continue
		}
		one := pageSection{Title: s.title}
		for _, line := range s.lines {
			one.Lines = append(one.Lines, clean(line))
		}
		data.Sections = append(data.Sections, one)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("html: %w", err)
	}
	return b.Bytes(), nil
}

// scale is the largest finite bound of an interval, as a logarithm, at least
// three times the threshold.
func (v view) scale() float64 {
	scale := 3 * math.Log1p(v.c.Limits.Threshold)
	for _, cell := range v.c.Cells {
		if cell.Decision == nil {
			continue
		}
		for _, bound := range []stat.LogRatio{cell.Decision.Interval.Lo, cell.Decision.Interval.Hi, cell.Decision.Estimate} {
			if x := math.Abs(float64(bound)); finite(x) {
				scale = max(scale, x)
			}
		}
	}
	return scale
}

func (v view) plot(p place, scale float64) plot {
	threshold := math.Log1p(v.c.Limits.Threshold)
	drawn := plot{Label: v.names[p.arm], Class: "none", BandLo: position(-threshold, scale)}
	drawn.Band = position(threshold, scale) - drawn.BandLo
	d := v.cells[p].Decision
	if d == nil || !finite(float64(d.Estimate)) {
		return drawn
	}
	drawn.Known, drawn.Class = true, string(d.Verdict)
	lo, hi := float64(d.Interval.Lo), float64(d.Interval.Hi)
	drawn.OpenLo, drawn.OpenHi = !finite(lo), !finite(hi)
	drawn.Lo, drawn.Hi, drawn.At = position(lo, scale), position(hi, scale), position(float64(d.Estimate), scale)
	return drawn
}

// position puts a logarithm on the line; what has no bound ends at its edge.
func position(x, scale float64) float64 {
	x = max(-scale, min(scale, x))
	return math.Round((2+96*(x+scale)/(2*scale))*100) / 100
}
