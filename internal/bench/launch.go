package bench

import "time"

// Launch is one entry of a plan: one llama-bench process to be started.
type Launch struct {
	// Seq is the entry's place in the plan, from zero.
	Seq int `json:"seq"`
	// Block counts the blocks of the launch's model, from zero.
	Block int `json:"block"`
	// Position is the launch's place within its block, from zero.
	Position int `json:"position"`
	// Model is the model's alias.
	Model string `json:"model"`
	// Arm is the arm's label.
	Arm string `json:"arm"`
}

// Mark is a reason to look at a launch twice. A marked launch counts in the
// statistics all the same: nothing is dropped for being slow.
type Mark string

// The marks of a launch.
const (
	// MarkDisturbed: other processes took more than the stated share of the
	// device's CPU time during the launch.
	MarkDisturbed Mark = "disturbed"
	// MarkHot: the launch began outside the temperature window.
	MarkHot Mark = "hot"
	// MarkThrottled: there is evidence that the device throttled during the
	// launch.
	MarkThrottled Mark = "throttled"
	// MarkRetried: an earlier attempt at this launch was lost to the
	// infrastructure.
	MarkRetried Mark = "retried"
)

// Result is one test of one launch with all its samples.
type Result struct {
	Test Test `json:"test"`
	// SamplesNs are the repetitions in the order they ran, in nanoseconds.
	SamplesNs []Nanoseconds `json:"samples_ns"`
}

// Sensors is what a device reports of itself at one moment. A nil pointer is
// "unknown", never zero.
type Sensors struct {
	// Temperatures by sensor name, in degrees Celsius.
	Temperatures map[string]Celsius `json:"temperatures,omitempty"`
	// ThermalStatus is Android's: 0 none, 1 light, 2 moderate, 3 severe,
	// 4 critical, 5 emergency, 6 shutdown.
	ThermalStatus *int `json:"thermal_status,omitempty"`
	// BatteryPercent is the charge, 0 to 100.
	BatteryPercent *int `json:"battery_percent,omitempty"`
	// BatteryTemperature is in degrees Celsius.
	BatteryTemperature *Celsius `json:"battery_temperature,omitempty"`
	// Charging tells whether external power is connected.
	Charging *bool `json:"charging,omitempty"`
	// ScreenOn tells whether the display is lit.
	ScreenOn *bool `json:"screen_on,omitempty"`
	// MemoryAvailable is MemAvailable of /proc/meminfo.
	MemoryAvailable *Bytes `json:"memory_available,omitempty"`
}

// Record is one attempt at a launch as the journal keeps it: the plan's entry
// and everything that was observed. Records are appended, never changed.
type Record struct {
	Launch
	// Attempt counts the tries at this launch, from one.
	Attempt int `json:"attempt"`
	// Started is the device-independent time at which the launch began, UTC.
	Started time.Time `json:"started"`
	// Wall is how long the process ran, as seen from here.
	Wall Nanoseconds `json:"wall_ns"`
	// Outcome is how it ended.
	Outcome Outcome `json:"outcome"`
	// Fault says whose fault a failure is.
	Fault Fault `json:"fault,omitempty"`
	// Reason is one line for people: what happened and what to do.
	Reason string `json:"reason,omitempty"`
	// Evidence is what the outcome rests on: the log's telling lines.
	Evidence []string `json:"evidence,omitempty"`
	// ExitStatus is the program's, nil when it was not learnt. A death by
	// signal N reads 128+N, as shells have it.
	ExitStatus *int `json:"exit_status,omitempty"`
	// Results are the tests that were measured.
	Results []Result `json:"results,omitempty"`
	// Before and After are the device's sensors around the launch.
	Before *Sensors `json:"before,omitempty"`
	After  *Sensors `json:"after,omitempty"`
	// OtherCPUShare is the share of the device's CPU time, 0 to 1, that
	// processes outside the launch took while it ran; nil when unknown.
	OtherCPUShare *float64 `json:"other_cpu_share,omitempty"`
	// Marks are reasons to look twice.
	Marks []Mark `json:"marks,omitempty"`
	// Proof is what shows where the work was done: buffer sizes by device,
	// graph splits.
	Proof map[string]string `json:"proof,omitempty"`
	// Counters are the simulated NPU's cost counters, none on a real one: what
	// the launch asked of the DSP, equal for equal inputs.
	Counters map[string]uint64 `json:"counters,omitempty"`
	// Log is the launch's log, relative to the archive.
	Log string `json:"log,omitempty"`
	// Telemetry is the sensors' log, about one line a second while the launch
	// ran, relative to the archive.
	Telemetry string `json:"telemetry,omitempty"`
	// CanaryNs is what a fixed piece of work took right after the launch.
	CanaryNs *Nanoseconds `json:"canary_ns,omitempty"`
	// CanaryOtherCPUShare is the share of the device's CPU time that others
	// took during it, 0 to 1; nil when unknown.
	CanaryOtherCPUShare *float64 `json:"canary_other_cpu_share,omitempty"`
}

// Result finds a test's samples in the record.
func (r Record) Result(t Test) (Result, bool) {
	for _, result := range r.Results {
		if result.Test == t {
			return result, true
		}
	}
	return Result{}, false
}
