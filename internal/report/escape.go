package report

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text from outside safe to print on one line of a terminal:
// control characters, line ends, invisible and direction-changing characters
// and invalid bytes become visible escapes.
func clean(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

// zeroWidthSpace parts a sign from what follows it, so that GitHub does not
// make a mention, a reference or a link of them.
const zeroWidthSpace = "&#8203;"

// markdown makes text from outside inert in GitHub's Markdown, also inside a
// table: no markup, no HTML, no mention of people, no reference, no link.
func markdown(text string) string {
	var b strings.Builder
	for _, r := range clean(text) {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '|', '~', '$', '!':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '@', '#':
			b.WriteRune(r)
			b.WriteString(zeroWidthSpace)
		default:
			b.WriteRune(r)
		}
	}
	inert := strings.ReplaceAll(b.String(), "://", ":"+zeroWidthSpace+"//")
	inert = strings.ReplaceAll(inert, "www.", "www"+zeroWidthSpace+".")
	return issueReference.ReplaceAllString(inert, "$1"+zeroWidthSpace+"$2")
}

// issueReference is GitHub's other way to write #123.
var issueReference = regexp.MustCompile(`(?i)(gh-)([0-9])`)

// fence makes a code block whose fence no line of the text can close.
func fence(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", longest+1)
	return marks + "sh\n" + clean(text) + "\n" + marks + "\n"
}

// shorten keeps both ends of a text that is longer than so many runes.
func shorten(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	head := limit * 2 / 3
	return string(runes[:head]) + "..." + string(runes[len(runes)-(limit-head-3):])
}
