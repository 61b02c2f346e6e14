package ssh

import (
	"errors"
	"fmt"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/shell"
)

// Kind is what went wrong between here and a board's shell.
type Kind string

// The kinds of errors.
const (
	KindMissing   Kind = "OpenSSH missing"
	KindAuth      Kind = "sign-in refused"
	KindUnknownID Kind = "host key not known"
	KindChangedID Kind = "host key changed"
	KindName      Kind = "name not known"
	KindRefused   Kind = "not reachable"
	KindLost      Kind = "lost"
	KindKilled    Kind = "shell killed"
	KindNoSpace   Kind = "no space left"
	KindDenied    Kind = "permission denied"
	KindNoFile    Kind = "no such file"
	KindNoSFTP    Kind = "no sftp"
	KindCanceled  Kind = "stopped"
	KindUnknown   Kind = "unexpected answer"
)

// kinds holds what is common to all errors of a kind: whose fault it is,
// whether trying again can help with nobody doing anything, and what a person
// can do; %s is the target.
var kinds = map[Kind]struct {
	fault bench.Fault
	retry bool
	next  string
}{
	KindMissing:   {bench.FaultInfrastructure, false, "install the OpenSSH client (Debian and Ubuntu: apt-get install openssh-client)"},
	KindAuth:      {bench.FaultInfrastructure, false, "a key is needed, no password is asked for: run `ssh-copy-id %s`, or add the key to the agent with `ssh-add`"},
	KindUnknownID: {bench.FaultInfrastructure, false, "run `ssh %s` once and compare the key's fingerprint with the board's"},
	KindChangedID: {bench.FaultInfrastructure, false, "the board was set up anew, or this is another one: when you are sure, remove the old key with `ssh-keygen -R` as ssh says, and run `ssh %s` once"},
	KindName:      {bench.FaultInfrastructure, false, "check the spelling; an address does as well"},
	KindRefused:   {bench.FaultInfrastructure, true, "check the address, the network, and that sshd runs on the board"},
	KindLost:      {bench.FaultInfrastructure, true, "check network and power; the board may have rebooted"},
	KindKilled:    {bench.FaultDevice, false, "something on the board ended it, most likely for want of memory: close other programs or use a smaller model"},
	KindNoSpace:   {bench.FaultDevice, false, "free some space on the board, or prune what hexab keeps there"},
	KindDenied:    {bench.FaultDevice, false, "choose a folder that the user may write"},
	KindNoFile:    {bench.FaultDevice, false, ""},
	KindNoSFTP:    {bench.FaultDevice, false, "the board's sshd offers no sftp: install openssh-sftp-server there"},
	KindCanceled:  {bench.FaultNone, false, ""},
	KindUnknown:   {bench.FaultInfrastructure, false, ""},
}

// Error is a failure of ssh or of a board, with whose fault it is.
type Error struct {
	// Op is what was attempted, for people: "push libfoo.so".
	Op string
	// Target is the board as it was named.
	Target string
	Kind   Kind
	// Detail says more than the kind, in a few words; may be empty.
	Detail string
	// Evidence are the lines that the kind was concluded from.
	Evidence []string
	// Err is the underlying error, if any.
	Err error
}

// Error is one line: why, the first line of evidence, what to do. What was
// attempted and where stands before it in package device's errors.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Kind))
	if e.Detail != "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
	}
	switch {
	case len(e.Evidence) > 0:
		fmt.Fprintf(&b, " (%s)", e.Evidence[0])
	case e.Detail == "" && e.Err != nil:
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
func (e *Error) Next() string { return strings.ReplaceAll(kinds[e.Kind].next, "%s", e.Target) }

// KindOf is the kind of the ssh error in err's chain, or the empty kind.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// texts maps what OpenSSH says to kinds; the first that matches counts. Texts
// are those of OpenSSH 7 to 9, compared in lower case.
var texts = []struct {
	text string
	kind Kind
}{
	{"remote host identification has changed", KindChangedID},
	{"host key verification failed", KindUnknownID},
	{"no matching host key", KindUnknownID},
	{"permission denied (", KindAuth}, // with the methods in parentheses
	{"too many authentication failures", KindAuth},
	{"could not resolve hostname", KindName},
	{"no space left on device", KindNoSpace},
	{"disk quota exceeded", KindNoSpace},
	{"connection refused", KindRefused},
	{"connection timed out", KindRefused},
	{"operation timed out", KindRefused},
	{"no route to host", KindRefused},
	{"network is unreachable", KindRefused},
	{"kex_exchange_identification", KindRefused},
	{"subsystem request failed", KindNoSFTP},
	{"connection closed by", KindLost},
	{"connection reset", KindLost},
	{"connection to", KindLost}, // ... closed by remote host
	{"broken pipe", KindLost},
	{"timeout, server", KindLost},
	{"mux_client", KindLost},
	{"control socket", KindLost},
	{"connection closed", KindLost},
	{"permission denied", KindDenied},
	{"read-only file system", KindDenied},
	{"no such file or directory", KindNoFile},
	{"not found", KindNoFile},
}

// classify finds the kind in OpenSSH's own words.
func classify(lines []string) (Kind, []string) {
	for _, rule := range texts {
		for _, line := range lines {
			if strings.Contains(strings.ToLower(line), rule.text) {
				return rule.kind, evidenceFrom(lines, line)
			}
		}
	}
	return KindUnknown, evidenceFrom(lines, "")
}

// evidenceFrom puts the telling line first and keeps at most five others.
func evidenceFrom(lines []string, first string) []string {
	const most = 5
	var list []string
	if first != "" {
		list = append(list, strings.Trim(shell.Clean(first), "@ "))
	}
	for _, line := range lines {
		if line = strings.Trim(shell.Clean(line), "@ "); line != "" && (len(list) == 0 || line != list[0]) && len(list) < most+1 {
			list = append(list, line)
		}
	}
	return list
}

func splitLines(text string) []string {
	var lines []string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
