package diagnose

import (
	"flag"
	"fmt"
	"os"
	"regexp"
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
		{"no driver", 1, "ggml-hex: failed to load libcdsprpc.so: dlopen failed: library \"libcdsprpc.so\" not found\nerror: invalid device: HTP0", nil, bench.OutcomeSessionError, bench.FaultDevice, "libcdsprpc"},
		{"start", 1, "ggml-hex: HTP0 failed to start session: 0x0000000d", nil, bench.OutcomeSessionError, bench.FaultDevice, "set up"},
		{"two builds", 1, "ggml-hex: the DSP library does not fit (attach: error 0x00000014): x", nil, bench.OutcomeSessionError, bench.FaultVariant, "two variants"},
		{"uri", 134, "ggml-hex: HTP0 failed to get URI (physical 0, virtual 1) : error 0x14. Falling back\nx.cpp:1: GGML_ASSERT(x) failed", nil, bench.OutcomeSessionError, bench.FaultDevice, "0x14"},
		{"uri, then memory", 1, "ggml-hex: HTP0 failed to get URI : error 0x14. Falling back\nstd::bad_alloc", nil, bench.OutcomeMemLimit, bench.FaultDevice, "memory"},
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

// Whose fault an outcome is, is said in one way by bench, by what is concluded
// here, and by docs/phone.md: over the whole table of outcomes. A rule's words
// may know better only where the outcome alone does not tell.
func TestFaultsAgree(t *testing.T) {
	text, err := os.ReadFile(phonePage)
	if err != nil {
		t.Fatal(err)
	}
	told := map[bench.Outcome]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z-]+) \| .* \| ([a-z ]+) \|$`).FindAllStringSubmatch(string(text), -1) {
		told[bench.Outcome(m[1])] = m[2]
	}
	open := map[bench.Outcome]string{bench.OutcomeSessionError: "as below", bench.OutcomeNotRun: "as the reason says"}
	for _, o := range bench.Outcomes {
		want := string(o.Fault())
		if open[o] != "" {
			want = open[o]
		}
		if told[o] != want {
			t.Errorf("%s: bench says %q, docs/phone.md %q", o, want, told[o])
		}
	}
	for _, r := range Rules {
		if r.Fault != r.Outcome.Fault() && open[r.Outcome] == "" && r.Outcome != bench.OutcomeCrashed {
			t.Errorf("%s: bench says %q, a rule %q", r.Outcome, r.Outcome.Fault(), r.Fault)
		}
	}
	for _, end := range []struct {
		status int
		parse  error
	}{
		{0, nil}, {0, &llamabench.MissingError{}}, {0, &llamabench.ParseError{}}, {1, nil}, {1, &llamabench.ParseError{}}, {128 + 9, nil}, {128 + 11, nil},
	} {
		if f := Launch(end.status, "", end.parse); f.Fault != f.Outcome.Fault() {
			t.Errorf("%+v: bench says of %s %q, Launch %q", end, f.Outcome, f.Outcome.Fault(), f.Fault)
		}
	}
}

const phonePage = "../../docs/phone.md"

var update = flag.Bool("update", false, "write the table in docs/phone.md anew")

// TestDocumentation keeps the errors in docs/phone.md true: its table of what
// logs say is made from Rules, and each outcome has a row.
func TestDocumentation(t *testing.T) {
	const name, begin, end = phonePage, "<!-- made from internal/diagnose by its test -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	table, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %q, %q", name, begin, end)
	}
	want := "| a log with | means | do | outcome, whose fault |\n|---|---|---|---|\n"
	for _, r := range Rules {
		want += fmt.Sprintf("| %s | %s | %s | %s, %s |\n", readable(r.Words), r.Cause, r.Advice, r.Outcome, r.Fault)
	}
	if *update {
		if err := os.WriteFile(name, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table != want {
		t.Errorf("%s differs from the rules; write it anew with go test ./internal/diagnose -update", name)
	}
	for _, o := range bench.Outcomes {
		if o != bench.OutcomeOK && !strings.Contains(string(text), "\n| "+string(o)+" |") {
			t.Errorf("%s does not explain the outcome %s", name, o)
		}
	}
}

// readable shows an expression to people: its alternatives as code.
func readable(words *regexp.Regexp) string {
	plain := strings.NewReplacer(`(?i)`, "", `\b`, "", `.*`, "…").Replace(words.String())
	depth, alternatives := 0, []string{""}
	for _, c := range plain {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			alternatives = append(alternatives, "")
			continue
		}
		alternatives[len(alternatives)-1] += string(c)
	}
	for i, a := range alternatives {
		alternatives[i] = "`" + strings.ReplaceAll(strings.TrimSpace(a), "|", `\|`) + "`"
	}
	return strings.Join(alternatives, ", ")
}
