package standin

// llamaFamily is the plain decoder: llama itself, qwen2 (biases on query, key
// and value; heads that fill the embedding exactly) and nanbeige (all layers
// run several times over).
type llamaFamily struct {
	feedForward int
	loops       int
	biases      bool
	ropeFactors bool // of llama 3
}

var llamaPresets = []preset{
	{"llama",
		common{architecture: "llama", layers: 8, embedding: 768, heads: 12, kv: 3, headDim: 64,
			vocabulary: 24576, tied: true, addBOS: true, pretokenizer: "llama-bpe", ropeBase: 500000, embedGain: 1},
		llamaFamily{feedForward: 3072, loops: 1, ropeFactors: true}},
	{"minicpm5",
		common{architecture: "llama", layers: 5, embedding: 1024, heads: 16, kv: 2, headDim: 64,
			vocabulary: 12288, addBOS: true, pretokenizer: "llama-bpe", ropeBase: 10000, embedGain: 16},
		llamaFamily{feedForward: 2560, loops: 1}},
	{"qwen2",
		common{architecture: "qwen2", layers: 8, embedding: 768, heads: 6, kv: 6, headDim: 128,
			vocabulary: 16384, pretokenizer: "qwen2", ropeBase: 1e6, embedGain: 16},
		llamaFamily{feedForward: 2048, loops: 1, biases: true}},
	{"nanbeige",
		common{architecture: "nanbeige", layers: 5, embedding: 768, heads: 6, kv: 2, headDim: 128,
			vocabulary: 16384, addBOS: true, pretokenizer: "default", ropeBase: 7e7, embedGain: 16},
		llamaFamily{feedForward: 3072, loops: 2}},
}

func (f llamaFamily) build(b *builder, c common) {
	b.number("feed_forward_length", f.feedForward)
	b.number("attention.key_length", c.headDim)
	b.number("attention.value_length", c.headDim)
	b.number("rope.dimension_count", c.headDim)
	if f.loops > 1 {
		b.number("num_loops", f.loops)
		set(b, b.architecture+".skip_loop_final_norm", false)
	}
	if f.ropeFactors {
		b.floats("rope_freqs.weight", llama3RopeFactor(c.headDim/2), c.headDim/2)
	}
	queries, keys := c.heads*c.headDim, c.kv*c.headDim
	for i := range c.layers {
		p := layer(i)
		b.norm(p+"attn_norm.weight", c.embedding)
		b.attention(p, c, queries, gainBranch)
		if f.biases {
			b.uniform(p+"attn_q.bias", -0.5, 0.5, queries)
			b.uniform(p+"attn_k.bias", -0.5, 0.5, keys)
			b.uniform(p+"attn_v.bias", -0.1, 0.1, keys)
		}
		b.norm(p+"ffn_norm.weight", c.embedding)
		b.feedForward(p, c.embedding, f.feedForward, gainBranch)
	}
}

// llama3RopeFactor imitates the frequency factors of llama 3 for n pairs: 1
// where they turn fast, rising to 32 where they turn slowly.
func llama3RopeFactor(n int) func(i int) float32 {
	return func(i int) float32 { return max(1, float32(32*i)/float32(n)) }
}
