package models

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// formatVersion is the version of the manifest's form.
const formatVersion = 1

// Parse reads a manifest. The error is of the type Errors: all mistakes, each
// with its line under the given name of the file.
func Parse(name string, data []byte) (*Manifest, error) {
	d := &decoder{name: name}
	m := &Manifest{}
	if root := d.document(data); root != nil {
		d.manifest(root, m)
	}
	if len(d.errors) > 0 {
		slices.SortStableFunc(d.errors, func(a, b *Error) int { return a.Line - b.Line })
		return nil, d.errors
	}
	return m, nil
}

func (d *decoder) manifest(n *node, m *Manifest) {
	version, defaultLine := int64(0), 0
	ok := d.mapping(n, "the manifest", []field{
		{"version", required, integer(&version, formatVersion, formatVersion)},
		{"default", required, func(d *decoder, key string, n *node) {
			defaultLine = n.Line
			text(&m.defaultAlias, aliasForm)(d, key, n)
		}},
		{"models", required, list(&m.Models, (*decoder).model)},
		{"sdks", required, list(&m.SDKs, (*decoder).sdk)},
		{"llama.cpp", required, func(d *decoder, _ string, n *node) { d.llamaCpp(n, &m.LlamaCpp) }},
	})
	if !ok {
		return
	}
	unique(d, "alias", m.Models, func(m Model) (string, int) { return m.Alias, m.Line })
	unique(d, "file of a repository", m.Models, func(m Model) (string, int) { return m.Repo + "/" + m.File, m.Line })
	unique(d, "SDK name", m.SDKs, func(s SDK) (string, int) { return s.Name, s.Line })
	if m.Models != nil && m.defaultAlias != "" {
		if _, err := m.Model(m.defaultAlias); err != nil {
			d.fail(defaultLine, "default: %v", err)
		}
	}
}

func (d *decoder) model(n *node, m *Model) {
	m.Line = n.Line
	d.mapping(n, "a model", []field{
		{"alias", required, text(&m.Alias, aliasForm)},
		{"repo", required, text(&m.Repo, repoForm)},
		{"file", required, text(&m.File, ggufForm)},
		{"revision", optional, text(&m.Revision, sha1Form)},
		{"bytes", optional, integer(&m.Bytes, minModelBytes, maxBytes)},
		{"approximate_bytes", optional, integer(&m.ApproximateBytes, minModelBytes, maxBytes)},
		{"sha256", optional, text(&m.SHA256, sha256Form)},
		{"mirrors", optional, urls(&m.Mirrors)},
		{"architecture", required, text(&m.Architecture, architectureForm)},
		{"parameters", required, text(&m.Parameters, parametersForm)},
		{"licence", required, text(&m.Licence, titleForm)},
		{"needs_acceptance", required, boolean(&m.NeedsAcceptance)},
		{"stand_in", required, func(d *decoder, _ string, n *node) { d.standIn(n, &m.StandIn) }},
	})
	if m.Bytes != 0 && m.ApproximateBytes != 0 {
		d.fail(n.Line, "bytes and approximate_bytes exclude each other")
	}
	if m.Bytes != 0 {
		m.ApproximateBytes = m.Bytes
	}
}

func (d *decoder) standIn(n *node, s *StandIn) {
	seed := int64(0)
	d.mapping(n, "a stand-in", []field{
		{"preset", required, text(&s.Preset, aliasForm)},
		{"seed", required, integer(&seed, 0, maxSeed)},
	})
	s.Seed = uint64(seed)
}

func (d *decoder) sdk(n *node, s *SDK) {
	s.Line = n.Line
	d.mapping(n, "an SDK", []field{
		{"name", required, text(&s.Name, aliasForm)},
		{"kind", required, text(&s.Kind, sdkKindForm)},
		{"version", required, text(&s.Version, versionForm)},
		{"url", required, text(&s.URL, urlForm)},
		{"mirrors", optional, urls(&s.Mirrors)},
		{"bytes", optional, integer(&s.Bytes, 1, maxBytes)},
		{"approximate_unpacked_bytes", optional, integer(&s.ApproximateUnpackedBytes, 1, maxBytes)},
		{"sha1", optional, text(&s.SHA1, sha1Form)},
		{"sha256", optional, text(&s.SHA256, sha256Form)},
		{"root", required, text(&s.Root, pathForm)},
		{"tools", optional, text(&s.Tools, pathForm)},
		{"licence", required, text(&s.Licence, titleForm)},
		{"needs_acceptance", required, boolean(&s.NeedsAcceptance)},
	})
	if s.URL != "" && !strings.HasSuffix(s.URL, ".zip") && !strings.HasSuffix(s.URL, ".tar.xz") {
		d.fail(n.Line, "url: %s is neither a .zip nor a .tar.xz", s.URL)
	}
	if s.Tools != "" && s.Root != "" && !strings.HasPrefix(s.Tools, s.Root+"/") {
		d.fail(n.Line, "tools: %s is not below %s", s.Tools, s.Root)
	}
}

func (d *decoder) llamaCpp(n *node, l *LlamaCpp) {
	d.mapping(n, "llama.cpp", []field{
		{"tag", required, text(&l.Tag, versionForm)},
		{"tree", required, text(&l.Tree, sha1Form)},
		{"origins", required, list(&l.Origins, (*decoder).origin)},
	})
	if l.Origins != nil && len(l.Origins) == 0 {
		d.fail(n.Line, "llama.cpp has no origins")
	}
}

func (d *decoder) origin(n *node, o *Origin) {
	switch {
	case n.Kind == yaml.MappingNode && n.has("npm") == n.has("git"):
		d.fail(n.Line, "an origin has one of the keys git and npm")
	case n.has("npm"):
		o.NPM = &NPMOrigin{}
		d.mapping(n, "an npm origin", []field{
			{"npm", required, text(&o.NPM.Package, npmForm)},
			{"version", required, text(&o.NPM.Version, versionForm)},
			{"integrity", required, text(&o.NPM.Integrity, integrityForm)},
			{"bundle", required, text(&o.NPM.Bundle, pathForm)},
			{"bundle_sha256", required, text(&o.NPM.BundleSHA256, sha256Form)},
		})
	default:
		o.Git = &GitOrigin{}
		d.mapping(n, "a git origin", []field{
			{"git", required, text(&o.Git.Repository, urlForm)},
			{"tag", required, text(&o.Git.Tag, versionForm)},
		})
	}
}

// unique checks that no two elements have the same key.
func unique[T any](d *decoder, what string, elements []T, key func(T) (string, int)) {
	first := make(map[string]int)
	for _, e := range elements {
		k, line := key(e)
		if before, ok := first[k]; ok && k != "" {
			d.fail(line, "%s %s is there already, at line %d", what, k, before)
			continue
		}
		first[k] = line
	}
}
