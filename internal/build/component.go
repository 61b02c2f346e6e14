package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"hexab/internal/bench"
	"hexab/internal/proc"
	"hexab/internal/source"
)

// keyVersion is part of every key: raise it when this package makes other
// files from the same description.
const keyVersion = 1

// job is one component, resolved: everything that its build depends on.
type job struct {
	b         *Builder
	variant   bench.Variant
	component Component
	platform  bench.Platform
	recipe    Recipe
	tools     toolchain
	level     string
	// key is the hash of all that goes into the result.
	key string
	// work names the build folder: the same for edited sources, so that an
	// edit rebuilds only what it touches.
	work string
}

// built is a component's result in the cache.
type built struct {
	dir string
	// Roots are the outputs that the description names, Libraries what they
	// need and the build has made. All are file names in dir.
	Roots     []string `json:"roots"`
	Libraries []string `json:"libraries"`
}

func (j *job) name() string { return string(j.variant) + "/" + j.component.Name }

// resolve settles a component's recipe, tools and key.
func (b *Builder) resolve(ctx context.Context, common Settings, variant bench.Variant, c Component, p bench.Platform) (*job, error) {
	j := &job{b: b, variant: variant, component: c, platform: p, recipe: c.recipe(p)}
	j.recipe.Settings = common.over(j.recipe.Settings)
	about, err := platformOf(p)
	if err != nil {
		return nil, err
	}
	if about.native && c.Levels != nil {
		flags, err := b.cpuFlags()
		if err != nil {
			return nil, err
		}
		if level, ok := c.level(about.arch, flags); ok {
			j.level = level.Name
			j.recipe.Settings = j.recipe.over(Settings{Definitions: level.Definitions})
		}
	}
	if c.SDK && b.SDK == "" {
		return nil, fmt.Errorf("%s needs a Hexagon SDK: set HEXAGON_SDK_ROOT", j.name())
	}
	want := j.recipe.Compiler
	if want.C, err = b.expand(want.C); err != nil {
		return nil, fmt.Errorf("%s: compiler: %w", j.name(), err)
	}
	if want.CXX, err = b.expand(want.CXX); err != nil {
		return nil, fmt.Errorf("%s: compiler: %w", j.name(), err)
	}
	if j.tools, err = findToolchain(ctx, want); err != nil {
		return nil, fmt.Errorf("%s: %w", j.name(), err)
	}
	if strings.Contains(j.recipe.Compiler.CXX, "${"+holdNDK+"}") {
		j.tools.version += ", " + b.NDK // headers and libraries of its own
	}
	if c.Source == llamaSource {
		// Upstream asks git for these; the tree hash says it for any origin.
		hash := b.Tree.Hash
		j.recipe.Definitions["LLAMA_BUILD_COMMIT"] = hash[:min(9, len(hash))]
		j.recipe.Definitions["LLAMA_BUILD_NUMBER"] = "0"
	}
	return j, j.setKeys()
}

// setKeys hashes everything that the component's build depends on.
func (j *job) setKeys() error {
	own := map[string]string{}
	for _, p := range append([]string{j.component.Source}, j.component.Files...) {
		if p == llamaSource {
			continue
		}
		sum, err := source.HashTree(filepath.Join(j.b.Project, filepath.FromSlash(p)), nil)
		if err != nil {
			return fmt.Errorf("%s: %w", j.name(), err)
		}
		own[p] = sum
	}
	sdk := ""
	if j.component.SDK {
		sdk = j.b.SDK
	}
	config := []any{keyVersion, j.platform, j.component.Source, j.tools.version, j.tools.target,
		sortedDefinitions(j.recipe.Definitions), j.recipe.Targets, j.recipe.Outputs, j.recipe.SystemLibraries, sdk}
	j.key = hashJSON(append(slices.Clone(config), j.b.Tree.Hash, own)...)
	// LLAMA_BUILD_COMMIT changes with each edit and must not move the folder.
	stable := maps.Clone(j.recipe.Definitions)
	delete(stable, "LLAMA_BUILD_COMMIT")
	config[5] = sortedDefinitions(stable)
	j.work = fmt.Sprintf("%s-%s-%s-%s", j.variant, j.component.Name, j.platform,
		hashJSON(append(config, j.tools.c, j.tools.cxx, j.b.Tree.Dir, j.b.Project, j.b.SDKRoot, j.b.ToolsRoot)...)[:12])
	return nil
}

