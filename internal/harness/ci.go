package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"hexab/internal/arm"
	"hexab/internal/artifact"
	"hexab/internal/compare"
	"hexab/internal/gate"
	"hexab/internal/github"
	"hexab/internal/report"
	"hexab/internal/store"
)

// Environment variables that GitHub Actions sets and ciReport reads.
const (
	envToken      = "GITHUB_TOKEN"
	envAPI        = "GITHUB_API_URL"
	envRepository = "GITHUB_REPOSITORY"
	envEvent      = "GITHUB_EVENT_PATH"
	envSummary    = "GITHUB_STEP_SUMMARY"
)

// Defaults of ciRun: what a pull request changes is the difference between the
// first parent of its merge commit and that commit.
const (
	DefaultBase     = "HEAD^1"
	DefaultHead     = "HEAD"
	DefaultCIRounds = 8
	// defaultArtifacts is where a run's artifact is kept, below the checkout.
	defaultArtifacts = "results/ci"
)

// CIRun builds the base and the head commit and compares them in one
// interleaved run; o.Arms are those to compare, without their trees, by default
// the variants that the change touches. The artifact is written to the folder
// artifacts, whatever the run came to.
func CIRun(ctx context.Context, o Options, artifacts string) (err error) {
	w, err := Open()
	if err != nil {
		return err
	}
	w.install = o.Install
	o.Base, o.Head = cmp.Or(o.Base, DefaultBase), cmp.Or(o.Head, DefaultHead)
	if o.Arms != "" {
		if o, err = w.ciOptions(o); err != nil {
			return err
		}
	}
	if _, err := w.understand(o); err != nil { // before anything is checked out
		return err
	}
	if o.sources, err = w.trees(ctx, []arm.Spec{{Tree: arm.Trees[0]}, {Tree: arm.Trees[1]}}, o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.sources.Close()) }()
	if o.Arms == "" {
		if o.Arms, err = w.touched(o.sources); err != nil {
			return err
		}
		if o, err = w.ciOptions(o); err != nil {
			return err
		}
	}
	if artifacts == "" {
		artifacts = filepath.Join(w.Root, filepath.FromSlash(defaultArtifacts))
	}
	o.after = func(a *store.Archive, failure error) error {
		return errors.Join(failure, w.showPairs(a), w.leaveArtifact(a, artifacts), w.summarise(a, o.Gate))
	}
	return ABTest(ctx, o)
}

// touched lists the variants that base and head build from different sources.
// Where there is none it is all variants: the change is then in what runs them.
func (w *Workspace) touched(t *trees) (arms string, err error) {
	base, head := t.builders[arm.Trees[0]], t.builders[arm.Trees[1]]
	var both, changed []string
	for _, v := range w.known() {
		if base.Variants[v].Name == "" || head.Variants[v].Name == "" {
			w.Note("%s is not in both commits: there is nothing to compare it with", v)
			continue
		}
		before, err := base.Inputs(v)
		if err != nil {
			return "", err
		}
		after, err := head.Inputs(v)
		if err != nil {
			return "", err
		}
		both = append(both, string(v))
		if before != after {
			changed = append(changed, string(v))
		}
	}
	switch {
	case len(both) == 0:
		return "", usage("arms: the two commits have no variant in common")
	case len(changed) == 0:
		w.Note("no variant's sources differ: comparing %s", strings.Join(both, ", "))
		return strings.Join(both, ","), nil
	}
	w.Note("the sources of %s differ", strings.Join(changed, ", "))
	return strings.Join(changed, ","), nil
}

// ciOptions turns arms into pairs of base and head.
func (w *Workspace) ciOptions(o Options) (Options, error) {
	specs, err := arm.Parse(o.Arms, w.known())
	if err != nil {
		return o, &UsageError{err}
	}
	var pairs []string
	for _, spec := range specs {
		if spec.Tree != "" {
			return o, usage("arms: %s names a tree; ciRun makes base:... and head:... of each arm itself", spec)
		}
		for _, tree := range arm.Trees {
			spec.Tree = tree
			if slices.Contains(pairs, spec.String()) {
				return o, usage("arms: %s stands twice", spec)
			}
			pairs = append(pairs, spec.String())
		}
	}
	o.Arms = strings.Join(pairs, ",")
	if o.Rounds == 0 {
		o.Rounds = DefaultCIRounds
	}
	return o, nil
}

// showPairs shows each head with its own base, where there are several: the
// run's table compares all arms with the first one.
func (w *Workspace) showPairs(a *store.Archive) error {
	parts, err := archivedParts(a)
	if err != nil || len(parts) < 2 {
		return err
	}
	for _, part := range parts {
		part.Run.Command = "" // the whole run's
		fmt.Fprintf(w.Out, "\n%s", report.Terminal(part.Comparisons, part.Run, report.Options{Width: w.Width}))
	}
	return nil
}

// leaveArtifact writes the file that the reporting job reads.
func (w *Workspace) leaveArtifact(a *store.Archive, dir string) error {
	run, records, err := sofar(a)
	if err != nil {
		return err
	}
	data, err := artifact.Encode(run, records)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, artifact.FileName)
	if err := renameio.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(w.Out, "Artifact: %s\n", path)
	return nil
}

// summarise adds the result to the job's summary, inside GitHub Actions.
func (w *Workspace) summarise(a *store.Archive, conditions string) error {
	path := os.Getenv(envSummary)
	if path == "" {
		return nil
	}
	parts, err := archivedParts(a)
	if err != nil {
		return err
	}
	g, err := gate.Parse(conditions)
	if err != nil {
		return err
	}
	r, err := review(g, parts, nil)
	if err != nil {
		return err
	}
	return github.AppendSummary(path, append(r.Markdown(github.MaxSummaryBytes/2), '\n'))
}

// review joins parts to what is told of them.
func review(g gate.Gate, parts []compare.Part, notes []string) (report.Review, error) {
	r := report.Review{Parts: parts, Gate: g, Notes: notes}
	r.Base, r.Head = commitOf(parts, arm.Trees[0]), commitOf(parts, arm.Trees[1])
	if len(parts) == 0 {
		return r, nil
	}
	var err error
	r.Result, err = g.Evaluate(parts)
	return r, err
}

// commitOf is the commit that all parts have for a tree, or empty.
func commitOf(parts []compare.Part, name string) string {
	commit := ""
	for _, part := range parts {
		for _, tree := range part.Run.Trees {
			switch {
			case tree.Name != name || tree.Commit == commit:
			case commit == "":
				commit = tree.Commit
			default:
				return ""
			}
		}
	}
	return commit
}

// CIGate applies a gate to the artifacts in a folder.
func CIGate(in, conditions string) error {
	w, err := Open()
	if err != nil {
		return err
	}
	g, err := gate.Parse(conditions)
	if err != nil {
		return &UsageError{err}
	}
	if g == nil {
		return usage("gate: say what must hold, such as -gate=tg:-2%%")
	}
	if in == "" {
		in = filepath.Join(w.Root, filepath.FromSlash(defaultArtifacts))
	}
	parts, notes, err := collect(in)
	if err != nil {
		return err
	}
	if len(parts)+len(notes) == 0 {
		return usage("in: there is no %s in %s or its folders", artifact.FileName, in)
	}
	if len(notes) > 0 {
		return fmt.Errorf("%s: %s", in, strings.Join(notes, "; "))
	}
	result, err := w.showGate(g, parts)
	if err != nil {
		return err
	}
	if result.State == gate.Fail {
		return &GateError{g, result}
	}
	return nil
}
