package device

import (
	"errors"
	"fmt"
	"regexp"

	"hexab/internal/bench"
	"hexab/internal/shell"
)

// full are the words of Bionic, glibc and musl for ENOSPC, and for EDQUOT
// (where musl says "Quota exceeded").
var full = regexp.MustCompile(`(?i)no space left|quota exceeded`)

// Full is the error of a device without room for what was to be done.
func Full(op, serial string, err error) *Error {
	return &Error{Op: op, Serial: serial, Fault: bench.OutcomeNoSpace.Fault(), Outcome: bench.OutcomeNoSpace, Err: err,
		Next: "free some space on the device; go tool mage prune removes what hexab left there"}
}

// Refused is the error of a command on the device that ended with a failure of
// its own, err, after it had said something. A full device is told apart, here
// and nowhere else.
func Refused(op, serial, said string, err error) *Error {
	evidence := lines(said)
	if full.MatchString(said) {
		e := Full(op, serial, errors.New("no space left on the device"))
		e.Evidence = evidence
		return e
	}
	if len(evidence) > 0 {
		err = fmt.Errorf("%w: %s", err, shell.Clean(evidence[0]))
	}
	return &Error{Op: op, Serial: serial, Fault: bench.FaultDevice, Outcome: bench.OutcomeNotRun, Evidence: evidence, Err: err}
}
