package simsdk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"hexab/internal/hexclang"
)

// lockPoll is how often a process looks whether another has finished the same SDK.
const lockPoll = 50 * time.Millisecond

type maker struct {
	Options
	cc *compiler
}

// folder is a folder of text: from the repository (or the HVX headers), to the SDK.
type folder struct {
	from, to string
	headers  bool // only *.h
}

func (m *maker) folders() []folder {
	sdk := filepath.Join(m.Repository, "sim", "sdk")
	include := toolsDir + "/Tools/target/hexagon/include"
	fs := []folder{
		{from: filepath.Join(sdk, "build"), to: "build"},
		{from: filepath.Join(sdk, "incs"), to: "incs"},
		{from: filepath.Join(sdk, "incs"), to: "ipc/fastrpc/incs"},
		{from: filepath.Join(sdk, "utils"), to: "utils"},
		{from: filepath.Join(sdk, "tools", "include"), to: include, headers: true},
		{from: m.Vectors, to: include, headers: true},
	}
	for _, a := range hexclang.Archs {
		fs = append(fs, folder{
			from: filepath.Join(sdk, "rtos", "qurt", "include"), to: fmt.Sprintf("rtos/qurt/computev%d/include", a), headers: true,
		})
	}
	return fs
}

// programs are the Go commands and what they are called in the SDK.
var programs = []struct{ pkg, to string }{
	{"./sim/cmd/qaic", "ipc/fastrpc/qaic/bin/qaic"},
	{"./sim/cmd/hexagon-clang", toolsDir + "/Tools/bin/hexagon-clang"},
}

// links are further names of the driver.
var links = []string{"hexagon-clang++", "hexagon-ar"}

// programSources are the folders whose Go files make the programs.
var programSources = []string{"sim/cmd", "internal/idl", "internal/hexclang"}

// hash covers all inputs: texts, program sources, module versions, compilers and the configuration.
func (m *maker) hash(ctx context.Context) (string, error) {
	h := sha256.New()
	entry := func(name string, data []byte) { fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(data), data) }
	for _, f := range m.folders() {
		err := m.walk(f, func(rel string, data []byte) error {
			entry(f.to+"/"+rel, data)
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	for _, dir := range programSources {
		err := filepath.WalkDir(filepath.Join(m.Repository, dir), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") {
				return err
			}
			data, err := os.ReadFile(p)
			entry(p[len(m.Repository):], data)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "sim/sdk/hexagon_sdk.json"} {
		data, err := os.ReadFile(filepath.Join(m.Repository, name))
		if err != nil {
			return "", err
		}
		entry(name, data)
	}
	config, err := m.config()
	if err != nil {
		return "", err
	}
	entry("config", config)
	entry("clang", []byte(m.cc.version))
	entry("go", []byte(runtime.Version()+runtime.GOOS+runtime.GOARCH))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// walk visits the files of a folder in order. Tests and hidden files are not part of it.
func (m *maker) walk(f folder, visit func(rel string, data []byte) error) error {
	return filepath.WalkDir(f.from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if p != f.from && (strings.HasPrefix(name, ".") || d.IsDir() && strings.HasPrefix(name, "test")) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() || f.headers && filepath.Ext(name) != ".h" {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(f.from, p)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(rel), data)
	})
}

// lay writes the SDK into dir.
func (m *maker) lay(ctx context.Context, dir string) error {
	write := func(name string, data []byte) error {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if old, err := os.ReadFile(p); err == nil && !bytes.Equal(old, data) {
			return fmt.Errorf("two different files would be %s", name)
		}
		return os.WriteFile(p, data, 0o644)
	}
	for _, f := range m.folders() {
		err := m.walk(f, func(rel string, data []byte) error { return write(f.to+"/"+rel, data) })
		if err != nil {
			return err
		}
	}
	data, err := os.ReadFile(filepath.Join(m.Repository, "sim", "sdk", "hexagon_sdk.json"))
	if err != nil {
		return err
	}
	if err := write("hexagon_sdk.json", data); err != nil {
		return err
	}
	config, err := m.config()
	if err != nil {
		return err
	}
	bin := toolsDir + "/Tools/bin"
	if err := write(bin+"/"+hexclang.ConfigName, config); err != nil {
		return err
	}
	for _, p := range programs {
		if err := m.build(ctx, p.pkg, filepath.Join(dir, p.to)); err != nil {
			return err
		}
	}
	for _, l := range links {
		if err := os.Symlink("hexagon-clang", filepath.Join(dir, bin, l)); err != nil {
			return err
		}
	}
	return nil
}

// build compiles one Go command.
func (m *maker) build(ctx context.Context, pkg, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", to, pkg)
	cmd.Dir = m.Repository
	// For this machine, whatever the caller cross-compiles for.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "GOOS=") || strings.HasPrefix(e, "GOARCH=") || strings.HasPrefix(e, "GOFLAGS=")
	})
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}
