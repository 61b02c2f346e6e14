package adb

import (
	"errors"
	"fmt"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/shell"
)

// Kind is what went wrong between here and a device's shell.
type Kind string

// The kinds of errors.
const (
	KindMissing       Kind = "adb missing"
	KindServerGone    Kind = "adb server gone"
	KindPortTaken     Kind = "adb server port taken"
	KindVersion       Kind = "adb version mismatch"
	KindUnauthorized  Kind = "unauthorized"
	KindAuthorizing   Kind = "authorizing"
	KindNoPermissions Kind = "no USB permissions"
	KindOffline       Kind = "offline"
	KindNotFound      Kind = "not found"
	KindState         Kind = "not booted into Android"
	KindConnect       Kind = "not reachable"
	KindLost          Kind = "lost"
	KindKilled        Kind = "shell killed"
	KindNoSpace       Kind = "no space left"
	KindDenied        Kind = "permission denied"
	KindNoFile        Kind = "no such file"
	KindCorrupt       Kind = "content differs"
	KindCanceled      Kind = "stopped"
	KindStatus        Kind = "command failed"
	KindUnknown       Kind = "unexpected answer"
)

// kinds holds what is common to all errors of a kind: whose fault it is,
// whether trying again can help with nobody doing anything, and what a person
// can do.
var kinds = map[Kind]struct {
	fault bench.Fault
	retry bool
	next  string
}{
	KindMissing:       {bench.FaultInfrastructure, false, "install adb (Debian and Ubuntu: apt-get install adb) or name it in HEXAB_ADB"},
	KindServerGone:    {bench.FaultInfrastructure, true, "start it with `adb start-server` and look at its output"},
	KindPortTaken:     {bench.FaultInfrastructure, false, "another program listens on the adb server's port: end it, or choose another port"},
	KindVersion:       {bench.FaultInfrastructure, true, "two adb programs of different versions end each other's server: use one (HEXAB_ADB names it)"},
	KindUnauthorized:  {bench.FaultDevice, false, "unlock the phone and tap Allow on \"Allow USB debugging?\" (tick \"Always allow from this computer\"); if nothing shows, switch USB debugging off and on, or revoke its authorisations in the developer options, and plug in again"},
	KindAuthorizing:   {bench.FaultDevice, true, "wait a moment; if it lasts, unlock the phone and tap Allow on \"Allow USB debugging?\""},
	KindNoPermissions: {bench.FaultInfrastructure, false, "this user may not open the USB device: install the udev rules (Debian and Ubuntu: apt-get install android-sdk-platform-tools-common), join the group plugdev, plug in again"},
	KindOffline:       {bench.FaultDevice, true, "plug the phone in again or run `adb reconnect offline`; another cable or port often helps"},
	KindNotFound:      {bench.FaultDevice, false, "check the cable and that USB debugging is on; `adb devices -l` lists what is there"},
	KindState:         {bench.FaultDevice, false, "boot the phone into Android and try again"},
	KindConnect:       {bench.FaultInfrastructure, true, "check the address, and that debugging over the network is on"},
	KindLost:          {bench.FaultInfrastructure, true, "check cable and power; the phone may have rebooted"},
	KindKilled:        {bench.FaultDevice, false, "something on the phone ended it, most likely for want of memory: close other applications or use a smaller model"},
	KindNoSpace:       {bench.FaultDevice, false, "free some space on the phone, or prune what hexab keeps there"},
	KindDenied:        {bench.FaultDevice, false, "choose a folder that the shell user may write, such as /data/local/tmp"},
	KindNoFile:        {bench.FaultDevice, false, ""},
	KindCorrupt:       {bench.FaultInfrastructure, true, "push again; if it happens again, suspect the cable or the phone's storage"},
	KindCanceled:      {bench.FaultNone, false, ""},
	KindStatus:        {bench.FaultDevice, false, ""},
	KindUnknown:       {bench.FaultInfrastructure, false, ""},
}

// Error is a failure of adb or of a device, with whose fault it is.
type Error struct {
	// Op is what was attempted, for people: "push libfoo.so".
	Op string
	// Serial is the device concerned, if any.
	Serial string
	Kind   Kind
	// Detail says more than the kind, in a few words; may be empty.
	Detail string
	// Evidence are the lines that the kind was concluded from.
	Evidence []string
	// Err is the underlying error, if any.
	Err error
}

