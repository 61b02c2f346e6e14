package models

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Caps on a manifest.
const (
	maxFileBytes = 1 << 20
	maxErrors    = 50
)

// Error is one mistake in a manifest.
type Error struct {
	File    string
	Line    int
	Message string
}

// Error returns file:line: message.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message) }

// Errors holds all mistakes in a manifest, by line.
type Errors []*Error

// Error returns one line for each mistake.
func (e Errors) Error() string {
	var b strings.Builder
	for i, one := range e[:min(len(e), maxErrors)] {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(one.Error())
	}
	if more := len(e) - maxErrors; more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	return b.String()
}

type node yaml.Node

// has tells whether a mapping has the key.
func (n *node) has(key string) bool {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

// decoder collects the mistakes of a file.
type decoder struct {
	name   string
	errors Errors
}

func (d *decoder) fail(line int, format string, args ...any) {
	d.errors = append(d.errors, &Error{d.name, max(line, 1), fmt.Sprintf(format, args...)})
}

// document returns the root of the only document in the file, or nil.
func (d *decoder) document(data []byte) *node {
	if len(data) > maxFileBytes {
		d.fail(1, "the file has %d bytes, more than %d", len(data), maxFileBytes)
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var root, next yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		d.fail(1, "the file is empty")
		return nil
	case err != nil:
		d.syntax(err)
		return nil
	}
	switch err := decoder.Decode(&next); {
	case err == nil:
		d.fail(next.Line, "there is a second document; one is wanted")
	case !errors.Is(err, io.EOF):
		d.syntax(err)
	}
	if len(root.Content) != 1 {
		d.fail(1, "the file is empty")
		return nil
	}
	d.noAnchors(&root)
	return (*node)(root.Content[0])
}

// noAnchors refuses anchors and aliases, with which a small file becomes a
// large one.
func (d *decoder) noAnchors(n *yaml.Node) {
	if n.Anchor != "" {
		d.fail(n.Line, "anchor &%s is not allowed", n.Anchor)
	}
	for _, c := range n.Content {
		d.noAnchors(c)
	}
}

var yamlLine = regexp.MustCompile(`^(?:line (\d+): )?((?s:.*))$`)

// syntax takes the line out of an error of the YAML package.
func (d *decoder) syntax(err error) {
	parts := yamlLine.FindStringSubmatch(strings.TrimPrefix(err.Error(), "yaml: "))
	line, _ := strconv.Atoi(parts[1]) // 0 where there is none
	d.fail(line, "%s", parts[2])
}

const (
	required = true
	optional = false
)

// field is a key that a mapping may have.
type field struct {
	key      string
	required bool
	read     reader
}

// reader reads the value of a key.
type reader func(d *decoder, key string, n *node)

// mapping reads the keys of a mapping and tells whether n is one.
func (d *decoder) mapping(n *node, what string, fields []field) bool {
	if n.Kind != yaml.MappingNode {
		d.fail(n.Line, "%s is %s, want keys with values", what, n.describe())
		return false
	}
	var known []string
	read := make(map[string]reader)
	for _, f := range fields {
		known = append(known, f.key)
		read[f.key] = f.read
	}
	seen := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := (*node)(n.Content[i]), (*node)(n.Content[i+1])
		name := key.Value
		switch {
		case key.Kind != yaml.ScalarNode:
			d.fail(key.Line, "a key of %s is %s", what, key.describe())
		case read[name] == nil:
			d.fail(key.Line, "unknown key %s of %s%s", quote(name), what, hint(name, known))
		case seen[name] != 0:
			d.fail(key.Line, "key %s is there already, at line %d", name, seen[name])
		default:
			seen[name] = key.Line
			read[name](d, name, value)
		}
	}
	for _, f := range fields {
		if f.required && seen[f.key] == 0 {
			d.fail(n.Line, "key %s of %s is missing", f.key, what)
		}
	}
	return true
}

func hint(name string, known []string) string {
	if s := similar(name, known); len(s) > 0 {
		return ", did you mean " + strings.Join(s, " or ") + "?"
	}
	return ""
}

func quote(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.Quote(s[:most]) + "..."
	}
	return strconv.Quote(s)
}

func (n *node) describe() string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias (*" + n.Value + "), which is not allowed here"
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "empty"
		}
		return quote(n.Value)
	}
	return "nothing"
}

// list returns a reader of a list whose elements are read by one.
func list[T any](to *[]T, one func(*decoder, *node, *T)) reader {
	return func(d *decoder, key string, n *node) {
		if n.Kind != yaml.SequenceNode {
			d.fail(n.Line, "%s: %s is not a list", key, n.describe())
			return
		}
		*to = make([]T, len(n.Content))
		for i, element := range n.Content {
			one(d, (*node)(element), &(*to)[i])
		}
	}
}

// integer returns a reader of a whole number from least to most.
func integer(to *int64, least, most int64) reader {
	return func(d *decoder, key string, n *node) {
		v, err := strconv.ParseInt(n.Value, 10, 64)
		switch {
		case n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil:
			d.fail(n.Line, "%s: %s is not a whole number", key, n.describe())
		case v < least || v > most:
			d.fail(n.Line, "%s: %d is not from %d to %d", key, v, least, most)
		default:
			*to = v
		}
	}
}

func boolean(to *bool) reader {
	return func(d *decoder, key string, n *node) {
		if n.Kind != yaml.ScalarNode || n.Value != "true" && n.Value != "false" || n.Tag != "!!bool" {
			d.fail(n.Line, "%s: %s is neither true nor false", key, n.describe())
			return
		}
		*to = n.Value == "true"
	}
}

// text returns a reader of a string of the form.
func text(to *string, f form) reader {
	return func(d *decoder, key string, n *node) {
		switch {
		case n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Tag == "!!bool" || n.Tag == "!!binary":
			d.fail(n.Line, "%s: %s is not %s", key, n.describe(), f.name)
		case !f.ok(n.Value):
			d.fail(n.Line, "%s: %s is not %s", key, quote(n.Value), f.name)
		default:
			// A hash of digits only is a number to YAML; its text is what counts.
			*to = n.Value
		}
	}
}

func urls(to *[]string) reader {
	return list(to, func(d *decoder, n *node, v *string) { text(v, urlForm)(d, "mirror", n) })
}
