package harness

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/proc"
	"hexab/internal/tiles"
)

// tileSeed is where the weights of the comparison come from.
const tileSeed = 7

// halfOffsets are the places of half-precision scales in flat blocks, which
// must be finite.
var halfOffsets = map[string][]int{
	"Q4_0": {0}, "Q4_1": {0, 2}, "Q8_0": {0}, "IQ4_NL": {0}, "MXFP4": nil, "Q4_K": {0, 2}, "Q6_K": {208},
}

// TestTilesOfPinnedBackend lets the pinned backend repack random weights on the
// simulator and compares the bytes it keeps on the device with those of the
// specification.
func TestTilesOfPinnedBackend(t *testing.T) {
	w := pinned(t)
	compiler, err := exec.LookPath("clang++-19")
	if err != nil {
		t.Skip("clang++-19 is not installed")
	}
	tree, err := w.Source(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	builder, err := w.Builder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	vendor, err := w.simulator(t.Context(), wants{variants: []bench.Variant{bench.DSPQueue}, builders: []*build.Builder{builder}})
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := builder.Bundle(t.Context(), bench.DSPQueue, bench.Sim)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "repack")
	run := func(c proc.Command) {
		t.Helper()
		if _, err := proc.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	run(proc.Command{Path: compiler, Args: []string{
		"-std=c++17", "-Wall", "-Wextra", "-Werror", "-I" + filepath.Join(tree.Dir, "ggml/include"), "../tiles/testdata/repack.cpp",
		filepath.Join(bundle.Dir, "libggml.so.0"), filepath.Join(bundle.Dir, "libggml-base.so.0"), "-o", program,
	}})
	type job struct {
		format        *tiles.Format
		columns, rows int
		flat          []byte
		file          string
	}
	var jobs []job
	args := []string{filepath.Join(bundle.Dir, "libggml-hexagon.so")}
	r := rand.New(rand.NewPCG(tileSeed, 1))
	for _, f := range tiles.Formats {
		if !f.Pinned {
			continue
		}
		for _, rows := range []int{1, 32, 77} {
			j := job{f, 3 * f.BlockValues, rows, nil, filepath.Join(dir, fmt.Sprintf("%s-%d", f.Name, rows))}
			j.flat = make([]byte, rows*3*f.BlockBytes)
			for i := range j.flat {
				j.flat[i] = byte(r.Uint32())
			}
			for at := 0; at < len(j.flat); at += f.BlockBytes {
				for _, offset := range halfOffsets[f.Name] {
					j.flat[at+offset+1] &^= 0x40 // below 2, products stay finite
				}
			}
			if err := os.WriteFile(j.file, j.flat, 0o644); err != nil {
				t.Fatal(err)
			}
			jobs = append(jobs, j)
			args = append(args, f.Name, fmt.Sprint(j.columns), fmt.Sprint(rows), j.file, j.file+".tiled", j.file+".back")
		}
	}
	run(proc.Command{Path: program, Args: args, Dir: bundle.Dir, Grace: time.Second, Env: append(os.Environ(),
		"LD_LIBRARY_PATH="+bundle.Dir+":"+filepath.Dir(vendor[0]), "ADSP_LIBRARY_PATH="+bundle.Dir)})
	for _, j := range jobs {
		want, err := os.ReadFile(j.file + ".tiled")
		if err != nil {
			t.Fatal(err)
		}
		got, err := j.format.PackMatrix(j.flat, j.columns, j.rows)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Errorf("%s, %d rows: the backend keeps %d bytes, the specification %d; the first difference is at %d (seed %d)", j.format.Name, j.rows, len(want), len(got), at, tileSeed)
		}
		back, err := os.ReadFile(j.file + ".back")
		if err != nil {
			t.Fatal(err)
		}
		if j.format.Lossless && !bytes.Equal(back, j.flat) {
			t.Errorf("%s, %d rows: the backend reads back other blocks (seed %d)", j.format.Name, j.rows, tileSeed)
		}
	}
	t.Logf("%d matrices of %d formats are the same byte for byte", len(jobs), len(halfOffsets))
}
