package harness

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/renameio/v2"
	"golang.org/x/term"

	"hexab/internal/host"
	"hexab/internal/inspect"
	"hexab/internal/proc"
	"hexab/internal/source"
)

// EnvTools is the root of the Hexagon tools, whose disassembler knows all of
// the architectures.
const EnvTools = "HEXAGON_TOOLS_ROOT"

// publishedSkels are DSP libraries built by the vendor's compiler that anybody
// can get: those of the React Native binding of llama.cpp.
var publishedSkels = source.Package{
	Name: "llama.rn", Version: "0.12.9",
	Integrity: "sha512-uRsTVARp1KnDkDg00FvOGIrN6SZfMqYVJfCOdxN9FSyGufLC+Aad6oFWZVEO8vmtNqu+JBlsCGevP4sJGifAvg==",
	Members: []string{
		"bin/arm64-v8a/libggml-htp-v73.so", "bin/arm64-v8a/libggml-htp-v75.so",
		"bin/arm64-v8a/libggml-htp-v79.so", "bin/arm64-v8a/libggml-htp-v81.so",
	},
}

// InspectOptions say what to inspect and what to show.
type InspectOptions struct {
	// Skel is a library's path, or v73, v75, v79, v81 for a published one.
	// Against is another one to compare it with.
	Skel, Against string
	// Func is a regular expression for functions' names.
	Func string
	// Disasm is one for functions to disassemble.
	Disasm string
	// Addr is a list of addresses, or - for a log on standard input.
	Addr string
	// Strict fails on vector spills in hardware loops, on double precision and
	// on vector instructions in the functions that Workers matches.
	Strict  bool
	Workers string
	// All shows functions without findings too.
	All bool
}

// Inspect examines a DSP library.
func Inspect(ctx context.Context, o InspectOptions) error {
	w, err := Open()
	if err != nil {
		return err
	}
	if o.Skel == "" {
		return usage("inspect: name a library by -skel=: a path, or v73, v75, v79, v81 for a published one")
	}
	patterns := map[string]*regexp.Regexp{"func": nil, "disasm": nil, "workers": nil}
	for name, text := range map[string]string{"func": o.Func, "disasm": o.Disasm, "workers": o.Workers} {
		if text == "" {
			continue
		}
		if patterns[name], err = regexp.Compile(text); err != nil {
			return usage("-%s: %v", name, err)
		}
	}
	if o.Addr != "" {
		return w.resolve(ctx, o.Skel, o.Addr, os.Stdin)
	}
	// What is read here lives until the end: collecting in between is waste.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	library, err := w.library(ctx, o.Skel)
	if err != nil {
		return err
	}
	library = library.Select(patterns["func"])
	switch {
	case o.Against != "":
		other, err := w.library(ctx, o.Against)
		if err != nil {
			return err
		}
		return inspect.WriteChanges(w.Out, inspect.Compare(other.Select(patterns["func"]), library))
	case o.Disasm != "":
		return w.disassemble(library, patterns["disasm"])
	}
	if err := library.Table(w.Out, o.All); err != nil {
		return err
	}
	if !o.Strict {
		return nil
	}
	violations := library.Check(inspect.Limits{Workers: patterns["workers"]})
	for _, v := range violations {
		fmt.Fprintf(w.Out, "%s: %s\n", v.Function, v.Text)
	}
	if len(violations) > 0 {
		return fmt.Errorf("%d violations of the developer guide (Binary Inspection and Spill Analysis)", len(violations))
	}
	return nil
}

