package bench

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MaxTokens bounds the prompt, generation and depth of a test: more than any
// context window in use, few enough that a mistyped figure is noticed.
const MaxTokens = 1 << 20

// Test is what llama-bench measures in one row: prompt processing (pp), token
// generation (tg), or one after the other (pg), optionally behind a context
// that is already filled (depth). All counts are tokens.
type Test struct {
	Prompt int
	Gen    int
	Depth  int
}

var testPattern = regexp.MustCompile(`^(?:pp([0-9]+)|tg([0-9]+)|pg([0-9]+)\+([0-9]+))(?:@d?([0-9]+))?$`)

// ParseTest reads a test's name: pp512, tg128, pg512+128, each optionally with
// a depth such as tg128@d4096.
func ParseTest(name string) (Test, error) {
	match := testPattern.FindStringSubmatch(strings.ReplaceAll(name, " ", ""))
	if match == nil {
		return Test{}, fmt.Errorf("test %q: want ppN, tgN or pgN+N, optionally with @dN (examples: pp512, tg128, tg128@d4096)", name)
	}
	var t Test
	for _, field := range []struct {
		text string
		into *int
	}{{match[1], &t.Prompt}, {match[2], &t.Gen}, {match[3], &t.Prompt}, {match[4], &t.Gen}, {match[5], &t.Depth}} {
		if field.text == "" {
			continue
		}
		n, err := strconv.Atoi(field.text)
		if err != nil || n > MaxTokens {
			return Test{}, fmt.Errorf("test %q: %s tokens is more than %d", name, field.text, MaxTokens)
		}
		*field.into = n
	}
	if t.Prompt+t.Gen == 0 {
		return Test{}, fmt.Errorf("test %q: no tokens to process", name)
	}
	return t, nil
}

// Tokens is the number of tokens that one sample of the test processes; the
// filling of the depth is not timed and does not count.
func (t Test) Tokens() int { return t.Prompt + t.Gen }

// String gives the test's name, which ParseTest reads back.
func (t Test) String() string {
	var name string
	switch {
	case t.Gen == 0:
		name = fmt.Sprintf("pp%d", t.Prompt)
	case t.Prompt == 0:
		name = fmt.Sprintf("tg%d", t.Gen)
	default:
		name = fmt.Sprintf("pg%d+%d", t.Prompt, t.Gen)
	}
	if t.Depth > 0 {
		name += fmt.Sprintf("@d%d", t.Depth)
	}
	return name
}

// MarshalText makes the test its name in JSON, also as a key.
func (t Test) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the test's name.
func (t *Test) UnmarshalText(text []byte) error {
	parsed, err := ParseTest(string(text))
	if err == nil {
		*t = parsed
	}
	return err
}
