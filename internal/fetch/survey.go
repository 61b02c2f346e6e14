package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Survey is what an unpacked folder looks like from outside its files: enough
// to see that something was removed, cut or added, without reading gigabytes.
type Survey struct {
	Files int   `json:"files"` // links count as well
	Bytes int64 `json:"bytes"` // of files
	// SHA256 is over the sorted list of names, kinds and sizes or link targets.
	SHA256 string `json:"sha256"`
}

// Look surveys a folder.
func Look(ctx context.Context, dir string) (Survey, error) {
	var s Survey
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case e.IsDir():
			return nil
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		s.Files++
		if info.Mode().Type() == fs.ModeSymlink {
			target, err := os.Readlink(name)
			fmt.Fprintf(sum, "%q -> %q\n", relative, target)
			return err
		}
		s.Bytes += info.Size()
		fmt.Fprintf(sum, "%q %v %d\n", relative, info.Mode(), info.Size())
		return nil
	})
	s.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return s, err
}
