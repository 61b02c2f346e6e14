package standin

// Token types of llama.cpp (llama_token_type in include/llama.h).
const (
	tokenNormal  = int32(1)
	tokenControl = int32(3)
)

// vocabulary adds a byte-level BPE vocabulary that reads well: any text can be
// tokenised, and most tokens are words of made-up syllables.
func (b *builder) vocabulary(c common) {
	n := c.vocabulary
	tokens, merges := syllables(n - 2)
	tokens = append(tokens, "<|begin|>", "<|end|>")
	types := make([]int32, n)
	for i := range types {
		types[i] = tokenNormal
	}
	types[n-2], types[n-1] = tokenControl, tokenControl

	set(b, "tokenizer.ggml.model", "gpt2")
	set(b, "tokenizer.ggml.pre", c.pretokenizer)
	setArray(b, "tokenizer.ggml.tokens", tokens)
	setArray(b, "tokenizer.ggml.token_type", types)
	setArray(b, "tokenizer.ggml.merges", merges)
	set(b, "tokenizer.ggml.bos_token_id", uint32(n-2))
	set(b, "tokenizer.ggml.eos_token_id", uint32(n-1))
	set(b, "tokenizer.ggml.add_bos_token", c.addBOS)
}

// syllables returns n tokens and the merges that make them, the first to apply
// first: all bytes, syllables of a consonant and a vowel, the same after a
// space, pairs of syllables with and without a space, and triples after one.
func syllables(n int) (tokens, merges []string) {
	tokens = byteTokens()
	space := tokens[' ']
	add := func(left, right string) string {
		if len(tokens) < n {
			tokens = append(tokens, left+right)
			merges = append(merges, left+" "+right)
		}
		return left + right
	}
	var syllables []string
	for _, consonant := range "bcdfghjklmnprstvwz" {
		for _, vowel := range "aeiou" {
			syllables = append(syllables, add(string(consonant), string(vowel)))
		}
	}
	for _, s := range syllables {
		add(space, s)
	}
	for _, s := range syllables {
		for _, t := range syllables {
			add(space+s, t)
			add(s, t)
		}
	}
	for _, s := range syllables {
		for _, t := range syllables {
			for _, u := range syllables {
				if len(tokens) == n {
					return tokens, merges
				}
				add(space+s+t, u)
			}
		}
	}
	return tokens, merges
}

// byteTokens returns how byte-level BPE writes each byte: as itself where it
// prints in Latin-1, else as one of the runes from 256 on, in order
// (unicode_byte_to_utf8_map in src/unicode.cpp of llama.cpp, after GPT-2).
func byteTokens() []string {
	tokens := make([]string, 256)
	other := rune(256)
	for i := range tokens {
		r := rune(i)
		prints := r > ' ' && r < 0x7f || r > 0xa0 && r != 0xad
		if !prints {
			r, other = other, other+1
		}
		tokens[i] = string(r)
	}
	return tokens
}
