package source

import (
	"bytes"
	"crypto/sha1" // git's object names; the pin is such a name
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// HashTree computes the git tree hash of the files below dir from their
// content, whatever a .git folder claims. Entries named .git are left out.
// With names, only these slash-separated paths count, and missing ones are
// skipped. Empty folders do not exist for git.
//
// The format is git's: a tree is the concatenation of "<mode> <name>\0<sha1>"
// over its entries, sorted as if folders' names ended in a slash; the hash is
// SHA-1 over "tree <length>\0" and that (git-scm.com, Git Internals, objects).
func HashTree(dir string, names []string) (string, error) {
	if names == nil {
		var err error
		if names, err = listFiles(dir); err != nil {
			return "", err
		}
	}
	root := &node{children: map[string]*node{}}
	for _, name := range names {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return "", fmt.Errorf("hash of %s: %q is not inside it", dir, name)
		}
		blob, mode, err := hashFile(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		root.add(strings.Split(name, "/"), blob, mode)
	}
	sum := root.hash()
	return hex.EncodeToString(sum[:]), nil
}

// listFiles lists files and links below dir, slash-separated, without .git.
func listFiles(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" && p != dir {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	return names, err
}

// node is a folder (children) or a file (sum and mode).
type node struct {
	children map[string]*node
	sum      [sha1.Size]byte
	mode     string
}

func (n *node) add(parts []string, blob [sha1.Size]byte, mode string) {
	for _, part := range parts[:len(parts)-1] {
		child := n.children[part]
		if child == nil || child.children == nil {
			child = &node{children: map[string]*node{}, mode: "40000"}
			n.children[part] = child
		}
		n = child
	}
	n.children[parts[len(parts)-1]] = &node{sum: blob, mode: mode}
}

func (n *node) hash() [sha1.Size]byte {
	if n.children == nil {
		return n.sum
	}
	names := make([]string, 0, len(n.children))
	for name := range n.children {
		names = append(names, name)
	}
	key := func(name string) string {
		if n.children[name].children != nil {
			return name + "/"
		}
		return name
	}
	sort.Slice(names, func(i, j int) bool { return key(names[i]) < key(names[j]) })
	var body bytes.Buffer
	for _, name := range names {
		sum := n.children[name].hash()
		fmt.Fprintf(&body, "%s %s\x00%s", n.children[name].mode, name, sum[:])
	}
	h := sha1.New()
	fmt.Fprintf(h, "tree %d\x00", body.Len())
	h.Write(body.Bytes())
	return [sha1.Size]byte(h.Sum(nil))
}

// hashFile is the git blob hash and mode of a file or link.
func hashFile(name string) (sum [sha1.Size]byte, mode string, err error) {
	info, err := os.Lstat(name)
	if err != nil {
		return sum, "", err
	}
	var content io.Reader
	size := info.Size()
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := os.Readlink(name)
		if err != nil {
			return sum, "", err
		}
		mode, content, size = "120000", strings.NewReader(target), int64(len(target))
	case info.Mode().IsRegular():
		f, err := os.Open(name)
		if err != nil {
			return sum, "", err
		}
		defer f.Close()
		mode, content = "100644", f
		if info.Mode()&0o100 != 0 {
			mode = "100755"
		}
	default:
		return sum, "", fmt.Errorf("%s is neither a file nor a link (%s); git can not track it", name, info.Mode().Type())
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	if n, err := io.Copy(h, content); err != nil {
		return sum, "", err
	} else if n != size {
		return sum, "", fmt.Errorf("%s changed while it was read", name)
	}
	return [sha1.Size]byte(h.Sum(nil)), mode, nil
}

// statPrint is a cheap fingerprint of the files below dir: it changes when a
// file is added, removed, written or replaced, without reading any.
func statPrint(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		fmt.Fprintf(h, "%q %d %d %o\n", rel, info.Size(), info.ModTime().UnixNano(), info.Mode())
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
