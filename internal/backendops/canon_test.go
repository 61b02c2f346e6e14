package backendops

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestSampleIsAFilter(t *testing.T) {
	all := Sample([]string{"qwen35", "gemma4", "llama", "qwen35"})
	if len(all) != len(common)+len(byFamily["gemma4"])+len(byFamily["qwen35"]) || len(Sample(nil)) != len(common) {
		t.Errorf("%d cases", len(all))
	}
	if _, err := Arguments(Test, "HTP0", Filter(all), ""); err != nil {
		t.Error(err)
	}
}

// Every case of the sample is one that the pinned release has.
func TestSampleIsThere(t *testing.T) {
	bench := os.Getenv("HEXAB_LLAMA_BENCH")
	if os.Getenv("HEXAB_HEAVY") == "" || bench == "" {
		t.Skip("HEXAB_HEAVY and HEXAB_LLAMA_BENCH (a built llama-bench, with test-backend-ops beside it) are not set")
	}
	all := Sample([]string{"qwen35", "gemma4"})
	args, err := Arguments(Test, "CPU", Filter(all), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	text, err := exec.CommandContext(ctx, filepath.Join(filepath.Dir(bench), "test-backend-ops"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Parse(string(text), Want{Test, "CPU"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range r.Cases {
		seen[c.String()] = c.Status == Passed
	}
	for _, c := range all {
		if !seen[c] {
			t.Errorf("not run or not passed: %s", c)
		}
	}
}
