package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"hexab/internal/bench"
	"hexab/internal/models"
	"hexab/internal/standin"
)

// workload is a model file on this machine.
type workload struct {
	bench.Model
	path string
}

// workloads provides the model files of the aliases: stand-ins for the embedded
// phone, the real ones otherwise.
func (w *Workspace) workloads(ctx context.Context, aliases []string, standIns bool) ([]workload, error) {
	list := make([]workload, 0, len(aliases))
	for _, alias := range aliases {
		m, err := w.Manifest.Model(alias)
		if err != nil {
			return nil, &UsageError{err}
		}
		var one workload
		if standIns || w.StandIns {
			one, err = w.standIn(m)
		} else {
			one, err = w.realModel(ctx, m)
		}
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", alias, err)
		}
		list = append(list, one)
	}
	return list, nil
}

// standInPath is where a stand-in is kept, by all that its bytes depend on.
func (w *Workspace) standInPath(s models.StandIn) string {
	return filepath.Join(w.Cache, "stand-ins", fmt.Sprintf("%s-seed%d-v%d.gguf", s.Preset, s.Seed, standin.Version))
}

// standIn makes a model's stand-in unless the cache has it. The file's hash is
// kept beside it, so that a second run does not read it.
func (w *Workspace) standIn(m *models.Model) (workload, error) {
	one := workload{path: w.standInPath(m.StandIn)}
	one.Model = bench.Model{Alias: m.Alias, File: filepath.Base(one.path), Family: m.Architecture, StandIn: true}
	size, err := standin.Size(m.StandIn.Preset)
	if err != nil {
		return one, err
	}
	one.Size = bench.Bytes(size)
	sum, err := os.ReadFile(one.path + ".sha256")
	if info, statErr := os.Stat(one.path); err == nil && statErr == nil && info.Size() == size && bench.IsSHA256(string(sum)) {
		one.SHA256 = string(sum)
		return one, nil
	}
	w.Note("making the stand-in of %s (%s, random weights, %s)", m.Alias, m.Architecture, one.Size)
	one.SHA256, err = writeStandIn(one.path, m.StandIn)
	return one, err
}

func writeStandIn(path string, s models.StandIn) (sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".stand-in-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	h := sha256.New()
	if err := standin.Write(io.MultiWriter(f, h), s.Preset, s.Seed); err != nil {
		_ = f.Close()
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	sum = hex.EncodeToString(h.Sum(nil))
	if err := os.Rename(f.Name(), path); err != nil {
		return "", err
	}
	return sum, os.WriteFile(path+".sha256", []byte(sum), 0o644)
}

// realModel fetches a model unless the cache has it.
func (w *Workspace) realModel(ctx context.Context, m *models.Model) (workload, error) {
	it := w.modelItem(m)
	if _, err := w.accept([]item{it}, false); err != nil {
		return workload{}, err
	}
	file, err := w.downloads().Get(ctx, it.request)
	if err != nil {
		return workload{}, err
	}
	return workload{path: file.Path, Model: bench.Model{
		Alias: m.Alias, File: m.File, SHA256: file.SHA256, Size: bench.Bytes(file.Size), Family: m.Architecture,
	}}, nil
}
