package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hexab/internal/bench"
)

// The official backend runs on the simulated NPU over adb; the run proves that
// the NPU did the work, and equal launches cost it the same.
func TestNPUComparison(t *testing.T) {
	heavy(t)
	run, records, _, err := compareHere(t, t.Context(), Options{Arms: "cpu,dspqueue", Models: "minicpm5-1b", Rounds: 2, Seed: "7", Device: "sim", Tests: "pp16,tg4"})
	if err != nil {
		t.Fatal(err)
	}
	var counted []map[string]uint64
	for _, r := range records {
		if r.Outcome != bench.OutcomeOK {
			t.Errorf("launch %d: %+v", r.Seq, r)
		}
		if r.Arm == "cpu" {
			if len(r.Counters) > 0 {
				t.Errorf("launch %d: the CPU has NPU counters: %v", r.Seq, r.Counters)
			}
			continue
		}
		if !provesNPU(r.Proof) {
			t.Errorf("launch %d: no buffer on the NPU: %v", r.Seq, r.Proof)
		}
		counted = append(counted, r.Counters)
	}
	if len(counted) != 2 || counted[0]["packets"] == 0 || !reflect.DeepEqual(counted[0], counted[1]) {
		t.Errorf("counters of equal launches: %v", counted)
	}
	if len(run.Placements) != 1 || run.Placements[0].Nodes["HTP0"]["MUL_MAT"] == 0 || run.Placements[0].Nodes["CPU"]["MUL_MAT"] != 0 {
		t.Errorf("placement: %+v", run.Placements)
	}
	for _, ops := range []map[string]uint64{run.Placements[0].PerPrompt, run.Placements[0].PerToken} {
		if ops["FLASH_ATTN_EXT"] == 0 || ops["FLASH_ATTN_EXT"] != run.Placements[0].PerToken["FLASH_ATTN_EXT"] {
			t.Errorf("operations executed: %v", ops)
		}
	}
}

func provesNPU(proof map[string]string) bool {
	for key := range proof {
		if strings.HasPrefix(key, "HTP0") {
			return true
		}
	}
	return false
}

// A DSP process that is killed in the middle costs its launch, which says why,
// and neither the other launches nor the run.
func TestDSPDies(t *testing.T) {
	heavy(t)
	killed, started, mark := make(chan int, 1), false, fmt.Sprintf("HEXAB_TEST_MARK=%d", os.Getpid())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, records, _, err := compareHere(t, t.Context(), Options{
		Arms: "cpu,dspqueue:env." + mark, Models: "minicpm5-1b", Rounds: 3, Seed: "7", Device: "sim", Tests: "pp16,tg64",
		Recorded: func(bench.Record) {
			if !started {
				started = true
				go func() { killed <- killDSP(ctx, mark) }()
			}
		},
	})
	cancel()
	if pid := <-killed; pid == 0 {
		t.Fatalf("no DSP process was seen; %v", err)
	}
	if ExitStatus(err) != 1 || len(records) != 6 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	failed := 0
	for _, r := range records {
		if r.Outcome == bench.OutcomeOK {
			continue
		}
		failed++
		if r.Arm == "cpu" || r.Outcome != bench.OutcomeSessionError || len(r.Evidence) == 0 {
			t.Errorf("launch %d: %+v", r.Seq, r)
		}
	}
	if failed != 1 {
		t.Errorf("%d launches failed, want the one whose DSP was killed", failed)
	}
}

// killDSP kills the first DSP process that has the mark in its environment and
// has computed for a while, and returns its number; zero when the context ended
// before.
func killDSP(ctx context.Context, mark string) int {
	for {
		processes, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range processes {
			environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
			stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
			_, after, dsp := strings.Cut(string(stat), "(hexsim-dsp) ")
			fields := strings.Fields(after)
			if !dsp || len(fields) < 12 || !strings.Contains(string(environ), mark) {
				continue
			}
			ticks, _ := strconv.Atoi(fields[11]) // utime, in hundredths of a second; see proc(5)
			if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && ticks >= 20 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				return pid
			}
		}
		select {
		case <-ctx.Done():
			return 0
		case <-time.After(10 * time.Millisecond):
		}
	}
}
