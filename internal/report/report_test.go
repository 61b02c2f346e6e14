package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"hexab/internal/compare"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to make it)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (run with -update and read the change):\n--- got\n%s\n--- want\n%s", path, got, want)
	}
}

func TestGolden(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.id, func(t *testing.T) {
			c, run := s.compare(t)
			for _, width := range []int{0, 120, 80, 50} {
				golden(t, fmt.Sprintf("%s-%d.txt", s.id, width), Terminal(c, run, Options{Width: width}))
			}
			golden(t, s.id+".md", Markdown(c, run))
			text, err := CSV(c, run)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, s.id+".csv", text)
			if text, err = JSON(c); err != nil {
				t.Fatal(err)
			}
			if s.id == "holes" || s.id == "simulated" {
				golden(t, s.id+".json", text)
			}
		})
	}
	c, run := samples()[0].compare(t)
	golden(t, "quiet-colour.txt", Terminal(c, run, Options{Width: 120, Color: true}))
}

// Every width is kept, down to what a word needs, by everything but the
// command that is there to be copied.
func TestWidths(t *testing.T) {
	for _, s := range samples() {
		c, run := s.compare(t)
		for _, width := range []int{20, 30, 40, 60, 80, 100, 120, 160, 200} {
			text := string(Terminal(c, run, Options{Width: width}))
			text, _, _ = strings.Cut(text, "\nRun again\n")
			for _, line := range strings.Split(text, "\n") {
				if n := twwidth.Width(line); n > width {
					t.Errorf("%s: width %d: a line of %d: %q", s.id, width, n, line)
				}
			}
		}
	}
}

// Colour changes nothing but the escapes.
func TestColour(t *testing.T) {
	escape := regexp.MustCompile("\x1b\\[[0-9]*m")
	for _, s := range samples() {
		c, run := s.compare(t)
		for _, width := range []int{0, 120, 60} {
			plain, coloured := Terminal(c, run, Options{Width: width}), Terminal(c, run, Options{Width: width, Color: true})
			if got := escape.ReplaceAll(coloured, nil); !bytes.Equal(got, plain) {
				t.Errorf("%s at %d: colour moves the text:\n%s\n%s", s.id, width, got, plain)
			}
		}
	}
}

func TestNothingUnprintable(t *testing.T) {
	for _, s := range samples() {
		c, run := s.compare(t)
		text := string(Terminal(c, run, Options{Width: 100})) + string(Markdown(c, run))
		for i, r := range text {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%s: %q at byte %d", s.id, r, i)
			}
		}
		if word := regexp.MustCompile(`\b(NaN|[+-]?Inf)\b`).FindString(text); word != "" {
			t.Errorf("%s: %s is shown", s.id, word)
		}
	}
}

// All Markdown rows have the header's columns, and nothing hostile is live.
func TestMarkdownInert(t *testing.T) {
	bar := regexp.MustCompile(`(\\.)|(\|)`)
	count := func(line string) (n int) {
		for _, m := range bar.FindAllStringSubmatch(line, -1) {
			if m[2] != "" {
				n++
			}
		}
		return n
	}
	for _, s := range samples() {
		c, run := s.compare(t)
		text, _, _ := strings.Cut(string(Markdown(c, run)), "**Run again**")
		columns := 0
		for _, line := range strings.Split(text, "\n") {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			if columns == 0 {
				columns = count(line)
			}
			if n := count(line); n != columns {
				t.Errorf("%s: %d bars, want %d: %s", s.id, n, columns, line)
			}
		}
		if columns == 0 {
			t.Errorf("%s: no table", s.id)
		}
		for _, live := range []string{"<", "@e", "@t", "#1", "://"} {
			if strings.Contains(text, live) {
				t.Errorf("%s: %q is live in:\n%s", s.id, live, text)
			}
		}
		if regexp.MustCompile("(^|[^\\\\])`").MatchString(text) {
			t.Errorf("%s: a live backtick in:\n%s", s.id, text)
		}
	}
}

