package history

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"
	"unicode"

	"hexab/internal/compare"
)

// bars are eight heights.
var bars = []rune("▁▂▃▄▅▆▇█")

// maxBars bounds a trend's length; the last values are shown.
const maxBars = 40

// Terminal shows each series in a line: its trend, its last value and its
// changes.
func Terminal(list []Series) []byte {
	var b bytes.Buffer
	simulated := false
	for _, s := range list {
		last := s.Entries[len(s.Entries)-1]
		simulated = simulated || s.Key.Simulated
		fmt.Fprintf(&b, "%s\n  %s  %.4g t/s at %.12s (%d values)\n", plain(s.Key.String()), trend(s), float64(last.Median), plain(last.Commit), len(s.Entries))
		for _, c := range s.Changes {
			e := s.Entries[c.At]
			word := "suspect, to be measured again"
			if c.Confirmed {
				word = "change, confirmed"
			}
			fmt.Fprintf(&b, "  %s: %+.1f %% at %.12s on %s\n", word, 100*math.Expm1(c.Ratio), plain(e.Commit), e.Time.Format("2006-01-02"))
		}
	}
	if simulated {
		b.WriteString(compare.SimulatedNotice + "\n")
	}
	return b.Bytes()
}

// plain leaves what is safe on a terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

func trend(s Series) string {
	entries := s.Entries[max(0, len(s.Entries)-maxBars):]
	low, high := math.Inf(1), math.Inf(-1)
	for _, e := range entries {
		low, high = math.Min(low, float64(e.Median)), math.Max(high, float64(e.Median))
	}
	var b strings.Builder
	for _, e := range entries {
		at := len(bars) / 2
		// A span below 2 % is drawn flat: it is noise that would look like news.
		if high > low*1.02 {
			at = int((float64(e.Median) - low) / (high - low) * float64(len(bars)-1))
		}
		b.WriteRune(bars[at])
	}
	return b.String()
}

// Size of one series' picture in pixels.
const (
	svgWidth  = 760
	svgHeight = 130
	svgLeft   = 60
	svgTop    = 34
	svgInner  = 74
)

// SVG draws all series below each other, with the half-widths as bars and
// changes as lines.
func SVG(list []Series) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", svgWidth, svgHeight*max(len(list), 1))
	for i, s := range list {
		fmt.Fprintf(&b, `<g transform="translate(0,%d)">`+"\n", i*svgHeight)
		drawSeries(&b, s)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func drawSeries(b *bytes.Buffer, s Series) {
	low, high := math.Inf(1), 0.0
	for _, e := range s.Entries {
		low, high = math.Min(low, float64(e.Median)), math.Max(high, float64(e.Median))
	}
	low, high = low*0.97, high*1.03
	x := func(i int) float64 {
		return svgLeft + float64(i)*float64(svgWidth-svgLeft-20)/float64(max(len(s.Entries)-1, 1))
	}
	y := func(v float64) float64 { return svgTop + svgInner*(high-v)/(high-low) }
	fmt.Fprintf(b, `<text x="10" y="18">%s, t/s</text>`+"\n", html.EscapeString(plain(s.Key.String())))
	fmt.Fprintf(b, `<text x="10" y="%.1f">%.4g</text><text x="10" y="%.1f">%.4g</text>`+"\n", y(high)+10, high, y(low), low)
	for _, c := range s.Changes {
		dash := ` stroke-dasharray="4"`
		if c.Confirmed {
			dash = ""
		}
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#c33"%s><title>%+.1f %%</title></line>`+"\n", x(c.At), x(c.At), svgTop, svgTop+svgInner, dash, 100*math.Expm1(c.Ratio))
	}
	var points []string
	for i, e := range s.Entries {
		v := float64(e.Median)
		points = append(points, fmt.Sprintf("%.1f,%.1f", x(i), y(v)))
		if e.HalfWidth != nil && *e.HalfWidth < 1 {
			fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#bbb"/>`+"\n", x(i), x(i), y(math.Min(v*math.Exp(*e.HalfWidth), high)), y(math.Max(v*math.Exp(-*e.HalfWidth), low)))
		}
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="#246"/>`+"\n", strings.Join(points, " "))
	for i, e := range s.Entries {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="2.5" fill="#246"><title>%.12s %.4g t/s</title></circle>`+"\n", x(i), y(float64(e.Median)), html.EscapeString(plain(e.Commit)), float64(e.Median))
	}
}
