package build

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"hexab/internal/bench"
)

// Description is what backends/<name>/variant.yaml says.
type Description struct {
	// Name is the variant's; it is also its folder's name.
	Name bench.Variant `yaml:"name"`
	// Summary is one sentence for people.
	Summary string `yaml:"summary"`
	// Device is the llama-bench device of the variant (HTP0), or "none" when
	// it has only the CPU.
	Device string `yaml:"device"`
	// Extends names the variant whose files this one has too; empty for none.
	Extends bench.Variant `yaml:"extends"`
	// Platforms are those that the variant can be built for.
	Platforms []bench.Platform `yaml:"platforms"`
	// Common is inherited by every component, also by those of variants that
	// extend this one; a component's own values win.
	Common Common `yaml:"common"`
	// Components are built in order.
	Components []Component `yaml:"components"`
}

// Common is what several components share.
type Common struct {
	Settings `yaml:",inline"`
	// For amends the settings for a platform.
	For map[bench.Platform]Settings `yaml:"for"`
}

// Settings are how a component is configured.
type Settings struct {
	// Compiler is the C and C++ compiler; empty is the platform's default.
	Compiler Compiler `yaml:"compiler"`
	// Definitions are CMake definitions. Values may hold ${LLAMA_CPP},
	// ${PROJECT}, ${HEXAGON_SDK_ROOT}, ${HEXAGON_TOOLS_ROOT} and ${ANDROID_NDK_ROOT},
	// which stand for folders of this machine.
	Definitions map[string]string `yaml:"definitions"`
}

// Component is one CMake build.
type Component struct {
	// Name is unique within the variant.
	Name string `yaml:"name"`
	// Source is "llama.cpp" or a folder of this repository with a
	// CMakeLists.txt, slash-separated.
	Source string `yaml:"source"`
	// Files are further files and folders of this repository that the build
	// reads; together with Source they are part of its identity.
	Files []string `yaml:"files"`
	// SDK tells that the build needs a Hexagon SDK.
	SDK bool `yaml:"sdk"`
	// Levels are sets of definitions for instruction set levels by
	// architecture (amd64, arm64), from the plainest to the best. On the sim
	// platform the last one that this machine can run is used.
	Levels map[string][]Level `yaml:"levels"`
	Recipe `yaml:",inline"`
	// For amends the recipe for a platform: definitions replace those of the
	// same name, lists are appended, a compiler replaces the other.
	For map[bench.Platform]Recipe `yaml:"for"`
}

// Recipe is the part of a component that can differ between platforms.
type Recipe struct {
	Settings `yaml:",inline"`
	// Targets are what is built; nothing else is.
	Targets []string `yaml:"targets"`
	// Outputs are the files to take, relative to the build folder. The shared
	// libraries that they need and the build has made come along.
	Outputs []string `yaml:"outputs"`
	// SystemLibraries are NEEDED names that the device has, beyond those that
	// every system of the platform has.
	SystemLibraries []string `yaml:"system_libraries"`
}

// Compiler names a pair of compilers: names to find in PATH, or paths, which
// may begin with a placeholder.
type Compiler struct {
	C   string `yaml:"c"`
	CXX string `yaml:"cxx"`
}

// Level is an instruction set level.
type Level struct {
	Name string `yaml:"name"`
	// Needs are the flags that /proc/cpuinfo must list.
	Needs []string `yaml:"needs"`
	// Definitions are added to the component's.
	Definitions map[string]string `yaml:"definitions"`
}

// Variants are all described variants by name.
type Variants map[bench.Variant]Description

