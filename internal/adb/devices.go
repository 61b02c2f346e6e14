package adb

import (
	"fmt"
	"regexp"
	"strings"

	"hexab/internal/shell"
)

// State is a device's state as `adb devices` has it.
type State string

// The states. What adb invents anew is kept as it is said.
const (
	StateDevice        State = "device"
	StateOffline       State = "offline"
	StateUnauthorized  State = "unauthorized"
	StateAuthorizing   State = "authorizing"
	StateConnecting    State = "connecting"
	StateRecovery      State = "recovery"
	StateRescue        State = "rescue"
	StateSideload      State = "sideload"
	StateBootloader    State = "bootloader"
	StateHost          State = "host"
	StateNoPermissions State = "no permissions"
	StateUnknown       State = "unknown"
)

// Listed is one line of `adb devices -l`.
type Listed struct {
	Serial string
	State  State
	// Detail is what adb adds to the state in parentheses.
	Detail string
	// Product, Model and Device are names the device gives itself; empty
	// unless it is authorised.
	Product, Model, Device string
	// USB is the USB path; empty for a network device.
	USB string
	// TransportID is the server's number of the connection.
	TransportID string
}

// String is the serial with its model and, unless it is ready, its state.
func (l Listed) String() string {
	var more []string
	if l.Model != "" {
		more = append(more, strings.ReplaceAll(l.Model, "_", " "))
	}
	if l.State != StateDevice {
		more = append(more, string(l.State))
	}
	if len(more) == 0 {
		return l.Serial
	}
	return fmt.Sprintf("%s (%s)", l.Serial, strings.Join(more, ", "))
}

// Err is nil for a device that is ready, else an error that says what to do.
func (l Listed) Err() error {
	kind := KindState
	switch l.State {
	case StateDevice:
		return nil
	case StateUnauthorized:
		kind = KindUnauthorized
	case StateAuthorizing, StateConnecting:
		kind = KindAuthorizing
	case StateOffline:
		kind = KindOffline
	case StateNoPermissions:
		kind = KindNoPermissions
	}
	return &Error{Op: "use device", Serial: l.Serial, Kind: kind, Detail: l.Detail,
		Evidence: []string{"adb devices: " + string(l.State)}}
}

var (
	// A serial may hold blanks ("(no serial number)", service names), so the
	// state is what the line is cut at.
	devicesLine = regexp.MustCompile(`^(\S.*?)\s+(device|offline|unauthorized|authorizing|connecting|recovery|rescue|sideload|bootloader|host|unknown|no permissions)(?:\s*(\(.*?\)[^ ]*(?: see \[[^\]]*\])?))?((?:\s+[a-z_]+:\S*)*)\s*$`)
	// Any other state in one word.
	otherLine = regexp.MustCompile(`^(\S+)\s+([a-z][a-z _-]*?)((?:\s+[a-z_]+:\S*)*)\s*$`)
)

// ParseDevices parses the output of `adb devices`, with or without -l. Lines
// about the server's start are skipped; a line that is no device is an error.
func ParseDevices(text string) ([]Listed, error) {
	var list []Listed
	header := false
	for i, line := range strings.Split(text, "\n") {
		line = strings.Trim(line, " \t\r")
		switch {
		case line == "" || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "adb server"):
			continue
		case line == "List of devices attached":
			header = true
			continue
		case !header:
			continue // whatever a wrapper or loader says before
		}
		match := devicesLine.FindStringSubmatch(line)
		if match == nil {
			if other := otherLine.FindStringSubmatch(line); other != nil {
				match = []string{line, other[1], other[2], "", other[3]}
			}
		}
		if match == nil {
			return nil, &Error{Op: "list devices", Kind: KindUnknown,
				Detail: fmt.Sprintf("line %d of `adb devices` is no device", i+1), Evidence: []string{shell.Clean(line)}}
		}
		d := Listed{Serial: match[1], State: State(match[2]), Detail: match[3]}
		for _, field := range strings.Fields(match[4]) {
			name, value, _ := strings.Cut(field, ":")
			switch name {
			case "product":
				d.Product = value
			case "model":
				d.Model = value
			case "device":
				d.Device = value
			case "usb":
				d.USB = value
			case "transport_id":
				d.TransportID = value
			}
		}
		list = append(list, d)
	}
	if !header {
		return nil, &Error{Op: "list devices", Kind: KindUnknown, Detail: "adb did not list any devices", Evidence: evidenceFrom(splitLines(text), "")}
	}
	return list, nil
}
