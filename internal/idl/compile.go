package idl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// Files opens included files beside the file that includes them, then in dirs, in order.
func Files(dirs []string) Opener {
	return func(name, from string) ([]byte, string, error) {
		try := []string{name}
		if from != "" && !filepath.IsAbs(name) {
			try = []string{filepath.Join(filepath.Dir(from), name)}
			for _, d := range dirs {
				try = append(try, filepath.Join(d, name))
			}
		}
		for _, p := range try {
			data, err := os.ReadFile(p)
			if err == nil {
				return data, p, nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return nil, "", err
			}
		}
		if from == "" {
			return nil, "", fmt.Errorf("no such file: %s", name)
		}
		return nil, "", fmt.Errorf("include %q is neither beside this file nor in the include folders %s", name, strings.Join(dirs, ", "))
	}
}

// Compile compiles the IDL file at path into outDir: <name>.h, <name>_stub.c and <name>_skel.c. Files whose content
// stays the same are left alone, so that a build does not compile them again.
func Compile(path string, includeDirs []string, outDir string) error {
	u, err := Parse(path, Files(includeDirs))
	if err != nil {
		return err
	}
	out := Generate(u)
	for name, data := range map[string][]byte{
		out.Name + ".h": out.Header, out.Name + "_stub.c": out.Stub, out.Name + "_skel.c": out.Skel,
	} {
		file := filepath.Join(outDir, name)
		if old, err := os.ReadFile(file); err == nil && string(old) == string(data) {
			continue
		}
		if err := renameio.WriteFile(file, data, 0o644); err != nil {
			return fmt.Errorf("write the output of %s: %w", path, err)
		}
	}
	return nil
}
