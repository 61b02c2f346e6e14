package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hexab/internal/proc"
)

// machine is a made-up machine: programs by name with what they print, and
// what apt-get would add.
type machine struct {
	has   map[string]string
	inApt map[string]map[string]string // package: programs
	ran   []string
	fail  string // a command that fails
}

func (f *machine) lookPath(name string) (string, error) {
	if _, ok := f.has[name]; ok {
		return "/usr/bin/" + name, nil
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

func (f *machine) run(_ context.Context, c proc.Command) (proc.Result, error) {
	words := append([]string{c.Path}, c.Args...)
	line := strings.Join(words, " ")
	if i := slices.Index(words, "install"); i > 0 {
		f.ran = append(f.ran, line)
		for _, p := range words[i:] {
			for name, says := range f.inApt[p] {
				f.has[name] = says
			}
		}
	} else if slices.Contains(words, "update") {
		f.ran = append(f.ran, line)
	} else if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-fsanitize") }); i > 0 && f.has["sanitizers"] == "" {
		return proc.Result{ExitCode: 1}, errors.New(line + ": exit status 1: cannot find libclang_rt")
	} else if c.Stdout != nil {
		_, _ = io.WriteString(c.Stdout, f.has[strings.TrimPrefix(c.Path, "/usr/bin/")])
	}
	if f.fail != "" && strings.Contains(line, f.fail) {
		return proc.Result{ExitCode: 100}, errors.New(line + ": exit status 100: Unable to locate package")
	}
	return proc.Result{}, nil
}

func (f *machine) seen(root bool) Machine {
	uid := 1000
	if root {
		uid = 0
	}
	return Machine{
		LookPath: f.lookPath, Run: f.run, UserID: func() int { return uid },
		Files: fstest.MapFS{
			"etc/os-release": {Data: []byte("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")},
			"proc/meminfo":   {Data: []byte("MemTotal: 9 kB\nMemAvailable:    3145728 kB\n")},
		},
	}
}

func debian() *machine {
	return &machine{
		has: map[string]string{"apt-get": "", "git": "git version 2.39.5\n", "gcc": "12.2.0\n", "g++": "12.2.0\n", "sudo": ""},
		inApt: map[string]map[string]string{
			"cmake":       {"cmake": "cmake version 3.25.1\n\nCMake suite\n"},
			"ninja-build": {"ninja": "1.11.1\n"},
			"adb":         {"adb": "Android Debug Bridge version 1.0.41\n"},
		},
	}
}

func TestRootGetsWhatIsMissing(t *testing.T) {
	f := debian()
	m := f.seen(true)
	var notes []string
	m.Note = func(l string) { notes = append(notes, l) }
	r, err := m.Ensure(t.Context(), "/nowhere/at/all", Git, CMake, Ninja, Compiler, ADB)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"apt-get update", "apt-get install -y --no-install-recommends cmake ninja-build adb"}
	if !slices.Equal(f.ran, want) {
		t.Errorf("ran %q, expected %q", f.ran, want)
	}
	if want := []string{"installing cmake ninja-build adb (for CMake, Ninja, adb)"}; !slices.Equal(notes, want) {
		t.Errorf("said %q, expected %q", notes, want)
	}
	if r.Distribution != "Debian GNU/Linux 12 (bookworm)" || r.MemoryBytes != 3<<30 || len(r.Missing()) != 0 || r.FreeBytes <= 0 {
		t.Errorf("report %+v", r)
	}
	if r.Found[1].Version != "3.25.1" {
		t.Errorf("CMake version %q", r.Found[1].Version)
	}
	f.ran = nil
	if _, err := m.Ensure(t.Context(), "/", Git, CMake); err != nil || f.ran != nil {
		t.Errorf("nothing is missing, yet ran %q, %v", f.ran, err)
	}
}

// A compiler without its sanitizers lacks something, and gets it.
func TestSanitizers(t *testing.T) {
	f := debian()
	f.has["clang-19"] = "19.1.7\n"
	f.inApt["libclang-rt-19-dev"] = map[string]string{"sanitizers": "yes"}
	m := f.seen(false)
	report, err := m.Check(t.Context(), "/", Sanitizers)
	if missing := report.Missing(); err != nil || len(missing) != 1 || missing[0].Problem != "clang-19 makes no program with -fsanitize=address" {
		t.Errorf("%+v, %v", missing, err)
	}
	if report, err = f.seen(true).Ensure(t.Context(), "/", Sanitizers); err != nil || len(report.Missing()) != 0 {
		t.Errorf("%+v, %v", report.Missing(), err)
	}
}

