package hexclang

import (
	"fmt"
	"slices"
	"strings"
)

// Archs are the DSP architectures that are simulated.
var Archs = []int{73, 75, 79, 81}

// defaultArch is what a command without any architecture gets, as when a build system asks what the compiler is.
const defaultArch = 73

// step says where a flag of this machine's compiler is wanted.
type step int

const (
	preprocess step = 1 << iota
	compile
	link
	drop step = 0
)

// rule says what becomes of one flag. Rules are tried in order.
type rule struct {
	flag   string // exact, or a prefix when it ends in *
	value  bool   // takes a value: in the next word when exact, in the same or the next when a prefix
	steps  step
	as     []string // what to pass instead; nil is the flag itself
	reason string   // why it is dropped or changed
}

// rules is the whole of the command line, besides what parse handles itself: inputs, -o, -c, -E, -S, -x, the
// architecture, dependency files, and -Wl.
var rules = []rule{
	// Language and preprocessor.
	{flag: "-D*", value: true, steps: preprocess},
	{flag: "-U*", value: true, steps: preprocess},
	{flag: "-isystem", value: true, steps: preprocess},
	{flag: "-isystem*", steps: preprocess},
	{flag: "-iquote", value: true, steps: preprocess},
	{flag: "-idirafter", value: true, steps: preprocess},
	{flag: "-include", value: true, steps: preprocess},
	{flag: "-imacros", value: true, steps: preprocess},
	{flag: "-I*", value: true, steps: preprocess},
	{flag: "-std=*", steps: preprocess | compile},
	{flag: "-ansi", steps: preprocess | compile},
	{flag: "-pedantic", steps: compile},
	{flag: "-dM", steps: preprocess},
	{flag: "-P", steps: preprocess},
	{flag: "-C", steps: preprocess},
	{flag: "-fno-builtin", steps: preprocess | compile},
	{flag: "-ffreestanding", steps: preprocess | compile},
	{flag: "-fexceptions", steps: preprocess | compile},
	{flag: "-fno-exceptions", steps: preprocess | compile},
	{flag: "-frtti", steps: preprocess | compile},
	{flag: "-fno-rtti", steps: preprocess | compile},

	// Warnings.
	{flag: "-Werror", reason: "this compiler's warnings are not those that the sources were made clean of"},
	{flag: "-Werror=*", reason: "as -Werror"},
	{flag: "-w", steps: preprocess | compile},
	{flag: "-W*", steps: preprocess | compile},
	{flag: "-fdiagnostics-*", steps: preprocess | compile},
	{flag: "-fcolor-diagnostics", steps: preprocess | compile},
	{flag: "-fno-color-diagnostics", steps: preprocess | compile},
	{flag: "-fansi-escape-codes", steps: preprocess | compile},

	// Code.
	{flag: "-O*", steps: preprocess | compile},
	{flag: "-g*", steps: compile},
	{flag: "-ffile-prefix-map=*", steps: preprocess | compile},
	{flag: "-fmacro-prefix-map=*", steps: preprocess | compile},
	{flag: "-fdebug-prefix-map=*", steps: compile},
	{flag: "-fpic", steps: preprocess | compile | link, as: []string{"-fPIC"}, reason: "this machine has one kind"},
	{flag: "-fPIC", steps: preprocess | compile | link},
	{flag: "-fdata-sections", steps: compile},
	{flag: "-ffunction-sections", steps: compile},
	{flag: "-fvectorize", steps: compile},
	{flag: "-fno-vectorize", steps: compile},
	{flag: "-fslp-vectorize", steps: compile},
	{flag: "-fno-slp-vectorize", steps: compile},
	{flag: "-funroll-loops", steps: compile},
	{flag: "-fomit-frame-pointer", steps: compile},
	{flag: "-fno-omit-frame-pointer", steps: compile},
	{flag: "-fvisibility=*", steps: compile},
	{flag: "-fvisibility-inlines-hidden", steps: compile},
	{flag: "-fstack-protector*", steps: compile},
	{flag: "-fno-stack-protector", steps: compile},
	{flag: "-fsanitize=*", steps: preprocess | compile | link},
	{flag: "-fno-sanitize*", steps: compile},
	{flag: "-fno-strict-aliasing", reason: "always on: the sources read vectors through other types"},
	{flag: "-fwrapv", reason: "always on"},
	{flag: "-fno-zero-initialized-in-bss", reason: "where zeros lie in a library makes no difference here"},
	{flag: "-flto", reason: "optimising a whole library at its link takes minutes and changes no result"},
	{flag: "-flto=*", reason: "as -flto"},
	{flag: "-ffast-math", reason: "results are to be those of the DSP's arithmetic"},
	{flag: "-G0", reason: "this machine has no small-data section"},
	{flag: "-G", value: true, reason: "as -G0"},
	{flag: "-mlong-calls", reason: "the DSP's branch distance"},
	{flag: "-mpackets", reason: "the DSP's packets"},
	{flag: "-mno-packets", reason: "the DSP's packets"},

	// Link.
	{flag: "-shared", steps: link},
	{flag: "-static", reason: "programs of the simulated DSP use this machine's C library"},
	{flag: "-rdynamic", steps: link},
	{flag: "-nostdlib", steps: link},
	{flag: "-nostartfiles", steps: link},
	{flag: "-nodefaultlibs", steps: link},
	{flag: "-s", steps: link},
	{flag: "-L*", value: true, steps: link},
	{flag: "-lc", reason: "always linked"},
	{flag: "-lgcc", reason: "the compiler adds what it needs"},
	{flag: "-lqcc", reason: "the DSP's compiler library; this machine's is linked"},
	{flag: "-lhexagon", reason: "the DSP's support library; sim/npu stands for it"},
	{flag: "-l*", value: true, steps: link},

	// The driver itself.
	{flag: "-v", steps: preprocess | compile | link},
	{flag: "-pipe", reason: "always"},
	{flag: "-pthread", steps: preprocess | compile | link},
}

