package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"

	"hexab/internal/compare"
	"hexab/internal/history"
	"hexab/internal/proc"
	"hexab/internal/source"
	"hexab/internal/store"
)

// HistoryOptions say what of the history is wanted.
type HistoryOptions struct {
	// File is the history's file; empty is results/history.jsonl.
	File string
	// Add names what to add first: a run, "latest", or a folder of artifacts.
	// Commit is the commit that it measured, for runs that do not say; empty is
	// the checkout's.
	Add, Commit string
	// SVG is a file to draw to.
	SVG string
	// Model, Test and Arm choose series.
	Model, Test, Arm string
	// Threshold is the smallest change that matters in percent.
	Threshold string
}

// historyThreshold is the smallest change of a series that is looked at.
const historyThreshold = 0.03

// History keeps and shows speeds from commit to commit.
func History(ctx context.Context, o HistoryOptions) error {
	w, err := Open()
	if err != nil {
		return err
	}
	threshold := historyThreshold
	if o.Threshold != "" {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(o.Threshold, "%"), 64)
		if err != nil || percent <= 0 || percent > 50 {
			return usage("threshold: %q is not a percentage above 0 and up to 50", o.Threshold)
		}
		threshold = percent / 100
	}
	if o.File == "" {
		o.File = filepath.Join(w.Root, "results", "history.jsonl")
	}
	entries, err := readHistory(o.File)
	if err != nil {
		return err
	}
	if o.Add != "" {
		if entries, err = w.addToHistory(ctx, o, entries); err != nil {
			return err
		}
	}
	if len(entries) == 0 {
		return usage("%s holds nothing yet; add a run with -add=latest", o.File)
	}
	series := slices.DeleteFunc(history.Split(entries, threshold), func(s history.Series) bool {
		return o.Model != "" && s.Key.Model != o.Model || o.Test != "" && s.Key.Test.String() != o.Test || o.Arm != "" && s.Key.Arm != o.Arm
	})
	if len(series) == 0 {
		return usage("no series of model %q, test %q, arm %q", o.Model, o.Test, o.Arm)
	}
	if o.SVG != "" {
		if err := renameio.WriteFile(o.SVG, history.SVG(series), 0o644); err != nil {
			return err
		}
	}
	_, err = w.Out.Write(history.Terminal(series))
	return err
}

func readHistory(file string) ([]history.Entry, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return history.Parse(file, text)
}

func (w *Workspace) addToHistory(ctx context.Context, o HistoryOptions, entries []history.Entry) ([]history.Entry, error) {
	parts, err := w.partsOf(o.Add)
	if err != nil {
		return nil, err
	}
	if o.Commit == "" {
		if o.Commit, err = source.Resolve(ctx, w.Root, "HEAD", source.Options{}); err != nil {
			return nil, err
		}
	}
	more, err := history.Of(parts, o.Commit)
	if err != nil {
		return nil, &UsageError{err}
	}
	before := len(entries)
	entries = history.Add(entries, more)
	text, err := history.Write(entries)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(o.File), 0o755); err != nil {
		return nil, err
	}
	w.Note("%d values added to %s", len(entries)-before, o.File)
	return entries, renameio.WriteFile(o.File, text, 0o644)
}

// partsOf reads an archived run, or a folder of artifacts.
func (w *Workspace) partsOf(name string) ([]compare.Part, error) {
	dir, err := store.Find(filepath.Join(w.Root, "results"), name)
	if err != nil {
		parts, notes, failed := collect(name)
		if failed == nil && len(notes) == 0 && len(parts) > 0 {
			return parts, nil
		}
		return nil, &UsageError{errors.Join(append([]error{err, failed}, notesAsErrors(notes)...)...)}
	}
	run, records, _, err := store.Read(dir)
	if err != nil {
		return nil, err
	}
	if run, records, err = ended(run, records); err != nil {
		return nil, err
	}
	return compare.Parts(run, records, statOptions(run))
}

func notesAsErrors(notes []string) []error {
	var errs []error
	for _, note := range notes {
		errs = append(errs, errors.New(note))
	}
	return errs
}

// Nightly is the comparison that is made each night.
type Nightly struct {
	Options
	// Branch is where the history is kept; empty keeps it in results.
	Branch string
}

// nightlyRounds is enough for small changes of eight models.
const nightlyRounds = 10

