package phone

import (
	"bytes"
	"fmt"
	"strings"
)

// maxCommandBytes caps a shell command: Linux refuses a single argument of
// 128 KiB or more (MAX_ARG_STRLEN), and `sh -c` takes the command as one.
const maxCommandBytes = 128<<10 - 4096

// serviceKind says what a stream is opened for.
type serviceKind int

const (
	serviceShell serviceKind = iota + 1
	serviceExec
	serviceSync
	serviceReboot
)

// service is the parsed destination of an OPEN packet.
type service struct {
	kind    serviceKind
	command string // of shell, exec, reboot
	v2      bool   // framed: stdin, stdout, stderr and the exit status apart
	pty     bool
	term    string // value of TERM=, empty when not given
}

// parseService parses a destination such as
// "shell,v2,TERM=xterm,raw:ls -l\x00". The error tells why it is refused.
func parseService(data []byte) (service, error) {
	data = bytes.TrimRight(data, "\x00")
	if len(data) > maxCommandBytes {
		return service{}, fmt.Errorf("destination of %d bytes, at most %d are allowed", len(data), maxCommandBytes)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return service{}, fmt.Errorf("destination %.40q holds a NUL", data)
	}
	name, argument, found := strings.Cut(string(data), ":")
	if !found {
		return service{}, fmt.Errorf("destination %.40q has no colon", data)
	}
	options := strings.Split(name, ",")
	s := service{command: argument}
	switch options[0] {
	case "shell":
		s.kind = serviceShell
	case "exec":
		s.kind = serviceExec
	case "sync":
		s.kind = serviceSync
	case "reboot":
		s.kind = serviceReboot
	default:
		return service{}, fmt.Errorf("service %.40q is not offered", options[0])
	}
	for _, o := range options[1:] {
		switch {
		case o == "v2":
			s.v2 = true
		case o == "pty":
			s.pty = true
		case o == "raw":
			s.pty = false
		case strings.HasPrefix(o, "TERM="):
			s.term = safeTerm(o[len("TERM="):])
		}
	}
	return s, nil
}

// safeTerm keeps the name of a terminal only if it is a plain word.
func safeTerm(term string) string {
	for _, c := range term {
		if c > 0x7f || !isNameByte(byte(c)) {
			return ""
		}
	}
	if len(term) > 64 {
		return ""
	}
	return term
}
