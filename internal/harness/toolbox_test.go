package harness

import (
	"os"
	"strings"
	"testing"
)

// pinned is a workspace with the pinned llama.cpp tree; the test is skipped
// where heavy tests are not wanted.
func pinned(t *testing.T) *Workspace {
	t.Helper()
	if os.Getenv("HEXAB_HEAVY") != "1" {
		t.Skip("reads the pinned llama.cpp; set HEXAB_HEAVY=1")
	}
	t.Setenv(EnvLlama, "")
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestKnobsOfPinnedTree holds the knob table against the pinned sources.
func TestKnobsOfPinnedTree(t *testing.T) {
	drift, err := pinned(t).knobDrift(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(drift) > 0 {
		t.Errorf("the table and the sources differ:\n%s", strings.Join(drift, "\n"))
	}
}

func TestUnknownVariables(t *testing.T) {
	t.Setenv(EnvLlama, "")
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	for arms, want := range map[string]string{
		"cpu,cpu:env.GGML_HEXAGON_NHXV=4":         "is GGML_HEXAGON_NHVX meant?",
		"cpu,cpu:env.GGML_HEXAGON_EXPERIMENTAL=1": "reads no variable GGML_HEXAGON_EXPERIMENTAL",
		"cpu,cpu:env.GGML_HEXAGON_NHVX=4":         "",
	} {
		_, err := w.understand(Options{Arms: arms})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", arms, err, want)
		}
	}
}
