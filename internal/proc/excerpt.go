package proc

import (
	"fmt"
	"strings"
)

// DefaultKeep is the size of one half of an excerpt, in bytes.
const DefaultKeep = 16 << 10

// Excerpt is the beginning and the end of a stream.
type Excerpt struct {
	Head, Tail string
	// Dropped is the number of bytes left out between the two.
	Dropped int64
}

// String is the excerpt with a note where bytes are left out.
func (e Excerpt) String() string {
	if e.Dropped == 0 {
		return e.Head + e.Tail
	}
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", e.Head, e.Dropped, e.Tail)
}

// LastLine is the last line that is not blank, shortened to a readable length.
func (e Excerpt) LastLine() string {
	const longest = 300
	lines := strings.FieldsFunc(e.String(), func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			if len(line) > longest {
				line = line[:longest] + "..."
			}
			return line
		}
	}
	return ""
}

// keeper collects an excerpt: the first limit bytes, then a ring of the last.
type keeper struct {
	limit int
	head  []byte
	ring  []byte
	next  int // where the ring is written next
	total int64
}

func newKeeper(limit int) *keeper {
	if limit <= 0 {
		limit = DefaultKeep
	}
	return &keeper{limit: limit}
}

func (k *keeper) write(p []byte) {
	k.total += int64(len(p))
	if room := k.limit - len(k.head); room > 0 {
		n := min(room, len(p))
		k.head = append(k.head, p[:n]...)
		p = p[n:]
	}
	if len(p) > k.limit {
		p = p[len(p)-k.limit:]
	}
	if room := k.limit - len(k.ring); room > 0 {
		n := min(room, len(p))
		k.ring = append(k.ring, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(k.ring[k.next:], p)
		k.next = (k.next + n) % k.limit
		p = p[n:]
	}
}

func (k *keeper) excerpt() Excerpt {
	return Excerpt{
		Head:    string(k.head),
		Tail:    string(k.ring[k.next:]) + string(k.ring[:k.next]),
		Dropped: k.total - int64(len(k.head)) - int64(len(k.ring)),
	}
}
