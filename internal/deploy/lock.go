package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hexab/internal/device"
)

// Holder says who holds a device's lock.
type Holder struct {
	Host, BootID string
	PID          int
	// Start is the process's start in clock ticks since the host's boot, which
	// tells it from a later process of the same number; zero is unknown.
	Start uint64
	Run   string
	Since time.Time
}

// Self is this process as the holder for a run.
func Self(run string) Holder {
	host, _ := os.Hostname() // an unknown host is a holder all the same
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return Holder{Host: host, BootID: strings.TrimSpace(string(boot)), PID: os.Getpid(), Start: startOf(os.Getpid()), Run: run, Since: time.Now().UTC().Truncate(time.Second)}
}

func (h Holder) String() string {
	return fmt.Sprintf("process %d on %s (run %s, since %s)", h.PID, h.Host, h.Run, h.Since.Format(time.RFC3339))
}

// startOf is the start of a process of this machine, field 22 of
// /proc/PID/stat (proc_pid_stat(5)); zero when it can not be read.
func startOf(pid int) uint64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The second field is a name in parentheses that may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return 0
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return 0
	}
	return start
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9._:+-]`)

func (h Holder) line() string {
	if h.Run == "" {
		h.Run = "-"
	}
	return strings.Join([]string{unsafe.ReplaceAllString(h.Host, "_"), unsafe.ReplaceAllString(h.BootID, "_"), strconv.Itoa(h.PID),
		unsafe.ReplaceAllString(h.Run, "_"), h.Since.Format(time.RFC3339), strconv.FormatUint(h.Start, 10)}, " ")
}

func parseHolder(line string) (Holder, bool) {
	fields := strings.Fields(line)
	if len(fields) != 6 {
		return Holder{}, false
	}
	pid, err1 := strconv.Atoi(fields[2])
	since, err2 := time.Parse(time.RFC3339, fields[4])
	start, err3 := strconv.ParseUint(fields[5], 10, 64)
	return Holder{Host: fields[0], BootID: fields[1], PID: pid, Run: fields[3], Since: since, Start: start}, errors.Join(err1, err2, err3) == nil && pid > 0
}

// dead tells that the holder was a process of this machine that is gone. Of
// another machine's processes nothing is known.
func (h Holder) dead(self Holder) bool {
	if !h.here(self) {
		return false
	}
	if h.BootID != self.BootID || errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) {
		return true
	}
	now := startOf(h.PID)
	return h.Start != 0 && now != 0 && now != h.Start // another process has its number now
}

// here tells that the holder is a process of this machine.
func (h Holder) here(self Holder) bool {
	return h.Host == unsafe.ReplaceAllString(self.Host, "_")
}

// LockedError is a device that another run uses.
type LockedError struct {
	Serial, Path string
	Holder       Holder
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is in use by %s; if that process is gone for good: adb -s %s shell rm -r %s", e.Serial, e.Holder, e.Serial, e.Path)
}

// lockPoll is how often a held lock is looked at again, briefPoll one that is
// about to change hands: so often at most, since a run may die in between.
const (
	lockPoll      = 2 * time.Second
	briefPoll     = 200 * time.Millisecond
	maxBriefLooks = 10
)

// Lock takes the device's lock, a folder that only one can make. A dead
// holder's lock is taken over; a living one is waited for, or is a
// *LockedError when wait is not set. A holder on another machine is a
// *LockedError in any case: whether it still lives can not be known from here.
func (t *Target) Lock(ctx context.Context, self Holder, wait bool) (release func(), err error) {
	var told Holder
	for looks := 1; ; looks++ {
		holder, err := t.tryLock(ctx, self)
		if err != nil {
			return nil, err
		}
		if holder == nil {
			return func() { t.unlock(context.WithoutCancel(ctx), self) }, nil
		}
		pause := lockPoll
		switch dead := holder.dead(self); {
		case dead:
			taken, err := t.takeOver(ctx, *holder)
			if err != nil {
				return nil, err
			}
			if taken {
				continue
			}
			pause = briefPoll // another run takes it over just now
		case holder.PID == 0:
			pause = briefPoll // just taken, its holder not written yet
		}
		locked := &LockedError{t.Device.Serial(), t.path("lock"), *holder}
		if pause == lockPoll && (!wait || !holder.here(self)) || pause == briefPoll && looks > maxBriefLooks {
			return nil, locked
		}
		if pause == lockPoll && t.Note != nil && told != *holder {
			told = *holder
			t.Note("waiting: " + locked.Error())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), locked)
		case <-time.After(pause):
		}
	}
}

// tryLock gives nil when the lock is ours now, else its holder.
func (t *Target) tryLock(ctx context.Context, self Holder) (*Holder, error) {
	lock := device.Quote(t.path("lock"))
	// mkdir decides: of several, only one makes the folder.
	script := fmt.Sprintf("mkdir -p %[1]s\nif mkdir %[2]s 2>/dev/null; then echo %[3]s > %[2]s/holder && echo \"%[4]staken\"; else echo \"%[4]sheld $(cat %[2]s/holder 2>/dev/null)\"; fi",
		device.Quote(t.Device.Root()), lock, device.Quote(self.line()), answerMark)
	answers, err := t.ask(ctx, "take the lock", script)
	if err != nil {
		return nil, err
	}
	for _, answer := range answers {
		if answer == "taken" {
			return nil, nil
		}
		if rest, ok := strings.CutPrefix(answer, "held"); ok {
			holder, known := parseHolder(rest)
			if !known {
				holder = Holder{Host: "an unknown machine", Run: "unknown"}
			}
			return &holder, nil
		}
	}
	return nil, t.fail("take the lock", strings.Join(answers, "\n"), errors.New("no answer"))
}

// takeOver removes the lock of a holder that is dead. Looking whose lock it is
// and removing it is one step for all runs that try: a second folder lets in
// one of them at a time, else the lock of the first could fall to the second.
// It is false when another is at it.
func (t *Target) takeOver(ctx context.Context, dead Holder) (bool, error) {
	taking := device.Quote(t.path("lock.taking"))
	script := fmt.Sprintf(`if mkdir %[1]s 2>/dev/null; then
echo $$ > %[1]s/pid
%[2]s
rm -rf %[1]s
echo "%[3]sdone"
else
p=$(cat %[1]s/pid 2>/dev/null)
[ -n "$p" ] && ! kill -0 "$p" 2>/dev/null && rm -rf %[1]s
true
fi`, taking, t.removeScript(dead), answerMark)
	answers, err := t.ask(ctx, "take over the lock", script)
	return len(answers) > 0 && answers[0] == "done", err
}

func (t *Target) removeScript(h Holder) string {
	lock := device.Quote(t.path("lock"))
	return fmt.Sprintf("[ \"$(cat %[1]s/holder 2>/dev/null)\" = %[2]s ] && rm -rf %[1]s; true", lock, device.Quote(h.line()))
}

// unlock gives the lock back. A device out of reach keeps it: the next run sees
// that the holder is gone.
func (t *Target) unlock(ctx context.Context, self Holder) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, _ = t.ask(ctx, "give the lock back", t.removeScript(self)) // see above
}
