// Package standin writes stand-ins for the models of models.yaml: small GGUF
// files of the same architecture families with random weights, for devices
// where the real ones would be too large or too slow. llama.cpp builds the same
// graph of operations for a stand-in as for the model it stands for; its text
// means nothing.
//
// Weights are Q4_0, and the output head, or the token embedding that doubles as
// one, is Q6_K, as llama-quantize makes a Q4_0 file. They are scaled as in a
// trained network, so that activations stay near 1 in every layer and half
// precision does for them.
//
// The bytes of a stand-in depend on its preset, the seed and Version only: not
// on the machine, nor on the number of processors.
package standin

import (
	"fmt"
	"io"

	"hexab/internal/gguf"
)

// Version is the version of the generator. It is raised whenever the bytes of
// a stand-in change, and belongs in the name under which one is cached.
const Version = 1

// Metadata keys by which a file says that it is a stand-in, and which.
const (
	KeyPreset  = "hexab.stand_in.preset"  // string
	KeySeed    = "hexab.stand_in.seed"    // uint64
	KeyVersion = "hexab.stand_in.version" // uint32
)

// preset is a family with dimensions.
type preset struct {
	name   string
	common common
	family interface{ build(*builder, common) }
}

// presets holds all stand-ins; each family has a file with its own.
var presets = concat(llamaPresets, qwen35Presets, gemma4Presets)

func concat(lists ...[]preset) (all []preset) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// Presets returns the names of all presets.
func Presets() []string {
	var names []string
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

// Architecture returns the name that llama.cpp has for the family of a preset.
func Architecture(name string) (string, error) {
	p, err := find(name)
	return p.common.architecture, err
}

// Size returns the size in bytes of the file that Write writes.
func Size(name string) (int64, error) {
	f, err := build(name, 0)
	if err != nil {
		return 0, err
	}
	return f.Size()
}

// Write writes the stand-in of a preset with weights that come from the seed.
// It takes a fraction of a second and a few megabytes of memory. Errors are an
// unknown preset or those of w.
func Write(w io.Writer, name string, seed uint64) error {
	f, err := build(name, seed)
	if err != nil {
		return err
	}
	return f.Write(w)
}

func find(name string) (preset, error) {
	for _, p := range presets {
		if p.name == name {
			return p, nil
		}
	}
	return preset{}, fmt.Errorf("no stand-in preset %q (there are %v)", name, Presets())
}

func build(name string, seed uint64) (*gguf.File, error) {
	p, err := find(name)
	if err != nil {
		return nil, err
	}
	b := &builder{architecture: p.common.architecture, seed: seed}
	set(b, "general.architecture", p.common.architecture)
	set(b, "general.name", "stand-in "+name)
	set(b, "general.description", "random weights, made by hexab; its text means nothing")
	set(b, "general.file_type", uint32(2)) // LLAMA_FTYPE_MOSTLY_Q4_0
	set(b, "general.quantization_version", uint32(2))
	set(b, KeyPreset, name)
	set(b, KeySeed, seed)
	set(b, KeyVersion, uint32(Version))
	b.vocabulary(p.common)
	b.common(p.common)
	p.family.build(b, p.common)
	return &b.file, nil
}
