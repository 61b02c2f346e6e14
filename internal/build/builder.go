package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"hexab/internal/bench"
	"hexab/internal/source"
)

// llamaSource is the source name of components built from llama.cpp itself.
const llamaSource = "llama.cpp"

// Builder makes bundles. It may be used by several goroutines at the same
// time and by several processes with the same cache.
type Builder struct {
	// Project is the root of hexab's own files.
	Project string
	// Cache is hexab's cache folder.
	Cache string
	// Tree is the llama.cpp sources.
	Tree source.Tree
	// Variants are the described variants.
	Variants Variants
	// SDKRoot and ToolsRoot are HEXAGON_SDK_ROOT and HEXAGON_TOOLS_ROOT, and
	// SDK names that SDK with its version or content hash; all empty without.
	SDKRoot, ToolsRoot, SDK string
	// NDKRoot is an Android NDK, and NDK names it with its version; both empty
	// without.
	NDKRoot, NDK string
	// Provide gives the builder, a copy made for one bundle, what that takes
	// beyond the fields above: SDKs, a cross compiler. Nil for nothing.
	Provide func(ctx context.Context, b *Builder, variant bench.Variant, p bench.Platform) error
	// Jobs is the number of compilers at the same time; zero is one a core.
	Jobs int
	// Progress is told how far a build is; it may be nil.
	Progress func(Event)
	// CPUFlags are the instruction sets of this machine; nil reads
	// /proc/cpuinfo.
	CPUFlags map[string]bool
	// LookPath finds programs; nil is exec.LookPath.
	LookPath func(string) (string, error)
}

// Bundle is a bundle on this machine.
type Bundle struct {
	bench.Bundle
	ID bench.BundleID
	// Dir holds exactly the manifest's files.
	Dir string
	// Cached tells that nothing had to be built.
	Cached bool
}

func (b *Builder) lookPath(name string) (string, error) {
	if b.LookPath != nil {
		return b.LookPath(name)
	}
	return exec.LookPath(name)
}

func (b *Builder) jobs() int {
	if b.Jobs > 0 {
		return b.Jobs
	}
	return runtime.NumCPU()
}

func (b *Builder) cpuFlags() (map[string]bool, error) {
	if b.CPUFlags != nil {
		return b.CPUFlags, nil
	}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseCPUFlags(f)
}

// expand replaces the placeholders by folders of this machine.
func (b *Builder) expand(value string) (string, error) {
	var missing error
	expanded := placeholder.ReplaceAllStringFunc(value, func(m string) string {
		name := m[2 : len(m)-1]
		dir := map[string]string{
			holdLlama: b.Tree.Dir, holdProject: b.Project, holdSDK: b.SDKRoot,
			holdTools: b.ToolsRoot, holdNDK: b.NDKRoot,
		}[name]
		if dir == "" {
			missing = fmt.Errorf("${%s} is not set", name)
		}
		return dir
	})
	return expanded, missing
}

func (b *Builder) sourceDir(name string) (string, error) {
	if name == llamaSource {
		return b.Tree.Dir, nil
	}
	dir := filepath.Join(b.Project, filepath.FromSlash(name))
	if _, err := os.Stat(filepath.Join(dir, "CMakeLists.txt")); err != nil {
		return "", fmt.Errorf("source %s: %w", name, err)
	}
	return dir, nil
}

