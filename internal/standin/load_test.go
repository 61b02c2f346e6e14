package standin

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// The tests in this file load the stand-ins in the real llama.cpp. They need
// HEXAB_HEAVY=1 and the path of a llama-bench in HEXAB_LLAMA_BENCH; other
// programs are looked for beside it.

// program returns the path of a program beside llama-bench, or skips the test.
func program(t *testing.T, name string) string {
	t.Helper()
	if os.Getenv("HEXAB_HEAVY") == "" {
		t.Skip("HEXAB_HEAVY=1 is not set")
	}
	bench := os.Getenv("HEXAB_LLAMA_BENCH")
	if bench == "" {
		t.Skip("HEXAB_LLAMA_BENCH, the path of a llama-bench, is not set")
	}
	path := filepath.Join(filepath.Dir(bench), name)
	if name == "llama-bench" {
		path = bench
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is missing: %v", name, err)
	}
	return path
}

// forEach writes each stand-in to a file and runs the test with it.
func forEach(t *testing.T, test func(t *testing.T, preset, model string)) {
	for _, p := range Presets() {
		t.Run(p, func(t *testing.T) {
			model := filepath.Join(t.TempDir(), p+".gguf")
			f, err := os.Create(model)
			if err != nil {
				t.Fatal(err)
			}
			if err := Write(f, p, 1); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			test(t, p, model)
		})
	}
}

// run runs a program to its end. Two threads that spin beside other load can
// take long, so the limit is far beyond the second that a launch takes.
func run(t *testing.T, env []string, program string, args ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(append(os.Environ(), "GGML_NO_BACKTRACE=1"), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		tail := errs.String()
		t.Fatalf("%s %v: %v\n%s", program, args, err, tail[max(0, len(tail)-2000):])
	}
	return out.String(), errs.String()
}

func TestLlamaBench(t *testing.T) {
	bench := program(t, "llama-bench")
	forEach(t, func(t *testing.T, preset, model string) {
		start := time.Now()
		stdout, _ := run(t, nil, bench, "-m", model, "-p", "64", "-n", "16", "-t", "2", "-o", "jsonl")
		seconds := time.Since(start).Seconds()
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if len(lines) != 2 {
			t.Fatalf("%d lines, want pp64 and tg16:\n%s", len(lines), stdout)
		}
		var r struct {
			ModelType string  `json:"model_type"`
			ModelSize int64   `json:"model_size"`
			Speed     float64 `json:"avg_ts"`
		}
		var speeds []string
		for _, line := range lines {
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if r.Speed <= 0 {
				t.Errorf("speed is %v", r.Speed)
			}
			speeds = append(speeds, fmt.Sprintf("%.0f", r.Speed))
		}
		size, err := Size(preset)
		if err != nil {
			t.Fatal(err)
		}
		if r.ModelSize < size*95/100 || r.ModelSize > size {
			t.Errorf("%d bytes of tensors in a file of %d", r.ModelSize, size)
		}
		architecture, _ := Architecture(preset)
		if !strings.HasPrefix(r.ModelType, architecture) || !strings.Contains(r.ModelType, "Q4_0") {
			t.Errorf("llama-bench calls it %q", r.ModelType)
		}
		t.Logf("%.2f s, %.1f MB loaded, %q, pp64 and tg16 %s tokens/s", seconds, float64(r.ModelSize)/1e6,
			r.ModelType, strings.Join(speeds, " and "))
	})
}

