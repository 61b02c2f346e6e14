package diagnose

import (
	"strings"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/llamabench"
)

func TestLaunch(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		log    string
		parse  error
		want   bench.Outcome
		fault  bench.Fault
		reason string
	}{
		{"ok", 0, "", nil, bench.OutcomeOK, bench.FaultNone, ""},
		{"missing", 0, "", &llamabench.MissingError{Tests: []bench.Test{{Gen: 16}}}, bench.OutcomeMissingTest, bench.FaultVariant, "tg16"},
		{"garbled", 0, "", &llamabench.ParseError{Line: 3, Why: "not whole JSON"}, bench.OutcomeParseError, bench.FaultInfrastructure, "line 3"},
		{"skel", 1, "ggml-hex: HTP0 failed to open session : error 0x80000406", nil, bench.OutcomeSessionError, bench.FaultVariant, "AEE_EUNABLETOLOAD"},
		{"session", 1, "ggml-hex: HTP0 failed to open session : error 0x80000414", nil, bench.OutcomeSessionError, bench.FaultDevice, "reboot"},
		{"dsp died", 134, "ggml-hex: dspqueue_read failed: 0x0000002e\nggml/src/ggml-hexagon.cpp:1: GGML_ABORT", nil, bench.OutcomeSessionError, bench.FaultVariant, "DSP process died"},
		{"dsp died before a map", 134, "ggml-hex: HTP0 buffer mapping failed : domain_id 3 size 274432 fd 4 error 0x00000068", nil, bench.OutcomeSessionError, bench.FaultVariant, "DSP process died"},
		{"map", 1, "ggml-hex: HTP0 buffer mapping failed : domain_id 3 size 915000000 error 0x00000001", nil, bench.OutcomeMemLimit, bench.FaultDevice, "memory"},
		{"bionic linker", 1, `CANNOT LINK EXECUTABLE "./llama-bench": library "libggml.so" not found`, nil, bench.OutcomeLinkError, bench.FaultVariant, "library"},
		{"glibc linker", 127, "./llama-bench: error while loading shared libraries: libggml.so: cannot open shared object file", nil, bench.OutcomeLinkError, bench.FaultVariant, "library"},
		{"model", 1, "llama_model_load: error loading model: tensor 'x' data is not within the file bounds, model is corrupted or incomplete", nil, bench.OutcomeCrashed, bench.FaultDevice, "cut short"},
		{"killed", 137, "", nil, bench.OutcomeKilled, bench.FaultDevice, "low-memory"},
		{"segv", 139, "loading", nil, bench.OutcomeCrashed, bench.FaultVariant, "SIGSEGV"},
		{"unknown", 3, "loading", nil, bench.OutcomeCrashed, bench.FaultVariant, "status 3"},
	} {
		got := Launch(test.status, test.log, test.parse)
		if got.Outcome != test.want || got.Fault != test.fault || !strings.Contains(got.Reason, test.reason) {
			t.Errorf("%s: %+v", test.name, got)
		}
		if test.log != "" && len(got.Evidence) == 0 {
			t.Errorf("%s: no evidence", test.name)
		}
	}
}
