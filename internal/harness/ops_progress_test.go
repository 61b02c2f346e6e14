package harness

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestCaseCounter cuts the program's output at any place: no line of progress
// is lost, and none names what a case said for the case.
func TestCaseCounter(t *testing.T) {
	now := time.Unix(0, 0)
	var said []string
	c := newCaseCounter(func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
		func() time.Time { return now })
	for _, step := range []struct {
		after time.Duration
		text  string // empty: the reminder
		want  string
	}{
		{time.Minute, "", ""}, // nothing is known yet
		{0, "Backend 1/2: HTP0\n  Device description: Hexagon (v79)\n", ""},
		{0, "  ABS(type=f32,ne=[5,7,11,13],v=0): ", "1 cases, now ABS"},
		{time.Second, "\x1b[1;32mOK\x1b[0m\n  ADD(type=f32): ", ""},
		{5 * time.Second, "[MUL_MAT_ID] inf mismatch: HTP0=inf CPU=1.0   MUL_MAT_ID(a=q4_K,n=16): FAIL\n", "3 cases, now MUL_MAT_ID"},
		{29 * time.Second, "", ""},
		{2 * time.Second, "", "3 cases, the last (MUL_MAT_ID) for 31s so far"},
		{time.Second, "", ""},
		{5 * time.Second, "OK\n", "3 cases, now MUL_MAT_ID"},
	} {
		now, said = now.Add(step.after), nil
		if step.text == "" {
			c.remind()
		} else if n, err := c.Write([]byte(step.text)); n != len(step.text) || err != nil {
			t.Fatal(n, err)
		}
		if want := slices.DeleteFunc([]string{step.want}, func(s string) bool { return s == "" }); !slices.Equal(said, want) {
			t.Errorf("%q after %s says %q, want %q", step.text, step.after, said, want)
		}
	}
}
