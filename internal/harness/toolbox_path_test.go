package harness

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestToolsTellWhatIsWrongWithAPath gives every tool that takes a path each kind
// of path that it can not use: the error is one of usage, names the path and the
// option, and says the cause and the next step.
func TestToolsTellWhatIsWrongWithAPath(t *testing.T) {
	dir := t.TempDir()
	make := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := make("file.c", "int x;\n#define F \\\n  1  \\\n  2\n", 0o644)
	shut := make("shut.c", "int x;\n", 0)
	within := make("closed/a.c", "int x;\n", 0o644)
	closed := filepath.Dir(within)
	make("partly/a.c", "int x;\n", 0o644)
	partly := filepath.Dir(make("partly/b/b.c", "int x;\n", 0))
	circle, empty := filepath.Join(dir, "circle"), filepath.Join(dir, "empty")
	fixed := make("fixed/a.c", "#define F \\\n  1  \\\n  2\n", 0o644)
	if err := errors.Join(os.Symlink(circle, circle), os.Mkdir(empty, 0o755), os.Chmod(closed, 0), os.Chmod(filepath.Dir(fixed), 0o555), os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })

	onPath := map[string][2]string{ // what each says
		filepath.Join(dir, "none"): {"there is no such file", "mistyped"},
		closed:                     {"no permission", "chmod"},
		shut:                       {"no permission", "chmod"},
		within:                     {"may not look into its folder", "chmod a+rx " + closed},
		filepath.Dir(partly):       {"b.c: this user has no permission", "chmod"},
		file + "/x":                {"a file where a folder is wanted", "give"},
		circle:                     {"circle", "give"},
		empty:                      {"no C or C++ sources in", ""},
	}
	onFile := map[string][2]string{}
	for path, want := range onPath {
		onFile[path] = want
	}
	onFile[empty] = [2]string{"it is a folder", "give a file"}
	delete(onFile, filepath.Dir(partly))
	delete(onFile, closed)
	onWrite := map[string][2]string{
		filepath.Join(dir, "none", "x"): {"there is no such", "mistyped"},
		filepath.Join(closed, "x"):      {"may not look into its folder", "chmod a+rx " + closed},
		filepath.Join(file, "x"):        {"a file where a folder is wanted", "give"},
	}
	log := make("launch.log", "ggml-hex: HTP0 profile-op OPBATCH|----|n-ops 1|----|----|----|usec 10 cycles 20000 start 5000000000 mhz 2000.0\n"+
		"ggml-hex: HTP0 profile-op ADD|a x b -> c|4:2 -> 4:2|f32|16|----|usec 3 cycles 6000 start 705032704 mhz 2000.0\n", 0o644)
	ctx := t.Context()
	for _, tool := range []struct {
		name, option string
		run          func(path string) error
		bad          map[string][2]string
	}{
		{"lint", "path", func(p string) error { return Lint(ctx, p, "", false) }, onPath},
		{"lint baseline", "baseline", func(p string) error { return Lint(ctx, file, p, false) }, onFile},
		{"alignMacros", "path", func(p string) error { return AlignMacros(ctx, "check", p, "") }, onPath},
		{"alignMacros fix", "path", func(string) error { return AlignMacros(ctx, "fix", fixed, "") }, map[string][2]string{fixed: {"no permission", "chmod"}}},
		{"knobs", "path", func(p string) error { return Knobs(ctx, p) }, onPath},
		{"inspect", "skel", func(p string) error { return Inspect(ctx, InspectOptions{Skel: p}) }, onFile},
		{"inspect addr", "skel", func(p string) error { return Inspect(ctx, InspectOptions{Skel: p, Addr: "0x10"}) }, onFile},
		{"profile", "log", func(p string) error { return Profile(ProfileOptions{Log: p}) }, onFile},
		{"profile against", "log", func(p string) error { return Profile(ProfileOptions{Log: log, Against: p}) }, onFile},
		{"profile trace", "trace", func(p string) error { return Profile(ProfileOptions{Log: log, Trace: p}) }, onWrite},
		{"tiles", "svg", func(p string) error { return TilesShow("q4_0", p) }, onWrite},
	} {
		for path, want := range tool.bad {
			err := asOrdinaryUser(t, func() error { return tool.run(path) })
			var wrong *UsageError
			if err == nil || !errors.As(err, &wrong) {
				t.Errorf("%s %s: %v is no error of usage", tool.name, path, err)
				continue
			}
			text := err.Error()
			if tool.option == "skel" && strings.HasSuffix(path, "none") {
				want = [2]string{"neither a file nor one of the published", "v73"}
			}
			if !strings.HasPrefix(text, tool.option+": ") || !strings.Contains(text, filepath.Base(path)) || !strings.Contains(text, want[0]) || !strings.Contains(text, want[1]) {
				t.Errorf("%s %s: %q, want %q", tool.name, path, text, want)
			}
		}
	}
	if err := Inspect(ctx, InspectOptions{Skel: file}); err == nil || !strings.Contains(err.Error(), "is no DSP library") {
		t.Errorf("inspect of a source: %v", err)
	}
}

// asOrdinaryUser runs f without root's right to pass over permissions. The user
// stays the same: the checkout may be in a folder that is only root's.
func asOrdinaryUser(t *testing.T, f func() error) error {
	t.Helper()
	if os.Getuid() != 0 {
		return f()
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		if err := dropOverride(); err != nil {
			result <- err
			return
		}
		result <- f()
	}()
	return <-result
}

// dropOverride takes the capabilities away that pass over permissions, from
// this thread alone (capabilities(7)).
func dropOverride() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return err
	}
	sets[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	return unix.Capset(&header, &sets[0])
}
