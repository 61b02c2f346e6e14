package build

import (
	"path/filepath"
	"slices"
)

// SystemLibraries are the libraries that the bundle's files need and the
// system must have, sorted. Files for the machine of the DSP are left out.
func (b Bundle) SystemLibraries() ([]string, error) {
	about, err := platformOf(b.Platform)
	if err != nil {
		return nil, err
	}
	own := make([]string, len(b.Files))
	for i, f := range b.Files {
		own[i] = f.Path
	}
	var list []string
	for _, name := range own {
		file, ok, err := readELF(filepath.Join(b.Dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if !ok || file.machine != about.machine {
			continue
		}
		for _, needed := range file.needed {
			if !slices.Contains(own, needed) {
				list = append(list, needed)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