func TestWhatIsSaidWhenNothingIsInstalled(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*machine, *Machine)
		want string
	}{
		{"no terminal", func(*machine, *Machine) {}, "this machine lacks:\n  CMake (to build llama.cpp): cmake is not in PATH\nnot root, and no terminal to ask on\nto install it: sudo apt-get update && sudo apt-get install -y --no-install-recommends cmake"},
		{"answered no", func(_ *machine, m *Machine) { m.Confirm = func(string) bool { return false } }, "not installed, as answered\nto install it: sudo apt-get update && sudo"},
		{"no sudo", func(f *machine, m *Machine) {
			delete(f.has, "sudo")
			m.Confirm = func(string) bool { t.Error("asked in vain"); return true }
		}, "run this as root\nto install it: apt-get update && apt-get install"},
		{"other distribution", func(f *machine, _ *Machine) { delete(f.has, "apt-get"); f.has["dnf"] = "" }, "to install it: sudo dnf install cmake"},
		{"no package manager", func(f *machine, _ *Machine) { delete(f.has, "apt-get") }, "install these by hand"},
		{"apt-get fails", func(f *machine, m *Machine) { f.fail = "install"; m.UserID = func() int { return 0 } }, "Unable to locate package"},
		{"too old", func(f *machine, m *Machine) {
			f.has["cmake"] = "cmake version 3.18.4"
			f.inApt = nil
			m.UserID = func() int { return 0 }
		}, "is version 3.18.4, 3.25 or later is needed\nthe packages were installed, but this remains"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := debian()
			m := f.seen(false)
			c.make(f, &m)
			_, err := m.Ensure(t.Context(), "/", Git, CMake)
			var missing *MissingError
			if !errors.As(err, &missing) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, expected %q in it", fmt.Sprint(err), c.want)
			}
		})
	}
}

func TestSudoAfterAsking(t *testing.T) {
	f := debian()
	m := f.seen(false)
	asked := ""
	m.Confirm = func(q string) bool { asked = q; return true }
	if _, err := m.Ensure(t.Context(), "/", CMake); err != nil {
		t.Fatal(err)
	}
	if asked != "Install cmake (for CMake) with sudo apt-get?" || len(f.ran) != 2 || !strings.HasPrefix(f.ran[1], "sudo DEBIAN_FRONTEND=noninteractive apt-get install") {
		t.Errorf("asked %q, ran %q", asked, f.ran)
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"3.25.1", "3.25", false}, {"3.9", "3.25", true}, {"4", "3.25", false}, {"", "1", true}, {"19", "19", false}, {"18.1.8", "19", true}} {
		if Older(c.a, c.b) != c.want {
			t.Errorf("Older(%q, %q) is not %v", c.a, c.b, c.want)
		}
	}
}

func TestJobs(t *testing.T) {
	for _, c := range []struct {
		cores, gib, want int
	}{{8, 4, 2}, {2, 24, 2}, {4, 1, 1}, {4, -1, 4}} {
		memory := int64(c.gib) << 30
		if c.gib < 0 {
			memory = -1
		}
		if got := (Report{Cores: c.cores, MemoryBytes: memory}).Jobs(); got != c.want {
			t.Errorf("%d cores, %d GiB: %d jobs, expected %d", c.cores, c.gib, got, c.want)
		}
	}
}

// TestThisMachine runs the real lookups; what they find is the machine's.
func TestThisMachine(t *testing.T) {
	r, err := Machine{}.Check(t.Context(), t.TempDir(), Git, CMake, Ninja, Compiler, Clang19, ADB, NPM)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Found {
		t.Logf("%-20s ok %v version %q %v %s", f.Need.Tool, f.OK, f.Version, f.Paths, f.Problem)
		if f.OK && f.Version == "" {
			t.Errorf("%s: no version found", f.Need.Tool)
		}
	}
	if r.Cores < 1 || r.FreeBytes <= 0 || r.MemoryBytes <= 0 {
		t.Errorf("report %+v", r)
	}
}