// LoadVariants reads <name>/variant.yaml of every folder of backends that has
// one and checks them together. Errors name the file and, where there is one,
// the line.
func LoadVariants(backends fs.FS) (Variants, error) {
	files, err := fs.Glob(backends, "*/variant.yaml")
	if err != nil {
		return nil, err
	}
	all := Variants{}
	for _, name := range files {
		data, err := fs.ReadFile(backends, name)
		if err != nil {
			return nil, err
		}
		d, err := ParseDescription(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if string(d.Name) != path.Dir(name) {
			return nil, fmt.Errorf("%s: name is %q, its folder is %q", name, d.Name, path.Dir(name))
		}
		all[d.Name] = d
	}
	if len(all) == 0 {
		return nil, errors.New("no backends/<name>/variant.yaml found: run this in the project's folder")
	}
	for name := range all {
		if _, err := all.chain(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Names are the variants' names, sorted.
func (v Variants) Names() []bench.Variant { return slices.Sorted(maps.Keys(v)) }

// chain is the variant after those that it extends, the plainest first.
func (v Variants) chain(name bench.Variant) ([]Description, error) {
	var chain []Description
	for at := name; at != ""; {
		d, ok := v[at]
		if !ok && at == name {
			return nil, fmt.Errorf("unknown variant %q (known: %s)", name, joinNames(v.Names()))
		}
		if !ok {
			return nil, fmt.Errorf("backends/%s/variant.yaml: extends unknown variant %q", chain[0].Name, at)
		}
		if len(chain) > len(v) {
			return nil, fmt.Errorf("backends/%s/variant.yaml: extends itself", name)
		}
		chain = append([]Description{d}, chain...)
		at = d.Extends
	}
	return chain, nil
}

// NeedsSDK tells whether the variant, or one that it extends, takes a Hexagon
// SDK to build.
func (v Variants) NeedsSDK(name bench.Variant) bool {
	chain, err := v.chain(name)
	return err == nil && slices.ContainsFunc(chain, func(d Description) bool {
		return slices.ContainsFunc(d.Components, func(c Component) bool { return c.SDK })
	})
}

func joinNames[T ~string](names []T) string {
	s := make([]string, len(names))
	for i, n := range names {
		s[i] = string(n)
	}
	return strings.Join(s, ", ")
}

// ParseDescription parses a variant.yaml strictly: unknown keys, missing
// fields and values that CMake would misread are errors.
func ParseDescription(data []byte) (Description, error) {
	var d Description
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&d); err != nil {
		if errors.Is(err, io.EOF) {
			return d, errors.New("is empty")
		}
		return d, err
	}
	var more any
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return d, errors.New("holds more than one YAML document")
	}
	return d, d.check()
}

var (
	wordPattern       = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)
	definitionPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	placeholder       = regexp.MustCompile(`\$\{([^}]*)\}`)
)

// The placeholders of definition values.
const (
	holdLlama   = "LLAMA_CPP"
	holdProject = "PROJECT"
	holdSDK     = "HEXAGON_SDK_ROOT"
	holdTools   = "HEXAGON_TOOLS_ROOT"
	holdNDK     = "ANDROID_NDK_ROOT"
)

var placeholders = []string{holdLlama, holdProject, holdSDK, holdTools, holdNDK}

func (d Description) check() error {
	if !wordPattern.MatchString(string(d.Name)) {
		return fmt.Errorf("name: %q is not a variant's name", d.Name)
	}
	if d.Device == "" {
		return errors.New(`device: is missing (a llama-bench device such as HTP0, or "none")`)
	}
	if len(d.Platforms) == 0 {
		return errors.New("platforms: is missing")
	}
	for _, p := range d.Platforms {
		if _, err := platformOf(p); err != nil {
			return fmt.Errorf("platforms: %w", err)
		}
	}
	if len(d.Components) == 0 {
		return errors.New("components: is missing")
	}
	if err := d.Common.check(); err != nil {
		return fmt.Errorf("common: %w", err)
	}
	for p, s := range d.Common.For {
		if _, err := platformOf(p); err != nil {
			return fmt.Errorf("common: for: %w", err)
		}
		if err := s.check(); err != nil {
			return fmt.Errorf("common: for %s: %w", p, err)
		}
	}
	seen := map[string]bool{}
	for _, c := range d.Components {
		if !wordPattern.MatchString(c.Name) || seen[c.Name] {
			return fmt.Errorf("components: %q is no name or comes twice", c.Name)
		}
		seen[c.Name] = true
		if err := c.check(d.Platforms); err != nil {
			return fmt.Errorf("component %s: %w", c.Name, err)
		}
	}
	return nil
}

func (c Component) check(platforms []bench.Platform) error {
	for _, p := range append([]string{c.Source}, c.Files...) {
		if !fs.ValidPath(p) || p == "." {
			return fmt.Errorf("source, files: %q is no folder of the project", p)
		}
	}
	if err := c.Recipe.check(); err != nil {
		return err
	}
	for p, r := range c.For {
		if !slices.Contains(platforms, p) {
			return fmt.Errorf("for: %q is not among the variant's platforms", p)
		}
		if err := r.check(); err != nil {
			return fmt.Errorf("for %s: %w", p, err)
		}
	}
	for _, p := range platforms {
		if r := c.recipe(p); len(r.Targets) == 0 || len(r.Outputs) == 0 {
			return fmt.Errorf("has no targets or no outputs for %s", p)
		}
	}
	for arch, levels := range c.Levels {
		if arch != "amd64" && arch != "arm64" {
			return fmt.Errorf("levels: %q is neither amd64 nor arm64", arch)
		}
		if len(levels) == 0 || len(levels[0].Needs) > 0 {
			return fmt.Errorf("levels: %s: the first level must need nothing", arch)
		}
		for _, l := range levels {
			if err := (Settings{Definitions: l.Definitions}).check(); err != nil {
				return fmt.Errorf("levels: %s: level %q: %w", arch, l.Name, err)
			}
			if l.Name == "" {
				return fmt.Errorf("levels: %s: a level has no name", arch)
			}
		}
	}
	return nil
}

func (s Settings) check() error {
	if (s.Compiler.C == "") != (s.Compiler.CXX == "") {
		return errors.New("compiler: c and cxx belong together")
	}
	for name, value := range s.Definitions {
		if !definitionPattern.MatchString(name) {
			return fmt.Errorf("definitions: %q is not a CMake variable", name)
		}
		if strings.ContainsAny(value, "\n\x00") {
			return fmt.Errorf("definitions: %s: value holds a line break", name)
		}
		for _, m := range placeholder.FindAllStringSubmatch(value, -1) {
			if !slices.Contains(placeholders, m[1]) {
				return fmt.Errorf("definitions: %s: ${%s} is unknown (known: %s)", name, m[1], strings.Join(placeholders, ", "))
			}
		}
	}
	return nil
}

func (r Recipe) check() error {
	if err := r.Settings.check(); err != nil {
		return err
	}
	for _, t := range r.Targets {
		if !wordPattern.MatchString(t) {
			return fmt.Errorf("targets: %q is not a CMake target", t)
		}
	}
	for _, o := range r.Outputs {
		if !fs.ValidPath(o) || o == "." {
			return fmt.Errorf("outputs: %q is not a path inside the build folder", o)
		}
	}
	return nil
}

// over lays the settings of other over s.
func (s Settings) over(other Settings) Settings {
	merged := Settings{Compiler: s.Compiler, Definitions: map[string]string{}}
	if other.Compiler.C != "" {
		merged.Compiler = other.Compiler
	}
	maps.Copy(merged.Definitions, s.Definitions)
	maps.Copy(merged.Definitions, other.Definitions)
	return merged
}

// recipe is the component's recipe amended for the platform.
func (c Component) recipe(p bench.Platform) Recipe {
	r, amend := c.Recipe, c.For[p]
	r.Settings = r.Settings.over(amend.Settings)
	r.Targets = slices.Concat(r.Targets, amend.Targets)
	r.Outputs = slices.Concat(r.Outputs, amend.Outputs)
	r.SystemLibraries = slices.Concat(r.SystemLibraries, amend.SystemLibraries)
	return r
}

// level is the best level for a machine with these flags; ok is false when
// the component has none for the architecture.
func (c Component) level(arch string, has map[string]bool) (Level, bool) {
	levels := c.Levels[arch]
	for i := len(levels) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(levels[i].Needs, func(flag string) bool { return !has[flag] }) {
			return levels[i], true
		}
	}
	return Level{}, false
}

// Application gives the variants with one of them reduced to what runs on the
// application's processor: its DSP libraries, which are upstream's targets
// htp-v73 and so on, are left out.
func (v Variants) Application(name bench.Variant) Variants {
	reduced := maps.Clone(v)
	d := reduced[name]
	d.Components = slices.Clone(d.Components)
	for i := range d.Components {
		c := &d.Components[i]
		if !c.SDK {
			continue
		}
		c.Targets = slices.DeleteFunc(slices.Clone(c.Targets), func(t string) bool { return strings.HasPrefix(t, "htp-") })
		c.Outputs = slices.DeleteFunc(slices.Clone(c.Outputs), func(o string) bool {
			return strings.HasPrefix(path.Base(o), "libggml-htp-")
		})
	}
	reduced[name] = d
	return reduced
}
