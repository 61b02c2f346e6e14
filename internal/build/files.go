package build

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"

	"hexab/internal/bench"
)

// copyFile copies a file with its executable bit; links are followed.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()&0o755|0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// linkOrCopy shares the file's bytes where the file system can.
func linkOrCopy(from, to string) error {
	if err := os.Link(from, to); err == nil {
		return nil
	}
	return copyFile(from, to)
}

// describe is the manifest's entry of a file.
func describe(dir, name string) (bench.File, error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return bench.File{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return bench.File{}, err
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return bench.File{}, err
	}
	return bench.File{
		Path: name, SHA256: hex.EncodeToString(h.Sum(nil)), Size: bench.Bytes(n),
		// Linkers mark shared libraries executable; only programs are started.
		Executable: info.Mode()&0o111 != 0 && !isLibrary(name),
	}, nil
}

func isLibrary(name string) bool {
	base := filepath.Base(name)
	return strings.HasSuffix(base, ".so") || strings.Contains(base, ".so.")
}
