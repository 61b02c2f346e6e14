package build

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// binary is what matters here of an ELF file.
type binary struct {
	machine elf.Machine
	needed  []string
	runpath []string
}

// readELF reads a program or shared library; ok is false for other files.
func readELF(name string) (b binary, ok bool, err error) {
	f, err := elf.Open(name)
	if err != nil {
		if _, notELF := err.(*elf.FormatError); notELF {
			return b, false, nil
		}
		return b, false, err
	}
	defer f.Close()
	b.machine = f.Machine
	if b.needed, err = f.ImportedLibraries(); err != nil {
		return b, false, fmt.Errorf("%s: %w", name, err)
	}
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		paths, err := f.DynString(tag)
		if err != nil {
			return b, false, fmt.Errorf("%s: %w", name, err)
		}
		for _, p := range paths {
			b.runpath = append(b.runpath, strings.Split(p, ":")...)
		}
	}
	return b, true, nil
}

// checkClosure proves that a bundle's folder is self-contained: every library
// that a file of the platform's machine needs is in the folder or among the
// system's, and is looked up in the file's own folder. Files for another
// machine (real DSP libraries) are left to the DSP's loader.
func checkClosure(dir string, files []string, machine elf.Machine, system []string) error {
	for _, name := range files {
		b, ok, err := readELF(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if !ok || b.machine != machine {
			continue
		}
		own := false
		for _, needed := range b.needed {
			if slices.Contains(files, needed) {
				own = true
			} else if !slices.Contains(system, needed) {
				return fmt.Errorf("%s needs %s, which is neither in the bundle nor a library of the system", name, needed)
			}
		}
		if own && !slices.Contains(b.runpath, "$ORIGIN") {
			return fmt.Errorf("%s would not look for its libraries in its own folder (run path %q)", name, b.runpath)
		}
		for _, p := range b.runpath {
			if p != "$ORIGIN" && p != "" {
				return fmt.Errorf("%s has the run path %q of this machine", name, p)
			}
		}
	}
	return nil
}
