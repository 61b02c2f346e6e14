package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"hexab/internal/fetch"
	"hexab/internal/proc"
)

// Package is a pinned npm package, of which some files are wanted as data.
type Package struct {
	// Name and Version identify it; Integrity is its sha512 in the
	// "sha512-<base64>" form.
	Name, Version, Integrity string
	// Members are the wanted files' paths below "package/".
	Members []string
}

var packageName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

func (p Package) home(cache string) string {
	return filepath.Join(cache, "npm", p.Name+"-"+p.Version)
}

// Cached is the folder that stands for "package/", and whether all wanted
// files are in it.
func (p Package) Cached(cache string) (dir string, there bool) {
	dir = filepath.Join(p.home(cache), "package")
	return dir, !slices.ContainsFunc(p.Members, func(member string) bool {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(member)))
		return err != nil
	})
}

// GetPackage provides the package's wanted files: from the cache when they are
// there, else by the npm client, checked against the integrity value before
// anything is unpacked. It gives the folder that stands for "package/".
func GetPackage(ctx context.Context, p Package, opt Options) (string, error) {
	if !packageName.MatchString(p.Name) || !packageName.MatchString(p.Version) {
		return "", fmt.Errorf("npm package %q %q: not a plain name and version", p.Name, p.Version)
	}
	if files, there := p.Cached(opt.Cache); there {
		return files, nil
	}
	home := filepath.Join(opt.Cache, "npm")
	dir := p.home(opt.Cache)
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(dir + ".lock")
	if err := wait(ctx, lock, func() { opt.note("waiting for another process that fetches %s", p.Name) }); err != nil {
		return "", err
	}
	defer lock.Unlock() //nolint:errcheck // released with the file in any case
	if files, there := p.Cached(opt.Cache); there {
		return files, nil
	}
	opt.note("fetching npm package %s %s", p.Name, p.Version)
	work, err := os.MkdirTemp(home, ".fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	var members []string
	for _, member := range p.Members {
		members = append(members, "package/"+member)
	}
	unpacked := filepath.Join(work, "unpacked")
	if err := p.unpack(ctx, opt, work, unpacked, members...); err != nil {
		return "", fmt.Errorf("npm package %s %s: %w", p.Name, p.Version, err)
	}
	for _, member := range members {
		if _, err := os.Stat(filepath.Join(unpacked, filepath.FromSlash(member))); err != nil {
			return "", fmt.Errorf("npm package %s %s has no %s", p.Name, p.Version, member)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, "package"), os.Rename(unpacked, dir)
}

// unpack gets the package's archive by the npm client into work, checks it and
// takes the members out of it into dir.
func (p Package) unpack(ctx context.Context, opt Options, work, dir string, members ...string) error {
	packed, err := pack(ctx, opt, work, p.Name+"@"+p.Version)
	if err != nil {
		return err
	}
	if err := checkIntegrity(packed, p.Integrity); err != nil {
		return err
	}
	return fetch.Unpack(ctx, packed, dir, fetch.UnpackOptions{
		MaxBytes: 1 << 30, MaxFiles: 100_000,
		Keep: func(name string) bool { return slices.Contains(members, strings.TrimPrefix(name, "./")) },
	})
}

// pack lets the npm client put a package's archive into a folder.
func pack(ctx context.Context, opt Options, work, spec string) (string, error) {
	_, err := proc.Run(ctx, proc.Command{
		Path: opt.npm(),
		// Scripts are never run: only the archive's bytes are wanted.
		Args: []string{"pack", spec, "--pack-destination", work, "--ignore-scripts", "--silent", "--no-update-notifier"},
		Dir:  work,
	})
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the npm client is not installed (%w)", err)
	}
	if err != nil {
		return "", err
	}
	packed, err := filepath.Glob(filepath.Join(work, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return "", fmt.Errorf("npm pack made %d archives, expected one", len(packed))
	}
	return packed[0], nil
}
