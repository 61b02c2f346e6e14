package fetch

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

// Locked is what a file was when it was first fetched.
type Locked struct {
	Size     int64  `json:"size"`   // bytes
	SHA256   string `json:"sha256"` // lower-case hex
	Revision string `json:"revision,omitempty"`
}

// LockFile holds what the manifest leaves open: size, hash and revision of a
// file are taken on first use and insisted on from then on. It is text, one
// file a line, sorted, meant to be committed:
//
//	<sha256> <size> <revision or -> <key>
type LockFile struct {
	// Path is the lock file; it need not exist yet.
	Path string
	mu   sync.Mutex
}

const lockHeader = "# Written by hexab: what files were when they were first fetched (sha256, size, revision, file).\n"

var (
	sumPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
	keyPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+@-]*$`)
)

// LockError is a line of the lock file that can not be trusted.
type LockError struct {
	Path string
	Line int
	What string
}

// Error is file:line: what.
func (e *LockError) Error() string { return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.What) }

// ParseLock parses a lock file strictly. Path is for errors.
func ParseLock(path string, data []byte) (map[string]Locked, error) {
	all := map[string]Locked{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		key, l, err := parseLockLine(text)
		if err != nil {
			return nil, &LockError{path, n, err.Error()}
		}
		if _, twice := all[key]; twice {
			return nil, &LockError{path, n, fmt.Sprintf("%s is listed twice", key)}
		}
		all[key] = l
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

func parseLockLine(text string) (string, Locked, error) {
	parts := strings.Split(text, " ")
	if len(parts) != 4 {
		return "", Locked{}, fmt.Errorf("has %d fields, expected sha256, size, revision and file with one space between", len(parts))
	}
	size, err := strconv.ParseInt(parts[1], 10, 64)
	switch {
	case !sumPattern.MatchString(parts[0]):
		return "", Locked{}, fmt.Errorf("%q is not a sha256", parts[0])
	case err != nil || size <= 0 || strconv.FormatInt(size, 10) != parts[1]:
		return "", Locked{}, fmt.Errorf("%q is not a size", parts[1])
	case parts[2] != "-" && !revisionPattern.MatchString(parts[2]):
		return "", Locked{}, fmt.Errorf("%q is neither a git commit nor -", parts[2])
	case !keyPattern.MatchString(parts[3]) || len(parts[3]) > 512:
		return "", Locked{}, fmt.Errorf("%q is not a file's key", parts[3])
	}
	l := Locked{Size: size, SHA256: parts[0]}
	if parts[2] != "-" {
		l.Revision = parts[2]
	}
	return parts[3], l, nil
}

// FormatLock is the lock file's content.
func FormatLock(all map[string]Locked) []byte {
	var b bytes.Buffer
	b.WriteString(lockHeader)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		l := all[key]
		fmt.Fprintf(&b, "%s %d %s %s\n", l.SHA256, l.Size, cmp.Or(l.Revision, "-"), key)
	}
	return b.Bytes()
}

func (f *LockFile) read() (map[string]Locked, error) {
	data, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Locked{}, nil
	}
	if err != nil {
		return nil, err
	}
	return ParseLock(f.Path, data)
}

// Find is what is known of a file.
func (f *LockFile) Find(key string) (Locked, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.read()
	if err != nil {
		return Locked{}, false, err
	}
	l, ok := all[key]
	return l, ok, nil
}

// Record adds a file, atomically and safe against other processes. A file that
// differs from the one recorded is a *MismatchError, unless the manifest
// decides by a hash of its own, which then replaces the record.
func (f *LockFile) Record(key string, got Locked, manifestDecides bool) error {
	if _, _, err := parseLockLine(fmt.Sprintf("%s %d %s %s", got.SHA256, got.Size, cmp.Or(got.Revision, "-"), key)); err != nil {
		return fmt.Errorf("lock file entry: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(filepath.Dir(f.Path), "."+filepath.Base(f.Path)+".flock"))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Unlock() //nolint:errcheck // released with the file in any case
	all, err := f.read()
	if err != nil {
		return err
	}
	if known, ok := all[key]; ok {
		if known.SHA256 == got.SHA256 && (got.Revision == "" || known.Revision == got.Revision) {
			return nil
		}
		if known.SHA256 != got.SHA256 && !manifestDecides {
			return &MismatchError{Name: key, Field: "sha256", Got: got.SHA256, Want: known.SHA256, From: f.Path}
		}
		if known.SHA256 == got.SHA256 && known.Revision != "" {
			return nil // the same bytes at another commit: the first one stays
		}
	}
	all[key] = got
	return renameio.WriteFile(f.Path, FormatLock(all), 0o644)
}
