package llamabench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hexab/internal/bench"
)

// Bounds on what is read: output comes from a device and is not trusted.
const (
	MaxOutput = 16 << 20
	MaxLine   = 1 << 20
	// MaxSample is longer than any repetition can take within a launch.
	MaxSample = bench.Nanoseconds(24 * time.Hour)
)

// Want is what a launch was asked for and what its output must show.
type Want struct {
	Tests       []bench.Test
	Repetitions int
	// Echoes are fields of a result line with the value they must have.
	Echoes map[string]string
}

// Output is what one launch printed, taken apart.
type Output struct {
	// Results are the tests measured, in the order asked for.
	Results []bench.Result
	// Other are the lines that are no results, in order.
	Other []string
	// Build is llama-bench's own account of its build, "commit (number)".
	Build string
}

// ParseError is a line that should be a result and is not.
type ParseError struct {
	// Line counts the lines of the output from one.
	Line int
	// Text is the line, shortened.
	Text string
	Why  string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("llama-bench output, line %d: %s: %.120q", e.Line, e.Why, e.Text)
}

// MissingError names the tests that the output lacks.
type MissingError struct{ Tests []bench.Test }

func (e *MissingError) Error() string {
	names := make([]string, len(e.Tests))
	for i, t := range e.Tests {
		names[i] = t.String()
	}
	return "llama-bench printed no result for " + strings.Join(names, ", ")
}

// line is the part of a result line that a comparison rests on. Fields come
// and go between releases: unknown ones are passed over, and a missing one of
// these is an error.
type line struct {
	Prompt  *int    `json:"n_prompt"`
	Gen     *int    `json:"n_gen"`
	Depth   *int    `json:"n_depth"`
	Samples []int64 `json:"samples_ns"`
	Commit  string  `json:"build_commit"`
	Number  int     `json:"build_number"`
}

// Parse reads the standard output of one launch. Lines that are no JSON objects
// are kept aside, as device libraries print to the same stream; carriage
// returns are dropped wherever a transport put them. Results already read are
// returned beside an error, which is a *ParseError or a *MissingError.
func Parse(output []byte, want Want) (Output, error) {
	var out Output
	if len(output) > MaxOutput {
		return out, &ParseError{Why: fmt.Sprintf("%d bytes are more than %d", len(output), MaxOutput)}
	}
	found := map[bench.Test]bench.Result{}
	var first error
	for i, raw := range bytes.Split(output, []byte("\n")) {
		text := strings.TrimSpace(string(bytes.ReplaceAll(raw, []byte("\r"), nil)))
		if text == "" {
			continue
		}
		result, build, why := parseLine(text, want)
		switch {
		case why == notResult:
			out.Other = append(out.Other, text)
		case why != "":
			if first == nil {
				first = &ParseError{Line: i + 1, Text: text, Why: why}
			}
		case !slices.Contains(want.Tests, result.Test):
			out.Other = append(out.Other, text)
		default:
			if _, twice := found[result.Test]; twice && first == nil {
				first = &ParseError{Line: i + 1, Text: text, Why: result.Test.String() + " was reported before"}
				continue
			}
			found[result.Test], out.Build = result, build
		}
	}
	var missing []bench.Test
	for _, t := range want.Tests {
		if result, ok := found[t]; ok {
			out.Results = append(out.Results, result)
		} else {
			missing = append(missing, t)
		}
	}
	if first == nil && missing != nil {
		first = &MissingError{Tests: missing}
	}
	return out, first
}

// notResult is the reason for a line that does not even look like a result.
const notResult = "not a result"

// parseLine reads one line. Noise may stand before the object on the same line
// when another writer left its line unfinished.
func parseLine(text string, want Want) (bench.Result, string, string) {
	start := strings.Index(text, `{"`)
	if start < 0 || !strings.Contains(text, `"n_prompt"`) && !strings.Contains(text, `"samples_ns"`) {
		return bench.Result{}, "", notResult
	}
	if len(text) > MaxLine {
		return bench.Result{}, "", fmt.Sprintf("the line is longer than %d bytes", MaxLine)
	}
	object := []byte(text[start:])
	var l line
	if err := json.Unmarshal(object, &l); err != nil {
		return bench.Result{}, "", "not whole JSON: " + err.Error()
	}
	for _, field := range []struct {
		name    string
		missing bool
	}{{"n_prompt", l.Prompt == nil}, {"n_gen", l.Gen == nil}, {"samples_ns", l.Samples == nil}} {
		if field.missing {
			return bench.Result{}, "", "field " + field.name + " is missing"
		}
	}
	t := bench.Test{Prompt: *l.Prompt, Gen: *l.Gen}
	if l.Depth != nil { // releases before n_depth know only depth zero
		t.Depth = *l.Depth
	}
	if t.Prompt < 0 || t.Gen < 0 || t.Depth < 0 || t.Tokens() == 0 || t.Tokens() > 2*bench.MaxTokens {
		return bench.Result{}, "", "no sensible test"
	}
	if why := checkEchoes(object, want.Echoes); why != "" {
		return bench.Result{}, "", why
	}
	if len(l.Samples) != want.Repetitions {
		return bench.Result{}, "", fmt.Sprintf("%d samples where %d were asked for", len(l.Samples), want.Repetitions)
	}
	result := bench.Result{Test: t, SamplesNs: make([]bench.Nanoseconds, len(l.Samples))}
	for i, ns := range l.Samples {
		if ns <= 0 || bench.Nanoseconds(ns) > MaxSample {
			return bench.Result{}, "", fmt.Sprintf("sample %d took %d ns", i+1, ns)
		}
		result.SamplesNs[i] = bench.Nanoseconds(ns)
	}
	return result, fmt.Sprintf("%s (%d)", l.Commit, l.Number), ""
}

// checkEchoes compares the settings that the program says it ran with to those
// it was asked for: a setting that was not taken would make two arms the same.
func checkEchoes(object []byte, echoes map[string]string) string {
	if len(echoes) == 0 {
		return ""
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return "not whole JSON: " + err.Error()
	}
	names := make([]string, 0, len(echoes))
	for name := range echoes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		raw, ok := fields[name]
		if !ok {
			continue // the release does not report it
		}
		if got := strings.Trim(string(raw), `"`); got != echoes[name] {
			return fmt.Sprintf("%s is %s where %s was asked for", name, got, echoes[name])
		}
	}
	return ""
}
