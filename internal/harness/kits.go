package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/host"
)

// Environment variables that name SDKs of the user's own.
const (
	EnvNDK          = "ANDROID_NDK_ROOT"
	EnvHexagonSDK   = "HEXAGON_SDK_ROOT"
	EnvHexagonTools = "HEXAGON_TOOLS_ROOT"
)

// kit is an SDK to build with.
type kit struct {
	// Root is its folder; Tools the compiler's, for a Hexagon SDK.
	Root, Tools string
	// Name says which one, with its version where that is known.
	Name string
	// Own tells that it is the user's.
	Own bool
}

// findKit is the SDK of a kind that is here: the user's own by the environment,
// else the fetched one. It is false when there is none.
func (w *Workspace) findKit(kind string) (kit, bool, error) {
	variable := map[string]string{kindNDK: EnvNDK, kindHexagon: EnvHexagonSDK}[kind]
	if root := os.Getenv(variable); root != "" {
		root, err := filepath.Abs(root)
		if err != nil {
			return kit{}, false, err
		}
		k := kit{Root: root, Tools: os.Getenv(EnvHexagonTools), Own: true}
		k.Name, err = kitVersion(kind, root)
		if err == nil && kind == kindHexagon && k.Tools == "" {
			k.Tools, err = toolsIn(root)
		}
		if err != nil {
			return k, false, fmt.Errorf("%s %s: %w", variable, root, err)
		}
		return k, true, nil
	}
	s := w.defaultSDK(kind)
	if s == nil || !w.sdkReady(s) {
		return kit{}, false, nil
	}
	dir := w.sdkDir(s)
	k := kit{Root: filepath.Join(dir, filepath.FromSlash(s.Root)), Name: s.Name}
	if s.Tools != "" {
		k.Tools = filepath.Join(dir, filepath.FromSlash(s.Tools))
	}
	return k, true, nil
}

// kit provides the SDK of a kind, fetching it when it is not here.
func (w *Workspace) kit(ctx context.Context, kind string) (kit, error) {
	k, ok, err := w.findKit(kind)
	if ok || err != nil {
		return k, err
	}
	s := w.defaultSDK(kind)
	if s == nil {
		return kit{}, fmt.Errorf("models.yaml has no SDK of the kind %s", kind)
	}
	if err := w.fetchItems(ctx, FetchOptions{}, []item{w.sdkItem(s)}); err != nil {
		return kit{}, err
	}
	k, ok, err = w.findKit(kind)
	if err == nil && !ok {
		err = fmt.Errorf("%s is not here although it was fetched", s.Name)
	}
	return k, err
}

// provide gives the builder the compilers and SDKs that building a variant for
// a real platform takes, and gets them first where they are not here.
func (w *Workspace) provide(ctx context.Context, builder *build.Builder, v bench.Variant, p bench.Platform) error {
	switch p {
	case bench.Sim:
		return nil
	case bench.LinuxArm64:
		needs := []host.Need{host.CrossArm64}
		if w.Variants.NeedsSDK(v) {
			needs = append(needs, host.Clang19)
		}
		if _, err := w.machine().Ensure(ctx, w.Cache, needs...); err != nil {
			return err
		}
	case bench.AndroidArm64:
		k, err := w.kit(ctx, kindNDK)
		if err != nil {
			return err
		}
		builder.NDKRoot, builder.NDK = k.Root, k.Name
	}
	if !w.Variants.NeedsSDK(v) {
		return nil
	}
	k, err := w.kit(ctx, kindHexagon)
	if err == nil {
		builder.SDKRoot, builder.ToolsRoot, builder.SDK = k.Root, k.Tools, k.Name
	}
	return err
}

var ndkRevision = regexp.MustCompile(`(?m)^Pkg\.Revision *= *([0-9][0-9A-Za-z.-]{0,40})\s*$`)

// kitVersion looks whether a folder is an SDK of the kind and names it.
func kitVersion(kind, root string) (string, error) {
	if kind == kindNDK {
		if !exists(filepath.Join(root, "build", "cmake", "android.toolchain.cmake")) {
			return "", errors.New("is no Android NDK: it has no build/cmake/android.toolchain.cmake")
		}
		text, err := os.ReadFile(filepath.Join(root, "source.properties"))
		if m := ndkRevision.FindSubmatch(text); err == nil && m != nil {
			return "Android NDK " + string(m[1]), nil
		}
		return "", errors.New("is no Android NDK: its source.properties tells no revision")
	}
	for _, needed := range []string{"incs", "ipc/fastrpc"} {
		if !exists(filepath.Join(root, filepath.FromSlash(needed))) {
			return "", fmt.Errorf("is no Hexagon SDK: it has no folder %s", needed)
		}
	}
	return "Hexagon SDK " + filepath.Base(root), nil // its root folder is called by the version
}

// toolsIn is the compiler's folder in a Hexagon SDK: the one that its
// hexagon_sdk.json names, as llama.cpp's build has it, else the only one.
func toolsIn(root string) (string, error) {
	var config struct {
		Root struct {
			Tools struct{ Info []struct{ Path string } }
		}
	}
	if data, err := os.ReadFile(filepath.Join(root, "hexagon_sdk.json")); err == nil && json.Unmarshal(data, &config) == nil {
		if info := config.Root.Tools.Info; len(info) > 0 && filepath.IsLocal(info[0].Path) && exists(filepath.Join(root, info[0].Path)) {
			return filepath.Join(root, info[0].Path), nil
		}
	}
	found, err := filepath.Glob(filepath.Join(root, "tools", "HEXAGON_Tools", "*"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("names no compiler in hexagon_sdk.json and has %d in tools/HEXAGON_Tools: name one in %s", len(found), EnvHexagonTools)
	}
	return found[0], nil
}
