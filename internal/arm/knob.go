// Package arm turns an arm's specification, such as cpu:threads=1, into a
// variant with every setting resolved.
//
// One table of knobs yields everything that has to agree: the arguments of
// llama-bench, the environment, the text of -help, the check of what
// llama-bench says it ran with, and the fingerprint that is recorded.
package arm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/knobs"
)

// Context is what the defaults of a run depend on.
type Context struct {
	// BigCores is the number of the device's fast cores; zero means unknown.
	BigCores int
	// Embedded is set for the embedded phone.
	Embedded bool
	// Backends gives the llama.cpp device that each variant computes on, such
	// as HTP0. A variant without an entry computes on the CPU.
	Backends map[bench.Variant]string
}

// PhoneThreads is the thread count that the backend's maintainers ask for in a
// fair run on a phone; fewer where the device has fewer fast cores.
const PhoneThreads = 6

// Knob is one setting of an arm.
type Knob struct {
	// Name is the setting's key in an arm's specification.
	Name string
	// Flag is llama-bench's argument; empty for a knob that is an environment
	// variable.
	Flag string
	// Env is the environment variable that the knob sets; empty for a knob
	// that is an argument.
	Env string
	// Field is the field of llama-bench's result line that must echo the
	// setting; empty when there is none.
	Field string
	// Help says in one line what the knob does.
	Help string
	// Only lists the variants that know the knob; empty means all.
	Only []bench.Variant
	// Inherent is set for what makes the variant itself and so may differ
	// between two arms without being declared.
	Inherent bool

	check   func(value string) error
	initial func(bench.Variant, Context) string
}

// Default is the knob's value when an arm does not state it; empty means that
// the program's own default stays.
func (k Knob) Default(v bench.Variant, c Context) string { return k.initial(v, c) }

// Check tells why a value will not do.
func (k Knob) Check(value string) error {
	if err := k.check(value); err != nil {
		return fmt.Errorf("%s=%s: %w", k.Name, value, err)
	}
	return nil
}

// Knobs is the table, in the order in which arguments and help appear. The
// fair-run defaults are those that the backend's maintainers ask for.
var Knobs = []Knob{
	{Name: "device", Flag: "-dev", Help: "llama.cpp device(s) to compute on, such as HTP0; none is the CPU", Inherent: true,
		check: matches(`^[A-Za-z0-9_.:/\[\]-]{1,64}$`, "a device name, or several joined by /"),
		initial: func(v bench.Variant, c Context) string {
			if device := c.Backends[v]; device != "" {
				return device
			}
			return "none"
		}},
	{Name: "threads", Flag: "-t", Field: "n_threads", Help: "CPU threads",
		check: integer(1, 512), initial: threads},
	{Name: "batch", Flag: "-b", Field: "n_batch", Help: "logical batch size in tokens",
		check: integer(1, bench.MaxTokens), initial: always("2048")},
	{Name: "ubatch", Flag: "-ub", Field: "n_ubatch", Help: "physical batch size in tokens",
		check: integer(1, bench.MaxTokens), initial: always("1024")},
	{Name: "flash-attn", Flag: "-fa", Help: "flash attention: on, off or auto",
		check: oneOf("on", "off", "auto"), initial: always("on")},
	{Name: "poll", Flag: "--poll", Field: "poll", Help: "share of busy waiting, 0 (sleep) to 100 (spin)",
		check: integer(0, 100), initial: poll},
	{Name: "ngl", Flag: "-ngl", Field: "n_gpu_layers", Help: "layers to offload",
		check: integer(-1, 9999), initial: always("99")},
	{Name: "type-k", Flag: "-ctk", Field: "type_k", Help: "type of the K cache, such as f16 or q8_0",
		check: matches(`^[a-z0-9_]{2,16}$`, "a ggml type"), initial: always("f16")},
	{Name: "type-v", Flag: "-ctv", Field: "type_v", Help: "type of the V cache, such as f16 or q8_0",
		check: matches(`^[a-z0-9_]{2,16}$`, "a ggml type"), initial: always("f16")},
	{Name: "cpu-mask", Flag: "-C", Field: "cpu_mask", Help: "CPU affinity as a hexadecimal mask, such as 0xfc",
		check: matches(`^0x[0-9a-fA-F]{1,64}$`, "a mask such as 0xfc"), initial: always("")},
	{Name: "cpu-strict", Flag: "--cpu-strict", Help: "1 pins each thread to one CPU of the mask",
		check: oneOf("0", "1"), initial: always("")},
	{Name: "load-mode", Flag: "-lm", Help: "how the model file is read: auto, none, mmap, mlock, mmap+mlock, dio",
		check: oneOf("auto", "none", "mmap", "mlock", "mmap+mlock", "dio"), initial: always("")},
	{Name: "split-mode", Flag: "-sm", Help: "split over devices: none, layer, row or tensor",
		check: oneOf("none", "layer", "row", "tensor"), initial: always("")},
	{Name: "coherency", Env: "GGML_HEXAGON_FASTRPC_COHERENCY", Only: []bench.Variant{bench.FastRPC},
		Help:  "upkeep of the DSP's cache: role (of each tensor) or whole (the cache, around each batch)",
		check: oneOf("role", "whole"), initial: always("")},
	{Name: "cap-kib", Env: "GGML_HEXAGON_FASTRPC_CAP", Only: []bench.Variant{bench.FastRPC},
		Help:  "KiB of ranges above which the whole cache is cleaned once instead",
		check: integer(0, 1<<20), initial: always("")},
	{Name: "segment-mib", Env: "GGML_HEXAGON_FASTRPC_SEGMENT", Only: []bench.Variant{bench.FastRPC},
		Help:  "MiB of a segment of the memory pool; 0 for no pool",
		check: integer(0, 1024), initial: always("")},
}

