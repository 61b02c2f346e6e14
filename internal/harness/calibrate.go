package harness

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"hexab/internal/calibrate"
	"hexab/internal/phone"
	"hexab/internal/plan"
)

// calibrationSeed is the seed of the committed calibration.
const calibrationSeed = 1

// Calibrate runs the calibrations with the plan's own orders and writes them to
// results/calibration: of the statistics under every drift, of runs on the
// embedded phone that gets hot, and of runs that stop early.
func Calibrate(ctx context.Context) error {
	w, err := Open()
	if err != nil {
		return err
	}
	c := calibrate.Default()
	c.Seed, c.Order = calibrationSeed, plan.Orders
	last := time.Now()
	c.Progress = func(done, total int) {
		if time.Since(last) > 5*time.Second {
			last = time.Now()
			w.Note("%d of %d settings", done, total)
		}
	}
	table, err := calibrate.Run(c)
	if err != nil {
		return err
	}
	w.Note("the hot phone")
	hot, err := calibrateHot(calibrationSeed)
	if err != nil {
		return err
	}
	w.Note("sequential stopping")
	s := calibrate.DefaultSequential()
	s.Seed, s.Order = calibrationSeed, plan.Orders
	sequential, err := s.Run()
	if err != nil {
		return err
	}
	pages := map[string][]byte{
		"calibration.md": table.Markdown(), "calibration.csv": table.CSV(),
		"hot.md": hot.markdown(), "hot.csv": hot.csv(),
		"sequential.md": sequential.Markdown(), "sequential.csv": sequential.CSV(),
	}
	dir := filepath.Join(w.Root, "results", "calibration")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, data := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{"calibration.md", "hot.md", "sequential.md"} {
		if _, err := w.Out.Write(append(pages[name], '\n')); err != nil {
			return err
		}
	}
	return nil
}

// hotTrials are the numbers of simulated runs: the first is what a reader can
// repeat by hand, the second leaves little to chance.
var hotTrials = []int{200, 10_000}

// hotRounds is the number of rounds of a run on the hot phone, hotArms that of
// its arms.
const (
	hotRounds = 6
	hotArms   = 2
)

// hotCalibration holds a table for each number of trials.
type hotCalibration struct {
	drifts []calibrate.Drift
	tables []calibrate.Table
}

// calibrateHot simulates A/A runs on the hot phone: its thermal model gives the
// speed of each launch, in every order and with every noise alike.
func calibrateHot(seed uint64) (hotCalibration, error) {
	var h hotCalibration
	for _, work := range []time.Duration{2 * time.Second, 20 * time.Second} {
		for _, cool := range []string{coolOff, coolByWaiting} {
			name := fmt.Sprintf("hot phone, launches of %v, -cool=%s", work, cool)
			h.drifts = append(h.drifts, perLaunch(name, hotSpeeds(phone.HotModel(), hotRounds*hotArms, work, cool == coolByWaiting)))
		}
	}
	c := calibrate.Default()
	c.Seed, c.Order, c.Arms, c.Rounds, c.Effects, c.Drifts = seed, plan.Orders, []int{hotArms}, []int{hotRounds}, []float64{0}, h.drifts
	for _, c.Trials = range hotTrials {
		table, err := calibrate.Run(c)
		if err != nil {
			return h, err
		}
		h.tables = append(h.tables, table)
	}
	return h, nil
}

// perLaunch is a drift with one speed for each launch of a run.
func perLaunch(name string, speeds []float64) calibrate.Drift {
	return calibrate.Drift{Name: name, Speed: func(progress float64) float64 {
		return speeds[max(0, min(int(progress*float64(len(speeds))), len(speeds)-1))]
	}}
}

// Times of a simulated run: the model's step, and what passes between launches
// besides the gate.
const (
	hotStep    = 50 * time.Millisecond
	hotBetween = time.Second
)

// hotSpeeds steps a thermal model through so many launches, each of which has
// as much to do as two busy cores get done in the time given at full speed. A
// launch's speed is that time over the time it took. With gate, it waits before
// each launch as a run with -cool=wait does.
func hotSpeeds(m phone.ThermalModel, launches int, work time.Duration, gate bool) []float64 {
	const busyCores = 2
	duty, _ := m.Step(10*time.Minute, 0) // lying on the table
	baseline := m.Chip.Celsius()
	speeds := make([]float64, launches)
	for i := range speeds {
		for waited := time.Duration(0); waited < hotBetween || gate && waited < coolWaitPhone && m.Chip.Celsius() > baseline+float64(coolWindow); waited += hotStep {
			duty, _ = m.Step(hotStep, 0)
		}
		took, done := time.Duration(0), 0.0
		for ; done < work.Seconds(); took += hotStep {
			done += duty * hotStep.Seconds()
			duty, _ = m.Step(hotStep, busyCores*duty)
		}
		speeds[i] = work.Seconds() / took.Seconds()
	}
	return speeds
}

func (h hotCalibration) markdown() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `# A/A runs on a phone that gets hot

Simulated A/A runs of %d rounds on the embedded phone's thermal model (profile hot); no device was measured. Seed %d, order from the plan, alpha %g. Shares of runs that find a difference where there is none, in percent, with their Monte Carlo standard error:

- **verdict**, **differs**: hexab says faster or slower; hexab finds any difference, whatever the threshold.
- **AAABBB**: the same launches in the order AAABBB, Welch's t-test at the same alpha. Its last column is by how much that order shows the second arm faster: the heat alone. Where the first launches spread widely the test finds nothing all the same, and the figure is no less wrong.

`, hotRounds, calibrationSeed, h.tables[0].Options.Alpha)
	out.WriteString("| noise | drift | runs | verdict | differs | AAABBB | AAABBB's bias |\n|---|---|--:|--:|--:|--:|--:|\n")
	for i := range h.tables[0].Rows {
		for _, t := range h.tables {
			r := t.Rows[i]
			percent := func(hits int) string {
				return fmt.Sprintf("%.1f ± %.1f", 100*r.Rate(hits), 100*r.StandardError(hits))
			}
			fmt.Fprintf(&out, "| %s | %s | %d | %s | %s | %s | %+.1f %% |\n", r.Noise, r.Drift, r.Trials, percent(r.Verdicts), percent(r.Differs), percent(r.Grouped),
				100*math.Expm1(groupedBias(h.drifts[i%len(h.drifts)])))
		}
	}
	out.WriteString("\nSpeed of each launch as a share of full speed:\n\n")
	for _, d := range h.drifts {
		fmt.Fprintf(&out, "- %s:", d.Name)
		for i := range hotRounds * hotArms {
			fmt.Fprintf(&out, " %.2f", d.Speed((float64(i)+0.5)/(hotRounds*hotArms)))
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// groupedBias is the difference of the mean logarithms of speed that the order
// AAABBB shows of two equal arms for the drift alone.
func groupedBias(d calibrate.Drift) float64 {
	var bias float64
	for i := range hotRounds * hotArms {
		level := math.Log(d.Speed((float64(i) + 0.5) / (hotRounds * hotArms)))
		if i < hotRounds {
			level = -level
		}
		bias += level / hotRounds
	}
	return bias
}

func (h hotCalibration) csv() []byte {
	var out bytes.Buffer
	for i, t := range h.tables {
		text := t.CSV()
		if i > 0 {
			_, text, _ = bytes.Cut(text, []byte("\n")) // one head
		}
		out.Write(text)
	}
	return out.Bytes()
}