func hashJSON(parts ...any) string {
	data, err := json.Marshal(parts)
	if err != nil {
		panic(err) // strings, numbers, lists and maps of them always encode
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func sortedDefinitions(d map[string]string) []string {
	list := make([]string, 0, len(d))
	for name, value := range d {
		list = append(list, name+"="+value)
	}
	sort.Strings(list)
	return list
}

// build provides the component: from the cache, or by CMake and Ninja.
func (j *job) build(ctx context.Context) (built, error) {
	dir := filepath.Join(j.b.Cache, "build", "components", j.key)
	if r, err := loadBuilt(dir); err == nil {
		return r, nil
	}
	work := filepath.Join(j.b.Cache, "build", "work", j.work)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return built{}, err
	}
	lock := flock.New(work + ".lock")
	if err := j.wait(ctx, lock); err != nil {
		return built{}, err
	}
	defer lock.Unlock() //nolint:errcheck // released with the file in any case
	if r, err := loadBuilt(dir); err == nil {
		return r, nil
	}
	if err := j.configure(ctx, work); err != nil {
		return built{}, err
	}
	if err := j.compile(ctx, work); err != nil {
		return built{}, err
	}
	r, err := j.collect(work, dir)
	if err != nil {
		return built{}, fmt.Errorf("%s: %w", j.name(), err)
	}
	if j.component.Source == llamaSource && !j.b.Tree.Local {
		// Pinned sources never change: nothing here would be used again.
		_ = os.RemoveAll(work)
	}
	return r, nil
}

func (j *job) wait(ctx context.Context, lock *flock.Flock) error {
	got, err := lock.TryLock()
	if err != nil || got {
		return err
	}
	j.tell(PhaseWait, 0, 0, time.Now())
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("%s: waiting for another build of it: %w", j.name(), err)
	}
	return nil
}

func (j *job) tell(phase Phase, done, total int, began time.Time) {
	if j.b.Progress == nil {
		return
	}
	elapsed := time.Since(began)
	j.b.Progress(Event{
		Variant: j.variant, Platform: j.platform, Component: j.component.Name,
		Phase: phase, Done: done, Total: total, Elapsed: elapsed, Left: timeLeft(elapsed, done, total),
	})
}

func (j *job) configure(ctx context.Context, work string) error {
	src, err := j.b.sourceDir(j.component.Source)
	if err != nil {
		return fmt.Errorf("%s: %w", j.name(), err)
	}
	args := []string{"-S", src, "-B", work, "-G", "Ninja"}
	for _, d := range sortedDefinitions(j.recipe.Definitions) {
		expanded, err := j.b.expand(d)
		if err != nil {
			return fmt.Errorf("%s: %w", j.name(), err)
		}
		args = append(args, "-D"+expanded)
	}
	if _, cross := j.recipe.Definitions["CMAKE_TOOLCHAIN_FILE"]; !cross {
		args = append(args, "-DCMAKE_C_COMPILER="+j.tools.c, "-DCMAKE_CXX_COMPILER="+j.tools.cxx)
	}
	// Tools that make it faster are no part of the key: they do not change
	// the result.
	if ccache, err := j.b.lookPath("ccache"); err == nil {
		args = append(args, "-DCMAKE_C_COMPILER_LAUNCHER="+ccache, "-DCMAKE_CXX_COMPILER_LAUNCHER="+ccache)
	}
	if err := j.run(ctx, PhaseConfigure, work, args); err != nil {
		// A half-made configuration would be taken up again.
		_ = os.Remove(filepath.Join(work, "CMakeCache.txt"))
		_ = os.RemoveAll(filepath.Join(work, "CMakeFiles"))
		return err
	}
	return nil
}

func (j *job) compile(ctx context.Context, work string) error {
	args := []string{"--build", work, "--parallel", fmt.Sprint(j.b.jobs()), "--target"}
	return j.run(ctx, PhaseCompile, work, append(args, j.recipe.Targets...))
}

