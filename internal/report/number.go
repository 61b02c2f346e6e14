package report

import (
	"fmt"
	"math"
	"strconv"

	"hexab/internal/stat"
)

// The digits that a speed is shown with, whatever its interval says: fewer
// than two tell nothing apart, more than four are never real.
const (
	minDigits = 2
	maxDigits = 4
)

// lastPlace gives the power of ten of the last digit worth showing of a value
// with an interval of the given half-width: the largest that is at most half
// the half-width. The rounding then moves the value by at most a quarter of the
// half-width, and a digit further on would be noise.
func lastPlace(halfWidth float64) int {
	return int(math.Floor(math.Log10(halfWidth / 2)))
}

// Significant prints a positive number with the digits that its interval
// earns: value is known to within value*halfWidth (relative), and the last
// digit shown is worth at most half of that. At least two and at most four
// significant digits are shown: two where the interval is not known (NaN or
// infinite), four where it has no width. Zero and what is not a number is "-".
func Significant(value, halfWidth float64) string {
	if !(value > 0) || math.IsInf(value, 0) {
		return "-"
	}
	digits := minDigits
	switch {
	case halfWidth <= 0:
		digits = maxDigits
	case !math.IsNaN(halfWidth) && !math.IsInf(halfWidth, 0):
		first := int(math.Floor(math.Log10(value)))
		digits = min(max(first-lastPlace(value*halfWidth)+1, minDigits), maxDigits)
	}
	// Round first, so that 99.96 with three digits is 100 and not 100.0.
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'e', digits-1, 64), 64)
	if err != nil {
		return "-"
	}
	decimals := digits - 1 - int(math.Floor(math.Log10(rounded)))
	return strconv.FormatFloat(rounded, 'f', max(decimals, 0), 64)
}

// Percent prints a difference with its interval, such as
// "-3.2 % [-4.1, -2.3]", all in percent of the baseline and with the decimals
// that the interval earns, none to two. An interval without bounds, that of a
// single block, is "[open]".
func Percent(estimate stat.LogRatio, interval stat.Interval) string {
	value, bounds := percentParts(estimate, interval)
	return value + " " + bounds
}

func percentParts(estimate stat.LogRatio, interval stat.Interval) (value, bounds string) {
	if !finite(float64(estimate)) {
		return "-", ""
	}
	lo, hi := interval.Lo.Percent(), interval.Hi.Percent()
	if !finite(float64(interval.Lo)) || !finite(float64(interval.Hi)) || !finite(lo) || !finite(hi) {
		return signed(estimate.Percent(), 1) + " %", "[open]"
	}
	decimals := 2
	if half := (hi - lo) / 2; half > 0 {
		decimals = min(max(-lastPlace(half), 0), 2)
	}
	return signed(estimate.Percent(), decimals) + " %",
		fmt.Sprintf("[%s, %s]", signed(lo, decimals), signed(hi, decimals))
}

// signed prints a number with its sign; what rounds to zero has none.
func signed(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if value, err := strconv.ParseFloat(text, 64); err == nil && value == 0 {
		return strconv.FormatFloat(0, 'f', decimals, 64)
	}
	if x > 0 {
		return "+" + text
	}
	return text
}

// probability prints a p or q value.
func probability(p float64) string {
	switch {
	case !finite(p):
		return "-"
	case p < 0.001:
		return "<0.001"
	case p < 0.1:
		return strconv.FormatFloat(p, 'f', 3, 64)
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