// characteristic holds how often the operations that tell a family occur in
// the graph of one token, by their names as the scheduler shortens them.
var characteristic = map[string]map[string]int{
	"llama":    {"FLASH_ATTN": 8, "SET_ROWS": 16, "SWIGLU": 8, "ROPE": 16},
	"minicpm5": {"FLASH_ATTN": 5, "SET_ROWS": 10, "SWIGLU": 5, "ROPE": 10},
	// The biases are three more additions a layer.
	"qwen2": {"FLASH_ATTN": 8, "SET_ROWS": 16, "SWIGLU": 8, "ROPE": 16, "ADD": 8 * 5},
	// Five layers, twice.
	"nanbeige": {"FLASH_ATTN": 10, "SET_ROWS": 20, "SWIGLU": 10, "ROPE": 20},
	// Six linear layers with two gates, two with full attention and one.
	"qwen35-2b": {"GATED_DELT": 6, "SSM_CONV": 6, "SOFTPLUS": 6, "CONCAT": 6, "SIGMOID": 8, "FLASH_ATTN": 2, "SET_ROWS": 4, "ROPE": 4},
	"qwen35-9b": {"GATED_DELT": 6, "SSM_CONV": 6, "SOFTPLUS": 6, "CONCAT": 6, "SIGMOID": 8, "FLASH_ATTN": 2, "SET_ROWS": 4, "ROPE": 4},
	// Half of the layers fill caches. GELU gates the per-layer embeddings,
	// TANH caps the logits.
	"gemma4-e2b": {"FLASH_ATTN": 10, "SET_ROWS": 10, "GEGLU": 10, "GELU": 10, "TANH": 1, "ROPE": 15},
	"gemma4-e4b": {"FLASH_ATTN": 12, "SET_ROWS": 12, "GEGLU": 12, "GELU": 12, "TANH": 1, "ROPE": 18},
}

// graphNode is a line in which the scheduler describes an operation:
// its number, name, and the rest of the line.
var graphNode = regexp.MustCompile(`(?m)^node #\s*(\d+) \(\s*([A-Z0-9_]+)\): (.*)$`)

// TestOperations checks that the graph of each stand-in is its family's.
func TestOperations(t *testing.T) {
	bench := program(t, "llama-bench")
	forEach(t, func(t *testing.T, preset, model string) {
		_, stderr := run(t, []string{"GGML_SCHED_DEBUG=2"}, bench,
			"-m", model, "-p", "0", "-n", "1", "-r", "1", "-t", "2", "-fa", "1", "--no-warmup", "-v")
		count := make(map[string]int)
		var attentions []string
		for _, m := range graphNode.FindAllStringSubmatch(stderr, -1) {
			if m[1] == "0" { // the last graph counts
				clear(count)
				attentions = nil
			}
			count[m[2]]++
			if m[2] == "FLASH_ATTN" {
				attentions = append(attentions, m[3])
			}
		}
		for op, want := range characteristic[preset] {
			if count[op] != want {
				t.Errorf("%d times %s, want %d", count[op], op, want)
			}
		}
		if t.Failed() {
			t.Logf("operations: %v", count)
		}
		if strings.HasPrefix(preset, "gemma4") {
			checkSharedCaches(t, attentions)
		}
	})
}

// checkSharedCaches wants the later half of the layers to read the caches of
// the last full and the last sliding layer of the first half.
func checkSharedCaches(t *testing.T, attentions []string) {
	cache := regexp.MustCompile(`cache_k_l(\d+)`)
	n := len(attentions)
	full, sliding := n/2-1, n/2-2
	for i, line := range attentions {
		want := i
		if i == n-1 {
			want = full
		} else if i >= n/2 {
			want = sliding
		}
		if m := cache.FindStringSubmatch(line); m == nil || m[1] != strconv.Itoa(want) {
			t.Errorf("layer %d reads cache %v, want that of layer %d", i, m, want)
		}
	}
}

