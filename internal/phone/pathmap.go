package phone

import (
	"bytes"
	"strings"
)

// phonePaths are the absolute paths that exist on the phone rather than on
// the machine below it. A path covers what lies under it.
var phonePaths = []string{
	"/data",
	"/proc/meminfo",
	"/proc/sys/kernel/random/boot_id",
	"/proc/uptime",
	"/sdcard",
	"/sys",
	"/system",
	"/vendor",
}

// pathMap maps the phone's absolute paths in a shell command onto the folder
// that is its file system, and back in what the command prints.
//
// The mapping is textual and done in this one place. It holds for every
// absolute path that stands in the command itself: arguments, environment
// assignments, redirections, `cd`, inside any quotes (the link's path holds
// letters, digits, '-', '_' and '/' only, so it never needs any). It does not
// reach paths that the command text does not show: built from pieces at run
// time, read from a file or from stdin (a whole script on stdin is mapped,
// line by line), compiled into a program, or "/" alone. The phone is no
// sandbox: its processes run as the user who started it.
type pathMap struct {
	link   string // symbolic link to the folder; safe characters only
	folder string // the folder itself, any characters
}

// in maps a command's text.
func (m pathMap) in(text string) string {
	var b strings.Builder
	last := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '/' || i > 0 && continuesPath(text[i-1]) {
			continue
		}
		for _, p := range phonePaths {
			if rest, ok := strings.CutPrefix(text[i:], p); ok && (rest == "" || !isNameByte(rest[0])) {
				b.WriteString(text[last:i])
				b.WriteString(m.link)
				last = i
				i += len(p) - 1
				break
			}
		}
	}
	b.WriteString(text[last:])
	return b.String()
}

// isNameByte reports whether c is part of a file name or shell word as people
// write them.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '_' || c == '-' || c == '.' || c >= 0x80
}

// continuesPath reports whether a slash after c goes on with a path rather
// than beginning an absolute one: a/b, $A/b, ${A}/b, $(a)/b, */b, ~/b.
func continuesPath(c byte) bool {
	return isNameByte(c) || strings.IndexByte("/})]*?~", c) >= 0
}

// out returns a filter that turns the machine's names of the phone's folder
// back into the phone's own.
func (m pathMap) out(next outputStage) outputStage {
	u := &unmapper{next: next}
	for _, n := range []string{m.link, m.folder} {
		if len(n) > 1 {
			u.needles = append(u.needles, []byte(n))
		}
	}
	return u
}

// unmapper removes the needles from a byte stream where they are whole path
// prefixes. It holds back only a tail that could be the beginning of one.
type unmapper struct {
	next    outputStage
	needles [][]byte
	held    []byte
}

func (u *unmapper) Write(p []byte) (int, error) {
	data := append(u.held, p...)
	u.held = nil
	if err := u.forward(data, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (u *unmapper) finish() error {
	if err := u.forward(u.held, true); err != nil {
		return err
	}
	u.held = nil
	return u.next.finish()
}

func (u *unmapper) forward(data []byte, last bool) error {
	var b []byte
	for len(data) > 0 {
		at, size := u.find(data)
		if at < 0 {
			keep := 0
			if !last {
				keep = u.partial(data)
			}
			b = append(b, data[:len(data)-keep]...)
			u.held = append([]byte(nil), data[len(data)-keep:]...)
			break
		}
		b = append(b, data[:at]...)
		rest := data[at+size:]
		switch {
		case len(rest) == 0 && !last: // what follows decides
			u.held = append([]byte(nil), data[at:]...)
		case len(rest) == 0 || rest[0] != '/' && !isNameByte(rest[0]):
			b = append(b, '/') // the folder itself is the phone's root
		case rest[0] != '/': // a longer name
			b = append(b, data[at:at+size]...)
		}
		data = rest
	}
	if len(b) == 0 {
		return nil
	}
	_, err := u.next.Write(b)
	return err
}

// find returns place and length of the first needle in data, or -1.
func (u *unmapper) find(data []byte) (at, size int) {
	at = -1
	for _, n := range u.needles {
		if i := bytes.Index(data, n); i >= 0 && (at < 0 || i < at || i == at && len(n) > size) {
			at, size = i, len(n)
		}
	}
	return at, size
}

// partial returns the length of the longest tail of data that begins a needle.
func (u *unmapper) partial(data []byte) (longest int) {
	for _, n := range u.needles {
		for k := min(len(data), len(n)-1); k > longest; k-- {
			if bytes.HasPrefix(n, data[len(data)-k:]) {
				longest = k
			}
		}
	}
	return longest
}
