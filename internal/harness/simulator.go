package harness

import (
	"context"
	"path/filepath"
	"slices"

	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/host"
	"hexab/internal/simsdk"
)

// npuRuntime is the simulated NPU as a build: the library that an application
// loads in place of the vendor's FastRPC, and the DSP's process.
var npuRuntime = build.Component{
	Name:   "runtime",
	Source: "sim/npu/runtime",
	Files:  []string{"sim/npu/hvx", "sim/sdk"},
	Recipe: build.Recipe{
		Settings: build.Settings{
			Compiler:    build.Compiler{C: "clang-19", CXX: "clang++-19"},
			Definitions: map[string]string{"BUILD_TESTING": "OFF", "CMAKE_BUILD_TYPE": "Release", "CMAKE_BUILD_WITH_INSTALL_RPATH": "ON", "CMAKE_INSTALL_RPATH": "$ORIGIN"},
		},
		Targets: []string{"cdsprpc", "hexsim-dsp"},
		Outputs: []string{"libcdsprpc.so", "hexsim-dsp"},
	},
}

// wants are what a device is opened for: the variants to run there, and the
// builders that make them.
type wants struct {
	variants []bench.Variant
	builders []*build.Builder
	// accesses has the simulated SDK's compiler report loads and stores.
	accesses bool
}

// simulator gives the builders the simulated Hexagon SDK and builds the
// simulated NPU, when one of the variants needs them. The files returned are
// what a phone's vendor brings.
func (w *Workspace) simulator(ctx context.Context, what wants) (vendor []string, err error) {
	if !slices.ContainsFunc(what.variants, w.Variants.NeedsSDK) {
		return nil, nil
	}
	if _, err := w.machine().Ensure(ctx, w.Cache, host.Clang19); err != nil {
		return nil, err
	}
	for _, b := range what.builders {
		sdk, err := simsdk.Materialise(ctx, filepath.Join(w.Cache, "simsdk"), simsdk.Options{Repository: b.Project, Accesses: what.accesses})
		if err != nil {
			return nil, err
		}
		b.SDKRoot, b.ToolsRoot, b.SDK = sdk.Root, sdk.ToolsRoot, "hexab simulated SDK "+sdk.ID
	}
	// One phone serves all trees: its NPU is this checkout's.
	own := *what.builders[0]
	own.Project = w.Root
	dir, err := own.Folder(ctx, "simulator", npuRuntime, bench.Sim)
	if err != nil {
		return nil, err
	}
	for _, output := range npuRuntime.Outputs {
		vendor = append(vendor, filepath.Join(dir, output))
	}
	return vendor, nil
}
