package simtest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"hexab/internal/backendops"
	"hexab/internal/standin"
)

// The benchmarks run the simulated NPU and the CPU variant by turns with two
// threads each and report the ratio of their times, of the medians of all
// rounds: absolute times mean little on a machine that does other things too.
//
//	HEXAB_HEAVY=1 go test ./internal/simtest -run '^$' -bench Speed -benchtime 1x -timeout 2h -rounds 3
var (
	rounds    = flag.Int("rounds", 3, "benchmarks: how often each side is run")
	speedArch = flag.Int("arch", 79, "benchmarks: DSP architecture, 73, 75, 79 or 81")
)

// backends are the two sides: the simulated NPU first.
var backends = [2]string{"HTP0", "CPU"}

// BenchmarkSpeedMatMul is MUL_MAT of q4_0 weights, m=4096 and k=14336, the
// largest matrix of an 8B model; n is the number of tokens.
func BenchmarkSpeedMatMul(b *testing.B) {
	n := buildNPU(b)
	for _, tokens := range []int{1, 8, 512} {
		b.Run(fmt.Sprintf("n=%d", tokens), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				byTurns(b, "us", func(backend string) float64 { return n.matMul(b, backend, tokens) })
				b.StartTimer()
			}
		})
	}
}

// BenchmarkSpeedModel is llama-bench on a stand-in of a small llama.
func BenchmarkSpeedModel(b *testing.B) {
	n := buildNPU(b)
	model := filepath.Join(b.TempDir(), "llama.gguf")
	f, err := os.Create(model)
	if err != nil {
		b.Fatal(err)
	}
	if err := standin.Write(f, "llama", 6); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	for _, test := range [][2]int{{64, 0}, {0, 16}} {
		b.Run(map[bool]string{true: "pp64", false: "tg16"}[test[0] > 0], func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				byTurns(b, "us", func(backend string) float64 { return n.bench(b, backend, model, test) })
				b.StartTimer()
			}
		})
	}
}

// byTurns measures both sides in each round and reports their medians and ratio.
func byTurns(b *testing.B, unit string, measure func(backend string) float64) {
	b.Helper()
	var times [2][]float64
	for range *rounds {
		for i, backend := range backends {
			times[i] = append(times[i], measure(backend))
		}
	}
	var median [2]float64
	for i, list := range times {
		slices.Sort(list)
		median[i] = (list[(len(list)-1)/2] + list[len(list)/2]) / 2
		b.ReportMetric(median[i], backends[i]+"-"+unit)
	}
	b.ReportMetric(median[0]/median[1], "ratio")
}

// output runs a program and returns its standard output.
func (n npu) output(b *testing.B, program string, args ...string) string {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	c := n.command(ctx, *speedArch, program, args...)
	var out, log bytes.Buffer
	c.Stdout, c.Stderr = &out, &log
	if err := c.Run(); err != nil {
		b.Fatalf("%v: %v\n%s", c.Args, err, tail(log.String(), 2000))
	}
	return out.String()
}

// matMul returns the microseconds of a run.
func (n npu) matMul(b *testing.B, backend string, tokens int) float64 {
	b.Helper()
	args, err := backendops.Arguments(backendops.Perf, backend, "MUL_MAT", fmt.Sprintf("type_a=q4_0,type_b=f32,m=4096,n=%d,k=14336,", tokens))
	if err != nil {
		b.Fatal(err)
	}
	r, err := backendops.Parse(n.output(b, "test-backend-ops", args...), backendops.Want{Mode: backendops.Perf, Backend: backend})
	if err != nil || len(r.Cases) != 1 || r.Cases[0].Speed == nil {
		b.Fatalf("%v: %+v", err, r.Cases)
	}
	return r.Cases[0].Speed.Microseconds
}

// bench returns the microseconds of a prompt of test[0] tokens, or of
// generating test[1] tokens. Threads do not poll: those of the host, idle while
// the DSP computes, would take one of two cores from its process.
func (n npu) bench(b *testing.B, backend, model string, test [2]int) float64 {
	b.Helper()
	args := []string{"-m", model, "-p", strconv.Itoa(test[0]), "-n", strconv.Itoa(test[1]), "-t", "2", "--poll", "0", "-r", "3", "-o", "jsonl"}
	if backend == "CPU" {
		args = append(args, "-dev", "none", "-ngl", "0")
	} else {
		args = append(args, "-dev", backend, "-ngl", "99")
	}
	var result struct {
		Nanoseconds float64 `json:"avg_ns"`
	}
	out := n.output(b, "llama-bench", args...)
	if err := json.Unmarshal([]byte(out), &result); err != nil || result.Nanoseconds <= 0 {
		b.Fatalf("%v: %q", err, out)
	}
	return result.Nanoseconds / 1000
}