// Error is one line: what, where, why, the first line of evidence, what to do.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Serial != "" {
		fmt.Fprintf(&b, ": device %s", e.Serial)
	}
	fmt.Fprintf(&b, ": %s", e.Kind)
	if e.Detail != "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
	}
	switch {
	case len(e.Evidence) > 0 && !strings.Contains(e.Detail, e.Evidence[0]):
		fmt.Fprintf(&b, " (%s)", e.Evidence[0])
	case len(e.Evidence) == 0 && e.Detail == "" && e.Err != nil:
		fmt.Fprintf(&b, " (%v)", e.Err)
	}
	if next := e.Next(); next != "" {
		fmt.Fprintf(&b, "; %s", next)
	}
	return b.String()
}

// Unwrap gives the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// Fault tells whose fault it is.
func (e *Error) Fault() bench.Fault { return kinds[e.Kind].fault }

// Retryable tells whether the same may succeed a little later with nobody
// doing anything.
func (e *Error) Retryable() bool { return kinds[e.Kind].retry }

// Next is what a person can do about it; may be empty.
func (e *Error) Next() string { return kinds[e.Kind].next }

// KindOf is the kind of the adb error in err's chain, or the empty kind.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// texts maps what adb says to kinds; the first that matches counts. Texts are
// those of adb 1.0.32 to 1.0.41, compared in lower case.
var texts = []struct {
	text string
	kind Kind
}{
	{"no space left on device", KindNoSpace},
	{"device unauthorized", KindUnauthorized},
	{"failed to authenticate", KindUnauthorized},
	{"device still authorizing", KindAuthorizing},
	{"still connecting", KindAuthorizing},
	{"no permissions", KindNoPermissions},
	{"insufficient permissions for device", KindNoPermissions},
	{"device offline", KindOffline},
	{"no devices/emulators found", KindNotFound},
	{"no devices found", KindNotFound},
	{"address already in use", KindPortTaken},
	{"cannot bind", KindPortTaken},
	{"unknown host service", KindPortTaken}, // some other server answers
	{"cannot connect to daemon", KindServerGone},
	{"failed to start daemon", KindServerGone},
	{"didn't ack", KindServerGone},
	{"daemon still not running", KindServerGone},
	{"failed to check server version", KindServerGone},
	{"smartsocket", KindServerGone},
	{"protocol fault", KindLost},
	{"doesn't match this client", KindVersion},
	{"no response", KindLost},
	{"failed to read copy response", KindLost},
	{"broken pipe", KindLost},
	{"connection reset", KindLost},
	{"connect failed: closed", KindLost},
	{"error: closed", KindLost},
	{"unexpected eof", KindLost},
	{"permission denied", KindDenied},
	{"read-only file system", KindDenied},
	{"no such file or directory", KindNoFile},
	{"failed to stat remote object", KindNoFile},
	{"does not exist", KindNoFile},
}

// classify finds the kind in adb's own words. Lines of the daemon's start are
// no evidence unless nothing else is there.
func classify(lines []string) (Kind, []string) {
	for _, rule := range texts {
		for _, line := range lines {
			if strings.Contains(strings.ToLower(line), rule.text) {
				return rule.kind, evidenceFrom(lines, line)
			}
		}
	}
	for _, line := range lines {
		if notFound(line) {
			return KindNotFound, evidenceFrom(lines, line)
		}
	}
	return KindUnknown, evidenceFrom(lines, "")
}

// notFound recognises "device 'X' not found" and its relatives.
func notFound(line string) bool {
	lower := strings.ToLower(line)
	return strings.Contains(lower, "device '") && strings.Contains(lower, "' not found") ||
		strings.Contains(lower, "error: device not found")
}

// evidenceFrom puts the telling line first and keeps at most five others.
func evidenceFrom(lines []string, first string) []string {
	const most = 5
	var list []string
	if first != "" {
		list = append(list, shell.Clean(first))
	}
	for _, line := range lines {
		line = shell.Clean(line)
		if line != "" && line != shell.Clean(first) && !strings.HasPrefix(line, "* daemon") && len(list) < most+1 {
			list = append(list, line)
		}
	}
	return list
}
