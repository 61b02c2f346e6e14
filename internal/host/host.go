// Package host tells what this machine has and lacks for the work at hand, and
// gets what is missing where it may. Reports are data; the caller shows them.
package host

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"hexab/internal/proc"
)

// Need is one thing that some work takes from the machine.
type Need struct {
	// Tool is its name for people.
	Tool string
	// Programs must all be in PATH under one of their names each, such as
	// {{"gcc", "clang"}, {"g++", "clang++"}}.
	Programs [][]string
	// Args make the first program print its version; nil does not ask.
	Args []string
	// AtLeast is the oldest version that will do, as "3.25"; empty is any.
	AtLeast string
	// Links are options with which the first program, a compiler, must make a
	// program; nil does not try.
	Links []string
	// Packages is what to install, by package manager: "apt", "dnf", "pacman",
	// "apk".
	Packages map[string][]string
	// Why says what it is for.
	Why string
}

// The needs of hexab's work.
var (
	Git = Need{Tool: "git", Programs: [][]string{{"git"}}, Args: []string{"--version"},
		Packages: withCertificates("git"), Why: "to fetch and identify llama.cpp"}
	// CMake's oldest version is Debian 12's: older ones lack nothing known,
	// but nothing older was tried.
	CMake = Need{Tool: "CMake", Programs: [][]string{{"cmake"}}, Args: []string{"--version"}, AtLeast: "3.25",
		Packages: every("cmake"), Why: "to build llama.cpp"}
	Ninja = Need{Tool: "Ninja", Programs: [][]string{{"ninja", "ninja-build"}}, Args: []string{"--version"}, AtLeast: "1.10",
		Packages: map[string][]string{"apt": {"ninja-build"}, "dnf": {"ninja-build"}, "pacman": {"ninja"}, "apk": {"ninja"}}, Why: "to build llama.cpp"}
	Compiler = Need{Tool: "C and C++ compiler", Programs: [][]string{{"gcc", "clang", "cc"}, {"g++", "clang++", "c++"}}, Args: []string{"--version"},
		Packages: map[string][]string{"apt": {"gcc", "g++", "libc6-dev"}, "dnf": {"gcc", "gcc-c++"}, "pacman": {"gcc"}, "apk": {"gcc", "g++", "musl-dev", "linux-headers"}}, Why: "to build llama.cpp"}
	Clang19 = Need{Tool: "clang 19", Programs: [][]string{{"clang-19"}, {"clang++-19"}, {"ld.lld-19"}}, Args: []string{"-dumpversion"}, AtLeast: "19",
		Packages: map[string][]string{"apt": {"clang-19", "lld-19"}, "dnf": {"clang", "lld"}, "pacman": {"clang", "lld"}, "apk": {"clang19", "lld19"}}, Why: "to build the Hexagon backend for the simulator and for Linux boards"}
	ADB = Need{Tool: "adb", Programs: [][]string{{"adb"}}, Args: []string{"version"},
		Packages: map[string][]string{"apt": {"adb"}, "dnf": {"android-tools"}, "pacman": {"android-tools"}, "apk": {"android-tools"}}, Why: "to reach phones, the embedded one too"}
	// CrossArm64 builds for Linux boards. Elsewhere than on Debian and Ubuntu
	// the packages' names are known, but were not tried.
	CrossArm64 = Need{Tool: "C and C++ compiler for arm64", Programs: [][]string{{"aarch64-linux-gnu-gcc"}, {"aarch64-linux-gnu-g++"}}, Args: []string{"-dumpfullversion"}, AtLeast: "11",
		Packages: map[string][]string{"apt": {"gcc-aarch64-linux-gnu", "g++-aarch64-linux-gnu"}, "dnf": {"gcc-aarch64-linux-gnu", "gcc-c++-aarch64-linux-gnu", "glibc-devel"}, "pacman": {"aarch64-linux-gnu-gcc"}},
		Why:      "to build for Linux boards (linux-arm64)"}
	// QEMU runs their programs on the embedded phone.
	QEMU = Need{Tool: "qemu-aarch64", Programs: [][]string{{"qemu-aarch64", "qemu-aarch64-static"}}, Args: []string{"--version"},
		Packages: map[string][]string{"apt": {"qemu-user"}, "dnf": {"qemu-user"}, "pacman": {"qemu-user"}, "apk": {"qemu-aarch64"}}, Why: "to run programs for arm64 on the embedded phone (profile arm64)"}
	SSH = Need{Tool: "OpenSSH client", Programs: [][]string{{"ssh"}, {"sftp"}},
		Packages: map[string][]string{"apt": {"openssh-client"}, "dnf": {"openssh-clients"}, "pacman": {"openssh"}, "apk": {"openssh-client"}}, Why: "to reach Linux boards (-device=ssh:user@host)"}
	CCache = Need{Tool: "ccache", Programs: [][]string{{"ccache"}}, Args: []string{"--version"},
		Packages: every("ccache"), Why: "to compile once what several builds share"}
	NPM = Need{Tool: "npm", Programs: [][]string{{"npm"}}, Args: []string{"--version"},
		Packages: withCertificates("npm"), Why: "to fetch llama.cpp where GitHub is out of reach"}
	// Sanitizers are a package of their own on Debian and Ubuntu.
	Sanitizers = Need{Tool: "clang 19's sanitizers", Programs: [][]string{{"clang-19"}}, Links: []string{"-fsanitize=address"},
		Packages: map[string][]string{"apt": {"clang-19", "libclang-rt-19-dev"}, "dnf": {"clang", "compiler-rt"}, "pacman": {"clang", "compiler-rt"}, "apk": {"clang19", "compiler-rt"}},
		Why:      "to test under sanitizers"}
	LLVMTools = Need{Tool: "LLVM's tools", Programs: [][]string{{"llvm-objdump-19"}, {"llvm-symbolizer-19"}},
		Packages: map[string][]string{"apt": {"llvm-19"}, "dnf": {"llvm"}, "pacman": {"llvm"}, "apk": {"llvm19"}}, Why: "to test reports against LLVM's own"}
	SSHServer = Need{Tool: "OpenSSH server", Programs: [][]string{{"sshd", "/usr/sbin/sshd"}},
		Packages: map[string][]string{"apt": {"openssh-server"}, "dnf": {"openssh-server"}, "pacman": {"openssh"}, "apk": {"openssh-server"}}, Why: "to test what reaches Linux boards"}
	Processes = Need{Tool: "pgrep", Programs: [][]string{{"pgrep"}},
		Packages: map[string][]string{"apt": {"procps"}, "dnf": {"procps-ng"}, "pacman": {"procps-ng"}, "apk": {"procps"}}, Why: "to test what becomes of processes"}
)

