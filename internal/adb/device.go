package adb

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"hexab/internal/shell"
)

// DefaultTempDir is a folder that the shell user may write on every device.
const DefaultTempDir = "/data/local/tmp"

// Device is one device of a client, by serial. Its methods may be called from
// several goroutines.
type Device struct {
	// TempDir is a folder on the device for short-lived files.
	TempDir string

	client *Client
	serial string

	mu       sync.Mutex
	features map[string]bool // nil until asked
}

// Device is the device with the serial, which need not be there yet.
func (c *Client) Device(serial string) *Device {
	return &Device{client: c, serial: serial, TempDir: DefaultTempDir}
}

// Serial is the device's serial.
func (d *Device) Serial() string { return d.serial }

// Features are what the device's daemon and adb both support; they are asked
// for once a connection.
func (d *Device) Features(ctx context.Context) (map[string]bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.features != nil {
		return d.features, nil
	}
	out, err := d.client.ask(ctx, "ask for features", d.serial, "-s", d.serial, "features")
	if err != nil {
		return nil, err
	}
	d.features = parseFeatures(out)
	return d.features, nil
}

// parseFeatures takes one feature a line; daemon messages begin with "*".
func parseFeatures(text string) map[string]bool {
	features := map[string]bool{}
	for _, line := range splitLines(text) {
		if !strings.ContainsAny(line, " *:") && len(features) < 256 {
			features[line] = true
		}
	}
	return features
}

func (d *Device) hasFeature(ctx context.Context, name string) (bool, error) {
	features, err := d.Features(ctx)
	return features[name], err
}

// forget drops what was learnt of the connection.
func (d *Device) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.features = nil
}

// State asks the server for the device's state. A device that is not there is
// an error.
func (d *Device) State(ctx context.Context) (State, error) {
	list, err := d.client.Devices(ctx)
	if err != nil {
		return "", err
	}
	for _, listed := range list {
		if listed.Serial == d.serial {
			return listed.State, nil
		}
	}
	return "", &Error{Op: "find device", Serial: d.serial, Kind: KindNotFound, Detail: describe(list)}
}

// stateOf asks for a state although ctx may have ended.
func (c *Client) stateOf(ctx context.Context, serial string) (State, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), questionTime)
	defer cancel()
	return c.Device(serial).State(ctx)
}

func describe(list []Listed) string {
	if len(list) == 0 {
		return "no device is connected"
	}
	names := make([]string, len(list))
	for i, listed := range list {
		names[i] = listed.String()
	}
	return "present are " + strings.Join(names, ", ")
}

// WaitReady waits until a shell on the device answers, connecting again to a
// network address. It asks every interval until ctx ends, and gives up at once
// on what only a person can mend. The error is the last reason.
func (d *Device) WaitReady(ctx context.Context, interval time.Duration) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		err := d.ready(ctx)
		if err == nil {
			return nil
		}
		if kind := KindOf(err); kind == KindMissing || kind == KindUnauthorized || kind == KindNoPermissions {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for the device until %w: %w", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

func (d *Device) ready(ctx context.Context) error {
	state, err := d.State(ctx)
	if _, _, notAddress := net.SplitHostPort(d.serial); notAddress == nil && (KindOf(err) == KindNotFound || state == StateOffline) {
		if state == StateOffline {
			_ = d.client.Disconnect(ctx, d.serial) // a dead connection is in the way of a new one
		}
		if err := d.client.Connect(ctx, d.serial); err != nil {
			return err
		}
	}
	d.forget()
	_, err = d.Sh(ctx, "wait for the device", "true")
	return err
}

// KillMarked ends every process on the device that has the word in its command
// line or environment, and verifies it: what an interrupted run left behind.
// The word must be unmistakable, at least eight letters, digits or - _ . :
func (d *Device) KillMarked(ctx context.Context, word string) error {
	if len(word) < 8 || !shell.Plain(word) {
		return &Error{Op: "end marked processes", Serial: d.serial, Kind: KindUnknown, Detail: fmt.Sprintf("%q is no unmistakable word", word)}
	}
	return d.killMatching(ctx, 0, word)
}
