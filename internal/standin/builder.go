package standin

import (
	"encoding/binary"
	"fmt"
	"math"

	"hexab/internal/gguf"
)

// common holds what every family has. Every width is a multiple of 256, so
// that rows may be Q6_K, and every number of rows that matters one of 32.
type common struct {
	architecture string
	layers       int
	embedding    int
	heads, kv    int // attention heads, and key and value heads
	headDim      int
	vocabulary   int
	tied         bool // the token embedding is the output head too
	addBOS       bool
	pretokenizer string
	ropeBase     float32
	embedGain    float64 // of the token embedding
}

// Gains of weight matrices. A matrix of gain g turns a vector of variance 1
// into one of variance g*g: its weights have the deviation g/sqrt(fan-in).
const (
	gainPlain  = 1.0
	gainScores = 1.5 // query and key: attention that depends on the context
	gainBranch = 0.7 // what is added to the residual stream
)

// builder collects metadata and tensors.
type builder struct {
	architecture string
	seed         uint64
	file         gguf.File
}

// set adds a metadata key.
func set[T gguf.Scalar](b *builder, key string, v T) {
	b.file.Metadata = append(b.file.Metadata, gguf.KeyValue{Key: key, Value: gguf.Of(v)})
}

// setArray adds a metadata key with an array.
func setArray[T gguf.Scalar](b *builder, key string, v []T) {
	b.file.Metadata = append(b.file.Metadata, gguf.KeyValue{Key: key, Value: gguf.ArrayOf(v)})
}

// number adds an integer below the name of the architecture.
func (b *builder) number(key string, n int) { set(b, b.architecture+"."+key, uint32(n)) }

// float adds a real number below the name of the architecture.
func (b *builder) float(key string, f float32) { set(b, b.architecture+"."+key, f) }

// common adds what every family has.
func (b *builder) common(c common) {
	b.number("block_count", c.layers)
	b.number("context_length", 4096)
	b.number("embedding_length", c.embedding)
	b.number("vocab_size", c.vocabulary)
	b.number("attention.head_count", c.heads)
	b.number("attention.head_count_kv", c.kv)
	b.float("attention.layer_norm_rms_epsilon", 1e-6)
	b.float("rope.freq_base", c.ropeBase)

	if c.tied {
		b.matrix("token_embd.weight", gguf.Q6_K, c.embedding, c.vocabulary, c.embedGain)
	} else {
		b.matrix("token_embd.weight", gguf.Q4_0, c.embedding, c.vocabulary, c.embedGain)
		b.matrix("output.weight", gguf.Q6_K, c.embedding, c.vocabulary, gainPlain)
	}
	b.norm("output_norm.weight", c.embedding)
}

// attention adds query, key, value and output projections of the prefix p.
func (b *builder) attention(p string, c common, queryRows int, branch float64) {
	b.matrix(p+"attn_q.weight", gguf.Q4_0, c.embedding, queryRows, gainScores)
	b.matrix(p+"attn_k.weight", gguf.Q4_0, c.embedding, c.kv*c.headDim, gainScores)
	b.matrix(p+"attn_v.weight", gguf.Q4_0, c.embedding, c.kv*c.headDim, gainPlain)
	b.matrix(p+"attn_output.weight", gguf.Q4_0, c.heads*c.headDim, c.embedding, branch)
}

// feedForward adds a gated feed-forward network of the prefix p.
func (b *builder) feedForward(p string, embedding, width int, branch float64) {
	b.matrix(p+"ffn_gate.weight", gguf.Q4_0, embedding, width, gainPlain)
	b.matrix(p+"ffn_up.weight", gguf.Q4_0, embedding, width, gainPlain)
	b.matrix(p+"ffn_down.weight", gguf.Q4_0, width, embedding, branch)
}

// layer returns the prefix of the tensors of a layer.
func layer(i int) string { return fmt.Sprintf("blk.%d.", i) }

// matrix adds a weight of random values with mean 0 and the deviation
// gain/sqrt(columns).
func (b *builder) matrix(name string, t gguf.Type, columns, rows int, gain float64) {
	fill := randomBlocks(t, newStream(b.seed, name), gain/math.Sqrt(float64(columns)))
	b.tensor(name, t, fill, columns, rows)
}

// norm adds the weight of a norm: near 1.
func (b *builder) norm(name string, n int) { b.uniform(name, 0.9, 1.1, n) }

// uniform adds random values from low to high.
func (b *builder) uniform(name string, low, high float32, shape ...int) {
	s := newStream(b.seed, name)
	b.floats(name, func(i int) float32 {
		// The conversions keep a compiler from fusing the two operations, which
		// would give other bytes on other processors.
		return low + float32((high-low)*s.unit(uint64(i)))
	}, shape...)
}

// floats adds an F32 tensor whose i-th value is at(i).
func (b *builder) floats(name string, at func(i int) float32, shape ...int) {
	fill := func(dst []byte, offset int64) error {
		for i := 0; i < len(dst); i += 4 {
			v := at((int(offset) + i) / 4)
			binary.LittleEndian.PutUint32(dst[i:], math.Float32bits(v))
		}
		return nil
	}
	b.tensor(name, gguf.F32, fill, shape...)
}

func (b *builder) tensor(name string, t gguf.Type, fill func([]byte, int64) error, shape ...int) {
	dims := make([]uint64, len(shape))
	for i, d := range shape {
		dims[i] = uint64(d)
	}
	b.file.Tensors = append(b.file.Tensors, gguf.Tensor{Name: name, Type: t, Shape: dims, Fill: fill})
}