func TestFenceHolds(t *testing.T) {
	got := fence("a ```` b\n```")
	if want := "`````sh\na ```` b\\n```\n`````\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The label of simulated figures stands in the title and at each table.
func TestSimulatedIsLabelled(t *testing.T) {
	for _, s := range samples() {
		c, run := s.compare(t)
		for form, text := range map[string]string{
			"wide": string(Terminal(c, run, Options{})), "narrow": string(Terminal(c, run, Options{Width: 400})), "markdown": string(Markdown(c, run)),
		} {
			title, rest, _ := strings.Cut(text, "\n")
			want := run.Simulated()
			if strings.Contains(title, compare.SimulatedNotice) != want || strings.Contains(rest, compare.SimulatedNotice) != want {
				t.Errorf("%s, %s: labelled wrongly:\n%s", s.id, form, text)
			}
		}
	}
}

func TestCSVReadsBack(t *testing.T) {
	for _, s := range samples() {
		c, run := s.compare(t)
		text, err := CSV(c, run)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", s.id, err)
		}
		if want := 1 + len(run.Models)*len(run.Tests)*len(run.Arms); len(rows) != want {
			t.Fatalf("%s: %d rows, want %d", s.id, len(rows), want)
		}
		column := map[string]int{}
		for i, name := range rows[0] {
			column[name] = i
		}
		cells := newView(c, run).cells
		for _, row := range rows[1:] {
			get := func(name string) string { return row[column[name]] }
			if get("baseline") != run.Baseline || (get("figures") == "simulated") != run.Simulated() {
				t.Errorf("%s: %q", s.id, row)
			}
			var p place
			p.model, p.arm = get("model"), get("arm")
			if err := p.test.UnmarshalText([]byte(get("test"))); err != nil {
				t.Fatal(err)
			}
			cell, ok := cells[p]
			switch {
			case !ok:
				if p.arm != run.Baseline || get("verdict") != "baseline" {
					t.Errorf("%s: no comparison and no baseline: %q", s.id, row)
				}
			case cell.Decision == nil:
				if get("verdict") != "" || get("no_verdict") != cell.NoVerdict || get("q_sign_flip") != "" {
					t.Errorf("%s: no verdict, but: %q", s.id, row)
				}
			default:
				if get("verdict") != string(cell.Decision.Verdict) || get("indicative") != strconv.FormatBool(cell.Decision.Indicative) || get("no_verdict") != "" {
					t.Errorf("%s: %q", s.id, row)
				}
				if got, err := strconv.ParseFloat(get("difference_percent"), 64); err != nil || got != cell.Decision.Estimate.Percent() {
					t.Errorf("%s: difference %q: %v", s.id, get("difference_percent"), err)
				}
			}
			for _, field := range row {
				if field == "NaN" || strings.HasSuffix(field, "Inf") {
					t.Errorf("%s: %q", s.id, row)
				}
			}
		}
	}
}

func TestJSONReadsBack(t *testing.T) {
	for _, s := range samples() {
		c, run := s.compare(t)
		text, err := JSON(c)
		if err != nil {
			t.Fatal(err)
		}
		var back compare.Comparisons
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&back); err != nil {
			t.Fatalf("%s: %v", s.id, err)
		}
		if back.Schema != compare.SchemaVersion || len(back.Cells) != len(c.Cells) {
			t.Errorf("%s: schema %d, %d cells", s.id, back.Schema, len(back.Cells))
		}
		// What was read back must give the same pages.
		for _, o := range []Options{{}, {Width: 60}} {
			if got, want := Terminal(back, run, o), Terminal(c, run, o); !bytes.Equal(got, want) {
				t.Errorf("%s: read back it reads\n%s\nnot\n%s", s.id, got, want)
			}
		}
	}
}
