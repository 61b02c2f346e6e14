package harness

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/opprofile"
	"hexab/internal/proc"
)

// TestProfilesOfTransports traces a stand-in's token generation on the
// simulator with both transports: the same operations, whole traces, and an
// overlap of DMA and computation.
func TestProfilesOfTransports(t *testing.T) {
	w := pinned(t)
	variants := []bench.Variant{bench.DSPQueue, bench.FastRPC}
	for _, v := range variants {
		if _, known := w.Variants[v]; !known {
			t.Skipf("this checkout has no variant %s", v)
		}
	}
	builder, err := w.Builder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	vendor, err := w.simulator(t.Context(), wants{variants: variants, builders: []*build.Builder{builder}})
	if err != nil {
		t.Fatal(err)
	}
	model := w.standInPath(w.Manifest.Default().StandIn)
	if !exists(model) {
		t.Skip("the default model's stand-in is not made yet: mage abtest makes it")
	}
	counts := map[bench.Variant]map[string]int{}
	for _, v := range variants {
		bundle, err := builder.Bundle(t.Context(), v, bench.Sim)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_, err = proc.Run(t.Context(), proc.Command{
			Path: filepath.Join(bundle.Dir, "llama-bench"), Dir: bundle.Dir, Stdout: &out, Stderr: &out, Grace: time.Second,
			Args: []string{"-m", model, "-p", "0", "-n", "1", "-r", "1", "--no-warmup", "-v", "-dev", "HTP0", "-t", "2", "-ngl", "99"},
			Env: append(os.Environ(), "GGML_HEXAGON_PROFILE=3",
				"LD_LIBRARY_PATH="+bundle.Dir+":"+filepath.Dir(vendor[0]), "ADSP_LIBRARY_PATH="+bundle.Dir),
		})
		if err != nil {
			t.Fatal(err)
		}
		log, err := opprofile.Parse(&out)
		if err != nil || log.Torn != nil || len(log.Batches) == 0 {
			t.Fatalf("%s: %v, torn %q, %d batches", v, err, log.Torn, len(log.Batches))
		}
		counts[v] = map[string]int{}
		for _, b := range log.Batches {
			if len(b.Ops) != b.Declared {
				t.Errorf("%s: a batch of %d operations has %d", v, b.Declared, len(b.Ops))
			}
			for _, op := range b.Ops {
				counts[v][op.Name+" "+op.Dims]++
			}
		}
		overlap := log.Overlap()
		if overlap.Lost != 0 || overlap.DMA == 0 || overlap.Compute == 0 || overlap.Both == 0 {
			t.Errorf("%s: %+v", v, overlap)
		}
		t.Logf("%s (simulated): %d batches, %.1f %% of the DMA's time is hidden behind computation", v, len(log.Batches), 100*overlap.Fraction())
		if tracks := traceTracks(t, log); !slices.Contains(tracks, "HVX 0") || !slices.Contains(tracks, "DMA 0") || !slices.Contains(tracks, "operations") {
			t.Errorf("%s: tracks %q", v, tracks)
		}
	}
	a, b := counts[variants[0]], counts[variants[1]]
	for key, n := range a {
		if b[key] != n {
			t.Errorf("%s runs %d times with %s, %d times with %s", key, n, variants[0], b[key], variants[1])
		}
	}
	if len(a) != len(b) {
		t.Errorf("%d and %d kinds of operations", len(a), len(b))
	}
}

// traceTracks writes a trace and gives its tracks' names.
func traceTracks(t *testing.T, log *opprofile.Log) []string {
	t.Helper()
	var out bytes.Buffer
	if err := log.WriteTrace(&out, simulatedLabel); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Name string
			Args struct{ Name string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	var tracks []string
	for _, e := range trace.TraceEvents {
		if e.Name == "thread_name" {
			tracks = append(tracks, e.Args.Name)
		}
	}
	return tracks
}
