package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	logs := map[bench.Variant]string{}
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
		text := bytes.Clone(out.Bytes())
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
		logs[v] = filepath.Join(t.TempDir(), string(v)+".log")
		if err := os.WriteFile(logs[v], text, 0o600); err != nil {
			t.Fatal(err)
		}
		trace := logs[v] + ".json"
		if err := Profile(ProfileOptions{Log: logs[v], Trace: trace, Simulated: true}); err != nil {
			t.Fatal(err)
		}
		written, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		tracks, err := opprofile.CheckTrace(written)
		if err != nil {
			t.Errorf("%s: %v", v, err)
		}
		for _, want := range []string{"batches", "operations", "HVX 0", "DMA 0"} {
			if !slices.Contains(tracks, want) {
				t.Errorf("%s: no track %s among %q", v, want, tracks)
			}
		}
		if !bytes.Contains(written, []byte(simulatedLabel)) {
			t.Errorf("%s: the trace does not say that it is simulated", v)
		}
	}
	compared := captured(t, &os.Stdout, func() error {
		return Profile(ProfileOptions{Log: logs[bench.FastRPC], Against: logs[bench.DSPQueue], Simulated: true})
	})
	if strings.Count(compared, "hidden behind computation") != len(variants) {
		t.Errorf("the overlaps are not compared:\n%s", compared)
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
