package bench

// Fault says whose fault a failure is, which decides what may be retried:
// infrastructure faults only.
type Fault string

// The three parties that can be at fault.
const (
	FaultNone           Fault = ""
	FaultVariant        Fault = "variant"
	FaultDevice         Fault = "device"
	FaultInfrastructure Fault = "infrastructure"
)

// Outcome is how a launch ended. Only OutcomeOK counts in the statistics.
type Outcome string

// The outcomes of a launch.
const (
	// OutcomeOK: the process ended with status zero and every expected test
	// is there with all its samples.
	OutcomeOK Outcome = "ok"
	// OutcomeCrashed: the program ended by a signal or a status that no other
	// outcome explains.
	OutcomeCrashed Outcome = "crashed"
	// OutcomeTimeout: the launch outlived its time limit and was ended.
	OutcomeTimeout Outcome = "timeout"
	// OutcomeLinkError: the dynamic linker could not load a library.
	OutcomeLinkError Outcome = "link-error"
	// OutcomeSessionError: the DSP session could not be opened, or died.
	OutcomeSessionError Outcome = "session-error"
	// OutcomeMemLimit: memory could not be had, on either side.
	OutcomeMemLimit Outcome = "mem-limit"
	// OutcomeKilled: something else on the device ended the process.
	OutcomeKilled Outcome = "killed"
	// OutcomeTransportLost: the link to the device was lost before the end
	// marker arrived.
	OutcomeTransportLost Outcome = "transport-lost"
	// OutcomeRebooted: the device's boot id changed during the launch.
	OutcomeRebooted Outcome = "rebooted"
	// OutcomeThrottled: the launch was ended, or not begun, since the device
	// was hotter than the abort ceiling. (One that ran to its end on a device
	// that throttled is ok, with MarkThrottled.)
	OutcomeThrottled Outcome = "throttled"
	// OutcomeParseError: a line that should be a result is not one.
	OutcomeParseError Outcome = "parse-error"
	// OutcomeMissingTest: the process ended well without a test it was asked for.
	OutcomeMissingTest Outcome = "missing-test"
	// OutcomeNoSpace: the device's storage is full.
	OutcomeNoSpace Outcome = "no-space"
	// OutcomeNotRun: the launch was given up without being started, because
	// of what its cell or its device did before.
	OutcomeNotRun Outcome = "not-run"
)

// Outcomes lists every outcome, in the order in which tables explain them.
var Outcomes = []Outcome{
	OutcomeOK, OutcomeCrashed, OutcomeTimeout, OutcomeLinkError, OutcomeSessionError,
	OutcomeMemLimit, OutcomeKilled, OutcomeTransportLost, OutcomeRebooted, OutcomeThrottled,
	OutcomeParseError, OutcomeMissingTest, OutcomeNoSpace, OutcomeNotRun,
}

// Valid tells whether o is one of the outcomes.
func (o Outcome) Valid() bool {
	for _, known := range Outcomes {
		if o == known {
			return true
		}
	}
	return false
}

// Fault says whose fault the outcome is by its nature. A launch's own record
// may say otherwise where its evidence does.
func (o Outcome) Fault() Fault {
	switch o {
	case OutcomeOK, OutcomeNotRun:
		return FaultNone
	case OutcomeTransportLost, OutcomeParseError:
		return FaultInfrastructure
	case OutcomeRebooted, OutcomeThrottled, OutcomeKilled, OutcomeNoSpace, OutcomeMemLimit:
		return FaultDevice
	}
	return FaultVariant
}
