package report

import (
	"math"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"hexab/internal/stat"
)

func TestSignificant(t *testing.T) {
	for _, test := range []struct {
		value, halfWidth float64
		want             string
	}{
		{123.456, 0, "123.5"},
		{123.456, 0.0001, "123.5"},
		{123.456, 0.01, "123.5"},
		{123.456, 0.05, "123"},
		{123.456, 0.2, "120"},
		{123.456, 3, "120"},
		{123.456, math.NaN(), "120"},
		{123.456, math.Inf(1), "120"},
		{99.96, 0.03, "100"},
		{99.996, 0.001, "100.0"},
		{0.0123456, 0.01, "0.01235"},
		{0.0123456, 0.1, "0.0123"},
		{7.05, 0.3, "7.0"},
		{12345.6, 0.001, "12350"},
		{9.9999, 0.0001, "10.00"},
		{0, 0.1, "-"},
		{-1, 0.1, "-"},
		{math.NaN(), 0.1, "-"},
		{math.Inf(1), 0.1, "-"},
	} {
		if got := Significant(test.value, test.halfWidth); got != test.want {
			t.Errorf("Significant(%v, %v) = %q, want %q", test.value, test.halfWidth, got, test.want)
		}
	}
}

func TestPercent(t *testing.T) {
	at := func(percent float64) stat.LogRatio { return stat.FromFraction(percent / 100) }
	for _, test := range []struct {
		estimate, lo, hi stat.LogRatio
		want             string
	}{
		{at(-3.2), at(-4.1), at(-2.3), "-3.2 % [-4.1, -2.3]"},
		{at(12), at(9), at(15), "+12 % [+9, +15]"},
		{at(0.01), at(-4), at(4), "0 % [-4, +4]"},
		{at(-0.001), at(-0.05), at(0.05), "0.00 % [-0.05, +0.05]"},
		{at(0.5), at(0.499999), at(0.500001), "+0.50 % [+0.50, +0.50]"},
		{at(200), at(150), at(260), "+200 % [+150, +260]"},
		{at(3.26), stat.LogRatio(math.Inf(-1)), stat.LogRatio(math.Inf(1)), "+3.3 % [open]"},
		{at(3.26), stat.LogRatio(math.NaN()), stat.LogRatio(math.NaN()), "+3.3 % [open]"},
		{at(3.26), stat.LogRatio(-900), stat.LogRatio(900), "+3.3 % [open]"},
	} {
		if got := Percent(test.estimate, stat.Interval{Lo: test.lo, Hi: test.hi}); got != test.want {
			t.Errorf("Percent(%v) = %q, want %q", test.estimate, got, test.want)
		}
	}
}

func TestProbability(t *testing.T) {
	for p, want := range map[float64]string{0: "<0.001", 0.0009: "<0.001", 0.0312: "0.031", 0.25: "0.25", 1: "1.00"} {
		if got := probability(p); got != want {
			t.Errorf("probability(%v) = %q, want %q", p, got, want)
		}
	}
	if got := probability(math.NaN()); got != "-" {
		t.Errorf("probability(NaN) = %q", got)
	}
}

func FuzzEscapes(f *testing.F) {
	for _, seed := range []string{"", "a|b", "``", "\x1b[0m\xff", "@x #1 http://www.a", "\u202e\U000e0001"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, got := range []string{clean(text), markdown(text)} {
			if strings.ContainsAny(got, "\n\r\t\x1b\x00") {
				t.Errorf("%q gives %q", text, got)
			}
		}
		if got := markdown(text); strings.ContainsAny(got, "<>") || strings.Contains(got, "://") {
			t.Errorf("%q gives %q", text, got)
		}
		for _, line := range wrap(clean(text), "  ", 20) {
			if n := twwidth.Width(line); n > 20 {
				t.Errorf("%q gives a line of %d columns", text, n)
			}
		}
	})
}
