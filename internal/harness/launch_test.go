package harness

import (
	"io"
	"strings"
	"testing"
)

// However output arrives, no more of it is kept than the limit.
func TestCappedBuffer(t *testing.T) {
	for name, write := range map[string]func(io.Writer, string) error{
		"write":  func(w io.Writer, s string) error { _, err := w.Write([]byte(s)); return err },
		"string": func(w io.Writer, s string) error { _, err := io.WriteString(w, s); return err },
		"multi":  func(w io.Writer, s string) error { _, err := io.WriteString(io.MultiWriter(w), s); return err },
		"copy":   func(w io.Writer, s string) error { _, err := io.Copy(w, strings.NewReader(s)); return err },
	} {
		b := &cappedBuffer{limit: 10}
		for range 3 {
			if err := write(b, "123456"); err != nil {
				t.Fatal(err)
			}
		}
		if b.String() != "1234561234" {
			t.Errorf("%s: %q", name, b.String())
		}
	}
}
