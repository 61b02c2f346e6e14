// Package shell is about scripts in a device's shell, however it is reached:
// how words are quoted, what is sent around a script, and how its end is
// proved. No transport is believed when it says that a command has ended: adb's
// client exits 0 when a device vanishes. A marker that carries the exit status,
// printed by the device's shell, is the proof.
package shell

import (
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"
)

// DefaultKeep is how much of each stream a Script keeps, in bytes.
const DefaultKeep = 4 << 20

// Options say how to run a script.
type Options struct {
	// OnStdout and OnStderr are called for each line as it comes, without its
	// end; never both at once. Where the streams are merged the lines of stderr
	// come when the script has ended.
	OnStdout, OnStderr func(line string)
	// Keep bounds what is kept of each stream, in bytes; zero is DefaultKeep,
	// negative keeps nothing.
	Keep int
	// Account asks for the CPU time around the script.
	Account bool
	// Env is exported to the script.
	Env map[string]string
}

// Way is how the shell is reached.
type Way struct {
	// Merged tells that the transport merges stderr into stdout; stderr then
	// goes through a file in TempDir.
	Merged  bool
	TempDir string
}

// Script is one script on its way: what to send, and what came back.
type Script struct {
	// Nonce is a random word that the script's processes carry in their command
	// line or their environment.
	Nonce string
	// Command is the text for the device's shell.
	Command string

	account        bool
	stdout, stderr *stream
	demux          *demux
}

// New wraps a script. It must not hold NUL; the environment's names must be
// names.
func New(script string, o Options, w Way) (*Script, error) {
	if strings.ContainsRune(script, 0) {
		return nil, errors.New("the command holds a NUL byte")
	}
	exports, err := exportEnv(o.Env)
	if err != nil {
		return nil, err
	}
	s := &Script{Nonce: "hexab-" + rand.Text(), account: o.Account}
	s.stdout, s.stderr = newStream(o.OnStdout, o.Keep), newStream(o.OnStderr, o.Keep)
	s.demux = newDemux(s.Nonce, s.stdout, s.stderr, w.Merged)
	s.Command = wrap(s.Nonce, exports+script, w, o.Account)
	return s, nil
}

// wrap puts the protocol around a script, see demux. The script runs in a
// shell of its own, so that neither `exit` nor an error of syntax nor a signal
// to $$ skips the end marker, and with an empty stdin.
func wrap(nonce, script string, w Way, account bool) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	// The nonce is never in the text as the markers print it, so that a
	// process list among the output can not look like one.
	line("m=%s; export HEXAB_SHELL=$m", nonce)
	line(`echo "$m begin $$"`)
	if !w.Merged {
		line(`echo "$m begin $$" >&2`)
	} else {
		line(`e=%s`, Quote(w.TempDir+"/."+nonce+".err"))
		line(`(: >"$e") 2>/dev/null || e=/dev/null`)
		line(`exec 2>"$e"`) // the shell's own words on a crash as well
	}
	if account {
		line(`read -r l 2>/dev/null </proc/stat && echo "$m stat $l"`)
	}
	line("sh -c %s </dev/null", Quote(script))
	line("s=$?; echo")
	if account {
		line(`read -r l 2>/dev/null </proc/stat && echo "$m stat $l"`)
		line(`echo "$m times"; times`) // of children: the script's alone
	}
	if !w.Merged {
		line(`echo "$m end $s"; { echo; echo "$m end $s"; } >&2`)
	} else {
		line(`echo "$m err"; cat "$e"; [ "$e" = /dev/null ] || rm -f "$e"; echo; echo "$m end $s"`)
	}
	return b.String()
}

// Out takes a line of the transport's stdout.
func (s *Script) Out(line string) { s.demux.out(line) }

// Err takes a line of the transport's stderr.
func (s *Script) Err(line string) { s.demux.err(line) }

// Close hands over what was held back, when the transport has ended.
func (s *Script) Close() { s.demux.close() }

// Begun tells whether the device's shell has answered, and PID is its process.
func (s *Script) Begun() (pid int, ok bool) { return s.stdout.pid, s.stdout.begun }

// Ended gives the script's exit status, 128+N for a death by signal N. It is
// false unless the script ran to its end and all its output is here.
func (s *Script) Ended() (status int, ok bool) { return s.demux.status, s.demux.ended() }

// Stdout and Stderr are what was kept.
func (s *Script) Stdout() string { return s.stdout.kept.String() }

// Stderr is what was kept of stderr.
func (s *Script) Stderr() string { return s.stderr.kept.String() }

// Truncated tells that more came than was to be kept.
func (s *Script) Truncated() bool { return s.stdout.truncated || s.stderr.truncated }

// Outside are the lines that were not the script's: the transport's own words.
func (s *Script) Outside() []string { return s.demux.outside }

// LastWords are the last lines of stderr that say something.
func (s *Script) LastWords(n int) []string { return s.stderr.lastLines(n) }

// Accounting is the CPU time that was asked for; nil when the device does not
// tell.
func (s *Script) Accounting() *Accounting {
	if !s.account {
		return nil
	}
	return s.demux.accounting()
}

// KillText is a script that ends the process group of a shell whose command
// line holds the nonce (none for group 0), then every process that has the
// nonce in its command line or its environment. It prints a line "left /proc/N"
// for each that stays.
func KillText(group int, nonce, tempDir string) string {
	// In brackets the last letter still matches, but not this command itself.
	pattern := nonce[:len(nonce)-1] + "[" + nonce[len(nonce)-1:] + "]"
	return fmt.Sprintf(`g=%d; n=%s
if [ $g -gt 1 ] && grep -q "$n" /proc/$g/cmdline 2>/dev/null; then
kill -TERM -$g; kill -CONT -$g; i=0
while [ $i -lt 20 ] && kill -0 -$g 2>/dev/null; do sleep 0.05; i=$((i+1)); done
kill -KILL -$g
fi 2>/dev/null
i=0
while [ $i -lt 20 ]; do
left=$(grep -l -e "$n" /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null)
[ -z "$left" ] && break
for f in $left; do p=${f#/proc/}; kill -KILL ${p%%/*} 2>/dev/null; done
sleep 0.05; i=$((i+1))
done
rm -f %s/.$n.err 2>/dev/null
for f in $left; do echo "left $f"; done`, group, pattern, Quote(tempDir))
}

// exportEnv makes the lines that export an environment, in order of the names.
func exportEnv(env map[string]string) (string, error) {
	names := make([]string, 0, len(env))
	for name := range env {
		if !envName.MatchString(name) {
			return "", fmt.Errorf("%q is no name of an environment variable", name)
		}
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		b.WriteString("export " + name + "=" + Quote(env[name]) + "\n")
	}
	return b.String(), nil
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
