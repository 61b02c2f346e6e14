// Package artifact is a finished run as one file that travels between machines
// that do not trust each other: a pull request's job writes it, and a job with
// write permissions reads it. What is read is hostile until Decode has accepted
// it: its size, its schema, every number's range and every name's form are
// checked, and no path is taken from it. Texts of people's choosing (reasons,
// properties) stay as they are and must be escaped where they are shown.
package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"hexab/internal/bench"
)

// FileName is what an artifact's file is called.
const FileName = "hexab-run.json"

// Schema is the version of the file's form.
const Schema = 1

// MaxBytes bounds a file.
const MaxBytes = 16 << 20

// Artifact is a run with its journal.
type Artifact struct {
	Schema  int            `json:"schema"`
	Run     bench.Run      `json:"run"`
	Records []bench.Record `json:"records"`
}

// Bounds on the evidence that an artifact carries.
const (
	maxEvidence     = 8
	maxEvidenceLine = 300
)

// Encode makes the file of a run. It accepts only what Decode accepts.
func Encode(run bench.Run, records []bench.Record) ([]byte, error) {
	a := Artifact{Schema: Schema, Run: run, Records: []bench.Record{}}
	for _, r := range records {
		r.Log, r.Telemetry = "", "" // they stay where they were written
		var evidence []string
		for _, line := range r.Evidence[:min(len(r.Evidence), maxEvidence)] {
			evidence = append(evidence, cut(line, maxEvidenceLine))
		}
		r.Evidence, r.Reason = evidence, cut(r.Reason, maxText/2)
		a.Records = append(a.Records, r)
	}
	data, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("artifact: %w", err)
	}
	if _, err := Decode(data); err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// cut shortens text to so many bytes of whole, valid characters.
func cut(text string, limit int) string {
	var b bytes.Buffer
	for _, r := range text {
		if b.Len()+utf8.RuneLen(r) > limit {
			b.WriteString("...")
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Decode reads a file that anybody may have made.
func Decode(data []byte) (Artifact, error) {
	var a Artifact
	if len(data) > MaxBytes {
		return a, fmt.Errorf("artifact: %d bytes are more than %d", len(data), MaxBytes)
	}
	if !utf8.Valid(data) {
		return a, errors.New("artifact: is not UTF-8 text")
	}
	if err := scan(data); err != nil {
		return a, fmt.Errorf("artifact: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		return Artifact{}, fmt.Errorf("artifact: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Artifact{}, errors.New("artifact: text after the end of the object")
	}
	if err := a.check(); err != nil {
		return Artifact{}, fmt.Errorf("artifact: %w", err)
	}
	for i := range a.Records {
		a.Records[i].Log, a.Records[i].Telemetry = "", "" // paths of another machine
	}
	return a, nil
}

// maxDepth bounds the nesting of the file's objects.
const maxDepth = 16

// scan refuses what a lenient reader would let pass: deep nesting, and keys
// that stand twice.
func scan(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	type level struct {
		object bool
		key    bool // the next token is a key
		seen   map[string]bool
	}
	var stack []level
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		top := len(stack) - 1
		if name, isText := token.(string); isText && top >= 0 && stack[top].object && stack[top].key {
			if stack[top].seen[name] {
				return fmt.Errorf("byte %d: the key %.40q stands twice", decoder.InputOffset(), name)
			}
			stack[top].seen[name], stack[top].key = true, false
			continue
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if len(stack) >= maxDepth {
				return fmt.Errorf("byte %d: nested deeper than %d", decoder.InputOffset(), maxDepth)
			}
			object := token == json.Delim('{')
			stack = append(stack, level{object: object, key: object, seen: map[string]bool{}})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
		}
		if top = len(stack) - 1; top >= 0 {
			stack[top].key = stack[top].object
		}
	}
}
