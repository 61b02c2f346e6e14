package harness

import (
	"fmt"
	"slices"

	"hexab/internal/arm"
	"hexab/internal/bench"
)

// Settings lists what an arm of a variant can set; empty is the CPU's.
func Settings(variant string) error {
	w, err := Open()
	if err != nil {
		return err
	}
	v := bench.Variant(variant)
	if v == "" {
		v = bench.CPU
	}
	if !slices.Contains(w.known(), v) {
		return usage("variant: %q is not one of %v", variant, w.known())
	}
	fmt.Fprintf(w.Out, "Settings of %s, as in -arms=%s:threads=4,ubatch=512 (defaults of a phone; on the embedded phone threads is its number of cores):\n%s",
		v, v, arm.Help(v, arm.Context{Backends: w.backends()}))
	return nil
}
