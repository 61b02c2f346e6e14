package build

import (
	"fmt"
	"regexp"
	"strings"
)

// Error is a build that failed: which part, what was said first, and where
// all of it is.
type Error struct {
	// Component is "variant/component".
	Component string
	Phase     Phase
	// Excerpt is the first error with a few lines around it.
	Excerpt string
	// Log is the path of the whole output.
	Log string
	Err error
}

// Error shows the excerpt and the log's path.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s of %s failed: %v", e.Phase, e.Component, e.Err)
	if e.Excerpt != "" {
		text = fmt.Sprintf("%s of %s failed:\n%s", e.Phase, e.Component, indent(e.Excerpt))
	}
	return text + "\nwhole output: " + e.Log
}

// Unwrap gives the command's failure.
func (e *Error) Unwrap() error { return e.Err }

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  ")
}

// firstErrorPatterns are tried in order over the whole output, so that a
// compiler's message is found before the summary that a build tool adds.
var firstErrorPatterns = []*regexp.Regexp{
	regexp.MustCompile(`(^|\s)(fatal )?error:|undefined reference to|cannot find -l|undefined symbol:|multiple definition of`),
	regexp.MustCompile(`^CMake Error`),
	regexp.MustCompile(`No space left on device|internal compiler error|Killed|out of memory`),
	regexp.MustCompile(`^FAILED: |^ninja: (error|fatal)|[Ee]rror\b`),
}

const (
	linesBefore = 2
	linesAfter  = 8
)

// firstError cuts the first error out of a build's output.
func firstError(lines []string) string {
	for _, pattern := range firstErrorPatterns {
		for i, line := range lines {
			if !pattern.MatchString(line) {
				continue
			}
			from, to := max(0, i-linesBefore), i+1
			for to < len(lines) && to < i+linesAfter && !stepPattern.MatchString(lines[to]) {
				to++
			}
			for from < i && (stepPattern.MatchString(lines[from]) || len(lines[from]) > 400) {
				from++ // a step or a long command line tells nothing
			}
			kept := make([]string, 0, to-from)
			for _, l := range lines[from:to] {
				if len(l) > 400 {
					l = l[:400] + "..."
				}
				kept = append(kept, l)
			}
			return strings.TrimSpace(strings.Join(kept, "\n"))
		}
	}
	return ""
}
