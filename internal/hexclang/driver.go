// Package hexclang is the compiler driver of the simulated Hexagon SDK: it takes the command lines that a build gives
// hexagon-clang and compiles for this machine.
//
// A source is preprocessed with the DSP's macros and headers, its inline assembly becomes calls (Rewrite), and the text
// is compiled by clang with the instructions that every supported machine has. Each flag is translated or dropped by a
// table that says why; what is not in it is an error.
package hexclang

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Config says what the driver of one materialised SDK works with. It lies beside the driver as ConfigName.
type Config struct {
	Clang string `json:"clang"` // this machine's C compiler, absolute
	Ar    string `json:"ar"`    // this machine's archiver, absolute
	LLD   bool   `json:"lld"`   // link with lld
	// TargetFlags choose the machine and the instructions that vectors are made of. A second SDK with wider ones
	// makes a second copy of each library, of which the DSP process may load the better.
	TargetFlags []string `json:"target_flags"`
	// Includes are the compiler's own header folders, relative to the folder of the configuration.
	Includes []string `json:"includes"`
}

// ConfigName is the file in the driver's folder that configures it.
const ConfigName = "hexagon-clang.json"

// LoadConfig reads the configuration in dir and makes its paths absolute.
func LoadConfig(dir string) (*Config, error) {
	b, err := os.ReadFile(filepath.Join(dir, ConfigName))
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var c Config
	if err := dec.Decode(&c); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, ConfigName), err)
	}
	for i, inc := range c.Includes {
		c.Includes[i] = filepath.Join(dir, inc)
	}
	return &c, nil
}

// Driver runs commands.
type Driver struct {
	Config *Config
	Stdout io.Writer
	Stderr io.Writer
}

// ErrFailed says that a tool failed and has told why on Stderr.
var ErrFailed = errors.New("compilation failed")

// hostFlags are this machine's whatever the command says.
var hostFlags = []string{
	"-Qunused-arguments", // one set of flags serves several steps
}

// preFlags are for the preprocessor alone.
var preFlags = []string{
	"-Wno-macro-redefined", // this machine's math.h has M_PI, the DSP's leaves it to the sources
}

// codeFlags make the DSP's C on this machine.
var codeFlags = []string{
	"-fno-strict-aliasing", // vectors are read through other types
	"-fwrapv",              // as the DSP's instructions do
	"-ffp-contract=off",    // no fused multiply-add that the source does not ask for: equal results everywhere
	"-gline-tables-only",   // checkers name file and line
	// The same bytes in whichever folder the build takes place, and whoever filled ccache.
	"-ffile-compilation-dir=.",
	// __fp16 in arguments and results, as on the DSP.
	"-Xclang", "-fnative-half-arguments-and-returns",
	// Addresses have 32 bits on the DSP and 64 here; all of them are below 4 GiB.
	"-Wno-pointer-to-int-cast", "-Wno-int-to-pointer-cast", "-Wno-void-pointer-to-int-cast", "-Wno-int-to-void-pointer-cast",
	"-Wno-int-conversion",               // NULL is assigned to integers; the DSP's headers allow it
	"-Wno-tautological-overlap-compare", // constants that were macros meet in conditions
	"-Wno-psabi",                        // how vectors are passed: all objects of a library are compiled alike
}

// macros are those of the DSP's compiler.
func macros(arch int, hvx bool) []string {
	m := []string{
		"-D__hexagon__=1", "-D__qdsp6__=1", "-D__HEXAGON__=1", fmt.Sprintf("-D__HEXAGON_ARCH__=%d", arch),
		fmt.Sprintf("-D__QDSP6_ARCH__=%d", arch), fmt.Sprintf("-D__HEXAGON_V%d__=1", arch),
	}
	if hvx {
		m = append(m, "-D__HVX__=1", "-D__HVXDBL__=1", "-D__HVX_LENGTH__=128", fmt.Sprintf("-D__HVX_ARCH__=%d", arch))
	}
	return m
}

// Run runs one command line, without the program's name. cxx is hexagon-clang++.
func (d *Driver) Run(ctx context.Context, args []string, cxx bool) error {
	for _, a := range args {
		switch a {
		case "--version", "-dumpversion", "-dumpmachine", "-print-search-dirs", "--print-search-dirs":
			// Questions about the compiler are answered by the one that does the work.
			return d.run(ctx, nil, d.Stdout, d.Config.Clang, a)
		}
	}
	j, err := parse(args, cxx)
	if err != nil {
		return err
	}
	switch j.mode {
	case preprocessing:
		return d.preprocessOnly(ctx, j)
	case compiling, checking:
		for _, in := range j.inputs {
			if in.lang == "" {
				return fmt.Errorf("hexagon-clang: error: %s is not a source", in.path)
			}
			if err := d.compile(ctx, j, in, d.objectName(j, in)); err != nil {
				return err
			}
		}
		return nil
	}
	return d.linkAll(ctx, j, cxx)
}

func (d *Driver) objectName(j *job, in input) string {
	if j.output != "" || j.mode == checking {
		return j.output
	}
	ext := ".o"
	if j.assembly {
		ext = ".s"
	}
	base := filepath.Base(in.path)
	return strings.TrimSuffix(base, filepath.Ext(base)) + ext
}

