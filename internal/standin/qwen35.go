package standin

import "hexab/internal/gguf"

// qwen35Family is the hybrid: three layers of gated delta net, a linear
// attention with a state, then one of gated full attention.
type qwen35Family struct {
	feedForward       int
	linearKeys        int // key heads of the linear layers
	linearValues      int // value heads of the linear layers
	fullEvery         int // every n-th layer has full attention
	state, convKernel int
}

var qwen35Presets = []preset{
	{"qwen35-2b",
		common{architecture: "qwen35", layers: 8, embedding: 768, heads: 4, kv: 1, headDim: 256,
			vocabulary: 24576, tied: true, pretokenizer: "qwen35", ropeBase: 1e7, embedGain: 1},
		qwen35Family{feedForward: 2304, linearKeys: 6, linearValues: 6, fullEvery: 4, state: 128, convKernel: 4}},
	{"qwen35-9b",
		common{architecture: "qwen35", layers: 8, embedding: 1024, heads: 4, kv: 1, headDim: 256,
			vocabulary: 12288, pretokenizer: "qwen35", ropeBase: 1e7, embedGain: 16},
		qwen35Family{feedForward: 3072, linearKeys: 4, linearValues: 8, fullEvery: 4, state: 128, convKernel: 4}},
}

func (f qwen35Family) build(b *builder, c common) {
	b.number("feed_forward_length", f.feedForward)
	b.number("attention.key_length", c.headDim)
	b.number("attention.value_length", c.headDim)
	b.number("rope.dimension_count", c.headDim/4)
	setArray(b, b.architecture+".rope.dimension_sections", []int32{11, 11, 10, 0})
	b.number("full_attention_interval", f.fullEvery)
	b.number("ssm.conv_kernel", f.convKernel)
	b.number("ssm.state_size", f.state)
	b.number("ssm.group_count", f.linearKeys)
	b.number("ssm.time_step_rank", f.linearValues)
	b.number("ssm.inner_size", f.linearValues*f.state)

	for i := range c.layers {
		p := layer(i)
		b.norm(p+"attn_norm.weight", c.embedding)
		if (i+1)%f.fullEvery == 0 {
			b.attention(p, c, 2*c.heads*c.headDim, gainBranch) // queries and their gates
			b.uniform(p+"attn_q_norm.weight", 1.3, 1.5, c.headDim)
			b.uniform(p+"attn_k_norm.weight", 1.3, 1.5, c.headDim)
		} else {
			f.linearAttention(b, p, c)
		}
		b.norm(p+"post_attention_norm.weight", c.embedding)
		b.feedForward(p, c.embedding, f.feedForward, gainBranch)
	}
}

func (f qwen35Family) linearAttention(b *builder, p string, c common) {
	values := f.linearValues * f.state
	mixed := 2*f.linearKeys*f.state + values
	b.matrix(p+"attn_qkv.weight", gguf.Q4_0, c.embedding, mixed, gainPlain)
	b.matrix(p+"attn_gate.weight", gguf.Q4_0, c.embedding, values, gainPlain)
	b.matrix(p+"ssm_alpha.weight", gguf.Q4_0, c.embedding, f.linearValues, gainPlain)
	b.matrix(p+"ssm_beta.weight", gguf.Q4_0, c.embedding, f.linearValues, gainPlain)
	b.matrix(p+"ssm_out.weight", gguf.Q4_0, values, c.embedding, gainBranch)
	b.uniform(p+"ssm_conv1d.weight", -0.8, 0.8, f.convKernel, mixed)
	b.uniform(p+"ssm_a", -1, -0.1, f.linearValues) // negative: the state decays
	b.uniform(p+"ssm_dt.bias", -2, 0, f.linearValues)
	b.norm(p+"ssm_norm.weight", f.state)
}
