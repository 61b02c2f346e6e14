package build

import (
	"bufio"
	"debug/elf"
	"fmt"
	"io"
	"runtime"
	"strings"

	"hexab/internal/bench"
)

// platform is what the builder knows about a platform.
type platform struct {
	machine elf.Machine
	// arch is the Go name of the architecture.
	arch string
	// native tells that programs of the platform run on this machine.
	native bool
	// system are the libraries that every system of the platform has.
	system []string
}

// glibc is what a GNU/Linux system with a C++ runtime has.
var glibc = []string{
	"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
	"libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}

// bionic is what the NDK's stable APIs promise on every Android; the C++
// runtime is not among it and must come with the bundle.
var bionic = []string{"libc.so", "libm.so", "libdl.so", "liblog.so", "libandroid.so"}

func platformOf(p bench.Platform) (platform, error) {
	switch p {
	case bench.Sim:
		machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
		return platform{machine: machine, arch: runtime.GOARCH, native: true, system: glibc}, nil
	case bench.LinuxArm64:
		return platform{machine: elf.EM_AARCH64, arch: "arm64", system: glibc}, nil
	case bench.AndroidArm64:
		return platform{machine: elf.EM_AARCH64, arch: "arm64", system: bionic}, nil
	}
	return platform{}, fmt.Errorf("unknown platform %q (known: %s, %s, %s)", p, bench.Sim, bench.LinuxArm64, bench.AndroidArm64)
}

// parseCPUFlags reads the flags that every processor of /proc/cpuinfo lists
// ("flags" on x86, "Features" on Arm). On big.LITTLE parts the little cores
// may have fewer, so only what all have counts.
func parseCPUFlags(r io.Reader) (map[string]bool, error) {
	var common map[string]bool
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if key = strings.TrimSpace(key); !ok || (key != "flags" && key != "Features") {
			continue
		}
		these := map[string]bool{}
		for flag := range strings.FieldsSeq(value) {
			if common == nil || common[flag] {
				these[flag] = true
			}
		}
		common = these
	}
	if common == nil {
		common = map[string]bool{}
	}
	return common, lines.Err()
}