func every(name string) map[string][]string {
	return map[string][]string{"apt": {name}, "dnf": {name}, "pacman": {name}, "apk": {name}}
}

// withCertificates adds what https takes: Debian only recommends it.
func withCertificates(name string) map[string][]string {
	packages := every(name)
	packages["apt"] = append(packages["apt"], "ca-certificates")
	return packages
}

// Found is what the machine has for one need.
type Found struct {
	Need Need
	// OK tells that it will do.
	OK bool
	// Paths are the programs found, in the need's order; Version is the first
	// one's.
	Paths   []string
	Version string
	// Problem says what is wrong; empty when OK.
	Problem string
}

// Report is what a machine has.
type Report struct {
	// Distribution is the name in /etc/os-release; Manager is the package
	// manager found, or empty.
	Distribution, Manager string
	Arch                  string
	Cores                 int
	// MemoryBytes is what is available now; FreeBytes is free on the cache's
	// disk. Both are -1 when unknown.
	MemoryBytes, FreeBytes int64
	Root                   bool
	Found                  []Found
}

// Missing are the needs that are not met.
func (r Report) Missing() []Found {
	return slices.DeleteFunc(slices.Clone(r.Found), func(f Found) bool { return f.OK })
}

// Jobs is how many compilers to run at the same time: one a core, and no more
// than fit in memory (llama.cpp's largest file takes about 1.5 GiB).
func (r Report) Jobs() int {
	jobs := max(1, r.Cores)
	if r.MemoryBytes > 0 {
		jobs = min(jobs, max(1, int(r.MemoryBytes/(1536<<20))))
	}
	return jobs
}

// Machine is how this package sees the machine; tests see another one.
type Machine struct {
	// LookPath finds programs; nil is exec.LookPath.
	LookPath func(string) (string, error)
	// Run runs a command to its end; nil is proc.Run.
	Run func(context.Context, proc.Command) (proc.Result, error)
	// Files is the root of the file system; nil is the real one.
	Files fs.FS
	// UserID is the user; nil is os.Geteuid.
	UserID func() int
	// Confirm asks the user on a terminal; nil means there is none.
	Confirm func(question string) bool
	// Note is told what is being done; it may be nil.
	Note func(line string)
	// Input and Output are the terminal for sudo's password, used when Confirm
	// is set.
	Input io.Reader
	// Output receives what the package manager prints; nil drops it.
	Output io.Writer
}

func (m Machine) lookPath(name string) (string, error) {
	if m.LookPath != nil {
		return m.LookPath(name)
	}
	return exec.LookPath(name)
}

