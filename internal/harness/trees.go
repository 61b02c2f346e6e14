package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/device"
	"hexab/internal/source"
)

// What a tree can be of.
const (
	treeOfHexab = "hexab"
	treeOfLlama = "llama.cpp"
)

// workingFolder is the reference that means a repository's files as they are.
const workingFolder = "."

// origin is what a bundle is built from: a variant as a source tree has it.
// The empty tree is the checkout itself.
type origin struct {
	tree    string
	variant bench.Variant
}

func originOf(a bench.Arm) origin { return origin{a.Tree, a.Variant} }

// trees are the builders of the source trees that a run's arms name.
type trees struct {
	builders map[string]*build.Builder
	named    []bench.Tree
	release  []func() error
}

// Close lets others use the trees' folders.
func (t *trees) Close() error {
	var errs []error
	for _, release := range t.release {
		errs = append(errs, release())
	}
	return errors.Join(errs...)
}

// wants are what the device is opened for.
func (t *trees) wants(specs []arm.Spec) (what wants) {
	for _, spec := range specs {
		what.variants = append(what.variants, spec.Variant)
	}
	for _, b := range t.builders {
		what.builders = append(what.builders, b)
	}
	return what
}

// references are the commits that the trees' names stand for.
func (o Options) references() map[string]string {
	return map[string]string{arm.Trees[0]: o.Base, arm.Trees[1]: o.Head}
}

// trees checks out what the arms name and gives a builder for each.
func (w *Workspace) trees(ctx context.Context, specs []arm.Spec, o Options) (t *trees, err error) {
	t = &trees{builders: map[string]*build.Builder{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	for _, spec := range specs {
		if t.builders[spec.Tree] != nil {
			continue
		}
		if spec.Tree == "" {
			if t.builders[""], err = w.Builder(ctx, t.wants(specs).variants...); err != nil {
				return t, err
			}
			continue
		}
		ref := o.references()[spec.Tree]
		if ref == "" {
			return t, usage("arms: %s names a source tree; say which commit it is with -%s= (%q is the folder as it is)", spec, spec.Tree, workingFolder)
		}
		if err := t.add(ctx, w, spec.Tree, ref, o.Repo); err != nil {
			return t, fmt.Errorf("%s: %w", spec.Tree, err)
		}
	}
	return t, nil
}

// add checks a commit out and makes a builder of it.
func (t *trees) add(ctx context.Context, w *Workspace, name, ref, repo string) error {
	if repo == "" {
		repo = w.Root
	}
	repo, err := filepath.Abs(repo)
	if err != nil {
		return err
	}
	dir, commit := repo, ""
	if ref != workingFolder {
		sum := sha256.Sum256([]byte(repo))
		place := filepath.Join(w.Cache, "trees", hex.EncodeToString(sum[:6]), name)
		worktree, err := source.CheckOut(ctx, repo, ref, place, source.Options{Note: func(line string) { w.Note("%s", line) }})
		if err != nil {
			return err
		}
		t.release = append(t.release, worktree.Release)
		dir, commit = worktree.Dir, worktree.Commit
	}
	at, of, err := w.at(dir)
	if err != nil {
		return err
	}
	if t.builders[name], err = at.Builder(ctx, at.known()...); err != nil {
		return err
	}
	label := commit
	if commit == "" {
		label = "the working folder"
	}
	w.Note("%s is %s of %s", name, label, of)
	t.named = append(t.named, bench.Tree{Name: name, Commit: commit, Of: of})
	return nil
}

// at is the workspace with another source tree: one of hexab, or one of
// llama.cpp that this checkout's variants are built from.
func (w *Workspace) at(dir string) (*Workspace, string, error) {
	if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && strings.HasPrefix(string(text), "module hexab\n") {
		other, err := openAt(dir)
		if err != nil {
			return nil, "", err
		}
		other.Cache, other.Out, other.Err, other.meter = w.Cache, w.Out, w.Err, w.meter
		other.install = w.install
		return other, treeOfHexab, nil
	}
	if exists(filepath.Join(dir, "ggml", "CMakeLists.txt")) {
		other := *w
		other.Llama = dir
		return &other, treeOfLlama, nil
	}
	return nil, "", usage("%s is neither a tree of hexab nor one of llama.cpp", dir)
}

// bundles builds what the arms need and gives each arm its bundle.
func (t *trees) bundles(ctx context.Context, arms []bench.Arm, p bench.Platform) (map[origin]build.Bundle, error) {
	bundles := map[origin]build.Bundle{}
	for i, a := range arms {
		from := originOf(a)
		b, done := bundles[from]
		if !done {
			builder := t.builders[from.tree]
			if builder == nil {
				return nil, usage("arm %s: its source tree %q is not known here", a.Label, from.tree)
			}
			var err error
			if b, err = builder.Bundle(ctx, a.Variant, p); err != nil {
				if from.tree != "" {
					err = fmt.Errorf("%s: %w", from.tree, err)
				}
				return nil, err
			}
			bundles[from] = b
		}
		arms[i].Bundle = b.ID
	}
	return bundles, nil
}

// describeBundles lists the bundles for the archive, each once.
func describeBundles(bundles map[origin]build.Bundle) []bench.BundleInfo {
	var list []bench.BundleInfo
	for _, b := range bundles {
		if !slices.ContainsFunc(list, func(known bench.BundleInfo) bool { return known.ID == b.ID }) {
			list = append(list, bench.BundleInfo{
				ID: b.ID, Variant: b.Variant, Platform: b.Platform, Source: b.Source, Compiler: b.Compiler, Flags: b.Flags, SDK: b.SDK,
			})
		}
	}
	slices.SortFunc(list, func(a, b bench.BundleInfo) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return list
}

// openAt opens the checkout of hexab at root.
func openAt(root string) (*Workspace, error) {
	w := &Workspace{Root: root, Out: os.Stdout, Err: os.Stderr, meter: newMeter(os.Stderr)}
	return w, w.load()
}

// specsOf names the trees of a recorded run's arms.
func specsOf(run bench.Run) []arm.Spec {
	specs := make([]arm.Spec, len(run.Arms))
	for i, a := range run.Arms {
		specs[i] = arm.Spec{Tree: a.Tree, Variant: a.Variant, Declared: a.Declared}
	}
	return specs
}

// withTrees goes on with the commits of a recorded run.
func (o Options) withTrees(run bench.Run) Options {
	for _, t := range run.Trees {
		for name, ref := range map[string]*string{arm.Trees[0]: &o.Base, arm.Trees[1]: &o.Head} {
			if *ref == "" && t.Name == name {
				*ref = reference(t)
			}
		}
	}
	return o
}

// treeFlags are the arguments that name the trees again.
func treeFlags(named []bench.Tree, repo string) string {
	var text strings.Builder
	for _, t := range named {
		fmt.Fprintf(&text, " -%s=%s", t.Name, reference(t))
	}
	if repo != "" && named != nil {
		text.WriteString(" -repo=" + device.Quote(repo))
	}
	return text.String()
}

func reference(t bench.Tree) string {
	if t.Commit == "" {
		return workingFolder
	}
	return t.Commit
}
