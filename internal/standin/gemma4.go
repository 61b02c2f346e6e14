package standin

import (
	"math"

	"hexab/internal/gguf"
)

// gemma4Family has layers with a sliding window between ones with full
// attention and larger heads, an embedding of each token for each layer, and
// last layers that read the key-value caches of earlier ones.
type gemma4Family struct {
	feedForward   int
	fullEvery     int  // every n-th layer has full attention
	sharedLayers  int  // last layers without a cache of their own
	doubleWide    bool // those have feed-forward networks twice as wide
	window        int  // tokens; small, so that short tests go beyond it
	perLayerWidth int
}

// The last layer with a cache of its own must have full attention, the one
// before it a window: they are the ones that the others share.
var gemma4Presets = []preset{
	{"gemma4-e2b",
		common{architecture: "gemma4", layers: 10, embedding: 512, heads: 4, kv: 1, headDim: 256,
			vocabulary: 16384, tied: true, addBOS: true, pretokenizer: "default", ropeBase: 1e6, embedGain: 0.25},
		gemma4Family{feedForward: 1024, fullEvery: 5, sharedLayers: 5, doubleWide: true, window: 32, perLayerWidth: 256}},
	{"gemma4-e4b",
		common{architecture: "gemma4", layers: 12, embedding: 768, heads: 4, kv: 2, headDim: 256,
			vocabulary: 12288, tied: true, addBOS: true, pretokenizer: "default", ropeBase: 1e6, embedGain: 0.25},
		gemma4Family{feedForward: 1536, fullEvery: 6, sharedLayers: 6, window: 32, perLayerWidth: 256}},
}

func (f gemma4Family) build(b *builder, c common) {
	f.metadata(b, c)
	own := c.layers - f.sharedLayers
	perLayer := f.perLayerWidth * c.layers
	b.matrix("per_layer_token_embd.weight", gguf.Q4_0, perLayer, c.vocabulary, f.perLayerGain(c))
	b.matrix("per_layer_model_proj.weight", gguf.F16, c.embedding, perLayer, gainPlain)
	b.norm("per_layer_proj_norm.weight", f.perLayerWidth)
	b.floats("rope_freqs.weight", quarterRopeFactor(c.headDim), c.headDim)

	for i := range c.layers {
		p := layer(i)
		wide := c
		if f.full(i) {
			wide.headDim *= 2
		}
		b.norm(p+"attn_norm.weight", c.embedding)
		f.attention(b, p, wide, i < own)
		b.uniform(p+"post_attention_norm.weight", 0.4, 0.6, c.embedding)
		b.norm(p+"ffn_norm.weight", c.embedding)
		b.feedForward(p, c.embedding, f.width(c, i), gainPlain)
		b.uniform(p+"post_ffw_norm.weight", 0.4, 0.6, c.embedding)
		b.matrix(p+"inp_gate.weight", gguf.Q4_0, c.embedding, f.perLayerWidth, gainPlain)
		b.matrix(p+"proj.weight", gguf.Q4_0, f.perLayerWidth, c.embedding, gainPlain)
		b.uniform(p+"post_norm.weight", 0.4, 0.6, c.embedding)
		// Three branches of variance 1/4 are added in each layer; the scale keeps
		// their sum from growing with the depth.
		b.uniform(p+"layer_output_scale.weight", 0.85, 0.95, 1)
	}
}

func (f gemma4Family) metadata(b *builder, c common) {
	sliding, widths := make([]bool, c.layers), make([]int32, c.layers)
	for i := range c.layers {
		sliding[i], widths[i] = !f.full(i), int32(f.width(c, i))
	}
	b.number("attention.key_length", 2*c.headDim)
	b.number("attention.value_length", 2*c.headDim)
	b.number("attention.key_length_swa", c.headDim)
	b.number("attention.value_length_swa", c.headDim)
	b.number("rope.dimension_count", 2*c.headDim)
	b.number("rope.dimension_count_swa", c.headDim)
	b.float("rope.freq_base_swa", 10000)
	b.number("attention.sliding_window", f.window)
	setArray(b, b.architecture+".attention.sliding_window_pattern", sliding)
	b.number("attention.shared_kv_layers", f.sharedLayers)
	b.number("embedding_length_per_layer_input", f.perLayerWidth)
	b.float("final_logit_softcapping", 30)
	setArray(b, b.architecture+".feed_forward_length", widths)
}

func (f gemma4Family) full(i int) bool { return (i+1)%f.fullEvery == 0 }

func (f gemma4Family) width(c common, i int) int {
	if f.doubleWide && i >= c.layers-f.sharedLayers {
		return 2 * f.feedForward
	}
	return f.feedForward
}

// attention adds the projections of a layer. Queries and keys are normed and
// their product is not divided by the root of the head's width: small norm
// weights do instead.
func (f gemma4Family) attention(b *builder, p string, c common, ownCache bool) {
	queries, keys := c.heads*c.headDim, c.kv*c.headDim
	b.matrix(p+"attn_q.weight", gguf.Q4_0, c.embedding, queries, gainPlain)
	b.uniform(p+"attn_q_norm.weight", 0.25, 0.35, c.headDim)
	if ownCache {
		b.matrix(p+"attn_k.weight", gguf.Q4_0, c.embedding, keys, gainPlain)
		b.matrix(p+"attn_v.weight", gguf.Q4_0, c.embedding, keys, gainPlain)
		b.uniform(p+"attn_k_norm.weight", 0.25, 0.35, c.headDim)
	}
	b.matrix(p+"attn_output.weight", gguf.Q4_0, queries, c.embedding, gainPlain)
}

// perLayerGain makes the per-layer embedding of a token 1 after llama.cpp has
// multiplied it by the root of its width.
func (f gemma4Family) perLayerGain(c common) float64 {
	return math.Sqrt(float64(c.layers)) // the fan-in has layers times the width
}

// quarterRopeFactor has a quarter of n pairs turn; a huge divisor of the
// frequency stops the others.
func quarterRopeFactor(n int) func(i int) float32 {
	return func(i int) float32 {
		if i < n/4 {
			return 1
		}
		return 1e30
	}
}
