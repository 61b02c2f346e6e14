package source

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"crypto/sha256"
)

// git runs git in dir.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir, cmd.Env = dir, gitEnv()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, body string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), mode); err != nil {
		t.Fatal(err)
	}
}

// upstream makes a repository with what makes a tree a llama.cpp one, a link,
// a program, and names whose order git has its own mind about.
func upstream(t *testing.T) (dir, tree string) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = t.TempDir()
	git(t, dir, "init", "--quiet")
	for _, name := range []string{"CMakeLists.txt", "ggml/CMakeLists.txt", "tools/llama-bench/llama-bench.cpp", "a.b", "a/x", "a-b", "ab"} {
		write(t, dir, name, "content of "+name+"\r\n", 0o644)
	}
	write(t, dir, "run.sh", "#!/bin/sh\n", 0o755)
	write(t, dir, ".gitignore", "build/\n", 0o644)
	if err := os.Symlink("a/x", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "--quiet", "-m", "release")
	git(t, dir, "tag", "v9")
	return dir, git(t, dir, "rev-parse", "HEAD^{tree}")
}

// fakeNPM is an npm that packs a given archive, and counts.
func fakeNPM(t *testing.T, archive string) string {
	path := filepath.Join(t.TempDir(), "npm")
	script := fmt.Sprintf("#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = --pack-destination ] && dest=$2; shift; done\ncp '%s' \"$dest/package-1.0.0.tgz\"\n", archive)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// packed makes the npm package with the repository as a bundle.
func packed(t *testing.T, repo string) (archive string, pin Pin) {
	dir := t.TempDir()
	write(t, dir, "package/package.json", "{}", 0o644)
	write(t, dir, "package/llama/x", "", 0o644)
	bundle := filepath.Join(dir, "package/llama/release.bundle")
	git(t, repo, "bundle", "create", "--quiet", bundle, "HEAD")
	archive = filepath.Join(dir, "p.tgz")
	if out, err := exec.CommandContext(t.Context(), "tar", "czf", archive, "-C", dir, "package").CombinedOutput(); err != nil {
		t.Fatalf("tar: %v: %s", err, out)
	}
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(data)
	bundleSum, err := fileSum(bundle, sha256.New())
	if err != nil {
		t.Fatal(err)
	}
	return archive, Pin{
		Tag: "v9", NPMPackage: "p", NPMVersion: "1.0.0",
		NPMIntegrity: "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		BundlePath:   "llama/release.bundle", BundleSHA256: hex.EncodeToString(bundleSum),
	}
}

func TestHashTreeIsGits(t *testing.T) {
	dir, want := upstream(t)
	got, err := HashTree(dir, nil)
	if err != nil || got != want {
		t.Fatalf("%s, %v; git says %s", got, err, want)
	}
}

func TestFromGit(t *testing.T) {
	repo, tree := upstream(t)
	core := filepath.Join(git(t, repo, "--exec-path"), "git-http-backend")
	urls := map[string]string{"file": "file://" + repo}
	if _, err := os.Stat(core); err == nil {
		server := httptest.NewServer(&cgi.Handler{Path: core, Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(repo), "GIT_HTTP_EXPORT_ALL=1"}})
		t.Cleanup(server.Close)
		urls["http"] = server.URL + "/" + filepath.Base(repo) + "/.git"
	} else {
		t.Log("git-http-backend is not installed: only file:// is tried")
	}
	for name, url := range urls {
		t.Run(name, func(t *testing.T) {
			// A hook's environment must not lead git elsewhere.
			t.Setenv("GIT_DIR", "/nowhere")
			opt := Options{Cache: t.TempDir()}
			pin := Pin{Tag: "v9", Tree: tree, GitURL: url}
			if err := Reachable(t.Context(), pin, opt); err != nil {
				t.Error(err)
			}
			if Cached(pin, opt.Cache) {
				t.Error("cached before it was fetched")
			}
			got, err := Get(t.Context(), pin, opt)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := HashTree(got.Dir, nil); err != nil || again != tree {
				t.Fatalf("tree %s, %v", again, err)
			}
			if _, err := os.Stat(filepath.Join(got.Dir, ".git")); err == nil {
				t.Error(".git is left")
			}
			if !Cached(pin, opt.Cache) {
				t.Error("not cached after it was fetched")
			}
			if second, err := Get(t.Context(), Pin{Tag: "v9", Tree: tree, GitURL: "file:///nowhere"}, opt); err != nil || second.Origin != "cache" {
				t.Errorf("second: %+v, %v", second, err)
			}
		})
	}
}

