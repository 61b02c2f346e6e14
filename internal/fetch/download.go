package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"
)

// Request is one file to have.
type Request struct {
	// Name is the file's name for people.
	Name string
	// Key names the file in the lock file: it must say whose file it is, such
	// as owner/repository/file. Empty takes no part in the lock file.
	Key string
	// URLs are where the same bytes are, tried in order.
	URLs []string
	// Dest is the file's path.
	Dest string
	// Size in bytes and SHA256 in lower-case hex; zero and empty are unknown.
	Size   int64
	SHA256 string
	// Estimate is the size for the check of free space where Size is unknown;
	// zero counts for nothing.
	Estimate int64
	// Validate looks at the whole file before it gets its name; nil allows any.
	Validate func(path string) error
}

// File is a file that is there and was checked.
type File struct {
	Path string
	Locked
	// Downloaded tells that the network was used.
	Downloaded bool
	// From is the file that it was taken from when it was found in Client.From.
	From string
}

// Client fetches files. The zero value works.
type Client struct {
	// Tokens are sent to their hosts only, and never shown.
	Tokens []Token
	// Lock remembers what requests leave open; it may be nil.
	Lock *LockFile
	// Progress is told what happens; it may be nil.
	Progress Progress
	// Parallel is how many files GetAll fetches at a time, and PerHost how many
	// of them from one host; zero is four and two, which fills a line without
	// hogging a host.
	Parallel, PerHost int
	// From is a folder with files that were downloaded otherwise. Those that
	// are the right ones are taken from it; empty is none.
	From string
	// Offline forbids the network: what is not here is an error.
	Offline bool
	// Attempts is how often a URL is tried without a byte of progress; zero
	// is five.
	Attempts int
	// Backoff is the wait before the n-th new attempt (n from 1); nil doubles
	// from one second to half a minute, with jitter.
	Backoff func(n int) time.Duration
	// MaxWait is the longest Retry-After that is waited for; zero is five minutes.
	MaxWait time.Duration
	// Stall is how long a body may deliver nothing; zero is a minute.
	Stall time.Duration

	http *http.Client
	// free overrides the disk's free bytes in tests.
	free func(dir string) (int64, error)

	hosts hosts
}

// maxUnknown bounds a file of unknown size.
const maxUnknown = 64 << 30

// GetAll fetches several files, a few at a time, after it has checked that the
// disk has room for them all (a *SpaceError). One failure does not stop the
// others; the errors are joined. Files are in the requests' order.
func (c *Client) GetAll(ctx context.Context, requests []Request) ([]File, error) {
	if err := c.Room(requests); err != nil {
		return make([]File, len(requests)), err
	}
	files, errs := make([]File, len(requests)), make([]error, len(requests))
	var group errgroup.Group
	group.SetLimit(max(1, orDefault(c.Parallel, 4)))
	for i, r := range requests {
		group.Go(func() error {
			files[i], errs[i] = c.Get(ctx, r)
			return nil
		})
	}
	_ = group.Wait() // errors are in errs
	return files, errors.Join(errs...)
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// Get makes sure that the file is at its path with the right bytes. A file
// that was checked before and looks untouched is taken without reading it, and
// without the network. Nothing bad is ever under the final name.
func (c *Client) Get(ctx context.Context, r Request) (File, error) {
	locked, err := c.expect(r)
	if err != nil {
		return File{}, err
	}
	if f, ok, err := c.present(ctx, r, locked); ok || err != nil {
		return f, err
	}
	if c.Offline && c.From == "" {
		return File{}, &AbsentError{Name: r.Name, Dest: r.Dest}
	}
	dir := filepath.Dir(r.Dest)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return File{}, err
	}
	lock := flock.New(filepath.Join(dir, "."+filepath.Base(r.Dest)+".lock"))
	if got, err := lock.TryLock(); err != nil {
		return File{}, err
	} else if !got {
		c.tell(Event{Name: r.Name, Phase: PhaseWait, Total: -1, Left: -1, Note: "another process is fetching it"})
		if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
			return File{}, fmt.Errorf("%s: waiting for another process: %w", r.Name, err)
		}
	}
	defer lock.Unlock() //nolint:errcheck // released with the file in any case
	if f, ok, err := c.present(ctx, r, locked); ok || err != nil {
		return f, err
	}
	f, ok, notRight := c.fromFolder(ctx, r, locked)
	switch {
	case ok:
		return f, nil
	case ctx.Err() != nil:
		return File{}, context.Cause(ctx)
	case c.Offline:
		return File{}, &AbsentError{Name: r.Name, Dest: r.Dest, From: c.From, Reason: notRight}
	case len(r.URLs) == 0:
		return File{}, errors.Join(fmt.Errorf("%s: no URL is known", r.Name), notRight)
	}
	t := &transfer{c: c, r: r, want: locked, part: r.Dest + ".part"}
	return t.run(ctx)
}