func (w *Workspace) disassemble(library *inspect.Library, pattern *regexp.Regexp) error {
	out := bufio.NewWriter(w.Out)
	matched := library.Select(pattern)
	if len(matched.Functions) == 0 {
		return usage("-disasm: no function matches %s", pattern)
	}
	for _, f := range matched.Functions {
		if err := library.Disassemble(out, f); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// resolve finds the places of addresses, or reads a log and writes it again
// with the places below each line.
func (w *Workspace) resolve(ctx context.Context, skel, list string, log io.Reader) error {
	path, err := w.skel(ctx, skel)
	if err != nil {
		return err
	}
	symbols, err := readSymbols(path)
	if err != nil {
		return err
	}
	if list != "-" {
		for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
			addr, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 32)
			if err != nil {
				return usage("-addr: %q is not a hexadecimal address of 32 bits", text)
			}
			fmt.Fprintln(w.Out, symbols.Resolve(uint32(addr)))
		}
		return nil
	}
	if f, ok := log.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		w.Note("reading a log from the terminal; it ends with Ctrl-D")
	}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(w.Out, lines.Text())
		for _, addr := range inspect.Addresses(lines.Text()) {
			if place := symbols.Resolve(addr); place.Function != "" {
				fmt.Fprintf(w.Out, "    %s\n", place)
			}
		}
	}
	return lines.Err()
}

