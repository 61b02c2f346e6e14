package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// hashFile reads a file for its size and hash.
func hashFile(ctx context.Context, path, name string, progress Progress) (Locked, error) {
	f, err := os.Open(path)
	if err != nil {
		return Locked{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Locked{}, err
	}
	h := sha256.New()
	m := newMeter(progress, Event{Name: name, Phase: PhaseVerify, Total: info.Size()})
	n, err := io.Copy(h, &countingReader{ctx: ctx, r: f, meter: m})
	if err != nil {
		return Locked{}, err
	}
	return Locked{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// stampFile remembers that a file was checked, beside it.
type stampFile struct {
	Locked
	ModTimeNanoseconds int64 `json:"mtime_ns"`
}

func stampPath(path string) string { return path + ".verified" }

// readStamp is what the file was when it was checked; ok is false when it has
// changed since, as far as size and modification time tell.
func readStamp(path string, info fs.FileInfo) (Locked, bool) {
	var s stampFile
	data, err := os.ReadFile(stampPath(path))
	if err != nil || json.Unmarshal(data, &s) != nil {
		return Locked{}, false
	}
	return s.Locked, s.Size == info.Size() && s.ModTimeNanoseconds == info.ModTime().UnixNano() && s.SHA256 != ""
}

func writeStamp(path string, got Locked) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	data, err := json.Marshal(stampFile{got, info.ModTime().UnixNano()})
	if err != nil {
		return err
	}
	return renameio.WriteFile(stampPath(path), append(data, '\n'), 0o644)
}

// freeBytes is what an unprivileged user may still write below dir.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// GGUF is a Request.Validate that checks the header of a GGUF model file:
// magic, a version that llama.cpp reads, and counts that fit the file
// (github.com/ggml-org/ggml/blob/master/docs/gguf.md).
func GGUF(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var h struct {
		Magic   [4]byte
		Version uint32
		Tensors uint64
		Keys    uint64
	}
	if err := binary.Read(f, binary.LittleEndian, &h); err != nil {
		return &KindError{path, fmt.Sprintf("is too short for a GGUF model (%d bytes)", info.Size())}
	}
	switch {
	case string(h.Magic[:]) != "GGUF":
		return &KindError{path, fmt.Sprintf("is not a GGUF model (begins with %q)", h.Magic[:])}
	case h.Version < 2 || h.Version > 3:
		return &KindError{path, fmt.Sprintf("has GGUF version %d; llama.cpp reads 2 and 3", h.Version)}
	case h.Tensors > uint64(info.Size()) || h.Keys > uint64(info.Size()):
		return &KindError{path, "is damaged: its header counts more entries than it has bytes"}
	}
	return nil
}
