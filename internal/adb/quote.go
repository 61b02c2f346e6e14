package adb

import (
	"regexp"
	"strings"
)

// plain are the words that no POSIX shell treats in any special way.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+:,./-]+$`)

// Quote makes s one word for a POSIX shell, whatever bytes it holds except
// NUL, which no argument can hold (Shell refuses it).
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