// library examines a library by path or published name.
func (w *Workspace) library(ctx context.Context, name string) (*inspect.Library, error) {
	path, err := w.skel(ctx, name)
	if err != nil {
		return nil, err
	}
	symbols, err := readSymbols(path)
	if err != nil {
		return nil, err
	}
	program, args, err := w.objdump(ctx, path)
	if err != nil {
		return nil, err
	}
	d := disassembler{program, args}
	listing, err := d.parts(ctx, path, symbols.Cuts(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, err
	}
	library, err := inspect.Analyse(listing, symbols, func(library []byte) (string, error) {
		single, err := os.CreateTemp("", "hexab-inspect-*.so")
		if err != nil {
			return "", err
		}
		defer os.Remove(single.Name())
		_, err = single.Write(library)
		if err = errors.Join(err, single.Close()); err != nil {
			return "", err
		}
		return d.list(ctx, single.Name())
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return library, nil
}

// disassembler is a program with the arguments that make it know Hexagon.
type disassembler struct {
	program string
	args    []string
}

// parts lists a library by several processes side by side, each the code up to
// the next cut.
func (d disassembler) parts(ctx context.Context, path string, cuts []uint32) (string, error) {
	listings, errs := make([]string, len(cuts)+1), make([]error, len(cuts)+1)
	var processes sync.WaitGroup
	for i := range listings {
		var bounds []string
		if i > 0 {
			bounds = append(bounds, fmt.Sprintf("--start-address=%#x", cuts[i-1]))
		}
		if i < len(cuts) {
			bounds = append(bounds, fmt.Sprintf("--stop-address=%#x", cuts[i]))
		}
		processes.Go(func() { listings[i], errs[i] = d.list(ctx, path, bounds...) })
	}
	processes.Wait()
	return strings.Join(listings, ""), errors.Join(errs...)
}

// list lists a library. The listing goes by a file: a pipe would wake the reader
// for each of its thousands of pages, which costs more than the reading.
func (d disassembler) list(ctx context.Context, path string, more ...string) (string, error) {
	listing, err := os.CreateTemp("", "hexab-inspect-*.lst")
	if err != nil {
		return "", err
	}
	defer os.Remove(listing.Name())
	defer listing.Close()
	args := append(slices.Concat(d.args, more), "-d", "--no-show-raw-insn", path)
	if _, err := proc.Run(ctx, proc.Command{Path: d.program, Args: args, StdoutFile: listing}); err != nil {
		return "", err
	}
	size, err := listing.Seek(0, io.SeekEnd)
	if err == nil && size > inspect.MaxListing {
		err = fmt.Errorf("%s: a listing of %d bytes is more than one of a library", path, size)
	}
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.Grow(int(size))
	_, err = io.Copy(&text, io.NewSectionReader(listing, 0, size))
	return text.String(), err
}

func readSymbols(path string) (*inspect.Symbols, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unusable("skel", err)
	}
	if info.Size() > inspect.MaxLibrary {
		return nil, fmt.Errorf("%s: %d bytes are more than a library has", path, info.Size())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, unusable("skel", err)
	}
	symbols, err := inspect.ReadSymbols(data)
	if err != nil {
		return nil, usage("skel: %s is no DSP library that can be read (%w); give a libggml-htp-vNN.so, or v73, v75, v79, v81 for a published one", path, err)
	}
	return symbols, nil
}

// skel is a library's path; a published one is fetched.
func (w *Workspace) skel(ctx context.Context, name string) (string, error) {
	for _, member := range publishedSkels.Members {
		if strings.HasSuffix(member, "-"+name+".so") {
			path := filepath.FromSlash(member)
			if dir, there := publishedSkels.Cached(w.Cache); there {
				return filepath.Join(dir, path), nil
			}
			if _, err := w.machine().Ensure(ctx, w.Cache, host.NPM); err != nil {
				return "", err
			}
			dir, err := source.GetPackage(ctx, publishedSkels, source.Options{Cache: w.Cache, Note: func(line string) { w.Note("%s", line) }})
			return filepath.Join(dir, path), err
		}
	}
	_, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", usage("skel: %s is neither a file nor one of the published v73, v75, v79 and v81", name)
	}
	return name, unusable("skel", err)
}

// objdump finds a disassembler that knows Hexagon: the vendor's, which knows
// every architecture, else LLVM's, told to decode as the newest it knows: the
// instruction sets of v73 and later only add to it.
func (w *Workspace) objdump(ctx context.Context, library string) (string, []string, error) {
	const vendors = "hexagon-llvm-objdump"
	if root := os.Getenv(EnvTools); root != "" {
		if path := filepath.Join(root, "Tools", "bin", vendors); exists(path) {
			return path, nil, nil
		}
	}
	if path, err := exec.LookPath(vendors); err == nil {
		return path, nil, nil
	}
	for _, name := range []string{"llvm-objdump-21", "llvm-objdump-20", "llvm-objdump-19", "llvm-objdump"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		arch, err := w.newestKnown(ctx, path, library)
		if err != nil {
			return "", nil, err
		}
		if arch >= 73 {
			return path, []string{
				fmt.Sprintf("--mcpu=hexagonv%d", arch),
				fmt.Sprintf("--mattr=+hvxv%d,+hvx-length128b,+hvx-qfloat,+hvx-ieee-fp,+zreg", arch),
			}, nil
		}
	}
	return "", nil, fmt.Errorf("no disassembler knows Hexagon v73: install llvm-19 (Debian), or set %s to the Hexagon tools", EnvTools)
}

// newestKnown is the newest architecture that a disassembler of LLVM's knows; zero
// for one that knows none. The answer is remembered for the program as it is.
func (w *Workspace) newestKnown(ctx context.Context, program, library string) (int, error) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return 0, err
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", real, info.Size(), info.ModTime().UnixNano()))
	known := filepath.Join(w.Cache, "disassemblers", hex.EncodeToString(key[:8]))
	if text, err := os.ReadFile(known); err == nil {
		if arch, err := strconv.Atoi(string(text)); err == nil {
			return arch, nil
		}
	}
	var help bytes.Buffer
	// The list comes with an exit status of its own; what counts is the list.
	_, err = proc.Run(ctx, proc.Command{
		Path: program, Stdout: &help, Stderr: &help,
		Args: []string{"--triple=hexagon", "--mcpu=help", "-d", "--start-address=0", "--stop-address=1", library},
	})
	if ctx.Err() != nil {
		return 0, err
	}
	arch := newestArch(help.String())
	if os.MkdirAll(filepath.Dir(known), 0o755) == nil { // without a cache it is asked again
		_ = renameio.WriteFile(known, []byte(strconv.Itoa(arch)), 0o644)
	}
	return arch, nil
}

var cpuName = regexp.MustCompile(`\bhexagonv([0-9]{2})\b`)

// newestArch is the highest architecture in LLVM's list of CPUs.
func newestArch(list string) int {
	newest := 0
	for _, match := range cpuName.FindAllStringSubmatch(list, -1) {
		if n, err := strconv.Atoi(match[1]); err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}