// resolveAll settles the components of a variant with all that it extends.
func (b *Builder) resolveAll(ctx context.Context, variant bench.Variant, p bench.Platform) ([]*job, error) {
	chain, err := b.Variants.chain(variant)
	if err != nil {
		return nil, err
	}
	var jobs []*job
	var common Settings
	for _, d := range chain {
		if !slices.Contains(d.Platforms, p) {
			return nil, fmt.Errorf("variant %s can not be built for %s (only for %s)", d.Name, p, joinNames(d.Platforms))
		}
		common = common.over(d.Common.Settings).over(d.Common.For[p])
		for _, c := range d.Components {
			j, err := b.resolve(ctx, common, d.Name, c, p)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// Inputs is the hash of the sources and descriptions that a variant is built
// from, on whatever platform. Nothing is built for it.
func (b *Builder) Inputs(variant bench.Variant) (string, error) {
	chain, err := b.Variants.chain(variant)
	if err != nil {
		return "", err
	}
	own := map[string]string{}
	for _, d := range chain {
		for _, c := range d.Components {
			for _, folder := range append([]string{c.Source}, c.Files...) {
				if folder == llamaSource {
					continue
				}
				if own[folder], err = source.HashTree(filepath.Join(b.Project, filepath.FromSlash(folder)), nil); err != nil {
					return "", err
				}
			}
		}
	}
	return hashJSON(b.Tree.Hash, chain, own), nil
}

// Bundle provides the variant's bundle for the platform. What is in the cache
// already is not built again; what another process is building is waited for.
// A failed build is an *Error.
func (b *Builder) Bundle(ctx context.Context, variant bench.Variant, p bench.Platform) (Bundle, error) {
	if b.Provide != nil {
		provided := *b
		provided.Provide = nil
		if err := b.Provide(ctx, &provided, variant, p); err != nil {
			return Bundle{}, fmt.Errorf("building %s for %s: %w", variant, p, err)
		}
		b = &provided
	}
	jobs, err := b.resolveAll(ctx, variant, p)
	if err != nil {
		return Bundle{}, err
	}
	keys := make([]string, len(jobs))
	for i, j := range jobs {
		keys[i] = j.key
	}
	key := hashJSON(keyVersion, variant, p, b.Tree.Identity(), keys)
	home := filepath.Join(b.Cache, "bundles")
	if bundle, err := loadBundle(home, key); err == nil {
		bundle.Cached = true
		return bundle, nil
	}
	parts := make([]built, len(jobs))
	for i, j := range jobs {
		if parts[i], err = j.build(ctx); err != nil {
			return Bundle{}, err
		}
	}
	bundle, err := b.assemble(ctx, jobs, parts, variant, p, home, key)
	if err != nil {
		return Bundle{}, fmt.Errorf("bundle %s for %s: %w", variant, p, err)
	}
	return bundle, nil
}

// Folder builds one component that belongs to no variant and gives the folder
// with its files, in the cache.
func (b *Builder) Folder(ctx context.Context, owner bench.Variant, c Component, p bench.Platform) (string, error) {
	j, err := b.resolve(ctx, Settings{}, owner, c, p)
	if err != nil {
		return "", err
	}
	made, err := j.build(ctx)
	return made.dir, err
}

// assemble joins the components' files into the bundle's folder. A library
// that an earlier component has is the one that all use.
func (b *Builder) assemble(ctx context.Context, jobs []*job, parts []built, variant bench.Variant, p bench.Platform, home, key string) (Bundle, error) {
	if err := os.MkdirAll(filepath.Join(home, "keys"), 0o755); err != nil {
		return Bundle{}, err
	}
	lock := flock.New(filepath.Join(home, "lock"))
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return Bundle{}, err
	}
	defer lock.Unlock() //nolint:errcheck // released with the file in any case

	temp, err := os.MkdirTemp(home, ".new-")
	if err != nil {
		return Bundle{}, err
	}
	defer os.RemoveAll(temp)
	about, err := platformOf(p)
	if err != nil {
		return Bundle{}, err
	}
	var names []string
	system := slices.Clone(about.system)
	for i, part := range parts {
		system = append(system, jobs[i].recipe.SystemLibraries...)
		for _, name := range part.Roots {
			if slices.Contains(names, name) {
				return Bundle{}, fmt.Errorf("%s makes %s, which another component has made already", jobs[i].name(), name)
			}
		}
		for _, name := range slices.Concat(part.Roots, part.Libraries) {
			if slices.Contains(names, name) {
				continue
			}
			if err := linkOrCopy(filepath.Join(part.dir, name), filepath.Join(temp, name)); err != nil {
				return Bundle{}, err
			}
			names = append(names, name)
		}
	}
	if err := checkClosure(temp, names, about.machine, system); err != nil {
		return Bundle{}, err
	}
	manifest, err := b.manifest(jobs, variant, p, temp, names)
	if err != nil {
		return Bundle{}, err
	}
	return store(home, key, temp, manifest)
}

// manifest describes the files in dir and what they were made from.
func (b *Builder) manifest(jobs []*job, variant bench.Variant, p bench.Platform, dir string, names []string) (bench.Bundle, error) {
	m := bench.Bundle{Variant: variant, Platform: p, Source: b.Tree.Identity()}
	var compilers []string
	for _, j := range jobs {
		if c := j.tools.String(); !slices.Contains(compilers, c) {
			compilers = append(compilers, c)
		}
		for _, d := range sortedDefinitions(j.recipe.Definitions) {
			m.Flags = append(m.Flags, j.name()+":"+d)
		}
		if j.component.SDK {
			m.SDK = b.SDK
		}
	}
	m.Compiler = strings.Join(compilers, "; ")
	sort.Strings(m.Flags)
	sort.Strings(names)
	for _, name := range names {
		f, err := describe(dir, name)
		if err != nil {
			return m, err
		}
		m.Files = append(m.Files, f)
	}
	return m, m.Check()
}

// store names the finished folder by the manifest's id.
func store(home, key, temp string, manifest bench.Bundle) (Bundle, error) {
	id, err := manifest.ID()
	if err != nil {
		return Bundle{}, err
	}
	data, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return Bundle{}, err
	}
	dir := filepath.Join(home, string(id))
	if _, err := os.Stat(dir); err == nil {
		// Either the same files made by another way, or damaged ones.
		if err := os.RemoveAll(dir); err != nil {
			return Bundle{}, err
		}
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return Bundle{}, err
	}
	if err := os.Rename(temp, dir); err != nil {
		return Bundle{}, err
	}
	if err := renameio.WriteFile(dir+".json", append(data, '\n'), 0o644); err != nil {
		return Bundle{}, err
	}
	if err := renameio.WriteFile(filepath.Join(home, "keys", key), []byte(id), 0o644); err != nil {
		return Bundle{}, err
	}
	return Bundle{Bundle: manifest, ID: id, Dir: dir}, nil
}

// loadBundle finds the bundle made for the key and checks that its files are
// there at their sizes; Verify reads them.
func loadBundle(home, key string) (Bundle, error) {
	id, err := os.ReadFile(filepath.Join(home, "keys", key))
	if err != nil {
		return Bundle{}, err
	}
	if !bench.IsSHA256(string(id)) {
		return Bundle{}, fmt.Errorf("bundle key %s: %q is no id", key, id)
	}
	b := Bundle{ID: bench.BundleID(id), Dir: filepath.Join(home, string(id))}
	data, err := os.ReadFile(b.Dir + ".json")
	if err != nil {
		return Bundle{}, err
	}
	if err := json.Unmarshal(data, &b.Bundle); err != nil {
		return Bundle{}, err
	}
	if got, err := b.Bundle.ID(); err != nil || got != b.ID {
		return Bundle{}, errors.Join(err, fmt.Errorf("bundle %s: manifest has id %s", b.ID, got))
	}
	if err := b.Check(); err != nil {
		return Bundle{}, err
	}
	for _, f := range b.Files {
		info, err := os.Stat(filepath.Join(b.Dir, filepath.FromSlash(f.Path)))
		if err != nil {
			return Bundle{}, err
		}
		if info.Size() != int64(f.Size) {
			return Bundle{}, fmt.Errorf("%s has %d bytes, not %d", info.Name(), info.Size(), f.Size)
		}
	}
	return b, nil
}

// Verify reads every file and compares its hash with the manifest.
func (b Bundle) Verify() error {
	for _, want := range b.Files {
		got, err := describe(b.Dir, want.Path)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("bundle %s: %s was changed since it was built (sha256 %s, not %s)", b.ID.Short(), want.Path, got.SHA256, want.SHA256)
		}
	}
	return nil
}
