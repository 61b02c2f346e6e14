package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"hexab/internal/device"
)

// unusable explains why a path that a tool was given, or one below it, can not
// be used, and what to do. Other errors stay as they are.
func unusable(option string, err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return err
	}
	var cause, next string
	switch {
	case errors.Is(err, fs.ErrPermission) && hidden(at.Path):
		cause, next = "this user may not look into its folder", fmt.Sprintf("its owner can allow it (chmod a+rx %s), or give another path", device.Quote(filepath.Dir(at.Path)))
	case errors.Is(err, fs.ErrPermission):
		cause, next = "this user has no permission for it", fmt.Sprintf("its owner can give it (chmod -R a+rX %s, or a+w to write), or give another path", device.Quote(at.Path))
	case errors.Is(err, fs.ErrNotExist):
		cause, next = "there is no such file or folder", "look for a mistyped name; a relative path begins at the checkout"
	case errors.Is(err, syscall.ENOTDIR):
		cause, next = "a part of it is a file where a folder is wanted", "give the file itself, or a folder"
	case errors.Is(err, syscall.EISDIR):
		cause, next = "it is a folder", "give a file in it"
	case errors.Is(err, syscall.ELOOP):
		cause, next = "its links lead in a circle", "give the path that is meant"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS):
		cause, next = "nothing can be written there", "free some space, or give a path elsewhere"
	default:
		return usage("%s: %w", option, err)
	}
	return usage("%s: %s: %s (%w); %s", option, at.Path, cause, at.Err, next)
}

// hidden tells whether even the existence of a path can not be seen.
func hidden(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrPermission)
}