// CINightly measures all models, adds them to the history, and measures again
// what became a suspect by that.
func CINightly(ctx context.Context, n Nightly) error {
	w, err := Open()
	if err != nil {
		return err
	}
	if n.Models == "" {
		n.Models = "all"
	}
	if n.Rounds == 0 {
		n.Rounds = nightlyRounds
	}
	file := filepath.Join(w.Root, "results", "history.jsonl")
	var data *dataBranch
	if n.Branch != "" {
		if data, err = w.openData(ctx, n.Branch); err != nil {
			return err
		}
		defer func() { _ = data.tree.Release() }()
		file = filepath.Join(data.tree.Dir, "history.jsonl")
	}
	var suspects []string
	for range 2 {
		failure := w.night(ctx, n, file)
		if data != nil {
			failure = errors.Join(failure, data.push(ctx))
		}
		if failure != nil {
			return failure
		}
		entries, err := readHistory(file)
		if err != nil {
			return err
		}
		if suspects = suspectModels(entries); len(suspects) == 0 {
			return nil
		}
		w.Note("suspects: %s; measuring them again", strings.Join(suspects, ", "))
		n.Models, n.Seed = strings.Join(suspects, ","), ""
	}
	return nil
}

// night measures once and adds the run to the history.
func (w *Workspace) night(ctx context.Context, n Nightly, file string) error {
	dir := ""
	n.after = func(a *store.Archive, failure error) error {
		dir = a.Dir()
		return errors.Join(failure, w.leaveArtifact(a, filepath.Join(w.Root, filepath.FromSlash(defaultArtifacts))))
	}
	failure := ABTest(ctx, n.Options)
	if dir == "" {
		return failure
	}
	svg := strings.TrimSuffix(file, ".jsonl") + ".svg"
	return errors.Join(failure, History(ctx, HistoryOptions{File: file, Add: dir, SVG: svg}))
}

func suspectModels(entries []history.Entry) []string {
	var models []string
	for _, s := range history.Split(entries, historyThreshold) {
		if s.Suspect() != nil && !slices.Contains(models, s.Key.Model) {
			models = append(models, s.Key.Model)
		}
	}
	return models
}

// dataBranch is a branch that holds nothing but data, checked out.
type dataBranch struct {
	tree   source.Worktree
	branch string
}

// openData checks the branch out as it is at origin, or begins it.
func (w *Workspace) openData(ctx context.Context, branch string) (*dataBranch, error) {
	remote := "refs/remotes/origin/" + branch
	git := func(args ...string) (string, error) { return runGit(ctx, w.Root, args...) }
	if _, err := git("check-ref-format", "--branch", branch); err != nil {
		return nil, usage("branch: %q is not a branch's name", branch)
	}
	there, err := git("ls-remote", "--heads", "origin", "refs/heads/"+branch)
	if err != nil {
		return nil, err
	}
	start := remote
	if there == "" {
		empty, err := git("hash-object", "-t", "tree", "-w", os.DevNull)
		if err != nil {
			return nil, err
		}
		if start, err = git(append(identity, "commit-tree", "-m", "history: begun", empty)...); err != nil {
			return nil, err
		}
	} else if _, err := git("fetch", "--quiet", "origin", "+refs/heads/"+branch+":"+remote); err != nil {
		return nil, err
	}
	tree, err := source.CheckOut(ctx, w.Root, start, filepath.Join(w.Cache, "trees", "data-"+strings.ReplaceAll(branch, "/", "-")), source.Options{})
	return &dataBranch{tree, branch}, err
}

// identity is who commits data.
var identity = []string{"-c", "user.name=hexab", "-c", "user.email=hexab@users.noreply.github.com"}

// push commits what changed and pushes it. Somebody else's push in between is
// an error: the branch has one writer.
func (d *dataBranch) push(ctx context.Context) error {
	if _, err := runGit(ctx, d.tree.Dir, "add", "--all"); err != nil {
		return err
	}
	if changed, err := runGit(ctx, d.tree.Dir, "status", "--porcelain"); err != nil || changed == "" {
		return err
	}
	if _, err := runGit(ctx, d.tree.Dir, append(identity, "commit", "--quiet", "-m", "history: more values")...); err != nil {
		return err
	}
	_, err := runGit(ctx, d.tree.Dir, "push", "--quiet", "origin", "HEAD:refs/heads/"+d.branch)
	return err
}

func runGit(ctx context.Context, dir string, args ...string) (string, error) {
	var out bytes.Buffer
	args = append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)
	if _, err := proc.Run(ctx, proc.Command{Path: "git", Args: args, Dir: dir, Stdout: &out, Env: append(os.Environ(), "GIT_TERMINAL_PROMPT=0")}); err != nil {
		return "", fmt.Errorf("git: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}