func (m Machine) run(ctx context.Context, c proc.Command) (proc.Result, error) {
	if m.Run != nil {
		return m.Run(ctx, c)
	}
	return proc.Run(ctx, c)
}

func (m Machine) read(name string) []byte {
	files := m.Files
	if files == nil {
		files = os.DirFS("/")
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil
	}
	return data
}

func (m Machine) isRoot() bool {
	if m.UserID != nil {
		return m.UserID() == 0
	}
	return os.Geteuid() == 0
}

// Check looks at the machine and changes nothing. The cache folder, or the
// nearest parent that exists, says which disk is meant.
func (m Machine) Check(ctx context.Context, cache string, needs ...Need) (Report, error) {
	r := Report{
		Distribution: osName(m.read("etc/os-release")),
		Arch:         runtime.GOARCH,
		Cores:        runtime.NumCPU(),
		MemoryBytes:  availableMemory(m.read("proc/meminfo")),
		FreeBytes:    freeBytes(cache),
		Root:         m.isRoot(),
	}
	for _, manager := range managers {
		if _, err := m.lookPath(manager.program); err == nil {
			r.Manager = manager.name
			break
		}
	}
	for _, n := range needs {
		f, err := m.find(ctx, n)
		if err != nil {
			return r, err
		}
		r.Found = append(r.Found, f)
	}
	return r, nil
}

// find looks for one need.
func (m Machine) find(ctx context.Context, n Need) (Found, error) {
	f := Found{Need: n}
	for _, names := range n.Programs {
		at := slices.IndexFunc(names, func(name string) bool {
			_, err := m.lookPath(name)
			return err == nil
		})
		if at < 0 {
			f.Problem = strings.Join(names, " or ") + " is not in PATH"
			return f, nil
		}
		path, err := m.lookPath(names[at])
		if err != nil {
			return f, err
		}
		f.Paths = append(f.Paths, path)
	}
	if n.Args != nil && len(f.Paths) > 0 {
		version, err := m.version(ctx, f.Paths[0], n.Args)
		if err != nil {
			if ctx.Err() != nil {
				return f, err
			}
			f.Problem = "does not run: " + err.Error()
			return f, nil
		}
		f.Version = version
		if n.AtLeast != "" && Older(version, n.AtLeast) {
			f.Problem = fmt.Sprintf("is version %s, %s or later is needed", version, n.AtLeast)
			return f, nil
		}
	}
	if n.Links != nil {
		if err := m.links(ctx, f.Paths[0], n.Links); err != nil {
			if ctx.Err() != nil {
				return f, err
			}
			f.Problem = fmt.Sprintf("%s makes no program with %s", n.Programs[0][0], strings.Join(n.Links, " "))
			return f, nil
		}
	}
	f.OK = true
	return f, nil
}

// links makes a program and throws it away.
func (m Machine) links(ctx context.Context, compiler string, options []string) error {
	args := append(slices.Clone(options), "-x", "c", "-", "-o", "/dev/null")
	_, err := m.run(ctx, proc.Command{Path: compiler, Args: args, Stdin: strings.NewReader("int main(void) { return 0; }\n")})
	return err
}

var versionPattern = regexp.MustCompile(`\d+(\.\d+)+|\b\d+\b`)

// version is the first number in what the program says about itself.
func (m Machine) version(ctx context.Context, path string, args []string) (string, error) {
	var out bytes.Buffer
	if _, err := m.run(ctx, proc.Command{Path: path, Args: args, Stdout: &out}); err != nil {
		return "", err
	}
	return versionPattern.FindString(out.String()), nil
}

// Older tells whether version a is before b, part by part; a part that is
// absent counts as zero, and so does what is no number.
func Older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		x, y := part(as, i), part(bs, i)
		if x != y {
			return x < y
		}
	}
	return false
}

func part(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, _ := strconv.Atoi(parts[i]) // zero when it is no number
	return n
}

// osName is PRETTY_NAME of an os-release file.
func osName(data []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); ok {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}

// availableMemory is MemAvailable of /proc/meminfo in bytes, or -1.
func availableMemory(data []byte) int64 {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "MemAvailable:" {
			if kib, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				return kib << 10
			}
		}
	}
	return -1
}

// freeBytes is what may still be written to the disk of dir or its nearest
// parent that exists, or -1.
func freeBytes(dir string) int64 {
	for dir != "" {
		var s unix.Statfs_t
		err := unix.Statfs(dir, &s)
		if err == nil {
			return int64(s.Bavail) * int64(s.Bsize)
		}
		if !errors.Is(err, unix.ENOENT) || dir == "/" {
			return -1
		}
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
		if dir == "" {
			dir = "/"
		}
	}
	return -1
}
