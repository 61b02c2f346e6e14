package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hexab/internal/bench"
	"hexab/internal/device"
)

// Policies of the gate before each launch.
const (
	coolByWaiting = "wait" // waits for the temperature window, then launches and marks
	coolByMarking = "mark" // launches at once and marks
	coolOff       = "off"  // neither; sensors are recorded all the same
)

// Temperature window of the gate: a launch begins when the device is at most
// this much hotter than it was at the session's start.
const (
	coolWindow      = bench.Celsius(5)
	coolWaitPhone   = 5 * time.Minute
	coolWaitSim     = 20 * time.Second
	coolPollSeconds = 2
	// idleAboveBattery is what the hottest sensor of an idle phone lies above its
	// battery at most, and restless by how much it falls between two looks
	// when it is not idle yet.
	idleAboveBattery = bench.Celsius(8)
	restless         = bench.Celsius(0.5)
)

// Limits beyond which nothing is launched and what runs is ended, whatever the
// policy: Android's thermal status emergency (android.os.PowerManager), where
// it shuts parts down, and a battery that is about to.
const (
	ceilingStatus  = 5
	ceilingBattery = bench.Celsius(55)
)

// Evidence of throttling.
const (
	// throttledStatus is the thermal status from which on a device throttles:
	// moderate (android.os.PowerManager, THERMAL_STATUS_MODERATE).
	throttledStatus = 2
	// heldShare of a core's highest limit in the session, below which it is
	// held back.
	heldShare = 0.9
	// slowCanary times the session's best is a throttled device.
	slowCanary = 1.10
)

// heat is what a session knows of its device's temperature.
type heat struct {
	// ceiling is the hottest sensor's, zero where none was asked for.
	ceiling bench.Celsius
	// baseline is the hottest sensor at the session's start, status the
	// thermal status; nil before it was read, or where it is unknown.
	baseline *bench.Celsius
	status   *int
	begun    bool
	// limits is the highest frequency limit of each core seen so far, canary
	// the shortest canary.
	limits map[string]device.KHz
	canary bench.Nanoseconds
	// fixed is set while fixed-performance mode is on.
	fixed bool
}

// ceilingError is a device too hot to go on with.
type ceilingError struct{ why string }

func (e *ceilingError) Error() string { return "the device is too hot: " + e.why }

// gate reads the sensors and lets the device cool down by the run's policy.
// After a wait in vain the launch goes on and is marked: a hole would say less.
func (s *session) gate(ctx context.Context, record *bench.Record) (device.Reading, error) {
	limit := coolWaitPhone
	if s.target.embedded {
		limit = coolWaitSim
	}
	deadline, told := s.clock.now().Add(limit), false
	for {
		reading, err := device.ReadSensors(ctx, s.target)
		if err != nil {
			return reading, err
		}
		record.Before = &reading.Sensors
		if reading.BootID != "" && s.bootID != "" && reading.BootID != s.bootID {
			if err := s.rebooted(ctx, reading.BootID); err != nil {
				return reading, err
			}
			continue
		}
		late := s.clock.now().After(deadline)
		over, hot := s.heat.over(reading.Sensors), ""
		if !s.heat.begun && s.heat.begin(reading.Sensors, late || s.run.Cool != coolByWaiting) {
			hot = "finding the session's cool baseline"
		} else if s.heat.begun {
			hot = s.heat.outside(reading.Sensors)
		}
		switch {
		case over != "" && late:
			return reading, &ceilingError{over}
		case over != "":
			hot = over
		case hot == "" || s.run.Cool == coolOff:
			return reading, nil
		case s.run.Cool == coolByMarking || late:
			record.Marks = append(record.Marks, bench.MarkHot)
			record.Evidence = append(record.Evidence, "before the launch: "+hot)
			return reading, nil
		}
		if !told {
			s.w.Note("launch %d waits for the device to cool down, %v at most: %s", record.Seq+1, limit, hot)
			told = true
		}
		if err := s.clock.sleep(ctx, coolPollSeconds*time.Second); err != nil {
			return reading, err
		}
	}
}

// begin takes the session's cool baseline: of a device that is idle-cool, or
// gets no cooler, or at once when asked. It tells whether to wait and look
// again.
func (h *heat) begin(now bench.Sensors, atOnce bool) (wait bool) {
	hottest, known := device.Hottest(now)
	if known {
		last := h.baseline
		h.baseline = &hottest
		warm := now.BatteryTemperature != nil && hottest > *now.BatteryTemperature+idleAboveBattery
		if warm && !atOnce && (last == nil || hottest < *last-restless) {
			return true
		}
	}
	h.status, h.begun = now.ThermalStatus, true
	return false
}

// recall takes the baseline of an earlier session of the same run: a phone that
// is still hot from it is no cooler for that.
func (h *heat) recall(records []bench.Record) {
	for _, r := range records {
		if r.Before == nil {
			continue
		}
		if hottest, known := device.Hottest(*r.Before); known {
			h.baseline, h.begun, h.status = &hottest, true, r.Before.ThermalStatus
			return
		}
	}
}

// outside says why a device is outside the session's window; empty when it is
// not, or when nothing is known.
func (h *heat) outside(now bench.Sensors) string {
	hottest, known := device.Hottest(now)
	switch {
	case known && h.baseline != nil && hottest > *h.baseline+coolWindow:
		return fmt.Sprintf("%.1f degrees Celsius, the window ends at %.1f", hottest, *h.baseline+coolWindow)
	case now.ThermalStatus != nil && *now.ThermalStatus > 0 && (h.status == nil || *now.ThermalStatus > *h.status):
		return fmt.Sprintf("thermal status %d", *now.ThermalStatus)
	}
	return ""
}