// TestText checks that a prompt is continued by something that can be read,
// and the same each time.
func TestText(t *testing.T) {
	completion := program(t, "llama-completion")
	const prompt = "the river and the stone"
	forEach(t, func(t *testing.T, preset, model string) {
		generate := func() string {
			// One thread: several that wait for each other crawl beside other load.
			stdout, _ := run(t, nil, completion, "-m", model, "-p", prompt, "-n", "32", "-t", "1", "--temp", "0",
				"--ignore-eos", "-no-cnv", "--simple-io")
			return strings.TrimSpace(stdout)
		}
		text := generate()
		if !utf8.ValidString(text) || !strings.HasPrefix(text, prompt) {
			t.Fatalf("text is %q", text)
		}
		words := strings.Fields(text[len(prompt):])
		if len(words) < 3 {
			t.Errorf("text is %q: few words", text)
		}
		letters := 0
		for _, r := range text {
			if !unicode.IsPrint(r) {
				t.Errorf("text is %q: %q does not print", text, r)
			}
			if r >= 'a' && r <= 'z' {
				letters++
			}
		}
		if letters < len(text)*2/3 {
			t.Errorf("text is %q: few letters", text)
		}
		// llama-completion may end before its log's thread has written the last words.
		if again := generate(); !strings.HasPrefix(again, text) && !strings.HasPrefix(text, again) {
			t.Errorf("%q, then %q", text, again)
		}
		t.Log(text)
	})
}

// TestActivations checks that values stay near 1 in every layer, so that half
// precision does for them, and that the logits are finite and spread.
func TestActivations(t *testing.T) {
	debug := program(t, "llama-debug")
	forEach(t, func(t *testing.T, preset, model string) {
		dir := t.TempDir()
		args := []string{"-m", model, "-p", "the river and the stone of the old house", "-t", "1"}
		run(t, nil, debug, append(args, "--save-logits", "--logits-output-dir", dir)...)
		stdout, stderr := run(t, nil, debug, append(args, "--verbose", "--tensor-filter", "^l_out")...)
		layers := layerValues(t, stdout+stderr)
		p, _ := find(preset)
		if len(layers) < p.common.layers {
			t.Fatalf("values of %d layers, want %d", len(layers), p.common.layers)
		}
		var rms []string
		for name, v := range layers {
			sum := 0.0
			for _, x := range v {
				sum += x * x
			}
			r := math.Sqrt(sum / float64(len(v)))
			if !(r > 0.1 && r < 5) { // also when it is NaN
				t.Errorf("%s: root mean square of %d values is %v", name, len(v), r)
			}
			rms = append(rms, fmt.Sprintf("%s %.2f", name, r))
		}
		slices.Sort(rms)
		t.Log(strings.Join(rms, ", "))

		logits := readFloats(t, filepath.Join(dir, "llamacpp-"+preset+".bin"))
		if len(logits) != p.common.vocabulary {
			t.Errorf("%d logits, want %d", len(logits), p.common.vocabulary)
		}
		mean, deviation := moments(logits)
		if !(math.Abs(mean) < 0.2 && deviation > 0.1 && deviation < 3) {
			t.Errorf("logits have mean %v and deviation %v", mean, deviation)
		}
		t.Logf("logits: deviation %.2f, largest %.2f", deviation, slices.Max(logits))
	})
}

// layerValues returns the values that llama-debug prints of each tensor l_out-N:
// the first and last ones of the first and last rows.
func layerValues(t *testing.T, output string) map[string][]float64 {
	t.Helper()
	head := regexp.MustCompile(`\b(l_out-\d+) = \(f32\)`)
	row := regexp.MustCompile(`^[^\[]*\[ +-?[0-9n]`)
	number := regexp.MustCompile(`-?(?:\d+\.\d+|nan|inf)`)
	values := make(map[string][]float64)
	name := ""
	for line := range strings.Lines(output) {
		if m := head.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if strings.Contains(line, "sum =") {
			name = ""
		} else if name != "" && row.MatchString(line) {
			for _, n := range number.FindAllString(line, -1) {
				v, err := strconv.ParseFloat(n, 64)
				if err != nil {
					t.Fatal(err)
				}
				values[name] = append(values[name], v)
			}
		}
	}
	return values
}

func readFloats(t *testing.T, name string) []float32 {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float32, len(data)/4)
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, v); err != nil {
		t.Fatal(err)
	}
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			t.Fatalf("logit %d is %v", i, x)
		}
	}
	return v
}
