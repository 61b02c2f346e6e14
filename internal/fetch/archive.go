package fetch

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/ulikunitz/xz"
)

// DefaultUnpack bounds archives of which nothing is known: a Hexagon SDK
// unpacks to about 3.2 GiB, an Android NDK to about 2.5 GiB.
var DefaultUnpack = UnpackOptions{MaxBytes: 16 << 30, MaxFiles: 500_000}

// UnpackOptions bound what an archive may become.
type UnpackOptions struct {
	// MaxBytes is the most that all files may hold; zero is DefaultUnpack's.
	MaxBytes int64
	// MaxFiles is the largest number of entries; zero is DefaultUnpack's.
	MaxFiles int
	// Keep selects entries by their slash-separated name; nil keeps all.
	// Entries that are not kept count towards MaxFiles only.
	Keep func(name string) bool
	// Progress is told about bytes read of the archive; it may be nil.
	Progress Progress
}

// ArchiveError says why an archive was refused.
type ArchiveError struct {
	Archive string
	// Entry is the offending entry's name; empty when it is the whole archive.
	Entry  string
	Reason string
}

// Error names the archive, the entry and the reason.
func (e *ArchiveError) Error() string {
	if e.Entry == "" {
		return fmt.Sprintf("archive %s: %s", e.Archive, e.Reason)
	}
	return fmt.Sprintf("archive %s: entry %q: %s", e.Archive, e.Entry, e.Reason)
}

// Unpack unpacks a zip, tar, tar.gz or tar.xz file, told apart by content, as
// the new folder dest. It unpacks beside dest and renames at the end, so dest
// is whole or absent. Refused with an *ArchiveError are paths and links that
// lead out of the folder, repeated files, devices, and more bytes or entries
// than allowed. Of permissions only the executable bit is kept.
//
// What an interruption leaves is taken up by the next call for the same
// archive: files of a zip whose checksum is right are not written again. A tar
// has no checksums of its files and is unpacked anew.
func Unpack(ctx context.Context, archive, dest string, opt UnpackOptions) (err error) {
	if opt.MaxBytes == 0 {
		opt.MaxBytes = DefaultUnpack.MaxBytes
	}
	if opt.MaxFiles == 0 {
		opt.MaxFiles = DefaultUnpack.MaxFiles
	}
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	lock := flock.New(archive, flock.SetFlag(os.O_RDONLY))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("unpack %s: waiting for another process that does: %w", archive, err)
	}
	defer lock.Unlock() //nolint:errcheck // released with the file in any case
	if _, err := os.Lstat(dest); err == nil {
		return fmt.Errorf("unpack %s: %s already exists", archive, dest)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	temp, err := unpackFolder(dest, info)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			_ = os.RemoveAll(temp)
		}
	}()
	root, err := os.OpenRoot(temp)
	if err != nil {
		return err
	}
	defer root.Close()
	u := &unpacker{ctx: ctx, archive: filepath.Base(archive), opt: opt, root: root, seen: map[string]bool{}}
	if err := u.read(f, info.Size()); err != nil {
		return err
	}
	if err := u.makeLinks(); err != nil {
		return err
	}
	return os.Rename(temp, dest)
}

// unpackFolder is the folder to unpack in: the one that an interrupted attempt
// at the same archive left, without its links, else a new one. What other
// archives left for dest is removed.
func unpackFolder(dest string, archive fs.FileInfo) (string, error) {
	parent, prefix := filepath.Dir(dest), "."+filepath.Base(dest)+".unpack-"
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	identity := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", archive.Name(), archive.Size(), archive.ModTime().UnixNano()))
	temp := filepath.Join(parent, prefix+hex.EncodeToString(identity[:6]))
	entries, err := os.ReadDir(parent)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if name := filepath.Join(parent, e.Name()); strings.HasPrefix(e.Name(), prefix) && name != temp {
			if err := os.RemoveAll(name); err != nil {
				return "", err
			}
		}
	}
	if err := os.MkdirAll(temp, 0o755); err != nil {
		return "", err
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return "", err
	}
	// Links are made last, so that no file is written through one.
	return temp, filepath.WalkDir(temp, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || ok && stat.Nlink > 1 {
			return os.Remove(name)
		}
		return nil
	})
}

// unpacker writes entries below root.
type unpacker struct {
	ctx     context.Context
	archive string
	opt     UnpackOptions
	root    *os.Root
	seen    map[string]bool // files and links by name
	files   int
	bytes   int64
	links   []link // made last, so that no file is written through one
}

