// Package llamabench speaks with llama-bench: the arguments that make it
// measure what a plan asks for, and its output back into samples.
package llamabench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hexab/internal/bench"
)

// Arguments are llama-bench's arguments for one launch: the model, the tests,
// the repetitions, JSON lines on stdout and the load log on stderr. Settings
// such as threads are appended as given.
//
// llama-bench measures every test at every depth it is given, so a list that
// is not such a product is refused: the tests left over would cost time on a
// hot phone for nothing.
func Arguments(model string, tests []bench.Test, repetitions int, settings []string) ([]string, error) {
	if err := checkTests(tests, repetitions); err != nil {
		return nil, err
	}
	var prompts, gens, depths []string
	var pairs []string
	seen := map[int]bool{}
	for _, t := range tests {
		if !seen[t.Depth] {
			seen[t.Depth] = true
			depths = append(depths, strconv.Itoa(t.Depth))
		}
		switch {
		case t.Gen == 0:
			prompts = appendNew(prompts, strconv.Itoa(t.Prompt))
		case t.Prompt == 0:
			gens = appendNew(gens, strconv.Itoa(t.Gen))
		default:
			pairs = appendNew(pairs, fmt.Sprintf("%d,%d", t.Prompt, t.Gen))
		}
	}
	if product := (len(prompts) + len(gens) + len(pairs)) * len(depths); product != len(tests) {
		return nil, fmt.Errorf("tests: llama-bench measures every test at every depth, which makes %d tests of the %d asked for; ask for all of them or run the depths apart", product, len(tests))
	}
	args := []string{"-m", model, "-p", list(prompts), "-n", list(gens)}
	for _, pair := range pairs {
		args = append(args, "-pg", pair)
	}
	args = append(args, "-d", strings.Join(depths, ","), "-r", strconv.Itoa(repetitions), "-o", "jsonl", "-v")
	return append(args, settings...), nil
}

// MaxRepetitions bounds the samples of one test in one launch.
const MaxRepetitions = 1000

func checkTests(tests []bench.Test, repetitions int) error {
	if len(tests) == 0 {
		return fmt.Errorf("tests: none")
	}
	for i, t := range tests {
		if slices.Contains(tests[:i], t) {
			return fmt.Errorf("tests: %s stands twice", t)
		}
	}
	if repetitions < 1 || repetitions > MaxRepetitions {
		return fmt.Errorf("repetitions: %d is not between 1 and %d", repetitions, MaxRepetitions)
	}
	return nil
}

func appendNew(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}

// list joins counts; without any, 0 keeps llama-bench from its default test.
func list(counts []string) string {
	if len(counts) == 0 {
		return "0"
	}
	return strings.Join(counts, ",")
}
