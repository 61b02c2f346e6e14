package phone

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"
)

// deviceFolders exist on every phone from the start.
var deviceFolders = []string{
	"data/local/tmp", "data/system/settings", "data/user/0/" + DebuggableApp, "data/user/0/" + ReleaseApp, "dev/hexab", "proc/sys/kernel/random", "sdcard/Download",
	"sys/class/power_supply/battery", "sys/class/thermal", "sys/devices/system/cpu",
	"system/bin", "system/lib64", "vendor/lib64",
}

// Apps on every phone: one that run-as takes, and one that it refuses.
const (
	DebuggableApp = "com.example.debuggable"
	ReleaseApp    = "com.example.release"
)

// private tells whether a path is an app's own, which adb's user may not enter.
func private(devicePath string) bool {
	return strings.HasPrefix(path.Clean("/"+devicePath)+"/", "/data/user/")
}

// fileSystem is the phone's: a folder that neither ".." nor a symbolic link
// leads out of. Paths are the phone's own ("/data/local/tmp/x").
type fileSystem struct {
	folder string
	root   *os.Root
	lock   *os.File // the folder, held with flock(2)
}

// openFileSystem makes the folder a phone's and locks it: two phones that
// share one would overwrite each other's state.
func openFileSystem(folder string) (_ *fileSystem, err error) {
	folder, err = filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("make the phone's folder: %w", err)
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return nil, err
	}
	lock, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &InUseError{folder, holderOf(folder)}
		}
		return nil, fmt.Errorf("lock the phone's folder %s: %w", folder, err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		lock.Close()
		return nil, err
	}
	// Who holds the lock, for the message to others; beside the folder, since
	// what is in it is the phone's.
	_ = os.WriteFile(folder+holderSuffix, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644)
	f := &fileSystem{folder: folder, root: root, lock: lock}
	for _, d := range deviceFolders {
		if err := root.MkdirAll(d, 0o755); err != nil {
			f.close()
			return nil, fmt.Errorf("make the phone's folder %s: %w", folder, err)
		}
	}
	return f, nil
}

const holderSuffix = ".holder"

// InUseError is a folder that another embedded phone uses.
type InUseError struct {
	Folder string
	// PID is the process that runs it; zero where that is not known.
	PID int
}

func (e *InUseError) Error() string {
	holder := "another process"
	if e.PID > 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("the phone's folder %s is in use by the embedded phone of %s: wait for it, end it, or name another cache folder (HEXAB_CACHE)", e.Folder, holder)
}

func holderOf(folder string) int {
	text, err := os.ReadFile(folder + holderSuffix)
	if err != nil || len(text) > 32 {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

func (f *fileSystem) close() {
	_ = os.Remove(f.folder + holderSuffix)
	_ = f.root.Close()
	// Unlocking by hand: a child that another goroutine is just starting may
	// hold a copy of the descriptor until its exec.
	_ = syscall.Flock(int(f.lock.Fd()), syscall.LOCK_UN)
	_ = f.lock.Close()
}

// local turns a path of the phone into one below the root. As on a phone,
// "/.." is "/".
func local(devicePath string) string {
	p := strings.TrimPrefix(path.Clean("/"+devicePath), "/")
	if p == "" {
		return "."
	}
	return p
}

// replace writes a file of the phone so that a reader sees the old content or
// the new, never a part.
func (f *fileSystem) replace(devicePath string, content []byte, mode fs.FileMode) error {
	name := local(devicePath)
	temporary := name + ".new"
	if err := f.root.WriteFile(temporary, content, mode); err != nil {
		return err
	}
	return f.root.Rename(temporary, name)
}

// errnoText is the message that a phone gives for an error: the C library's.
func errnoText(err error) string {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		errno = syscall.EACCES // os.Root refuses what leads out of the folder
	}
	text := errno.Error()
	return string(unicode.ToUpper(rune(text[0]))) + text[1:]
}

// errno returns the number of an error as a phone reports it.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if err != nil && !errors.As(err, &errno) {
		return syscall.EACCES
	}
	return errno
}

// links is a folder with one symbolic link to the phone's folder, whose path
// needs no quoting in a shell.
type links struct{ dir, link string }

// makeLinks makes the link below the system's folder for temporary files, or
// below /tmp where that one's name is not safe.
func makeLinks(folder string) (links, error) {
	base := os.TempDir()
	for _, c := range base {
		if c > 0x7f || c != '/' && !isNameByte(byte(c)) {
			base = "/tmp"
			break
		}
	}
	dir, err := os.MkdirTemp(base, "hexab-phone-")
	if err != nil {
		return links{}, err
	}
	l := links{dir: dir, link: filepath.Join(dir, "root")}
	if err := os.Symlink(folder, l.link); err != nil {
		_ = os.Remove(dir)
		return links{}, err
	}
	return l, nil
}

func (l links) remove() {
	_ = os.Remove(l.link)
	_ = os.Remove(l.dir)
}
