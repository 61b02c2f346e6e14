// Package simsdk makes the simulated Hexagon SDK: a folder that a build accepts as HEXAGON_SDK_ROOT and
// HEXAGON_TOOLS_ROOT. The repository's sim/ holds its text; the programs in it (qaic, hexagon-clang) are compiled, so
// the folder is laid out in a cache, addressed by the hash of all that goes into it.
package simsdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"hexab/internal/hexclang"
)

// Options say what an SDK is made of. Only Repository is needed.
type Options struct {
	Repository string // folder of hexab's go.mod
	Clang      string // C compiler of this machine, 19 or later; "" looks for clang-19, then newer, then clang
	// Vectors are the headers of the HVX emulation; "" is the repository's sim/npu/hvx.
	Vectors string
	// TargetFlags choose the instructions of the libraries built; nil is every machine's: AVX2, FMA and F16C on
	// x86-64, the base instructions on arm64.
	TargetFlags []string
	// Accesses adds AccessFlags.
	Accesses bool
}

// AccessFlags have the compiler report each load and store of the optimised program, before registers are allocated, so
// that spills are none: with them the kernel address sanitizer calls a function for each, and nothing else. The DSP's
// process counts the bytes that lie in shared buffers (sim/npu/runtime/dsp/access.c).
var AccessFlags = []string{
	"-fsanitize=kernel-address",
	"-mllvm=-asan-instrumentation-with-call-threshold=0", // calls, for accesses of any number
	"-mllvm=-asan-opt-same-temp=0",                       // each access, also the second of one address
	"-mllvm=-asan-kernel-mem-intrinsic-prefix=1",         // memcpy, memmove, memset
	"-mllvm=-asan-stack=0", "-mllvm=-asan-globals=0",     // no other layout of memory
}

// SDK is a materialised SDK.
type SDK struct {
	Root      string // HEXAGON_SDK_ROOT
	ToolsRoot string // HEXAGON_TOOLS_ROOT
	ID        string // hash of its inputs, hexadecimal
}

// toolsDir is the tools' folder in the SDK, as hexagon_sdk.json names it.
const toolsDir = "tools/HEXAGON_Tools/sim"

// Env are the two variables that builds read.
func (s *SDK) Env() []string {
	return []string{"HEXAGON_SDK_ROOT=" + s.Root, "HEXAGON_TOOLS_ROOT=" + s.ToolsRoot}
}

// Materialise returns the SDK in cache, making it when it is not there. Several processes may do so at once. What it
// takes besides: Go, to compile the SDK's programs.
func Materialise(ctx context.Context, cache string, o Options) (*SDK, error) {
	if o.Vectors == "" {
		o.Vectors = filepath.Join(o.Repository, "sim", "npu", "hvx")
	}
	if o.TargetFlags == nil {
		o.TargetFlags = baseline(runtime.GOARCH)
	}
	if o.Accesses {
		o.TargetFlags = slices.Concat(o.TargetFlags, AccessFlags)
	}
	cc, err := findCompiler(ctx, o.Clang)
	if err != nil {
		return nil, err
	}
	m := &maker{Options: o, cc: cc}
	id, err := m.hash(ctx)
	if err != nil {
		return nil, fmt.Errorf("simulated SDK: %w", err)
	}
	cache, err = filepath.Abs(cache)
	if err != nil {
		return nil, err
	}
	root := filepath.Join(cache, id[:16])
	sdk := &SDK{Root: root, ToolsRoot: filepath.Join(root, toolsDir), ID: id}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, fmt.Errorf("simulated SDK: %w", err)
	}
	lock := flock.New(root + ".lock")
	if ok, err := lock.TryLockContext(ctx, lockPoll); err != nil || !ok {
		return nil, fmt.Errorf("simulated SDK: wait for %s.lock: %w", root, err)
	}
	defer lock.Close()
	if _, err := os.Stat(root); err == nil {
		return sdk, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	tmp, err := os.MkdirTemp(cache, id[:16]+".tmp-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	if err := m.lay(ctx, tmp); err != nil {
		return nil, fmt.Errorf("simulated SDK: %w", err)
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return nil, err
	}
	return sdk, os.Rename(tmp, root)
}

// baseline are the flags for instructions that every supported machine of an architecture has.
func baseline(goarch string) []string {
	if goarch == "amd64" {
		return []string{"-mavx2", "-mfma", "-mf16c"}
	}
	return []string{}
}

// compiler is this machine's.
type compiler struct {
	clang, ar string // absolute
	lld       bool
	version   string // what --version says
}

// minClang is the first clang that has what the HVX emulation needs.
const minClang = 19

func findCompiler(ctx context.Context, name string) (*compiler, error) {
	names := []string{name}
	if name == "" {
		names = []string{"clang-19", "clang-20", "clang-21", "clang-22", "clang"}
	}
	var why []string
	for _, n := range names {
		path, err := exec.LookPath(n)
		if err != nil {
			why = append(why, n+" is not installed")
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			why = append(why, fmt.Sprintf("%s --version: %v", path, err))
			continue
		}
		c := &compiler{clang: path, version: string(out)}
		if v := c.major(); v < minClang {
			why = append(why, fmt.Sprintf("%s is version %d", path, v))
			continue
		}
		if c.ar = sibling(ctx, path, "llvm-ar"); c.ar == "" {
			if c.ar, err = exec.LookPath("ar"); err != nil {
				why = append(why, "neither llvm-ar nor ar is installed")
				continue
			}
		}
		c.lld = sibling(ctx, path, "ld.lld") != ""
		return c, nil
	}
	return nil, fmt.Errorf("simulated SDK: needs clang %d or later (Debian, Ubuntu: apt install clang-%d lld-%d llvm-%d): %s",
		minClang, minClang, minClang, minClang, strings.Join(why, "; "))
}

func (c *compiler) major() (v int) {
	if _, after, ok := strings.Cut(c.version, "clang version "); ok {
		fmt.Sscanf(after, "%d", &v)
	}
	return v
}

// sibling asks clang for a program of its own.
func sibling(ctx context.Context, clang, program string) string {
	out, err := exec.CommandContext(ctx, clang, "-print-prog-name="+program).Output()
	if p := strings.TrimSpace(string(out)); err == nil && filepath.IsAbs(p) {
		return p
	}
	return ""
}

// config is the driver's configuration.
func (m *maker) config() ([]byte, error) {
	b, err := json.MarshalIndent(hexclang.Config{
		Clang: m.cc.clang, Ar: m.cc.ar, LLD: m.cc.lld, TargetFlags: m.TargetFlags,
		Includes: []string{"../target/hexagon/include"},
	}, "", "  ")
	return append(b, '\n'), err
}