type link struct {
	name, target string
	hard         bool
}

func (u *unpacker) refuse(entry, format string, args ...any) error {
	return &ArchiveError{Archive: u.archive, Entry: entry, Reason: fmt.Sprintf(format, args...)}
}

// read tells the format by its first bytes.
func (u *unpacker) read(f *os.File, size int64) error {
	meter := newMeter(u.opt.Progress, Event{Name: u.archive, Phase: PhaseUnpack, Total: size})
	counted := &countingReader{ctx: u.ctx, r: f, meter: meter}
	buffered := bufio.NewReaderSize(counted, 1<<20)
	magic, err := buffered.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var r io.Reader = buffered
	switch {
	case bytes.HasPrefix(magic, []byte("PK\x03\x04")), bytes.HasPrefix(magic, []byte("PK\x05\x06")):
		return u.readZip(f, size)
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		if r, err = gzip.NewReader(buffered); err != nil {
			return u.refuse("", "gzip: %v", err)
		}
	case bytes.HasPrefix(magic, []byte("\xfd7zXZ\x00")):
		if r, err = xz.NewReader(buffered); err != nil {
			return u.refuse("", "xz: %v", err)
		}
	}
	return u.readTar(r)
}

func (u *unpacker) readTar(r io.Reader) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return u.broken("", err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		name, keep, err := u.entry(h.Name)
		if err != nil {
			return err
		}
		if !keep {
			continue
		}
		switch h.Typeflag {
		case tar.TypeReg:
			err = u.file(name, h.FileInfo().Mode(), t)
		case tar.TypeDir:
			err = u.folder(name)
		case tar.TypeSymlink:
			err = u.link(name, h.Linkname, false)
		case tar.TypeLink:
			err = u.link(name, h.Linkname, true)
		default:
			err = u.refuse(name, "is neither file, folder nor link (type %q)", h.Typeflag)
		}
		if err != nil {
			return err
		}
	}
}

