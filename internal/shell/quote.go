package shell

import (
	"regexp"
	"strings"
)

// plain are the words that no POSIX shell treats in any special way.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+:,./-]+$`)

// Quote makes s one word for a POSIX shell, whatever bytes it holds except
// NUL, which no argument can hold (New refuses it).
func Quote(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Join quotes each word and joins them to one command.
func Join(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Quote(word)
	}
	return strings.Join(quoted, " ")
}

// Plain tells whether a word means itself in any shell.
func Plain(word string) bool { return plain.MatchString(word) }

// Clean makes a line from outside fit to be shown: without control characters,
// of bounded length.
func Clean(line string) string {
	const longest = 400
	line = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, line))
	if len(line) > longest {
		line = line[:longest] + "..."
	}
	return line
}