// run runs cmake with its output in the log, and says what went wrong.
func (j *job) run(ctx context.Context, phase Phase, work string, args []string) error {
	logPath := filepath.Join(j.b.Cache, "build", "logs", j.work+"."+string(phase)+".log")
	if err := os.MkdirAll(filepath.Dir(logPath), 0o755); err != nil {
		return err
	}
	log, err := os.Create(logPath)
	if err != nil {
		return err
	}
	defer log.Close()
	began := time.Now()
	j.tell(phase, 0, 0, began)
	var lines []string
	var count steps
	output := proc.NewLines(func(line string) {
		fmt.Fprintln(log, line)
		if count.next(line) {
			j.tell(phase, count.done, count.total, began)
		}
		if len(lines) < maxKeptLines {
			lines = append(lines, line)
		}
	})
	fmt.Fprintf(log, "cmake %s\n", strings.Join(args, " "))
	// Builds inside the build (DSP libraries are external projects) take their
	// number of jobs from the environment.
	env := buildEnv(fmt.Sprintf("CMAKE_BUILD_PARALLEL_LEVEL=%d", j.b.jobs()))
	_, err = proc.Run(ctx, proc.Command{Path: "cmake", Args: args, Env: env, Stdout: output, Stderr: output})
	_ = output.Close()
	switch {
	case err == nil:
		return log.Close()
	case ctx.Err() != nil:
		return fmt.Errorf("%s of %s stopped: %w", phase, j.name(), context.Cause(ctx))
	}
	var failed *proc.Error
	if !errors.As(err, &failed) {
		return fmt.Errorf("%s of %s: %w", phase, j.name(), err) // cmake itself could not be started
	}
	return &Error{Component: j.name(), Phase: phase, Excerpt: firstError(lines), Log: logPath, Err: err}
}

// maxKeptLines bounds what is searched for the first error.
const maxKeptLines = 200_000

// collect copies the outputs and the libraries that they need out of the
// build folder, as the cache folder dir.
func (j *job) collect(work, dir string) (built, error) {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return built{}, err
	}
	temp, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return built{}, err
	}
	defer os.RemoveAll(temp)
	libs, err := librariesIn(work)
	if err != nil {
		return built{}, err
	}
	var r built
	todo := []string{}
	for _, output := range j.recipe.Outputs {
		name := path.Base(output)
		if slices.Contains(r.Roots, name) {
			return built{}, fmt.Errorf("two outputs are called %s", name)
		}
		if err := copyFile(filepath.Join(work, filepath.FromSlash(output)), filepath.Join(temp, name)); err != nil {
			return built{}, fmt.Errorf("output %s was not built: %w", output, err)
		}
		r.Roots = append(r.Roots, name)
		todo = append(todo, name)
	}
	for len(todo) > 0 {
		b, ok, err := readELF(filepath.Join(temp, todo[0]))
		if err != nil {
			return built{}, err
		}
		todo = todo[1:]
		if !ok {
			continue
		}
		for _, needed := range b.needed {
			from, made := libs[needed]
			if !made || slices.Contains(r.Roots, needed) || slices.Contains(r.Libraries, needed) {
				continue
			}
			if err := copyFile(from, filepath.Join(temp, needed)); err != nil {
				return built{}, err
			}
			r.Libraries = append(r.Libraries, needed)
			todo = append(todo, needed)
		}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return built{}, err
	}
	if err := os.WriteFile(filepath.Join(temp, componentFile), data, 0o644); err != nil {
		return built{}, err
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return built{}, err
	}
	_ = os.RemoveAll(dir) // incomplete, or loadBuilt had taken it
	if err := os.Rename(temp, dir); err != nil {
		return built{}, err
	}
	return loadBuilt(dir)
}

// componentFile describes a component's folder; no output may be called so.
const componentFile = "component.json"

func loadBuilt(dir string) (built, error) {
	data, err := os.ReadFile(filepath.Join(dir, componentFile))
	if err != nil {
		return built{}, err
	}
	r := built{dir: dir}
	if err := json.Unmarshal(data, &r); err != nil {
		return built{}, err
	}
	for _, name := range slices.Concat(r.Roots, r.Libraries) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return built{}, err
		}
	}
	return r, nil
}

// librariesIn maps the names of shared libraries in a build folder to paths.
func librariesIn(work string) (map[string]string, error) {
	libs := map[string]string{}
	err := filepath.WalkDir(work, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "CMakeFiles" {
			return filepath.SkipDir
		}
		if name := d.Name(); !d.IsDir() && (strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.")) {
			if _, twice := libs[name]; !twice {
				libs[name] = p
			}
		}
		return nil
	})
	return libs, err
}