// preArgs is the command that preprocesses.
func (d *Driver) preArgs(j *job, in input) []string {
	args := append([]string{"-x", in.lang}, hostFlags...)
	args = append(args, d.Config.TargetFlags...)
	args = append(args, macros(j.arch, j.hvx)...)
	args = append(append(args, j.pre...), preFlags...)
	for _, inc := range d.Config.Includes {
		args = append(args, "-isystem", inc)
	}
	return append(args, "-E", in.path)
}

func (d *Driver) preprocessOnly(ctx context.Context, j *job) error {
	for _, in := range j.inputs {
		args := append(d.preArgs(j, in), j.deps...)
		if j.output != "" {
			args = append(args, "-o", j.output)
		}
		if err := d.run(ctx, os.Stdin, d.Stdout, d.Config.Clang, args...); err != nil {
			return err
		}
	}
	return nil
}

// compile makes one object (or assembly text, or nothing but messages) of one source.
func (d *Driver) compile(ctx context.Context, j *job, in input, object string) error {
	pre := append(d.preArgs(j, in), j.deps...)
	if len(j.deps) > 0 && !j.depFile {
		pre = append(pre, "-MF", strings.TrimSuffix(object, filepath.Ext(object))+".d", "-MT", object)
	}
	var text bytes.Buffer
	if err := d.run(ctx, os.Stdin, &text, d.Config.Clang, append(pre, "-o", "-")...); err != nil {
		return err
	}
	src, _, err := Rewrite(text.Bytes(), in.path, in.lang == "c++")
	if err != nil {
		return err
	}
	args := []string{"-x", map[string]string{"c": "cpp-output", "c++": "c++-cpp-output"}[in.lang]}
	args = append(args, hostFlags...)
	args = append(args, d.Config.TargetFlags...)
	args = append(args, j.comp...)
	args = append(args, codeFlags...)
	args = append(args, "-Xclang", "-main-file-name", "-Xclang", in.path) // debug information names the source
	switch {
	case j.mode == checking:
		args = append(args, "-fsyntax-only")
	case j.assembly:
		args = append(args, "-S", "-o", object)
	default:
		return d.generate(ctx, src, append(args, "-c", "-o", object))
	}
	return d.run(ctx, bytes.NewReader(src), d.Stdout, d.Config.Clang, append(args, "-")...)
}

// generate compiles the preprocessed text, through ccache where it is installed: two variants that share kernels then
// compile them once. The text is all that goes into the object, so the folder it lies in does not count.
func (d *Driver) generate(ctx context.Context, src []byte, args []string) error {
	ccache, err := exec.LookPath("ccache")
	if err != nil {
		return d.run(ctx, bytes.NewReader(src), d.Stdout, d.Config.Clang, append(args, "-")...)
	}
	tmp, err := os.MkdirTemp("", "hexagon-clang-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	file := filepath.Join(tmp, "source.i")
	if err := os.WriteFile(file, src, 0o600); err != nil {
		return err
	}
	return d.run(ctx, nil, d.Stdout, ccache, append(append([]string{d.Config.Clang}, args...), file)...)
}

// linkAll compiles what is a source and links all.
func (d *Driver) linkAll(ctx context.Context, j *job, cxx bool) error {
	tmp, err := os.MkdirTemp("", "hexagon-clang-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	args := append(append([]string{}, hostFlags...), d.Config.TargetFlags...)
	if d.Config.LLD {
		args = append(args, "-fuse-ld=lld", "-Wl,--threads=1")
	}
	if cxx {
		args = append(args, "--driver-mode=g++")
	}
	// The architecture, for whoever loads the library: an absolute symbol.
	args = append(args, fmt.Sprintf("-Wl,--defsym=hexsim_arch=%d", j.arch))
	for _, a := range j.link {
		if a.flag != "" {
			args = append(args, a.flag)
			continue
		}
		in := j.inputs[a.input]
		if in.lang == "" {
			args = append(args, in.path)
			continue
		}
		object := filepath.Join(tmp, fmt.Sprintf("%d.o", a.input))
		if err := d.compile(ctx, j, in, object); err != nil {
			return err
		}
		args = append(args, object)
	}
	output := j.output
	if output == "" {
		output = "a.out"
	}
	args = append(args, "-lm", "-o", output) // the DSP's C library has the mathematical functions
	return d.run(ctx, nil, d.Stdout, d.Config.Clang, args...)
}

// Archive runs the archiver with the arguments as they are.
func (d *Driver) Archive(ctx context.Context, args []string) error {
	return d.run(ctx, os.Stdin, d.Stdout, d.Config.Ar, args...)
}

// run runs a program. Its messages go to Stderr; its failure is ErrFailed.
func (d *Driver) run(ctx context.Context, stdin io.Reader, stdout io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, d.Stderr
	cmd.Env = append(os.Environ(), "CCACHE_NOHASHDIR=1")
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return ErrFailed
	}
	if err != nil {
		return fmt.Errorf("hexagon-clang: error: %s: %w", name, err)
	}
	return nil
}