func (u *unpacker) readZip(f *os.File, size int64) error {
	z, err := zip.NewReader(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return u.broken("", err)
	}
	for _, e := range z.File {
		name, keep, err := u.entry(e.Name)
		if err != nil {
			return err
		}
		if !keep {
			continue
		}
		if err := u.zipEntry(name, e); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) zipEntry(name string, e *zip.File) error {
	mode := e.Mode()
	switch {
	case mode.IsDir() || strings.HasSuffix(e.Name, "/"):
		return u.folder(name)
	case !mode.IsRegular() && mode.Type() != fs.ModeSymlink:
		return u.refuse(name, "is neither file, folder nor link (%s)", mode.Type())
	}
	r, err := e.Open()
	if err != nil {
		return u.broken(name, err)
	}
	defer r.Close()
	if mode.Type() != fs.ModeSymlink {
		return u.zipFile(name, mode, e, r)
	}
	target, err := io.ReadAll(io.LimitReader(r, 4097))
	if err != nil {
		return u.broken(name, err)
	}
	if len(target) > 4096 {
		return u.refuse(name, "link target is longer than 4096 bytes")
	}
	return u.link(name, string(target), false)
}

// zipFile writes a file unless an interrupted attempt has.
func (u *unpacker) zipFile(name string, mode fs.FileMode, e *zip.File, r io.Reader) error {
	have, err := u.root.Open(name)
	if err != nil {
		return u.file(name, mode, r)
	}
	defer have.Close()
	sum := crc32.NewIEEE()
	n, err := io.Copy(sum, &countingReader{ctx: u.ctx, r: have})
	if u.ctx.Err() != nil {
		return context.Cause(u.ctx)
	}
	if err != nil || uint64(n) != e.UncompressedSize64 || sum.Sum32() != e.CRC32 || u.seen[name] {
		return u.file(name, mode, r)
	}
	u.seen[name] = true
	if u.bytes += n; u.bytes > u.opt.MaxBytes {
		return u.refuse(name, "unpacks beyond the limit of %d bytes", u.opt.MaxBytes)
	}
	return u.root.Chmod(name, permissions(mode))
}

// permissions keeps of a mode whether it is a program.
func permissions(mode fs.FileMode) fs.FileMode {
	if mode&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

// entry counts an entry and cleans its name.
func (u *unpacker) entry(raw string) (name string, keep bool, err error) {
	if err := u.ctx.Err(); err != nil {
		return "", false, context.Cause(u.ctx)
	}
	if u.files++; u.files > u.opt.MaxFiles {
		return "", false, u.refuse("", "has more than %d entries", u.opt.MaxFiles)
	}
	name, err = EntryPath(raw)
	if err != nil {
		return "", false, u.refuse(raw, "%v", err)
	}
	return name, u.opt.Keep == nil || u.opt.Keep(name), nil
}

// EntryPath is an archive entry's name as a clean slash-separated path below
// the target folder ("." is the folder itself), or an error when it is not one.
func EntryPath(raw string) (string, error) {
	switch {
	case raw == "":
		return "", errors.New("has no name")
	case strings.ContainsRune(raw, 0):
		return "", errors.New("name holds a NUL byte")
	case strings.ContainsRune(raw, '\\'):
		return "", errors.New("name holds a backslash")
	case path.IsAbs(raw):
		return "", errors.New("leads out of the target folder (absolute path)")
	}
	for _, part := range strings.Split(raw, "/") {
		if part == ".." {
			return "", errors.New(`leads out of the target folder ("..")`)
		}
		if len(part) > 255 {
			return "", errors.New("name is longer than 255 bytes")
		}
	}
	return path.Clean(raw), nil
}

func (u *unpacker) folder(name string) error {
	if err := u.root.MkdirAll(name, 0o755); err != nil {
		return u.refuse(name, "%v", err)
	}
	return nil
}

func (u *unpacker) file(name string, mode fs.FileMode, r io.Reader) error {
	if err := u.folder(path.Dir(name)); err != nil {
		return err
	}
	if err := u.once(name); err != nil {
		return err
	}
	if info, err := u.root.Lstat(name); err == nil && info.IsDir() {
		return u.refuse(name, "is a folder and a file")
	} else if err == nil { // of an interrupted attempt
		if err := u.root.Remove(name); err != nil {
			return err
		}
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, permissions(mode))
	if err != nil {
		return err
	}
	defer f.Close()
	left := u.opt.MaxBytes - u.bytes
	n, err := io.Copy(f, io.LimitReader(&countingReader{ctx: u.ctx, r: r}, left+1))
	u.bytes += n
	if err != nil {
		return u.broken(name, err)
	}
	if n > left {
		return u.refuse(name, "unpacks beyond the limit of %d bytes", u.opt.MaxBytes)
	}
	return f.Close()
}

// once refuses a name that was there before.
func (u *unpacker) once(name string) error {
	if u.seen[name] {
		return u.refuse(name, "comes twice")
	}
	u.seen[name] = true
	return nil
}

func (u *unpacker) link(name, target string, hard bool) error {
	if name == "." {
		return u.refuse(name, "the target folder can not be a link")
	}
	if err := u.once(name); err != nil {
		return err
	}
	if hard {
		clean, err := EntryPath(target)
		if err != nil {
			return u.refuse(name, "hard link to %q: %v", target, err)
		}
		target = clean
	} else if target == "" || path.IsAbs(target) || strings.ContainsAny(target, "\\\x00") {
		return u.refuse(name, "link to %q leads out of the target folder", target)
	}
	u.links = append(u.links, link{name, target, hard})
	return nil
}

// makeLinks makes the links and then follows each: os.Root refuses a
// resolution that leaves the folder, whatever chain of links it takes.
func (u *unpacker) makeLinks() error {
	for _, l := range u.links {
		if err := u.folder(path.Dir(l.name)); err != nil {
			return err
		}
		var err error
		if l.hard {
			err = u.root.Link(l.target, l.name)
		} else {
			err = u.root.Symlink(l.target, l.name)
		}
		if err != nil {
			return u.refuse(l.name, "link to %q: %v", l.target, err)
		}
	}
	for _, l := range u.links {
		if l.hard {
			continue
		}
		if _, err := u.root.Stat(l.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return u.refuse(l.name, "link to %q leads out of the target folder: %v", l.target, err)
		}
	}
	return nil
}

// broken is a failure to read, which is the archive's fault unless the caller
// gave up or the disk is full.
func (u *unpacker) broken(entry string, err error) error {
	var pathErr *fs.PathError
	if u.ctx.Err() != nil {
		return context.Cause(u.ctx)
	}
	if errors.As(err, &pathErr) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return u.refuse(entry, "is cut short")
	}
	return u.refuse(entry, "is damaged: %v", err)
}
