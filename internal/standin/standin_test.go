package standin

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"hexab/internal/gguf"
	"hexab/internal/models"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGoldenBytes holds the hash of every stand-in. When it changes, Version
// must be raised: caches know a stand-in by it.
func TestGoldenBytes(t *testing.T) {
	const name = "testdata/sha256.golden"
	var got strings.Builder
	fmt.Fprintf(&got, "version %d\n", Version)
	for _, p := range Presets() {
		h := sha256.New()
		if err := Write(h, p, 1); err != nil {
			t.Fatal(err)
		}
		size, err := Size(p)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%x %9d %s\n", h.Sum(nil), size, p)
	}
	if *update {
		if err := os.WriteFile(name, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// TestOneProcessor checks that the bytes do not depend on how many there are.
func TestOneProcessor(t *testing.T) {
	sum := func() [32]byte {
		h := sha256.New()
		if err := Write(h, "nanbeige", 7); err != nil {
			t.Fatal(err)
		}
		return [32]byte(h.Sum(nil))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	many := sum()
	runtime.GOMAXPROCS(1)
	if sum() != many {
		t.Error("other bytes with GOMAXPROCS 1 than 4")
	}
}

// TestPartsOfTensors makes tensors in parts and whole.
func TestPartsOfTensors(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, seed))
	for _, typ := range []gguf.Type{gguf.F16, gguf.Q4_0, gguf.Q6_K} {
		fill := randomBlocks(typ, newStream(1, "t"), 1)
		const blocks = 100
		size := typ.BlockBytes()
		whole := make([]byte, blocks*size)
		fill(whole, 0)
		for range 50 {
			from := r.IntN(blocks)
			part := make([]byte, (1+r.IntN(blocks-from))*size)
			fill(part, int64(from*size))
			if !bytes.Equal(part, whole[from*size:from*size+len(part)]) {
				t.Fatalf("seed %d: %v: blocks %d to %d differ when made alone", seed, typ, from, from+len(part)/size)
			}
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	data := func(seed uint64) []byte {
		b, err := tensorData(mustBuild(t, "llama", seed), "blk.3.ffn_up.weight", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	one, two := data(1), data(2)
	same := 0
	for i := range one {
		if one[i] == two[i] {
			same++
		}
	}
	// Bytes of two bells coincide in about 1 of 90 places.
	if share := float64(same) / float64(len(one)); share > 0.03 {
		t.Errorf("%.1f %% of the bytes of seeds 1 and 2 are the same", 100*share)
	}
}

func mustBuild(t testing.TB, name string, seed uint64) *gguf.File {
	t.Helper()
	f, err := build(name, seed)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// tensorData returns up to limit bytes of a tensor.
func tensorData(f *gguf.File, name string, limit int) ([]byte, error) {
	for _, t := range f.Tensors {
		if t.Name == name {
			b := make([]byte, min(limit/t.Type.BlockBytes()*t.Type.BlockBytes(), bytesOf(t)))
			return b, t.Fill(b, 0)
		}
	}
	return nil, errors.New("no tensor " + name)
}

func bytesOf(t gguf.Tensor) int {
	n := 1
	for _, d := range t.Shape {
		n *= int(d)
	}
	return n / t.Type.BlockValues() * t.Type.BlockBytes()
}

// TestHeaders reads each stand-in's header as that of any download is read.
func TestHeaders(t *testing.T) {
	for _, p := range Presets() {
		size, err := Size(p)
		if err != nil {
			t.Fatal(err)
		}
		if size < 20e6 || size > 80e6 {
			t.Errorf("%s has %d bytes, want 20 to 80 MB", p, size)
		}
		r, w := io.Pipe()
		go func() { w.CloseWithError(Write(w, p, 1)) }()
		h, err := gguf.ReadHeader(r, size)
		r.Close()
		if err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		want, err := Architecture(p)
		if got := h.Architecture(); err != nil || got != want {
			t.Errorf("%s: architecture %q, want %q (%v)", p, got, want, err)
		}
		if v, _ := h.Get(KeyPreset); v != gguf.Of(p) {
			t.Errorf("%s says it is %v", p, v)
		}
		if h.FileBytes > size || size-h.FileBytes >= gguf.DefaultAlignment {
			t.Errorf("%s: %d bytes, the header wants %d", p, size, h.FileBytes)
		}
	}
}

// TestStatistics checks the numbers that each matrix stands for: mean,
// deviation, no block of zeros, all steps of the quantisation in use, rows that
// have nothing to do with each other.
func TestStatistics(t *testing.T) {
	for _, p := range Presets() {
		f := mustBuild(t, p, 1)
		quantised := 0
		for _, tensor := range f.Tensors {
			if tensor.Type == gguf.F32 {
				continue
			}
			if tensor.Type != gguf.F16 {
				quantised++
			}
			checkMatrix(t, p, f, tensor)
		}
		if quantised < 20 {
			t.Errorf("%s has %d quantised matrices", p, quantised)
		}
	}
}

func checkMatrix(t *testing.T, preset string, f *gguf.File, tensor gguf.Tensor) {
	name := preset + " " + tensor.Name
	const limit = 128 << 10
	data, err := tensorData(f, tensor.Name, limit)
	if err != nil {
		t.Fatal(err)
	}
	values, err := gguf.Dequantize(tensor.Type, data)
	if err != nil {
		t.Fatal(err)
	}
	n := float64(len(values))
	mean, deviation := moments(values)
	want := gainOf(preset, tensor.Name) / math.Sqrt(float64(tensor.Shape[0]))
	// Six standard errors of the mean; the quantisation adds a bias of 0.15
	// deviations of either sign to each block, or sub-block, of at least 16.
	if math.Abs(mean) > 6*want*math.Sqrt((1+16*0.15*0.15)/n) {
		t.Errorf("%s: mean %g with deviation %g", name, mean, deviation)
	}
	if n > 10_000 && math.Abs(deviation/want-1) > 0.03 {
		t.Errorf("%s: deviation %g, want %g", name, deviation, want)
	}
	block := tensor.Type.BlockValues()
	if block > 1 {
		for i := 0; i < len(values); i += block {
			if _, d := moments(values[i : i+block]); d < want/3 {
				t.Errorf("%s: block %d has deviation %g, nearly zero", name, i/block, d)
				break
			}
		}
	}
	if tensor.Type == gguf.Q4_0 && len(data) > 10_000 {
		checkNibbles(t, name, data)
	}
	row := int(tensor.Shape[0])
	if len(values) >= 2*row {
		dot := 0.0
		for i := range row {
			dot += float64(values[i]) * float64(values[row+i])
		}
		if c := dot / float64(row) / (want * want); math.Abs(c) > 6/math.Sqrt(float64(row)) {
			t.Errorf("%s: rows 0 and 1 correlate by %.2f", name, c)
		}
	}
}

// gainOf states the gains of the presets anew, by the names of the tensors.
func gainOf(preset, tensor string) float64 {
	gemma := strings.HasPrefix(preset, "gemma4")
	is := func(suffix string) bool { return strings.HasSuffix(tensor, suffix+".weight") }
	switch {
	case is("per_layer_token_embd"):
		return map[string]float64{"gemma4-e2b": math.Sqrt(10), "gemma4-e4b": math.Sqrt(12)}[preset]
	case tensor == "token_embd.weight":
		return map[string]float64{"llama": 1, "qwen35-2b": 1, "gemma4-e2b": 0.25, "gemma4-e4b": 0.25,
			"qwen2": 16, "nanbeige": 16, "minicpm5": 16, "qwen35-9b": 16}[preset]
	case gemma:
		return 1
	case is("attn_q"), is("attn_k"):
		return 1.5
	case is("attn_output"), is("ffn_down"), is("ssm_out"):
		return 0.7
	}
	return 1
}

func moments(v []float32) (mean, deviation float64) {
	for _, x := range v {
		mean += float64(x)
	}
	mean /= float64(len(v))
	for _, x := range v {
		deviation += (float64(x) - mean) * (float64(x) - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(v)))
}

// checkNibbles wants every nibble value and scales of both signs, as in files
// of llama-quantize.
func checkNibbles(t *testing.T, name string, data []byte) {
	var seen [16]int
	negative := 0
	for i := 0; i < len(data); i += 18 {
		negative += int(data[i+1] >> 7)
		for _, q := range data[i+2 : i+18] {
			seen[q&15]++
			seen[q>>4]++
		}
	}
	for q, n := range seen {
		if n == 0 {
			t.Errorf("%s: no nibble is %d", name, q)
		}
	}
	if share := float64(negative) / float64(len(data)/18); share < 0.3 || share > 0.7 {
		t.Errorf("%s: %.0f %% of the scales are negative", name, 100*share)
	}
}

// TestShapes holds what the types and the kernels of the NPU want.
func TestShapes(t *testing.T) {
	for _, p := range Presets() {
		f := mustBuild(t, p, 1)
		head := false
		for _, tensor := range f.Tensors {
			if tensor.Type == gguf.F32 {
				continue
			}
			if tensor.Shape[0]%256 != 0 {
				t.Errorf("%s: rows of %s have %d values", p, tensor.Name, tensor.Shape[0])
			}
			few := strings.HasSuffix(tensor.Name, "ssm_alpha.weight") || strings.HasSuffix(tensor.Name, "ssm_beta.weight")
			if tensor.Shape[1]%32 != 0 && !few { // those have a row for each head
				t.Errorf("%s: %s has %d rows", p, tensor.Name, tensor.Shape[1])
			}
			head = head || tensor.Type == gguf.Q6_K
		}
		if !head {
			t.Errorf("%s has no Q6_K head", p)
		}
	}
}

func TestVocabulary(t *testing.T) {
	for _, n := range []int{256, 257, 400, 12286, 16382, 24574} {
		tokens, merges := syllables(n)
		if len(tokens) != n || len(merges) != n-256 {
			t.Errorf("%d tokens and %d merges, want %d and %d", len(tokens), len(merges), n, n-256)
		}
		index := make(map[string]int)
		for i, s := range tokens {
			if j, ok := index[s]; ok {
				t.Fatalf("tokens %d and %d are both %q", j, i, s)
			}
			index[s] = i
		}
		for i, m := range merges {
			left, right, ok := strings.Cut(m, " ")
			l, okLeft := index[left]
			r, okRight := index[right]
			made := index[left+right]
			if !ok || !okLeft || !okRight || made != 256+i || l >= made || r >= made {
				t.Fatalf("merge %d, %q, does not make token %d of earlier ones", i, m, 256+i)
			}
		}
	}
}

func TestUnknownPreset(t *testing.T) {
	want := `no stand-in preset "mistral" (there are `
	_, errSize := Size("mistral")
	_, errArchitecture := Architecture("mistral")
	for _, err := range []error{errSize, errArchitecture, Write(io.Discard, "mistral", 1)} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	}
}

// TestManifest checks that each model of models.yaml has a stand-in of its own
// family, and none is the same as another's.
func TestManifest(t *testing.T) {
	data, err := os.ReadFile("../../models.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Parse("models.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[models.StandIn]string)
	for _, model := range m.Models {
		a, err := Architecture(model.StandIn.Preset)
		if err != nil || a != model.Architecture {
			t.Errorf("models.yaml:%d: %s is %s, its stand-in %s (%v)", model.Line, model.Alias, model.Architecture, a, err)
		}
		if other := seen[model.StandIn]; other != "" {
			t.Errorf("models.yaml:%d: %s and %s have the same stand-in", model.Line, other, model.Alias)
		}
		seen[model.StandIn] = model.Alias
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, p := range Presets() {
		b.Run(p, func(b *testing.B) {
			size, _ := Size(p)
			b.SetBytes(size)
			for b.Loop() {
				if err := Write(io.Discard, p, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
