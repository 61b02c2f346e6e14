package device

import (
	"errors"
	"strings"
	"testing"

	"hexab/internal/bench"
)

// What a device's command said tells a full device apart, in whichever libc's
// words, and is kept as evidence.
func TestRefused(t *testing.T) {
	failed := errors.New("status 1")
	for _, test := range []struct {
		said string
		want bench.Outcome
		text string
	}{
		{"", bench.OutcomeNotRun, "A1: push x: status 1"},
		{"vendor noise\r\ncp: /x: Permission denied\n", bench.OutcomeNotRun, "A1: push x: status 1: vendor noise"},
		{"\x1b[31mmkdir: '/x': Read-only file system\n", bench.OutcomeNotRun, "A1: push x: status 1: [31mmkdir: '/x': Read-only file system"},
		{"cp: error writing '/x': No space left on device", bench.OutcomeNoSpace, "no space left on the device; free some space"},
		{"noise\nsh: can't create /x: no space left on device\n", bench.OutcomeNoSpace, "go tool mage prune"},
		{"write: Disk quota exceeded", bench.OutcomeNoSpace, "no space left on the device"},
		{"write: Quota exceeded", bench.OutcomeNoSpace, "no space left on the device"},
	} {
		e := Refused("push x", "A1", test.said, failed)
		if e.Outcome != test.want || e.Fault != bench.FaultDevice || !strings.Contains(e.Error(), test.text) {
			t.Errorf("%q: %+v: %v", test.said, e, e)
		}
		if (test.said == "") != (len(e.Evidence) == 0) || test.want == bench.OutcomeNotRun && !errors.Is(e, failed) {
			t.Errorf("%q: %+v", test.said, e)
		}
	}
}
