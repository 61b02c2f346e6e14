// Package models turns models.yaml into a validated Manifest: the models to
// measure, the SDKs to build with, and the release of llama.cpp.
//
// The file is hostile until parsed: it may be the work of a pull request.
// Unknown keys, duplicates, and values that could not be right are errors that
// name their line, as many as there are at once. A field that is absent is not
// known yet; it has its zero value here.
package models

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Manifest is what models.yaml says.
type Manifest struct {
	Models   []Model
	SDKs     []SDK
	LlamaCpp LlamaCpp

	defaultAlias string
}

// Model is a GGUF file on Hugging Face.
type Model struct {
	Alias    string // the name that users type
	Repo     string // owner/name
	File     string // in the repository's root
	Revision string // git commit; "" is not known, take main and record it

	Bytes            int64  // 0: not known
	ApproximateBytes int64  // for the check of free space; equal to Bytes where that is known
	SHA256           string // lower-case hexadecimal; "" is not known
	Mirrors          []string

	Architecture    string // general.architecture of the file
	Parameters      string // size as people say it, such as "2B"
	Licence         string // SPDX identifier, or the name on the model's page
	NeedsAcceptance bool   // a user has to accept the licence before the download

	StandIn StandIn
	Line    int // where the model is in the manifest
}

// StandIn names the small model that stands for a Model on the embedded phone.
type StandIn struct {
	Preset string
	Seed   uint64
}

// SDK is an archive with tools to build with.
type SDK struct {
	Name    string
	Kind    string // "android-ndk" or "hexagon-sdk"
	Version string
	URL     string
	Mirrors []string

	Bytes                    int64  // 0: not known
	ApproximateUnpackedBytes int64  // 0: not known
	SHA256                   string // lower-case hexadecimal; "" is not known
	SHA1                     string // as published; "" is not known

	Root  string // folder inside the archive that is the SDK
	Tools string // folder inside the archive with the compiler, "" if it is no other

	Licence         string
	NeedsAcceptance bool
	Line            int
}

// LlamaCpp is the pinned release of llama.cpp.
type LlamaCpp struct {
	Tag     string
	Tree    string   // git tree hash of the release's root, which every copy must have
	Origins []Origin // in the order to try; each has either Git or NPM
}

// Origin is a place to get llama.cpp from.
type Origin struct {
	Git *GitOrigin
	NPM *NPMOrigin
}

// GitOrigin is a tag of a git repository.
type GitOrigin struct {
	Repository string // https URL
	Tag        string
}

// NPMOrigin is an npm package with a git bundle in it.
type NPMOrigin struct {
	Package      string
	Version      string
	Integrity    string // of the package's archive, "sha512-" and base64
	Bundle       string // path below the package's root
	BundleSHA256 string
}

// URL returns where the file is.
func (m *Model) URL() string {
	revision := m.Revision
	if revision == "" {
		revision = "main"
	}
	return "https://huggingface.co/" + m.Repo + "/resolve/" + revision + "/" + m.File
}

// URLs returns URL and the mirrors, in the order to try.
func (m *Model) URLs() []string { return append([]string{m.URL()}, m.Mirrors...) }

// Page returns where a user reads about the model and its licence.
func (m *Model) Page() string { return "https://huggingface.co/" + m.Repo }

// URLs returns URL and the mirrors, in the order to try.
func (s *SDK) URLs() []string { return append([]string{s.URL}, s.Mirrors...) }

// File returns the name of the archive.
func (s *SDK) File() string { return path.Base(s.URL) }

// Model returns the model with the alias. The error names similar aliases.
func (m *Manifest) Model(alias string) (*Model, error) {
	for i := range m.Models {
		if m.Models[i].Alias == alias {
			return &m.Models[i], nil
		}
	}
	return nil, unknown("model", alias, m.Aliases())
}

// Default returns the model that is meant when none is named.
func (m *Manifest) Default() *Model {
	d, err := m.Model(m.defaultAlias)
	if err != nil {
		panic(err) // Parse has checked it
	}
	return d
}

// Aliases returns the aliases of all models in the order of the file.
func (m *Manifest) Aliases() []string {
	var names []string
	for _, model := range m.Models {
		names = append(names, model.Alias)
	}
	return names
}

// SDK returns the SDK with the name. The error names similar ones.
func (m *Manifest) SDK(name string) (*SDK, error) {
	var names []string
	for i := range m.SDKs {
		if m.SDKs[i].Name == name {
			return &m.SDKs[i], nil
		}
		names = append(names, m.SDKs[i].Name)
	}
	return nil, unknown("SDK", name, names)
}

// unknown says that there is no such name, and which was perhaps meant.
func unknown(what, name string, names []string) error {
	if s := similar(name, names); len(s) > 0 {
		return fmt.Errorf("no %s %q, did you mean %s?", what, name, strings.Join(s, " or "))
	}
	if len(names) == 0 {
		return fmt.Errorf("no %s %q, there are none", what, name)
	}
	return fmt.Errorf("no %s %q, there are: %s", what, name, strings.Join(names, ", "))
}

// similar returns up to three names that a misspelt one may have meant, the
// likeliest first.
func similar(name string, names []string) []string {
	const maxNameBytes = 100 // nothing longer is a slip of the finger
	if name == "" || len(name) > maxNameBytes {
		return nil
	}
	lower := strings.ToLower(name)
	distance := make(map[string]int)
	var out []string
	for _, n := range names {
		d := editDistance(lower, strings.ToLower(n))
		if d <= max(1, len(n)/3) || len(name) >= 2 && strings.Contains(strings.ToLower(n), lower) {
			distance[n] = d
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return distance[a] - distance[b] })
	return out[:min(3, len(out))]
}

// editDistance is the Levenshtein distance of two strings in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
