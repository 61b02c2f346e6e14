package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"hexab/internal/proc"
)

// toolchain is a pair of compilers with their identity.
type toolchain struct {
	c, cxx string // paths
	// version is the first line of the C++ compiler's --version, target what
	// it compiles for.
	version, target string
}

func (t toolchain) String() string { return t.version + " (" + t.target + ")" }

// findToolchain resolves the compilers. The default is CC and CXX when both
// are set, else gcc, else clang.
func findToolchain(ctx context.Context, want Compiler) (toolchain, error) {
	pairs := []Compiler{want}
	if want.C == "" {
		pairs = []Compiler{{"gcc", "g++"}, {"clang", "clang++"}, {"cc", "c++"}}
		if c, cxx := os.Getenv("CC"), os.Getenv("CXX"); c != "" && cxx != "" {
			pairs = []Compiler{{c, cxx}}
		}
	}
	var tried []string
	for _, pair := range pairs {
		c, errC := exec.LookPath(pair.C)
		cxx, errCXX := exec.LookPath(pair.CXX)
		if errC != nil || errCXX != nil {
			tried = append(tried, pair.C+" and "+pair.CXX)
			continue
		}
		// CMake resolves a relative path against the build folder.
		if abs, err := filepath.Abs(c); err == nil {
			c = abs
		}
		if abs, err := filepath.Abs(cxx); err == nil {
			cxx = abs
		}
		version, err := firstLine(ctx, cxx, "--version")
		if err != nil {
			return toolchain{}, err
		}
		target, err := firstLine(ctx, cxx, "-dumpmachine")
		if err != nil {
			return toolchain{}, err
		}
		return toolchain{c, cxx, version, target}, nil
	}
	return toolchain{}, fmt.Errorf("no C and C++ compiler found in PATH (looked for %s)", strings.Join(tried, ", then "))
}

func firstLine(ctx context.Context, program string, args ...string) (string, error) {
	var out bytes.Buffer
	if _, err := proc.Run(ctx, proc.Command{Path: program, Args: args, Stdout: &out, Env: buildEnv()}); err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	return strings.TrimSpace(line), nil
}

// buildEnv is the environment without what would change a build behind the
// cache key's back.
func buildEnv(more ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
			"LIBRARY_PATH", "LD_RUN_PATH", "DESTDIR", "VERBOSE", "NINJA_STATUS", "SOURCE_DATE_EPOCH", "HEXAGON_HTP_CERT",
			"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE":
			continue
		}
		if strings.HasPrefix(name, "CMAKE_") {
			continue
		}
		env = append(env, v)
	}
	return append(append(env, "LC_ALL=C", "NINJA_STATUS="+ninjaStatus), more...)
}