// over says which ceiling a device is above; empty for none.
func (h *heat) over(now bench.Sensors) string {
	hottest, known := device.Hottest(now)
	switch {
	case known && h.ceiling > 0 && hottest >= h.ceiling:
		return fmt.Sprintf("%.1f degrees Celsius, the ceiling is %.1f", hottest, h.ceiling)
	case now.ThermalStatus != nil && *now.ThermalStatus >= ceilingStatus:
		return fmt.Sprintf("thermal status %d", *now.ThermalStatus)
	case now.BatteryTemperature != nil && *now.BatteryTemperature >= ceilingBattery:
		return fmt.Sprintf("battery at %.1f degrees Celsius", *now.BatteryTemperature)
	}
	return ""
}

// watch is the log that runs beside one launch.
type watch struct {
	mu      sync.Mutex
	samples []device.Sample
}

// take keeps a sample and ends the launch when the device gets too hot.
func (w *watch) take(sample device.Sample, h *heat, stop context.CancelCauseFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.samples = append(w.samples, sample)
	if over := h.over(sample.Sensors); over != "" {
		stop(&ceilingError{over})
	}
}

func (w *watch) all() []device.Sample {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.samples)
}

// keep writes the log into the archive, beside the launch's own.
func (s *session) keep(record *bench.Record, samples []device.Sample) error {
	if len(samples) == 0 {
		return nil
	}
	name := strings.TrimSuffix(record.Log, ".log") + ".telemetry.csv"
	if err := s.archive.WriteBeside(name, device.TelemetryCSV(samples)); err != nil {
		return err
	}
	record.Telemetry = name
	return nil
}

// throttled looks for evidence that the device held the launch back: the
// thermal status after it, frequency limits during it, and the canary.
func (s *session) throttled(ctx context.Context, record *bench.Record, samples []device.Sample) {
	var evidence []string
	if after := record.After; after != nil && after.ThermalStatus != nil && *after.ThermalStatus >= throttledStatus {
		evidence = append(evidence, fmt.Sprintf("thermal status %d after the launch", *after.ThermalStatus))
	}
	if held := s.heat.held(samples); held != "" {
		evidence = append(evidence, held)
	}
	if slow := s.sing(ctx, record); slow != "" {
		evidence = append(evidence, slow)
	}
	if len(evidence) > 0 {
		record.Marks = append(record.Marks, bench.MarkThrottled)
		record.Evidence = append(record.Evidence, evidence...)
	}
}

// held finds the core that was held to the smallest share of its highest limit.
func (h *heat) held(samples []device.Sample) string {
	if h.limits == nil {
		h.limits = map[string]device.KHz{}
	}
	for _, sample := range samples {
		for core, limit := range sample.Limits {
			h.limits[core] = max(h.limits[core], limit)
		}
	}
	worst, text := heldShare, ""
	for _, sample := range samples {
		for core, limit := range sample.Limits {
			if share := float64(limit) / float64(h.limits[core]); share < worst {
				worst, text = share, fmt.Sprintf("%s was held to %d of %d MHz", core, limit/1000, h.limits[core]/1000)
			}
		}
	}
	return text
}

// sing runs the canary after a launch. It says what is wrong with it, unless
// others were at work during it or the launch: then a slow canary shows them and
// not the heat, and it is no measure of later ones either.
func (s *session) sing(ctx context.Context, record *bench.Record) string {
	if s.run.Cool == coolOff {
		return ""
	}
	canary, err := device.RunCanary(ctx, s.target)
	if err != nil {
		return "" // the next launch finds out
	}
	record.CanaryNs, record.CanaryOtherCPUShare = &canary.Took, canary.OtherCPUShare
	if slices.Contains(record.Marks, bench.MarkDisturbed) || canary.OtherCPUShare != nil && *canary.OtherCPUShare > disturbedShare {
		return ""
	}
	if s.heat.canary == 0 || canary.Took < s.heat.canary {
		s.heat.canary = canary.Took
	}
	ratio := float64(canary.Took) / float64(s.heat.canary)
	if ratio <= slowCanary {
		return ""
	}
	return fmt.Sprintf("the canary took %.2f times the session's best", ratio)
}

// fixPerformance turns fixed-performance mode on where the device offers it,
// and gives what puts it back: also when ctx has ended by then.
func (s *session) fixPerformance(ctx context.Context, wanted bool) (restore func(), err error) {
	state := "off"
	if wanted {
		state = "not offered"
		err = s.retrying(ctx, func() (err error) {
			s.heat.fixed, err = device.SetFixedPerformance(ctx, s.target, true)
			return err
		})
	}
	if s.heat.fixed {
		state = "on"
	}
	if s.run.Device.Properties == nil {
		s.run.Device.Properties = map[string]string{}
	}
	s.run.Device.Properties["fixed_performance"] = state
	return func() {
		if !s.heat.fixed {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
		defer cancel()
		if _, err := device.SetFixedPerformance(ctx, s.target, false); err != nil {
			s.w.Note("fixed-performance mode may still be on (%v); a reboot or `adb shell cmd power set-fixed-performance-mode-enabled false` ends it", err)
		}
	}, err
}

// restoreTime bounds putting back what a run changed on the device.
const restoreTime = 15 * time.Second

// tooHot tells that a launch was ended, or not begun, for the heat.
func tooHot(err error) (*ceilingError, bool) {
	var over *ceilingError
	return over, errors.As(err, &over)
}
