package artifact

import (
	"fmt"
	"regexp"
	"slices"

	"hexab/internal/bench"
)

// A mark that this hexab does not know changes nothing and does no harm.
var markPattern = regexp.MustCompile(`^[a-z][a-z-]{0,31}$`)

func checkRecord(r bench.Record, run bench.Run, attempts map[int]int) error {
	switch {
	case r.Seq < 0 || r.Seq >= len(run.Plan) || run.Plan[r.Seq] != r.Launch:
		return fmt.Errorf("launch %d is not the plan's", r.Seq)
	case r.Attempt <= attempts[r.Seq] || r.Attempt > maxAttempts:
		return fmt.Errorf("attempt %d of launch %d comes after attempt %d", r.Attempt, r.Seq, attempts[r.Seq])
	case !r.Outcome.Valid():
		return fmt.Errorf("%.40q is not an outcome", r.Outcome)
	case !slices.Contains(faults, r.Fault):
		return fmt.Errorf("%.40q is not a fault", r.Fault)
	case r.Outcome == bench.OutcomeOK && r.Fault != bench.FaultNone:
		return fmt.Errorf("ended well with a fault")
	}
	for _, m := range r.Marks {
		if !markPattern.MatchString(string(m)) {
			return fmt.Errorf("%.40q is not a mark", m)
		}
	}
	if err := within("wall", r.Wall, 0, maxWall); err != nil {
		return err
	}
	if r.ExitStatus != nil {
		if err := within("exit status", *r.ExitStatus, 0, 255); err != nil {
			return err
		}
	}
	if r.OtherCPUShare != nil {
		if err := within("other CPU share", *r.OtherCPUShare, 0, 1); err != nil {
			return err
		}
	}
	return first(checkResults(r, run), checkSensors(r.Before), checkSensors(r.After))
}

func checkResults(r bench.Record, run bench.Run) error {
	seen := map[bench.Test]bool{}
	for _, result := range r.Results {
		if !slices.Contains(run.Tests, result.Test) || seen[result.Test] {
			return fmt.Errorf("test %s: not this run's, or there twice", result.Test)
		}
		seen[result.Test] = true
		if err := within("samples", len(result.SamplesNs), 0, run.Repetitions); err != nil {
			return err
		}
		for _, ns := range result.SamplesNs {
			if err := within("a sample in ns", ns, minSample, maxSample); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkSensors(s *bench.Sensors) error {
	if s == nil {
		return nil
	}
	for _, celsius := range s.Temperatures {
		if err := within("temperature", celsius, minCelsius, maxCelsius); err != nil {
			return err
		}
	}
	if s.ThermalStatus != nil {
		if err := within("thermal status", *s.ThermalStatus, 0, 6); err != nil {
			return err
		}
	}
	if s.BatteryPercent != nil {
		if err := within("battery", *s.BatteryPercent, 0, 100); err != nil {
			return err
		}
	}
	if s.BatteryTemperature != nil {
		if err := within("battery temperature", *s.BatteryTemperature, minCelsius, maxCelsius); err != nil {
			return err
		}
	}
	return nil
}
