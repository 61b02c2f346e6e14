package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"sort"
	"time"

	"hexab/internal/bench"
	"hexab/internal/compare"
)

// courseColours tell arms apart, also for eyes that see few colours (Okabe and
// Ito, Color Universal Design, 2008).
var courseColours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// Sizes of the picture in pixels.
const (
	courseWidth, coursePanel      = 900, 240
	courseLeft, courseTop         = 70, 60
	courseGap, courseLegendHeight = 40, 22
)

// point is one observation in time.
type point struct {
	minutes, value float64
	colour         int
	marked         bool
	about          string
}

// Course draws what happened while a run went on, as an SVG picture: above, the
// speed of each launch relative to the median of its model, test and arm; below,
// the hottest sensor before and after each launch. A speed that drifts shows as
// a slope that all arms share. Marked launches are hollow.
func Course(c compare.Comparisons, run bench.Run, records []bench.Record) []byte {
	speeds, heat := coursePoints(run, records)
	var b bytes.Buffer
	height := courseTop + 2*coursePanel + courseGap + 40 + courseLegendHeight*len(run.Arms)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", courseWidth, height, courseWidth, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	courseText(&b, courseLeft, 20, "start", "Course of run "+run.ID+": speed of each launch to the median of its model, test and arm")
	if c.Simulated {
		courseText(&b, courseLeft, 38, "start", compare.SimulatedNotice)
	}
	end := 1.0
	for _, p := range append(append([]point(nil), speeds...), heat...) {
		end = max(end, p.minutes)
	}
	coursePlot(&b, courseTop, end, speeds, "%", "no launch counts")
	coursePlot(&b, courseTop+coursePanel+courseGap, end, heat, "degrees C", "no temperature is known")
	courseText(&b, courseLeft, courseTop+2*coursePanel+courseGap+30, "start", fmt.Sprintf("0 to %.1f minutes; hollow: marked (hot, throttled, disturbed, retried)", end))
	for i, a := range run.Arms {
		y := courseTop + 2*coursePanel + courseGap + 30 + courseLegendHeight*(i+1)
		fmt.Fprintf(&b, `<circle cx="%d" cy="%d" r="4" fill="%s"/>`, courseLeft+5, y-4, courseColours[i%len(courseColours)])
		courseText(&b, courseLeft+18, y, "start", shorten(a.Label, 100))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// coursePoints gives the launches' speeds in percent of their series' median,
// and the temperatures.
func coursePoints(run bench.Run, records []bench.Record) (speeds, heat []point) {
	colour, series := map[string]int{}, map[key3][]float64{}
	for i, a := range run.Arms {
		colour[a.Label] = i % len(courseColours)
	}
	var began time.Time
	for _, r := range records {
		if !r.Started.IsZero() && (began.IsZero() || r.Started.Before(began)) {
			began = r.Started
		}
	}
	level := func(r bench.Record, result bench.Result) (float64, key3, bool) {
		ns := append([]bench.Nanoseconds(nil), result.SamplesNs...)
		if r.Outcome != bench.OutcomeOK || len(ns) == 0 {
			return 0, key3{}, false
		}
		sort.Slice(ns, func(i, j int) bool { return ns[i] < ns[j] })
		speed := float64(bench.Throughput(result.Test.Tokens(), ns[len(ns)/2]))
		return math.Log(speed), key3{r.Model, result.Test.String(), r.Arm}, speed > 0
	}
	for _, r := range records {
		for _, result := range r.Results {
			if v, k, ok := level(r, result); ok {
				series[k] = append(series[k], v)
			}
		}
	}
	for _, values := range series {
		sort.Float64s(values)
	}
	for _, r := range records {
		at := r.Started.Sub(began).Minutes()
		for _, result := range r.Results {
			if v, k, ok := level(r, result); ok {
				middle := series[k][len(series[k])/2]
				speeds = append(speeds, point{at, 100 * math.Expm1(v-middle), colour[r.Arm], len(r.Marks) > 0,
					fmt.Sprintf("launch %d, %s %s %s", r.Seq, k.model, k.test, k.arm)})
			}
		}
		for i, sensors := range []*bench.Sensors{r.Before, r.After} {
			if hottest, ok := hottestOf(sensors); ok {
				when := at + float64(i)*r.Wall.Duration().Minutes()
				heat = append(heat, point{when, hottest, colour[r.Arm], len(r.Marks) > 0, fmt.Sprintf("launch %d", r.Seq)})
			}
		}
	}
	return speeds, heat
}

type key3 struct{ model, test, arm string }

func hottestOf(s *bench.Sensors) (float64, bool) {
	hottest, known := math.Inf(-1), false
	if s != nil {
		for _, c := range s.Temperatures {
			hottest, known = max(hottest, float64(c)), true
		}
	}
	return hottest, known
}

// coursePlot draws one panel.
func coursePlot(b *bytes.Buffer, top int, end float64, points []point, unit, nothing string) {
	width, height := float64(courseWidth-courseLeft-20), float64(coursePanel)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.0f" height="%.0f" fill="none" stroke="#999"/>`+"\n", courseLeft, top, width, height)
	if len(points) == 0 {
		courseText(b, courseLeft+10, top+20, "start", nothing)
		return
	}
	low, high := points[0].value, points[0].value
	for _, p := range points {
		low, high = min(low, p.value), max(high, p.value)
	}
	pad := max((high-low)*0.05, 0.5)
	low, high = low-pad, high+pad
	y := func(v float64) float64 { return float64(top) + height*(high-v)/(high-low) }
	for i := range 5 {
		v := low + (high-low)*float64(i)/4
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%.0f" y2="%.1f" stroke="#ddd"/>`, courseLeft, y(v), courseLeft+width, y(v))
		courseText(b, courseLeft-6, int(y(v))+4, "end", fmt.Sprintf("%.3g", v))
	}
	courseText(b, 6, top-6, "start", unit)
	for _, p := range points {
		fill := courseColours[p.colour]
		if p.marked {
			fill = "none"
		}
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s" stroke="%s"><title>`, courseLeft+width*p.minutes/end, y(p.value), fill, courseColours[p.colour])
		courseEscape(b, fmt.Sprintf("%s: %.3g %s", p.about, p.value, unit))
		b.WriteString("</title></circle>\n")
	}
}

func courseText(b *bytes.Buffer, x, y int, anchor, text string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="%s">`, x, y, anchor)
	courseEscape(b, text)
	b.WriteString("</text>\n")
}

func courseEscape(b *bytes.Buffer, text string) {
	_ = xml.EscapeText(b, []byte(clean(text))) // a buffer takes all
}