// Environment is set for every arm unless it states otherwise.
// GGML_NO_BACKTRACE keeps an abort from starting a debugger on the device;
// GGML_HEXAGON_OPPOLL is asked for by the backend's maintainers.
var Environment = map[string]string{
	"GGML_NO_BACKTRACE": "1",
	envOpPoll:           "1",
}

// envOpPoll makes the backend's host side spin for the NPU's answers.
const envOpPoll = "GGML_HEXAGON_OPPOLL"

// Find gives the knob of a name that a variant knows.
func Find(name string, v bench.Variant) (Knob, bool) {
	for _, knob := range Knobs {
		if knob.Name == name && knob.knownTo(v) {
			return knob, true
		}
	}
	return Knob{}, false
}

func (k Knob) knownTo(v bench.Variant) bool {
	for _, only := range k.Only {
		if only == v {
			return true
		}
	}
	return len(k.Only) == 0
}

// Help is the table as text: name, argument or variable, default, meaning.
func Help(v bench.Variant, c Context) string {
	var text strings.Builder
	for _, k := range Knobs {
		if !k.knownTo(v) {
			continue
		}
		initial := k.Default(v, c)
		if initial == "" {
			initial = "-"
		}
		fmt.Fprintf(&text, "  %-12s %-13s default %-6s %s\n", k.Name, k.Flag+k.Env, initial, k.Help)
	}
	for _, variable := range knobs.Table {
		if v != bench.CPU {
			fmt.Fprintf(&text, "  %-12s %s: %s\n", variable.Short, variable.Name, variable.Meaning)
		}
	}
	text.WriteString("  env.NAME     NAME          an environment variable of the program\n")
	return text.String()
}

func threads(_ bench.Variant, c Context) string {
	n := PhoneThreads
	if c.BigCores > 0 && (c.BigCores < n || c.Embedded) {
		n = c.BigCores
	}
	return strconv.Itoa(n)
}

// poll is what the backend's maintainers ask for. On the embedded phone nobody
// spins, neither ggml's threads nor the backend's host side: the simulated DSP
// computes on the same few cores, and what waits would take one from it. On two
// cores a stand-in's tg16 was 2.8 t/s with both, 35.7 t/s with neither.
func poll(_ bench.Variant, c Context) string {
	if c.Embedded {
		return "0"
	}
	return "50"
}

func always(value string) func(bench.Variant, Context) string {
	return func(bench.Variant, Context) string { return value }
}

func integer(low, high int) func(string) error {
	return func(value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < low || n > high || strconv.Itoa(n) != value {
			return fmt.Errorf("want a whole number from %d to %d", low, high)
		}
		return nil
	}
}

func oneOf(values ...string) func(string) error {
	return func(value string) error {
		for _, v := range values {
			if v == value {
				return nil
			}
		}
		return fmt.Errorf("want one of %s", strings.Join(values, ", "))
	}
}

func matches(pattern, what string) func(string) error {
	compiled := regexp.MustCompile(pattern)
	return func(value string) error {
		if !compiled.MatchString(value) {
			return fmt.Errorf("want %s", what)
		}
		return nil
	}
}
