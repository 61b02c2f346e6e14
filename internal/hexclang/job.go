package hexclang

import (
	"fmt"
	"path/filepath"
	"strings"
)

// mode is how far a command goes.
type mode int

const (
	linking mode = iota
	preprocessing
	compiling // to an object, or to assembly text
	checking  // syntax only
)

// input is one file of a command, in order among the other arguments of a link.
type input struct {
	path string
	lang string // "c", "c++", or "" for the linker
}

// job is a parsed command line.
type job struct {
	mode     mode
	assembly bool // -S
	output   string
	inputs   []input
	arch     int
	hvx      bool
	pre      []string // flags of each step
	comp     []string
	link     []linkArg
	deps     []string // -MD and the like
	depFile  bool
}

// linkArg is a flag of a link, or the place of an input.
type linkArg struct {
	flag  string
	input int // index, when flag is empty
}

// parse reads a command line. cxx is the C++ driver's.
func parse(args []string, cxx bool) (*job, error) {
	j := &job{}
	lang := ""
	for i := 0; i < len(args); i++ {
		a := args[i]
		next := func() (string, error) {
			if i++; i >= len(args) {
				return "", fmt.Errorf("hexagon-clang: error: %s needs a value", a)
			}
			return args[i], nil
		}
		var err error
		switch n, isArch, archErr := arch(a); {
		case archErr != nil:
			return nil, archErr
		case isArch:
			if j.arch != 0 && j.arch != n {
				return nil, fmt.Errorf("hexagon-clang: error: %s contradicts architecture v%d", a, j.arch)
			}
			j.arch = n
			j.hvx = j.hvx || strings.HasPrefix(a, "-mhvx")
		case a == "-mhvx" || a == "-mhvx-length=128B":
			j.hvx = true
		case a == "-mhmx" || a == "-mno-hmx":
			// HMX has no types or intrinsics of the compiler: nothing depends on it.
		case a == "-c":
			j.mode = compiling
		case a == "-S":
			j.mode, j.assembly = compiling, true
		case a == "-E":
			j.mode = preprocessing
		case a == "-fsyntax-only":
			j.mode = checking
		case a == "-o":
			j.output, err = next()
		case strings.HasPrefix(a, "-o") && len(a) > 2:
			j.output = a[2:]
		case a == "-x":
			if lang, err = next(); err == nil && lang != "c" && lang != "c++" && lang != "none" {
				err = fmt.Errorf("hexagon-clang: error: -x %s: only c and c++ are simulated", lang)
			}
			if lang == "none" {
				lang = ""
			}
		case a == "-MD" || a == "-MMD" || a == "-MP" || a == "-M" || a == "-MM" || a == "-MG":
			j.deps = append(j.deps, a)
			if a == "-M" || a == "-MM" {
				j.mode = preprocessing
			}
		case a == "-MF" || a == "-MT" || a == "-MQ":
			var v string
			v, err = next()
			j.deps = append(j.deps, a, v)
			j.depFile = j.depFile || a == "-MF"
		case a == "-Xclang":
			var v string
			v, err = next()
			j.pre, j.comp = append(j.pre, a, v), append(j.comp, a, v)
		case a == "-Xlinker":
			var v string
			if v, err = next(); err == nil {
				err = j.linker(v)
			}
		case strings.HasPrefix(a, "-Wl,"):
			err = j.linker(a[len("-Wl,"):])
		case a == "-" || !strings.HasPrefix(a, "-"):
			err = j.input(a, lang, cxx)
		default:
			r, complete := find(rules, a)
			if r == nil {
				return nil, flagError(a)
			}
			words := []string{a}
			if !complete {
				var v string
				v, err = next()
				words = append(words, v)
			}
			j.apply(r, words)
		}
		if err != nil {
			return nil, err
		}
	}
	if j.arch == 0 {
		j.arch = defaultArch
	}
	if len(j.inputs) == 0 {
		return nil, fmt.Errorf("hexagon-clang: error: no input files")
	}
	if len(j.inputs) > 1 && j.output != "" && j.mode != linking {
		return nil, fmt.Errorf("hexagon-clang: error: one output %s for %d inputs", j.output, len(j.inputs))
	}
	return j, nil
}

func (j *job) apply(r *rule, words []string) {
	if r.as != nil {
		words = r.as
	}
	if r.steps&preprocess != 0 {
		j.pre = append(j.pre, words...)
	}
	if r.steps&compile != 0 {
		j.comp = append(j.comp, words...)
	}
	if r.steps&link != 0 {
		for _, w := range words {
			j.link = append(j.link, linkArg{flag: w})
		}
	}
}

// linker reads the words of one -Wl.
func (j *job) linker(list string) error {
	words := strings.Split(list, ",")
	for i := 0; i < len(words); i++ {
		r, complete := find(linkerRules, words[i])
		if r == nil {
			return flagError("-Wl," + words[i])
		}
		flag := "-Wl," + words[i]
		if !complete {
			if i++; i >= len(words) {
				return fmt.Errorf("hexagon-clang: error: %s needs a value in the same -Wl", flag)
			}
			flag += "," + words[i]
		}
		if r.steps&link != 0 {
			j.link = append(j.link, linkArg{flag: flag})
		}
	}
	return nil
}

func (j *job) input(path, lang string, cxx bool) error {
	if lang == "" {
		switch filepath.Ext(path) {
		case ".c":
			lang = "c"
			if cxx {
				lang = "c++"
			}
		case ".cc", ".cpp", ".cxx", ".C":
			lang = "c++"
		case ".o", ".a", ".so", ".obj":
		case ".s", ".S", ".asm":
			return fmt.Errorf("%s: error: assembly sources can not be simulated", path)
		default:
			return fmt.Errorf("hexagon-clang: error: what is %s? Sources end in .c, .cc, .cpp, .cxx, objects and libraries in .o, .a, .so", path)
		}
	}
	j.link = append(j.link, linkArg{input: len(j.inputs)})
	j.inputs = append(j.inputs, input{path, lang})
	return nil
}
