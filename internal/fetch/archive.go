package fetch

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

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
func Unpack(ctx context.Context, archive, dest string, opt UnpackOptions) error {
	if opt.MaxBytes == 0 {
		opt.MaxBytes = DefaultUnpack.MaxBytes
	}
	if opt.MaxFiles == 0 {
		opt.MaxFiles = DefaultUnpack.MaxFiles
	}
	if _, err := os.Lstat(dest); err == nil {
		return fmt.Errorf("unpack %s: %s already exists", archive, dest)
	}
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".unpack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(temp)
	if err != nil {
		return err
	}
	defer root.Close()
	u := &unpacker{ctx: ctx, archive: filepath.Base(archive), opt: opt, root: root}
	if err := u.read(f, info.Size()); err != nil {
		return err
	}
	if err := u.makeLinks(); err != nil {
		return err
	}
	return os.Rename(temp, dest)
}

// unpacker writes entries below root.
type unpacker struct {
	ctx     context.Context
	archive string
	opt     UnpackOptions
	root    *os.Root
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
		return u.file(name, mode, r)
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
	perm := fs.FileMode(0o644)
	if mode&0o111 != 0 {
		perm = 0o755
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		if errors.Is(err, fs.ErrExist) {
			return u.refuse(name, "comes twice")
		}
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

func (u *unpacker) link(name, target string, hard bool) error {
	if name == "." {
		return u.refuse(name, "the target folder can not be a link")
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
