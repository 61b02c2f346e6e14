package githubtest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Live finds what GitHub would make something of in Markdown that should be
// plain: markup, HTML, mentions, references, links, control characters. Empty
// is nothing.
func Live(text string) string {
	inFence, fenceMark := false, ""
	var prose []string
	for _, line := range strings.Split(text, "\n") {
		if mark := regexp.MustCompile("^`{3,}").FindString(line); mark != "" && (!inFence || line == fenceMark) {
			inFence, fenceMark = !inFence, mark
			continue
		}
		if !inFence {
			prose = append(prose, line)
		}
	}
	if inFence {
		return "an open code block"
	}
	body := strings.Join(prose, "\n")
	body = regexp.MustCompile(`</?(details|summary)>`).ReplaceAllString(body, "")
	for name, pattern := range map[string]string{
		"HTML": `<`, "a mention": `@[A-Za-z0-9]`, "a reference": `(^|[^&])#[0-9A-Za-z]`, "a link": `://`, "a short reference": `(?i)gh-[0-9]`, "www": `www\.`,
		"a code span": "(^|[^\\\\])`", "brackets": `(^|[^\\])\[`, "an image": `(^|[^\\])!`, "math": `(^|[^\\])\$`,
	} {
		if found := regexp.MustCompile(pattern).FindString(body); found != "" {
			return fmt.Sprintf("%s: %q", name, found)
		}
	}
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			return fmt.Sprintf("%q", r)
		}
	}
	return ""
}
