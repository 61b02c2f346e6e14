package llamabench

import (
	"regexp"
	"strings"
)

// ListDevices are the arguments that make llama-bench name its devices.
var ListDevices = []string{"--list-devices"}

var deviceLine = regexp.MustCompile(`^  ([A-Za-z0-9][A-Za-z0-9_.:\[\]-]{0,63}): \S`)

// maxDevices bounds the names kept.
const maxDevices = 256

// ParseDevices reads the names of the devices that llama-bench lists; ok is
// false when the list itself is missing. The CPU is not among them.
func ParseDevices(text string) (names []string, ok bool) {
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \r")
		if line == "Available devices:" {
			ok = true
			continue
		}
		if m := deviceLine.FindStringSubmatch(line); m != nil && ok && len(names) < maxDevices {
			names = append(names, m[1])
		}
	}
	return names, ok
}
