package device

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"hexab/internal/bench"
)

// BootID asks for the id of the device's present boot; empty when the device
// does not tell.
func BootID(ctx context.Context, d Device) (string, error) {
	var out bytes.Buffer
	if _, err := d.Run(ctx, Command{OfDevice: true, Script: "cat /proc/sys/kernel/random/boot_id 2>/dev/null", Stdout: &out}); err != nil {
		return "", err
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if line = strings.TrimSpace(line); isBootID(line) {
			return line, nil
		}
	}
	return "", nil
}

// isBootID tells a line that holds a random UUID of the kernel's form.
func isBootID(line string) bool {
	return len(line) == 36 && strings.Trim(line, "0123456789abcdefABCDEF-") == ""
}

// AwaitBooted waits until Android says that it has booted: its shell answers
// long before. A system without that property has booted when it answers. It
// asks again after each sleep and ends with the sleep's error.
func AwaitBooted(ctx context.Context, d Device, sleep func(context.Context, time.Duration) error) error {
	for {
		var out bytes.Buffer
		if _, err := d.Run(ctx, Command{OfDevice: true, Script: `echo "boot_completed=$(getprop sys.boot_completed 2>/dev/null)"; command -v getprop`, Stdout: &out}); err != nil {
			return err
		}
		text := out.String()
		if strings.Contains(text, "boot_completed=1") || !strings.Contains(text, "getprop\n") {
			return nil
		}
		if err := sleep(ctx, time.Second); err != nil {
			return &Error{Op: "wait for the boot's end", Serial: d.Serial(), Fault: bench.FaultDevice, Outcome: bench.OutcomeRebooted,
				Err: errors.Join(errors.New("sys.boot_completed is not 1"), err), Next: "look at the phone's screen"}
		}
	}
}
