package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"hexab/internal/proc"
)

// Worktree is a commit of a repository, checked out beside it.
type Worktree struct {
	// Dir holds the files, Commit is the commit's hash.
	Dir, Commit string
	lock        *flock.Flock
}

// Release lets others use the folder. It stays, so that the next build in it
// compiles only what changed.
func (w Worktree) Release() error { return w.lock.Unlock() }

// Resolve gives the commit that a reference of the repository means.
func Resolve(ctx context.Context, repo, ref string, opt Options) (string, error) {
	out, err := gitOutput(ctx, opt, repo, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	commit := strings.TrimSpace(string(out))
	var failed *proc.Error
	if errors.As(err, &failed) || err == nil && !treeHash.MatchString(commit) {
		return "", fmt.Errorf("%s has no commit %q; a shallow clone may lack it (fetch-depth)", repo, ref)
	}
	return commit, err
}

// CheckOut provides the commit that ref means as a git worktree at dir, which
// nobody else uses until it is released. What was in dir before is replaced;
// files that do not change are not touched. No hook of the repository runs.
func CheckOut(ctx context.Context, repo, ref, dir string, opt Options) (w Worktree, err error) {
	if w.Commit, err = Resolve(ctx, repo, ref, opt); err != nil {
		return w, err
	}
	if w.Dir, err = filepath.Abs(dir); err != nil {
		return w, err
	}
	if err := os.MkdirAll(filepath.Dir(w.Dir), 0o755); err != nil {
		return w, err
	}
	w.lock = flock.New(w.Dir + ".lock")
	if err := wait(ctx, w.lock, func() { opt.note("waiting for another process that uses %s", w.Dir) }); err != nil {
		return w, err
	}
	if err := w.fill(ctx, repo, opt); err != nil {
		return w, errors.Join(fmt.Errorf("worktree of %s at %s: %w", repo, ref, err), w.lock.Unlock())
	}
	return w, nil
}

func (w Worktree) fill(ctx context.Context, repo string, opt Options) error {
	git := func(dir string, args ...string) error {
		// The user's configuration must not change the files' bytes.
		args = append([]string{
			"-c", "core.hooksPath=" + os.DevNull, "-c", "core.autocrlf=false", "-c", "core.symlinks=true", "-c", "advice.detachedHead=false",
		}, args...)
		_, err := gitOutput(ctx, opt, dir, args...)
		return err
	}
	if same, err := sameRepository(ctx, repo, w.Dir, opt); err != nil {
		return err
	} else if same {
		if err := git(w.Dir, "checkout", "--quiet", "--force", "--detach", w.Commit); err == nil {
			return git(w.Dir, "clean", "-ffdxq")
		}
	}
	if err := os.RemoveAll(w.Dir); err != nil {
		return err
	}
	if err := git(repo, "worktree", "prune"); err != nil {
		return err
	}
	return git(repo, "worktree", "add", "--quiet", "--force", "--detach", w.Dir, w.Commit)
}

// sameRepository tells whether dir is a worktree of repo.
func sameRepository(ctx context.Context, repo, dir string, opt Options) (bool, error) {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return false, nil
	}
	common := []string{"rev-parse", "--path-format=absolute", "--git-common-dir"}
	want, err := gitOutput(ctx, opt, repo, common...)
	if err != nil {
		return false, err
	}
	got, err := gitOutput(ctx, opt, dir, common...)
	return err == nil && string(got) == string(want), nil
}