// linkerRules is the same for what comes after -Wl, or -Xlinker.
var linkerRules = []rule{
	{flag: "-Bsymbolic", steps: link},
	{flag: "--wrap=*", steps: link},
	{flag: "-soname", value: true, steps: link},
	{flag: "-soname=*", steps: link},
	{flag: "-h", value: true, steps: link},
	{flag: "--start-group", steps: link},
	{flag: "--end-group", steps: link},
	{flag: "--whole-archive", steps: link},
	{flag: "--no-whole-archive", steps: link},
	{flag: "--gc-sections", steps: link},
	{flag: "--version-script=*", steps: link},
	{flag: "--dependency-file=*", steps: link},
	{flag: "-Map=*", steps: link},
	{flag: "-rpath", value: true, reason: "libraries are found as on a device, by ADSP_LIBRARY_PATH"},
	{flag: "-L*", reason: "folders of the DSP's own libraries"},
	{flag: "--no-threads", reason: "a matter of speed"},
	{flag: "--threads*", reason: "a matter of speed"},
	{flag: "--no-undefined", reason: "the DSP's system is resolved at load"},
	{flag: "--unresolved-symbols=*", reason: "as --no-undefined"},
}

// flagError is a flag that is not known.
func flagError(flag string) error {
	return fmt.Errorf("hexagon-clang: error: unknown flag %s: the simulated compiler drops nothing that it does not know (the table is in internal/hexclang/flags.go)", flag)
}

// find returns the rule for a flag and, for a flag with its value in the same word, that it is complete.
func find(table []rule, flag string) (*rule, bool) {
	for i := range table {
		r := &table[i]
		prefix, isPrefix := strings.CutSuffix(r.flag, "*")
		switch {
		case !isPrefix && flag == r.flag:
			return r, !r.value
		case isPrefix && flag == prefix && r.value:
			return r, false
		case isPrefix && strings.HasPrefix(flag, prefix) && (len(flag) > len(prefix) || !r.value):
			return r, true
		}
	}
	return nil, false
}

// arch returns the architecture that a flag names.
func arch(flag string) (n int, ok bool, err error) {
	var v string
	switch {
	case strings.HasPrefix(flag, "-mcpu="):
		v = flag[len("-mcpu="):]
	case strings.HasPrefix(flag, "-march="):
		v = flag[len("-march="):]
	case strings.HasPrefix(flag, "-mhvx="):
		v = flag[len("-mhvx="):]
	case strings.HasPrefix(flag, "-mv") && len(flag) > 3 && flag[3] >= '0' && flag[3] <= '9':
		v = flag[len("-m"):]
	default:
		return 0, false, nil
	}
	if _, err := fmt.Sscanf(strings.TrimPrefix(v, "hexagon"), "v%d", &n); err != nil ||
		strings.TrimPrefix(v, "hexagon") != fmt.Sprintf("v%d", n) {
		return 0, true, fmt.Errorf("hexagon-clang: error: %s does not name an architecture", flag)
	}
	if !slices.Contains(Archs, n) {
		return 0, true, fmt.Errorf("hexagon-clang: error: %s: architecture v%d is not simulated, only %v", flag, n, Archs)
	}
	return n, true, nil
}
