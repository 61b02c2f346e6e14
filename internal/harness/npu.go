package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"hexab/internal/arm"
	"hexab/internal/bench"
	"hexab/internal/counters"
	"hexab/internal/device"
	"hexab/internal/diagnose"
	"hexab/internal/llamabench"
	"hexab/internal/opprofile"
)

// onNPU gives the llama.cpp device that an arm computes on; ok is false for the
// CPU.
func onNPU(a bench.Arm) (name string, ok bool) {
	name = a.Settings["device"]
	return name, name != "" && name != "none"
}

// counted tells whether the launch leaves cost counters: on the simulated NPU
// only.
func (s *session) counted(a bench.Arm) bool {
	_, npu := onNPU(a)
	return npu && s.target.embedded
}

// countersFile is where the simulated NPU leaves its counters on the device.
func (s *session) countersFile() string { return s.target.Root() + "/counters.json" }

// showCounters is the shell text after a program that appends its counters to
// its log.
func (s *session) showCounters(a bench.Arm) string {
	if !s.counted(a) {
		return ""
	}
	file := device.Quote(s.countersFile())
	return fmt.Sprintf("cat %s >&2; rm -f %s; ", file, file)
}

// concludeNPU adds what the launch cost the NPU, and fails one of which the log
// does not show that the NPU took part: its figures would be the CPU's.
func (s *session) concludeNPU(record *bench.Record, a bench.Arm, log string) {
	name, npu := onNPU(a)
	if !npu {
		return
	}
	if s.counted(a) {
		if set, found, err := counters.Find(log); found && err == nil {
			record.Counters = set
		}
	}
	if record.Outcome != bench.OutcomeOK {
		return
	}
	for key := range record.Proof {
		if strings.HasPrefix(key, npuFamily(name)) {
			return
		}
	}
	record.Outcome, record.Fault = bench.OutcomeSessionError, bench.FaultVariant
	record.Reason = fmt.Sprintf("the log shows no buffer on %s: the NPU did no work, the figures would be the CPU's", name)
}

// npuFamily is what all devices of an NPU's name begin with: HTP for HTP0,
// HTP0:1 or HTP0[0-1].
func npuFamily(name string) string {
	return strings.TrimRight(strings.SplitN(name, "/", 2)[0], "0123456789:[]-")
}

// place finds out where each model's operations are computed in the arms that
// use an NPU, by short launches of each that are not timed. What was found out
// before with the same files and settings is taken from the cache.
func (s *session) place(ctx context.Context, files []workload) error {
	for _, f := range files {
		for _, a := range s.run.Arms {
			if _, npu := onNPU(a); !npu {
				continue
			}
			placement, err := s.placement(ctx, a, f)
			var fault *PreflightError
			if errors.As(err, &fault) { // its launches will fail and say so in the table
				s.w.Note("%s with %s: %v", a.Label, f.Alias, err)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s with %s: %w", a.Label, f.Alias, err)
			}
			s.run.Placements = append(s.run.Placements, placement)
		}
	}
	return nil
}

// placementsFolder holds what is known of placements, in the cache.
const placementsFolder = "placements"

// placement is what place finds out for one model and arm, by a launch for a
// prompt and one for a token.
func (s *session) placement(ctx context.Context, a bench.Arm, f workload) (bench.Placement, error) {
	d := s.target.describe()
	cached := filepath.Join(s.w.Cache, placementsFolder, fmt.Sprintf("%.16s-%.16s-%.16s-%s.json", a.Bundle, f.SHA256, a.Fingerprint, d.Platform))
	found := bench.Placement{Model: f.Alias, Arm: a.Label}
	var known bench.Placement
	if text, err := os.ReadFile(cached); err == nil && json.Unmarshal(text, &known) == nil && len(known.PerToken) > 0 {
		found.Nodes, found.PerPrompt, found.PerToken = known.Nodes, known.PerPrompt, known.PerToken
		return found, nil
	}
	s.w.Note("what %s computes of %s: two untimed launches", a.Label, f.Alias)
	log, perPrompt, err := s.executed(ctx, a, f.Alias, bench.Test{Prompt: 16}, 1, llamabench.SchedulerLog+" ", launchTimeoutPhone)
	if err != nil {
		return found, err
	}
	more, perToken, err := s.executed(ctx, a, f.Alias, bench.Test{Gen: 1}, 1, llamabench.SchedulerLog+" ", launchTimeoutPhone)
	if err != nil {
		return found, err
	}
	name, _ := onNPU(a)
	placement := llamabench.ReadPlacement(log + "\n" + more)
	if placement.Share(npuFamily(name)) == 0 {
		return found, &PreflightError{Outcome: bench.OutcomeSessionError, Fault: bench.FaultVariant,
			Reason: fmt.Sprintf("no operation is computed on %s; the scheduler placed: %s", name, strings.Join(placement.Elsewhere(npuFamily(name)), ", "))}
	}
	found.Nodes, found.PerPrompt, found.PerToken = placement, perPrompt, perToken
	text, err := json.Marshal(found)
	if err != nil {
		return found, err
	}
	if err := os.MkdirAll(filepath.Dir(cached), 0o755); err != nil {
		return found, err
	}
	return found, renameio.WriteFile(cached, text, 0o644)
}

// executed runs llama-bench once as untimed does, with the backend's profile
// on, and counts the operations that the NPU executed.
func (s *session) executed(ctx context.Context, a bench.Arm, model string, test bench.Test, repetitions int, environment string, limit time.Duration) (log string, ops map[string]uint64, err error) {
	log, err = s.untimed(ctx, a, model, []bench.Test{test}, repetitions, environment+"GGML_HEXAGON_PROFILE=1 ", limit)
	if err != nil {
		return "", nil, err
	}
	profile, err := opprofile.Parse(strings.NewReader(log))
	if err == nil {
		ops, err = profile.Executed()
	}
	if err != nil {
		return "", nil, fmt.Errorf("operations that %s executed: %w", a.Label, err)
	}
	return log, ops, nil
}

// untimed runs llama-bench once without warm-up, for what it logs: with the
// NPU's counters at the end where there are some. environment is put before the
// program. A failure of the program is a *PreflightError.
func (s *session) untimed(ctx context.Context, a bench.Arm, model string, tests []bench.Test, repetitions int, environment string, limit time.Duration) (string, error) {
	args, err := llamabench.Arguments(s.models[model], tests, repetitions, arm.Arguments(a))
	if err != nil {
		return "", err
	}
	timed, cancel := context.WithTimeoutCause(ctx, limit, errLaunchTimeout)
	defer cancel()
	script := s.script(a, environment+"./llama-bench", append(args, "--no-warmup")) + "; s=$?; " + s.showCounters(a) + "exit $s"
	log := &cappedBuffer{limit: maxKept}
	exit, err := s.target.Run(timed, device.Command{Script: script, Stderr: log})
	if err != nil {
		return "", err
	}
	if exit.Status != 0 {
		finding := diagnose.Launch(exit.Status, log.String(), nil)
		return "", &PreflightError{Outcome: finding.Outcome, Fault: finding.Fault, Reason: finding.Reason, Evidence: finding.Evidence}
	}
	return log.String(), nil
}

// PreflightError is a fault found before anything was timed.
type PreflightError struct {
	Outcome  bench.Outcome
	Fault    bench.Fault
	Reason   string
	Evidence []string
}

func (e *PreflightError) Error() string {
	text := fmt.Sprintf("%s (%s): %s", e.Outcome, e.Fault, e.Reason)
	for _, line := range e.Evidence {
		text += "\n  " + line
	}
	return text
}
