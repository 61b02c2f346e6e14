package harness

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"hexab/internal/host"
	"hexab/internal/proc"
)

var update = flag.Bool("update", false, "write the golden files anew")

// machineWith is a made-up machine that has these programs, each of which says
// that it is version 99.1.
func machineWith(user int, programs ...string) host.Machine {
	has := map[string]bool{}
	for _, p := range programs {
		has[p] = true
	}
	return host.Machine{
		LookPath: func(name string) (string, error) {
			if !has[name] {
				return "", exec.ErrNotFound
			}
			return "/usr/bin/" + name, nil
		},
		Run: func(_ context.Context, c proc.Command) (proc.Result, error) {
			_, err := io.WriteString(c.Stdout, "99.1\n")
			return proc.Result{}, err
		},
		Files:  fstest.MapFS{"etc/os-release": {Data: []byte("PRETTY_NAME=\"Somebody's Linux 1\"\n")}, "proc/meminfo": {Data: []byte("MemAvailable: 8388608 kB\n")}},
		UserID: func() int { return user },
	}
}

// unknownMachine tells nothing of itself.
func unknownMachine() host.Machine {
	m := machineWith(1000)
	m.Files = fstest.MapFS{}
	return m
}

// TestDoctor holds the doctor's whole report on machines from bare to complete.
func TestDoctor(t *testing.T) {
	tools := strings.Fields("apt-get git gcc g++ cmake ninja adb")
	all := append(strings.Fields("ccache clang-19 clang++-19 ld.lld-19 aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64 ssh sftp npm"), tools...)
	for name, c := range map[string]struct {
		machine host.Machine
		prepare func(t *testing.T, cache string)
	}{
		"bare":     {machine: machineWith(1000)},
		"debian":   {machine: machineWith(1000, "apt-get")},
		"building": {machine: machineWith(0, tools...)},
		"complete": {machineWith(0, all...), func(t *testing.T, cache string) {
			ndk, sdk := filepath.Join(cache, "my-ndk"), filepath.Join(cache, "6.6.0.0")
			for at, text := range map[string]string{
				ndk + "/build/cmake/android.toolchain.cmake": "", ndk + "/source.properties": "Pkg.Revision = 29.0.1\n",
				sdk + "/incs/remote.h": "", sdk + "/ipc/fastrpc/qaic/x": "", sdk + "/tools/HEXAGON_Tools/19.0.07/x": "",
			} {
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv(EnvNDK, ndk)
			t.Setenv(EnvHexagonSDK, sdk)
		}},
		"unknown":   {machine: unknownMachine()},
		"wrong-sdk": {machineWith(0, all...), func(t *testing.T, cache string) { t.Setenv(EnvHexagonSDK, cache) }},
	} {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			for variable, value := range map[string]string{EnvCache: cache, EnvADB: "", EnvLlama: "", EnvNDK: "", EnvHexagonSDK: "", EnvHexagonTools: ""} {
				t.Setenv(variable, value)
			}
			if c.prepare != nil {
				c.prepare(t, cache)
			}
			w, err := Open()
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			w.Out = &out
			if err := w.doctor(t.Context(), c.machine); err != nil {
				t.Fatal(err)
			}
			got := regexp.MustCompile(`, \w+, \d+ cores, 8.00 GiB memory available, [0-9.]+ \w+ free`).ReplaceAllString(out.String(), ", ARCH, N cores, 8.00 GiB memory available, X free")
			got = regexp.MustCompile(`, \w+, \d+ cores, unknown memory available, [0-9.]+ \w+ free`).ReplaceAllString(got, ", ARCH, N cores, unknown memory available, X free")
			got = strings.ReplaceAll(got, cache, "CACHE")
			golden := filepath.Join("testdata", "doctor-"+name+".txt")
			if *update {
				if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, []byte(got), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || got != string(want) {
				t.Errorf("%v, got:\n%s\nexpected:\n%s", err, got, want)
			}
		})
	}
}
