package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"hexab/internal/bench"
	"hexab/internal/fetch"
	"hexab/internal/models"
)

// Kinds of SDKs in the manifest.
const (
	kindNDK     = "android-ndk"
	kindHexagon = "hexagon-sdk"
)

// defaultSDK is the manifest's first SDK of a kind, nil without one.
func (w *Workspace) defaultSDK(kind string) *models.SDK {
	for i := range w.Manifest.SDKs {
		if w.Manifest.SDKs[i].Kind == kind {
			return &w.Manifest.SDKs[i]
		}
	}
	return nil
}

func (w *Workspace) sdkDir(s *models.SDK) string { return filepath.Join(w.Cache, "sdks", s.Name) }

// sdkItem is an SDK's archive.
func (w *Workspace) sdkItem(s *models.SDK) item {
	return item{
		name: s.Name, sdk: s,
		request: fetch.Request{
			Name: s.File(), Key: "sdks/" + s.File(), URLs: s.URLs(), Size: s.Bytes, SHA256: s.SHA256,
			Dest: filepath.Join(w.Cache, "downloads", s.File()),
		},
		licence: licence{Name: s.Name, Licence: s.Licence, Page: s.URL, Needed: s.NeedsAcceptance},
	}
}

// unpackedSize is about what an SDK takes when unpacked.
func unpackedSize(s *models.SDK) int64 {
	if s.ApproximateUnpackedBytes > 0 {
		return s.ApproximateUnpackedBytes
	}
	return 4 * s.Bytes // the ratio of the Android NDK r27 is 3.2
}

// sdkRecord is what is remembered of an unpacked SDK, beside it.
type sdkRecord struct {
	// Archive is the archive's hash.
	Archive  string       `json:"archive_sha256"`
	Unpacked fetch.Survey `json:"unpacked"`
}

func (w *Workspace) sdkRecord(s *models.SDK) (sdkRecord, bool) {
	var r sdkRecord
	data, err := os.ReadFile(w.sdkDir(s) + ".json")
	return r, err == nil && json.Unmarshal(data, &r) == nil
}

// sdkReady tells whether an SDK was unpacked from the manifest's archive.
func (w *Workspace) sdkReady(s *models.SDK) bool {
	r, ok := w.sdkRecord(s)
	return ok && (s.SHA256 == "" || r.Archive == s.SHA256) && exists(filepath.Join(w.sdkDir(s), filepath.FromSlash(s.Root)))
}

// settleSDK unpacks an SDK whose archive is here, and removes the archive. One
// that was unpacked before is looked through when asked to verify. It gives
// the SDK's root.
func (w *Workspace) settleSDK(ctx context.Context, s *models.SDK, verify bool) (root string, err error) {
	dir := w.sdkDir(s)
	root = filepath.Join(dir, filepath.FromSlash(s.Root))
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	lock := flock.New(dir + ".lock")
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return "", fmt.Errorf("%s: waiting for another process that unpacks it: %w", s.Name, err)
	}
	defer lock.Unlock() //nolint:errcheck // released with the file in any case
	if w.sdkReady(s) {
		if !verify {
			return root, nil
		}
		r, _ := w.sdkRecord(s)
		got, err := fetch.Look(ctx, dir)
		if err == nil && got != r.Unpacked {
			err = fmt.Errorf("%s was changed since it was unpacked (%d files with %s, %d with %s then): remove it and %s.json to fetch it again",
				dir, got.Files, bench.Bytes(got.Bytes), r.Unpacked.Files, bench.Bytes(r.Unpacked.Bytes), dir)
		}
		return root, err
	}
	archive := w.sdkItem(s).request
	sum := s.SHA256
	if sum == "" {
		locked, _, err := w.downloads().Lock.Find(archive.Key)
		if err != nil {
			return "", err
		}
		sum = locked.SHA256
	}
	if err := os.RemoveAll(dir); err != nil { // of another archive, or without a record
		return "", err
	}
	if err := fetch.Unpack(ctx, archive.Dest, dir, fetch.UnpackOptions{Progress: w.fetchProgress()}); err != nil {
		return "", fmt.Errorf("%s: %w", s.Name, err)
	}
	for _, needed := range []string{s.Root, s.Tools} {
		if !exists(filepath.Join(dir, filepath.FromSlash(needed))) {
			return "", fmt.Errorf("%s: the archive has no folder %s, which models.yaml:%d names", s.Name, needed, s.Line)
		}
	}
	r := sdkRecord{Archive: sum}
	if r.Unpacked, err = fetch.Look(ctx, dir); err != nil {
		return "", err
	}
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	if err := renameio.WriteFile(dir+".json", append(data, '\n'), 0o644); err != nil {
		return "", err
	}
	_ = os.Remove(archive.Dest + ".verified")
	return root, os.Remove(archive.Dest)
}