// expect is what the manifest and the lock file say together.
func (c *Client) expect(r Request) (Locked, error) {
	want := Locked{Size: r.Size, SHA256: r.SHA256}
	if c.Lock == nil || r.Key == "" {
		return want, nil
	}
	known, ok, err := c.Lock.Find(r.Key)
	if err != nil || !ok {
		return want, err
	}
	if r.SHA256 != "" && known.SHA256 != r.SHA256 {
		return want, nil // the manifest decides; Record will say so
	}
	if r.Size != 0 && known.Size != r.Size {
		return want, &MismatchError{Name: r.Name, Field: "size", Got: fmt.Sprint(known.Size), Want: fmt.Sprint(r.Size), From: "the manifest"}
	}
	return known, nil
}

// present takes a file that is already there. One that is not the right one
// is an error rather than overwritten: it may be all that a user has.
func (c *Client) present(ctx context.Context, r Request, want Locked) (File, bool, error) {
	info, err := os.Stat(r.Dest)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, false, nil
	}
	if err != nil {
		return File{}, false, err
	}
	if seen, ok := readStamp(r.Dest, info); ok && (want.SHA256 == "" || seen.SHA256 == want.SHA256) && (want.Size == 0 || seen.Size == want.Size) {
		return File{Path: r.Dest, Locked: seen}, true, nil
	}
	got, err := c.check(ctx, r, want, r.Dest)
	if err != nil {
		return File{}, false, fmt.Errorf("the file that is already there is not the right one (remove %s to fetch it again): %w", r.Dest, err)
	}
	f, err := c.accept(r, got, false)
	return f, err == nil, err
}

// Verify reads the file at the request's path again, whatever was remembered.
func (c *Client) Verify(ctx context.Context, r Request) (File, error) {
	want, err := c.expect(r)
	if err != nil {
		return File{}, err
	}
	got, err := c.check(ctx, r, want, r.Dest)
	if err != nil {
		return File{}, err
	}
	return c.accept(r, got, false)
}

// check compares a file with what is wanted and returns what it is.
func (c *Client) check(ctx context.Context, r Request, want Locked, path string) (Locked, error) {
	if info, err := os.Stat(path); err != nil {
		return Locked{}, err
	} else if want.Size != 0 && info.Size() != want.Size {
		return Locked{}, &MismatchError{Name: r.Name, Field: "size", Got: fmt.Sprint(info.Size()), Want: fmt.Sprint(want.Size), From: c.source(r, "size")}
	}
	got, err := hashFile(ctx, path, r.Name, c.Progress)
	if err != nil {
		return Locked{}, err
	}
	got.Revision = want.Revision
	if want.SHA256 != "" && got.SHA256 != want.SHA256 {
		return Locked{}, &MismatchError{Name: r.Name, Field: "sha256", Got: got.SHA256, Want: want.SHA256, From: c.source(r, "sha256")}
	}
	if r.Validate != nil {
		if err := r.Validate(path); err != nil {
			return Locked{}, err
		}
	}
	return got, nil
}

// source says who expects a field.
func (c *Client) source(r Request, field string) string {
	if (field == "size" && r.Size != 0) || (field == "sha256" && r.SHA256 != "") || c.Lock == nil {
		return "the manifest"
	}
	return c.Lock.Path
}

// accept remembers a checked file.
func (c *Client) accept(r Request, got Locked, downloaded bool) (File, error) {
	if c.Lock != nil && r.Key != "" {
		if err := c.Lock.Record(r.Key, got, r.SHA256 != ""); err != nil {
			return File{}, err
		}
	}
	if err := writeStamp(r.Dest, got); err != nil {
		return File{}, err
	}
	c.tell(Event{Name: r.Name, Phase: PhaseDone, Bytes: got.Size, Total: got.Size})
	return File{Path: r.Dest, Locked: got, Downloaded: downloaded}, nil
}

func (c *Client) tell(e Event) {
	if c.Progress != nil {
		c.Progress(e)
	}
}

func (c *Client) client() *http.Client {
	if c.http != nil {
		return c.http
	}
	return newHTTP(c.Tokens)
}

func (c *Client) attempts() int {
	if c.Attempts > 0 {
		return c.Attempts
	}
	return 5
}

func (c *Client) maxWait() time.Duration {
	if c.MaxWait > 0 {
		return c.MaxWait
	}
	return 5 * time.Minute
}

func (c *Client) stall() time.Duration {
	if c.Stall > 0 {
		return c.Stall
	}
	return time.Minute
}

func (c *Client) backoff(n int) time.Duration {
	if c.Backoff != nil {
		return c.Backoff(n)
	}
	wait := min(time.Second<<min(n-1, 5), 30*time.Second)
	return wait/2 + rand.N(wait) // clients that failed together do not come back together
}