func TestNPMAfterGit(t *testing.T) {
	repo, tree := upstream(t)
	archive, pin := packed(t, repo)
	pin.Tree, pin.GitURL = tree, "https://github.invalid/x"
	opt := Options{Cache: t.TempDir(), NPM: fakeNPM(t, archive)}
	got, err := Get(t.Context(), pin, opt)
	if err != nil || got.Origin != "npm package p 1.0.0" {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestFromFolderWithoutNetwork(t *testing.T) {
	repo, tree := upstream(t)
	archive, pin := packed(t, repo)
	pin.Tree, pin.GitURL = tree, "file://"+repo
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := os.ReadFile(filepath.Join(filepath.Dir(archive), "package/llama/release.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"p-1.0.0.tgz": data, "release.bundle": bundle} {
		opt := Options{Cache: t.TempDir(), From: t.TempDir(), Offline: true}
		if _, err := Get(t.Context(), pin, opt); err == nil || !strings.Contains(err.Error(), "has neither release.bundle nor p-1.0.0.tgz") {
			t.Errorf("an empty folder: %v", err)
		}
		if _, err := Verify(pin, opt.Cache); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("nothing verified: %v", err)
		}
		write(t, opt.From, name, string(body), 0o644)
		if got, err := Get(t.Context(), pin, opt); err != nil || got.Origin != "folder "+opt.From {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if _, err := Verify(pin, opt.Cache); err != nil {
			t.Error(err)
		}
		write(t, opt.Cache, "llama.cpp/"+tree+"/a/x", "edited", 0o644)
		if _, err := Verify(pin, opt.Cache); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("an edited tree verified: %v", err)
		}
	}
	if _, err := Get(t.Context(), pin, Options{Cache: t.TempDir(), Offline: true}); err == nil || !strings.Contains(err.Error(), "network is not to be used") {
		t.Errorf("offline without anything: %v", err)
	}
}

func TestEveryOriginSaysWhy(t *testing.T) {
	repo, tree := upstream(t)
	archive, good := packed(t, repo)
	good.Tree, good.GitURL = tree, "file://"+repo+"/missing"
	for _, c := range []struct {
		name string
		make func(*Pin, *Options)
		want string
	}{
		{"no npm", func(_ *Pin, o *Options) { o.NPM = "no-such-npm" }, "the npm client is not installed"},
		{"integrity", func(p *Pin, _ *Options) { p.NPMIntegrity = "sha512-AAAA" }, "the pin is sha512-AAAA"},
		{"bundle hash", func(p *Pin, _ *Options) { p.BundleSHA256 = strings.Repeat("0", 64) }, "release.bundle has sha256"},
		{"no bundle", func(p *Pin, _ *Options) { p.BundlePath = "llama/other" }, "the package has no package/llama/other"},
		{"other tree", func(p *Pin, _ *Options) { p.Tree = strings.Repeat("1", 40) }, "its files have tree " + tree},
		{"no git", func(_ *Pin, o *Options) { o.Git = "no-such-git" }, "git is not installed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pin, opt := good, Options{Cache: t.TempDir(), NPM: fakeNPM(t, archive)}
			c.make(&pin, &opt)
			_, err := Get(t.Context(), pin, opt)
			var failed *OriginError
			if !errors.As(err, &failed) || len(failed.Reasons) != 2 {
				t.Fatalf("error %v", err)
			}
			for _, want := range []string{c.want, "npm package p 1.0.0: ", good.GitURL, "LLAMA_CPP_DIR"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, expected %q in it", err, want)
				}
			}
			left, _ := filepath.Glob(filepath.Join(opt.Cache, "llama.cpp", ".fetch-*"))
			if len(left) > 0 {
				t.Errorf("%q is left", left)
			}
			if Cached(pin, opt.Cache) {
				t.Error("a refused tree is in the cache")
			}
		})
	}
}

