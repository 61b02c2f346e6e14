package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"

	"hexab/internal/bench"
	"hexab/internal/compare"
)

// CSVHeader names the columns of the CSV form, with their units.
var CSVHeader = []string{
	"run", "figures", "model", "stand_in", "test", "arm", "baseline", "aa",
	"launches", "median_tokens_per_second", "half_width_log_ratio",
	"blocks", "blocks_planned", "difference_percent", "interval_low_percent", "interval_high_percent",
	"p_sign_flip", "q_sign_flip", "p_t_test", "q_t_test", "p_equivalence", "q_equivalence",
	"verdict", "reason", "indicative", "no_verdict",
}

// CSV gives the raw numbers: a row for each model, test and arm, the baseline
// included (its verdict reads "baseline" and its comparison is empty). What is
// not known is empty. The column figures reads "simulated" or "measured".
func CSV(c compare.Comparisons, run bench.Run) ([]byte, error) {
	v := newView(c, run)
	figures := "measured"
	if c.Simulated {
		figures = "simulated"
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(CSVHeader); err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	for _, m := range run.Models {
		for _, test := range run.Tests {
			for _, arm := range v.armsInOrder() {
				p := place{m.Alias, test, arm}
				s := v.speeds[p]
				median := ""
				if s.Launches > 0 {
					median = number(float64(s.Median))
				}
				row := []string{
					run.ID, figures, m.Alias, strconv.FormatBool(m.StandIn), test.String(), arm, c.Baseline,
					strconv.FormatBool(v.cells[p].AA), strconv.Itoa(s.Launches), median, number(float64(s.HalfWidth)),
				}
				if err := w.Write(append(row, v.csvComparison(p)...)); err != nil {
					return nil, fmt.Errorf("csv: %w", err)
				}
			}
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	return b.Bytes(), nil
}

// csvComparison gives the columns from blocks on.
func (v view) csvComparison(p place) []string {
	columns := make([]string, 15)
	cell, ok := v.cells[p]
	if !ok {
		columns[11] = "baseline"
		return columns
	}
	columns[0], columns[1] = strconv.Itoa(len(cell.Pairs)), strconv.Itoa(v.blocks[p.model])
	columns[14] = cell.NoVerdict
	d := cell.Decision
	if d == nil {
		return columns
	}
	copy(columns[2:], []string{
		number(d.Estimate.Percent()), number(d.Interval.Lo.Percent()), number(d.Interval.Hi.Percent()),
		number(d.P), number(d.Q), number(d.PNormal), number(d.QNormal), number(d.PEquivalent), number(d.QEquivalent),
		string(d.Verdict), string(d.Reason), strconv.FormatBool(d.Indicative),
	})
	return columns
}

// number prints a number in full; what is not finite is empty.
func number(x float64) string {
	if !finite(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// JSON gives the comparisons as they are, with their schema version
// (compare.SchemaVersion), indented, ending in a line end.
func JSON(c compare.Comparisons) ([]byte, error) {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("json: %w", err)
	}
	return append(text, '\n'), nil
}
