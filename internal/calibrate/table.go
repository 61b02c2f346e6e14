package calibrate

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"hexab/internal/stat"
)

// Table is the result of a calibration.
type Table struct {
	Seed    uint64
	Trials  int
	Options stat.Options
	// Noises describes each kind of noise, in order.
	Noises []string
	Rows   []Row
}

func describe(noises []Noise) []string {
	var all []string
	for _, n := range noises {
		if n.About == "" {
			all = append(all, n.Name)
			continue
		}
		all = append(all, n.Name+": "+n.About)
	}
	return all
}

// Row finds the row of a combination.
func (t Table) Row(arms int, noise, drift string, rounds int, effect float64) (Row, bool) {
	for _, r := range t.Rows {
		if r.Arms == arms && r.Noise == noise && r.Drift == drift && r.Rounds == rounds && r.Effect == effect {
			return r, true
		}
	}
	return Row{}, false
}

// CSV gives one line for each combination: the counts, and each rate with its
// Monte Carlo standard error, as fractions.
func (t Table) CSV() []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	header := []string{"seed", "threshold", "alpha", "arms", "noise", "drift", "rounds", "effect", "trials"}
	for _, name := range []string{"verdict", "differs", "wrong", "equivalent", "aaabbb_welch"} {
		header = append(header, name, name+"_rate", name+"_se")
	}
	// Writing to a buffer can not fail.
	_ = w.Write(header)
	for _, r := range t.Rows {
		line := []string{
			strconv.FormatUint(t.Seed, 10), short(t.Options.Threshold), short(t.Options.Alpha),
			strconv.Itoa(r.Arms), r.Noise, r.Drift, strconv.Itoa(r.Rounds), short(r.Effect), strconv.Itoa(r.Trials),
		}
		for _, hits := range []int{r.Verdicts, r.Differs, r.Wrong, r.Equivalent, r.Grouped} {
			line = append(line, strconv.Itoa(hits), fmt.Sprintf("%.5f", r.Rate(hits)), fmt.Sprintf("%.5f", r.StandardError(hits)))
		}
		_ = w.Write(line)
	}
	w.Flush()
	return out.Bytes()
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Markdown gives the table for readers: a section for each number of arms and
// kind of noise, a line for each drift and number of rounds, in percent.
func (t Table) Markdown() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Calibration of the statistics\n\n")
	fmt.Fprintf(&out, "Simulated runs whose truth is known; no device was measured. Seed %d, %d trials a row, threshold %s %%, alpha %s. ",
		t.Seed, t.Trials, short(100*t.Options.Threshold), short(t.Options.Alpha))
	fmt.Fprint(&out, `All figures are percentages of trials, with their Monte Carlo standard error.

False positives (no arm differs; with three arms, either comparison counts):

- **verdict**: hexab says faster or slower.
- **differs**: hexab's tests and interval leave out zero, whatever the threshold. This is the rate to hold against alpha and against AAABBB.
- **AAABBB**: the same launches in the order AAABBB, Welch's t-test at the same alpha.

Power (the second arm is faster by so much): how often the verdict is faster / hexab finds any difference / AAABBB does, each in the true direction. Where a drift makes AAABBB wrong without an effect, its power says nothing.

`)
	for i, section := range t.sections() {
		if i > 0 {
			out.WriteByte('\n')
		}
		section.markdown(&out, t)
	}
	return out.Bytes()
}

// section is the rows that one table of the Markdown page shows.
type section struct {
	arms  int
	noise string
	rows  []Row
}

func (t Table) sections() []section {
	var all []section
	for _, r := range t.Rows {
		if n := len(all); n == 0 || all[n-1].arms != r.Arms || all[n-1].noise != r.Noise {
			all = append(all, section{arms: r.Arms, noise: r.Noise})
		}
		last := &all[len(all)-1]
		last.rows = append(last.rows, r)
	}
	return all
}

func (s section) markdown(out *bytes.Buffer, t Table) {
	about := s.noise
	for _, n := range t.Noises {
		if strings.HasPrefix(n, s.noise+":") {
			about = n
		}
	}
	fmt.Fprintf(out, "## %d arms, noise %s\n\n", s.arms, about)
	var effects []float64
	for _, r := range s.rows {
		if r.Drift != s.rows[0].Drift || r.Rounds != s.rows[0].Rounds {
			break
		}
		effects = append(effects, r.Effect)
	}
	head, rule := "| drift | rounds |", "|---|--:|"
	for _, e := range effects {
		if e == 0 {
			head += " verdict | differs | AAABBB |"
			rule += "--:|--:|--:|"
			continue
		}
		head += fmt.Sprintf(" power at %+.3g %% |", 100*e)
		rule += "--:|"
	}
	fmt.Fprintf(out, "%s\n%s\n", head, rule)
	for i, r := range s.rows {
		if i%len(effects) == 0 {
			fmt.Fprintf(out, "| %s | %d |", r.Drift, r.Rounds)
		}
		if r.Effect == 0 {
			fmt.Fprintf(out, " %s | %s | %s |", r.percent(r.Verdicts), r.percent(r.Differs), r.percent(r.Grouped))
		} else {
			fmt.Fprintf(out, " %s / %s / %s |", r.percent(r.Verdicts), r.percent(r.Differs), r.percent(r.Grouped))
		}
		if (i+1)%len(effects) == 0 {
			out.WriteByte('\n')
		}
	}
}

// percent prints a rate with its standard error.
func (r Row) percent(hits int) string {
	return fmt.Sprintf("%.1f ± %.1f", 100*r.Rate(hits), 100*r.StandardError(hits))
}