func TestEditedCheckoutIsRefused(t *testing.T) {
	repo, tree := upstream(t)
	opt := Options{Cache: t.TempDir()}
	pin := Pin{Tag: "v9", Tree: tree, GitURL: "file://" + repo}
	got, err := Get(t.Context(), pin, opt)
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(){
		"changed": func() { write(t, got.Dir, "a.b", "content of a.B\r\n", 0o644) },
		"added":   func() { write(t, got.Dir, "new", "", 0o644) },
		"mode": func() {
			if err := os.Chmod(filepath.Join(got.Dir, "ab"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
	} {
		edit()
		if _, err := Get(t.Context(), pin, opt); err == nil || !strings.Contains(err.Error(), "was changed") {
			t.Errorf("%s: error %v", name, err)
		}
		git(t, repo, "--work-tree="+got.Dir, "reset", "--quiet", "--hard")
		git(t, repo, "--work-tree="+got.Dir, "clean", "--quiet", "-fdx")
		if _, err := Get(t.Context(), pin, opt); err != nil {
			t.Errorf("%s: put back, yet %v", name, err)
		}
	}
}

func TestConcurrentCallersFetchOnce(t *testing.T) {
	repo, tree := upstream(t)
	opt := Options{Cache: t.TempDir()}
	var fetches atomic.Int32
	opt.Note = func(line string) {
		if strings.HasPrefix(line, "fetching") {
			fetches.Add(1)
		}
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if _, err := Get(t.Context(), Pin{Tag: "v9", Tree: tree, GitURL: "file://" + repo}, opt); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := fetches.Load(); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

func TestStoppedFetchLeavesNothing(t *testing.T) {
	repo, tree := upstream(t)
	opt := Options{Cache: t.TempDir()}
	ctx, stop := context.WithCancel(t.Context())
	opt.Note = func(string) { stop() }
	if _, err := Get(ctx, Pin{Tag: "v9", Tree: tree, GitURL: "file://" + repo}, opt); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	left, _ := os.ReadDir(filepath.Join(opt.Cache, "llama.cpp"))
	for _, e := range left {
		if e.IsDir() {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestPinsThatAreNone(t *testing.T) {
	for _, pin := range []Pin{
		{Tag: "v9", Tree: "abc", GitURL: "x"},
		{Tag: "--upload-pack=evil", Tree: strings.Repeat("1", 40), GitURL: "x"},
		{Tag: "v9", Tree: strings.Repeat("1", 40)},
	} {
		if _, err := Get(t.Context(), pin, Options{Cache: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "pin") {
			t.Errorf("%+v: error %v", pin, err)
		}
	}
}

func TestLocal(t *testing.T) {
	repo, tree := upstream(t)
	local := func() Tree {
		t.Helper()
		got, err := Local(t.Context(), repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := local(); got.Hash != tree || got.Dirty || !got.Local || got.Identity() != tree {
		t.Errorf("clean: %+v", got)
	}
	write(t, repo, "build/out.o", "ignored", 0o644)
	if got := local(); got.Dirty {
		t.Errorf("an ignored file makes it dirty: %+v", got)
	}
	write(t, repo, "new.cpp", "int x;", 0o644)
	added := local()
	if !added.Dirty || added.Identity() != "local:"+added.Hash || added.Hash == tree {
		t.Errorf("untracked file: %+v", added)
	}
	if err := os.Remove(filepath.Join(repo, "new.cpp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(repo, "ab")); err != nil {
		t.Fatal(err)
	}
	if got := local(); !got.Dirty {
		t.Errorf("deleted file: %+v", got)
	}
	if err := os.RemoveAll(filepath.Join(repo, ".git")); err != nil {
		t.Fatal(err)
	}
	if got := local(); !got.Dirty || got.Hash == "" {
		t.Errorf("no repository: %+v", got)
	}
	if _, err := Local(t.Context(), t.TempDir(), Options{}); err == nil || !strings.Contains(err.Error(), "is not a llama.cpp tree") {
		t.Errorf("empty folder: %v", err)
	}
}
