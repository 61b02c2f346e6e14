// Package diagnose concludes from what a launch left behind how it ended, whose
// fault that is, and what to do: one table, from telling words to causes. What
// the table does not know stays "crashed" with its evidence, never a guess.
package diagnose

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/llamabench"
)

// Rule is one row of the table: words that a log holds, and what they mean.
type Rule struct {
	Words   *regexp.Regexp
	Outcome bench.Outcome
	Fault   bench.Fault
	// Cause and Advice are one line each.
	Cause, Advice string
}

// Rules are tried in order; the first that matches a line of the log decides.
// The DSP's codes are those of the backend's and the FastRPC library's logs.
var Rules = []Rule{
	{regexp.MustCompile(`0x80000406`), bench.OutcomeSessionError, bench.FaultVariant,
		"the DSP library is missing, of another variant, or can not be loaded (AEE_EUNABLETOLOAD)", "deploy the variant again and check ADSP_LIBRARY_PATH"},
	{regexp.MustCompile(`0x80000414`), bench.OutcomeSessionError, bench.FaultDevice,
		"the DSP session can not be opened", "another process may hold the DSP; reboot the phone if it stays"},
	{regexp.MustCompile(`0x80000600`), bench.OutcomeSessionError, bench.FaultDevice,
		"the FastRPC shell is missing on the device", "the vendor's image lacks fastrpc_shell; another firmware is needed"},
	{regexp.MustCompile(`the DSP library does not fit`), bench.OutcomeSessionError, bench.FaultVariant,
		"the host's library and the DSP's are of two variants or builds", "deploy the variant again"},
	{regexp.MustCompile(`failed to open session|failed to reserve new session`), bench.OutcomeSessionError, bench.FaultDevice,
		"the DSP driver refuses the session", "the driver may be too old for this backend"},
	{regexp.MustCompile(`ggml-hex: .*(failed to start session|dspqueue_create failed|dspqueue_export failed|failed to enable unsigned PD)`), bench.OutcomeSessionError, bench.FaultDevice,
		"the DSP session opens but can not be set up", "another process may hold the DSP; reboot the device if it stays"},
	{regexp.MustCompile(`ggml-hex: failed to load |ggml-hex: failed to dlsym|is not supported on this device|FastRPC capability query failed`), bench.OutcomeSessionError, bench.FaultDevice,
		"the device has no FastRPC driver that the backend can use", "it takes a Snapdragon's libcdsprpc.so; compare CPU variants, or update the device"},
	{regexp.MustCompile(`ggml-hex: .*\berror 0x00000068\b`), bench.OutcomeSessionError, bench.FaultVariant,
		"the DSP process died while it worked", "see the DSP's own log for its last words"},
	{regexp.MustCompile(`dspqueue_(read|write) failed`), bench.OutcomeSessionError, bench.FaultVariant,
		"the DSP process died while it worked", "see the DSP's own log for its last words"},
	{regexp.MustCompile(`buffer mapping failed|rpcmem_alloc.* failed|failed to allocate .*buffer|out of memory|Cannot allocate memory|std::bad_alloc`), bench.OutcomeMemLimit, bench.FaultDevice,
		"memory could not be had", "free memory on the device, or use a smaller model or context"},
	{regexp.MustCompile(`CANNOT LINK EXECUTABLE|error while loading shared libraries|cannot locate symbol|symbol lookup error|undefined symbol`), bench.OutcomeLinkError, bench.FaultVariant,
		"the dynamic linker could not load a library", "the bundle lacks a library or mixes two builds; build and deploy it again"},
	{regexp.MustCompile(`(?i)no space left on device`), bench.OutcomeNoSpace, bench.FaultDevice,
		"the device's storage is full", "free some space on the device"},
	{regexp.MustCompile(`invalid device:|failed to parse|error: invalid parameter`), bench.OutcomeCrashed, bench.FaultVariant,
		"the program does not take these arguments", "the device named may not be registered: see the log for the backends that were loaded"},
	{regexp.MustCompile(`failed to load model|error loading model|tensor .* data is not within the file bounds|invalid magic`), bench.OutcomeCrashed, bench.FaultDevice,
		"the model file can not be loaded", "it may be cut short or damaged; deploy it again"},
	// The backend goes on after this warning, so it comes late in the table.
	{regexp.MustCompile(`failed to get URI`), bench.OutcomeSessionError, bench.FaultDevice,
		"the DSP driver has no sessions of the kind that the backend asks for (error 0x14)", "the driver may be too old for this backend"},
	{regexp.MustCompile(`GGML_ASSERT|GGML_ABORT`), bench.OutcomeCrashed, bench.FaultVariant,
		"an assertion of ggml failed", "see the log"},
}

// Finding is what was concluded.
type Finding struct {
	Outcome  bench.Outcome
	Fault    bench.Fault
	Reason   string
	Evidence []string
}

// maxEvidence bounds the lines kept with a record; the log has them all.
const maxEvidence = 6

// Launch concludes from a launch that ran to its end: its exit status, all it
// logged, and what became of its results.
func Launch(status int, log string, parse error) Finding {
	if status == 0 {
		return fromParse(parse)
	}
	tail := lastLines(log)
	for _, rule := range Rules {
		for _, line := range strings.Split(log, "\n") {
			if rule.Words.MatchString(line) {
				return Finding{Outcome: rule.Outcome, Fault: rule.Fault, Reason: rule.Cause + "; " + rule.Advice, Evidence: append([]string{clip(line)}, tail...)}
			}
		}
	}
	finding := Finding{Outcome: bench.OutcomeCrashed, Fault: bench.FaultVariant, Evidence: tail}
	switch {
	case status == 128+9:
		finding.Outcome, finding.Fault = bench.OutcomeKilled, bench.FaultDevice
		finding.Reason = "something on the device ended the process (SIGKILL): often the low-memory killer; free memory on the device"
	case status > 128 && status < 128+65:
		finding.Reason = fmt.Sprintf("ended by signal %d (%s); see the log", status-128, signals[status-128])
	default:
		finding.Reason = fmt.Sprintf("ended with status %d; see the log", status)
	}
	return finding
}

// fromParse concludes from a program that ended with status zero.
func fromParse(parse error) Finding {
	var missing *llamabench.MissingError
	switch {
	case parse == nil:
		return Finding{Outcome: bench.OutcomeOK}
	case errors.As(parse, &missing):
		return Finding{Outcome: bench.OutcomeMissingTest, Fault: bench.FaultVariant, Reason: parse.Error()}
	}
	return Finding{Outcome: bench.OutcomeParseError, Fault: bench.FaultInfrastructure, Reason: parse.Error()}
}

// signals names those that a program usually dies of.
var signals = map[int]string{1: "SIGHUP", 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM", 31: "SIGSYS"}

func lastLines(log string) []string {
	var kept []string
	for _, line := range strings.Split(log, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			kept = append(kept, clip(line))
		}
	}
	return kept[max(0, len(kept)-maxEvidence):]
}

func clip(line string) string {
	line = strings.TrimSpace(line)
	if len(line) > 300 {
		return line[:300] + "..."
	}
	return line
}
