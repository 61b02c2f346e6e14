package across

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"hexab/internal/bench"
)

// PublishedSchema is the version of the files of published figures.
const PublishedSchema = 1

// Bounds on a file of published figures.
const (
	maxPublishedBytes = 1 << 20
	maxSpeed          = 1e6 // tokens a second
)

type publishedFile struct {
	Schema  int      `yaml:"schema"`
	Device  string   `yaml:"device"`
	Method  string   `yaml:"method"`
	Sources []string `yaml:"sources"`
	Read    string   `yaml:"read"`
	Figures []entry  `yaml:"figures"`
}

type entry struct {
	Model  string             `yaml:"model"`
	Date   string             `yaml:"date"`
	Source string             `yaml:"source"`
	Rounds int                `yaml:"rounds"`
	Test   string             `yaml:"test"`
	Speeds map[string]float64 `yaml:"tokens_per_second"`

	line int
}

// UnmarshalYAML keeps the entry's line for errors, and refuses unknown keys,
// which a custom unmarshaller would let pass.
func (e *entry) UnmarshalYAML(n *yaml.Node) error {
	type plain entry
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a figure is a list of keys with values", n.Line)
	}
	known := []string{"model", "date", "source", "rounds", "test", "tokens_per_second"}
	for i := 0; i < len(n.Content); i += 2 {
		if !slices.Contains(known, n.Content[i].Value) {
			return fmt.Errorf("line %d: unknown key %q of a figure", n.Content[i].Line, n.Content[i].Value)
		}
	}
	if err := n.Decode((*plain)(e)); err != nil {
		return err
	}
	e.line = n.Line
	return nil
}

var (
	aliasForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	testForm  = regexp.MustCompile(`^(pp|tg)([1-9][0-9]{0,6})?$`)
	armForm   = regexp.MustCompile(`^[a-z][a-z0-9]{0,31}$`)
	dateForm  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$`)
)

// ParsePublished reads published figures. Errors name file and line.
func ParsePublished(name string, data []byte) (Set, error) {
	s := Set{Name: name, Published: true}
	fail := func(line int, format string, args ...any) (Set, error) {
		return Set{}, fmt.Errorf("%s:%d: %s", name, max(line, 1), fmt.Sprintf(format, args...))
	}
	if len(data) > maxPublishedBytes {
		return fail(1, "the file has %d bytes, more than %d", len(data), maxPublishedBytes)
	}
	var f publishedFile
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil {
		if errors.Is(err, io.EOF) {
			return fail(1, "the file is empty")
		}
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fail(1, "one document is wanted")
	}
	switch {
	case f.Schema != PublishedSchema:
		return fail(1, "schema %d; this hexab reads schema %d", f.Schema, PublishedSchema)
	case f.Device == "" || f.Method == "" || len(f.Sources) == 0 || len(f.Figures) == 0:
		return fail(1, "device, method, sources and figures are wanted")
	case !isDate(f.Read):
		return fail(1, "read: %q is not a date", f.Read)
	}
	for _, source := range f.Sources {
		if !isAddress(source) {
			return fail(1, "source %q is not an https address", source)
		}
	}
	s.Device, s.Method, s.Sources, s.Read = f.Device, f.Method, f.Sources, f.Read
	seen := map[string]int{}
	for _, e := range f.Figures {
		switch {
		case !aliasForm.MatchString(e.Model):
			return fail(e.line, "model %q is not an alias", e.Model)
		case !testForm.MatchString(e.Test):
			return fail(e.line, "test %q is not pp or tg with or without a number of tokens", e.Test)
		case !isDate(e.Date):
			return fail(e.line, "date %q is not YYYY-MM or YYYY-MM-DD", e.Date)
		case e.Source != "" && !slices.Contains(f.Sources, e.Source):
			return fail(e.line, "source %q is not among the file's sources", e.Source)
		case e.Rounds < 0 || e.Rounds > 1000:
			return fail(e.line, "rounds: %d", e.Rounds)
		case len(e.Speeds) == 0:
			return fail(e.line, "tokens_per_second of %s is missing", e.Model)
		}
		if at, twice := seen[e.Model+" "+e.Test]; twice {
			return fail(e.line, "%s of %s is there already, at line %d", e.Test, e.Model, at)
		}
		seen[e.Model+" "+e.Test] = e.line
		arms := make([]string, 0, len(e.Speeds))
		for a := range e.Speeds {
			arms = append(arms, a)
		}
		slices.Sort(arms)
		for _, a := range arms {
			speed := e.Speeds[a]
			if !armForm.MatchString(a) || !(speed > 0 && speed <= maxSpeed) {
				return fail(e.line, "%s: %v tokens a second of %q", e.Model, speed, a)
			}
			s.Figures = append(s.Figures, Figure{
				Model: e.Model, Test: e.Test, Arm: a, Speed: bench.TokensPerSecond(speed), Launches: e.Rounds, Date: e.Date, Source: e.Source,
			})
		}
	}
	return s, nil
}

func isDate(text string) bool {
	if !dateForm.MatchString(text) {
		return false
	}
	form := time.DateOnly
	_, err := time.Parse(form[:len(text)], text)
	return err == nil
}

func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil
}
