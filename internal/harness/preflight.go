package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"hexab/internal/arm"
	"hexab/internal/backendops"
	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/device"
	"hexab/internal/diagnose"
	"hexab/internal/llamabench"
)

// preflightVersion changes when a check does, so that what was kept is asked
// anew.
const preflightVersion = 1

// sampleTimeout bounds the correctness gate of one arm: it takes seconds on a
// phone, minutes on the simulated NPU of a busy machine.
const sampleTimeout = 20 * time.Minute

// Look is one thing that was looked at before anything is timed.
type Look struct {
	Arm  string `json:"arm"`
	Name string `json:"check"`
	OK   bool   `json:"ok"`
	// Kept is when an earlier run found the same, for a check whose answer
	// can not have changed since; zero for one made now.
	Kept time.Time `json:"kept,omitzero"`
	// Detail is what was seen; Outcome, Fault, Evidence and Next are set for a
	// check that failed.
	Detail   string        `json:"detail"`
	Outcome  bench.Outcome `json:"outcome,omitempty"`
	Fault    bench.Fault   `json:"fault,omitempty"`
	Evidence []string      `json:"evidence,omitempty"`
	Next     string        `json:"next,omitempty"`
}

// String is the check in one line, with its evidence below.
func (c Look) String() string {
	text := fmt.Sprintf("%s: %s: %s", c.Arm, c.Name, c.Detail)
	if c.Outcome != "" {
		text += fmt.Sprintf(" (%s)", c.Outcome)
	}
	if c.Next != "" {
		text += "; " + c.Next
	}
	for _, line := range c.Evidence {
		text += "\n    | " + line
	}
	return text
}

// UnfitError is a device or arms that are not fit to be measured at all.
type UnfitError struct{ Failed []Look }

func (e *UnfitError) Error() string {
	text := "preflight: nothing was measured"
	for _, c := range e.Failed {
		text += "\n  " + c.String()
	}
	return text
}

// preflightFile is the archive's record of the checks.
const preflightFile = "preflight.json"

// preflight looks at every arm before anything is timed, and records what it
// saw in the archive. What can not have changed since an earlier run on the
// same device is taken from there. The launches of an arm that is not fit are
// recorded as failed for that reason, and are not started; the error means
// that no arm is.
func (s *session) preflight(ctx context.Context, files []workload) error {
	var looks, failed []Look
	found := map[string][]Look{} // by what the checks depend on
	s.unfit = map[string]Look{}
	for _, a := range s.run.Arms {
		key := s.preflightKey(a)
		if _, done := found[key]; !done {
			list, err := s.lookAt(ctx, a, key)
			if err != nil {
				return err
			}
			found[key] = list
			looks = append(looks, list...)
		}
		if last := found[key][len(found[key])-1]; !last.OK {
			last.Arm = a.Label
			s.unfit[a.Label] = last
			failed = append(failed, last)
			s.w.Note("not fit to be measured: %s", last)
		}
	}
	memory, err := s.room(ctx, files)
	if err != nil {
		return err
	}
	looks = append(looks, memory)
	text, err := json.MarshalIndent(looks, "", "  ")
	if err != nil {
		return err
	}
	if err := s.archive.WriteReport(preflightFile, append(text, '\n')); err != nil {
		return err
	}
	if !memory.OK {
		return &UnfitError{append(failed, memory)}
	}
	if len(failed) == len(s.run.Arms) {
		return &UnfitError{failed}
	}
	return nil
}

// unfitRecord is the record of a launch that was not started, since its arm did
// not pass the preflight; ok is false for an arm that did.
func (s *session) unfitRecord(l bench.Launch) (record bench.Record, ok bool) {
	c, unfit := s.unfit[l.Arm]
	if !unfit {
		return record, false
	}
	return bench.Record{
		Launch: l, Attempt: s.archive.Attempts(l.Seq) + 1, Started: s.clock.now().UTC(), Outcome: c.Outcome, Fault: c.Fault,
		Reason: strings.TrimSuffix(fmt.Sprintf("not started, for the preflight's %s: %s; %s", c.Name, c.Detail, c.Next), "; "), Evidence: c.Evidence,
	}, true
}

// preflightKey names all that the kept checks of an arm depend on: bundle,
// settings of the program's environment, families, and the device as it is
// since its last boot. An embedded phone is as its profile says.
func (s *session) preflightKey(a bench.Arm) string {
	d := s.run.Device
	boot := s.target.info.BootID
	if s.target.embedded {
		boot = ""
	}
	text, _ := json.Marshal([]any{preflightVersion, a.Bundle, backendOf(a), arm.Env(a), s.families(), d.Kind, d.Serial, d.Platform, d.Properties["fingerprint"], boot}) // plain values
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (s *session) families() []string {
	var list []string
	for _, m := range s.run.Models {
		list = append(list, m.Family)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// lookAt makes the checks of one arm, or takes them from an earlier run. Only
// good news is kept.
func (s *session) lookAt(ctx context.Context, a bench.Arm, key string) ([]Look, error) {
	kept := filepath.Join(s.w.Cache, "preflight", key+".json")
	if checks, when, ok := readChecks(kept); ok {
		for i := range checks {
			checks[i].Arm, checks[i].Kept = a.Label, when
		}
		s.w.Note("preflight of %s: as on %s", a.Label, when.Format(time.DateTime))
		return checks, nil
	}
	s.w.Note("preflight of %s", a.Label)
	var checks []Look
	for _, look := range []func(context.Context, bench.Arm) (Look, error){s.libraries, s.devices, s.computes} {
		c, err := look(ctx, a)
		if err != nil {
			return nil, err
		}
		if c.Name == "" {
			continue
		}
		c.Arm = a.Label
		checks = append(checks, c)
		if !c.OK {
			return checks, nil
		}
	}
	return checks, writeChecks(kept, checks)
}

// maxKeptChecks bounds what is read back of kept checks.
const maxKeptChecks = 1 << 20

func readChecks(name string) (checks []Look, when time.Time, ok bool) {
	info, err := os.Stat(name)
	if err != nil || info.Size() > maxKeptChecks {
		return nil, when, false
	}
	text, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(text, &checks) != nil || len(checks) == 0 {
		return nil, when, false
	}
	for _, c := range checks {
		if !c.OK {
			return nil, when, false
		}
	}
	return checks, info.ModTime().UTC().Truncate(time.Second), true
}

func writeChecks(name string, checks []Look) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	text, err := json.Marshal(checks)
	if err != nil {
		return err
	}
	return renameio.WriteFile(name, text, 0o644)
}

// libraryFolders are where a system keeps what programs are linked with.
var libraryFolders = map[bench.Platform][]string{
	bench.Sim:          {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/lib/*-linux-gnu", "/usr/lib/*-linux-gnu"},
	bench.LinuxArm64:   {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/usr/aarch64-linux-gnu/lib"},
	bench.AndroidArm64: {"/system/lib64", "/system/lib64/bootstrap", "/apex/com.android.runtime/lib64/bionic", "/system_ext/lib64", "/vendor/lib64", "/odm/lib64"},
}

// libraries checks that the device has what the bundle's files need and do not
// bring along.
func (s *session) libraries(ctx context.Context, a bench.Arm) (Look, error) {
	c := Look{Name: "libraries"}
	at := slices.IndexFunc(s.built, func(b build.Bundle) bool { return b.ID == a.Bundle })
	if at < 0 {
		return c, fmt.Errorf("bundle %s of %s is not deployed", a.Bundle.Short(), a.Label)
	}
	needed, err := s.built[at].SystemLibraries()
	if err != nil {
		return c, err
	}
	var script strings.Builder
	fmt.Fprintf(&script, "for l in %s; do f=; for d in %s; do [ -e $d/$l ] && f=1; done; [ \"$f\" ] || echo \"missing $l\"; done; echo looked", quoted(needed), strings.Join(libraryFolders[s.built[at].Platform], " "))
	text, _, _, err := s.ask(ctx, script.String())
	if err != nil {
		return c, err
	}
	looked := false
	for _, line := range strings.Split(text, "\n") {
		if name, ok := strings.CutPrefix(line, "missing "); ok {
			c.Evidence = append(c.Evidence, name)
		}
		looked = looked || line == "looked"
	}
	switch {
	case !looked:
		c.Detail, c.Outcome, c.Fault = "the device's shell did not answer", bench.OutcomeNotRun, bench.FaultDevice
	case c.Evidence != nil:
		c.Detail, c.Outcome, c.Fault = "the device lacks "+strings.Join(c.Evidence, ", "), bench.OutcomeLinkError, bench.FaultDevice
		c.Next, c.Evidence = "this system is older or another one than the bundle is built for", nil
	default:
		c.OK, c.Detail = true, fmt.Sprintf("%d of the system are there", len(needed))
	}
	return c, nil
}

func quoted(words []string) string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = device.Quote(path.Base(word))
	}
	return strings.Join(list, " ")
}

// devices checks that the programs start and list the arm's device, which for
// an NPU opens a session. llama-completion does the same as llama-bench there,
// and is no launch of it.
func (s *session) devices(ctx context.Context, a bench.Arm) (Look, error) {
	c := Look{Name: "device list"}
	out, log, status, err := s.ask(ctx, s.script(a, "./llama-completion", llamabench.ListDevices))
	if err != nil {
		return c, err
	}
	names, listed := llamabench.ParseDevices(out)
	want := backendOf(a)
	switch {
	case status == 0 && listed && (want == "CPU" || slices.Contains(names, want)):
		c.OK, c.Detail = true, want+" is there"
		if len(names) > 0 {
			c.Detail += "; listed: " + strings.Join(names, ", ")
		}
		return c, nil
	case status == 0 && listed:
		c.Detail, c.Outcome, c.Fault = fmt.Sprintf("the programs list no %s (listed: %s)", want, strings.Join(names, ", ")), bench.OutcomeSessionError, bench.FaultDevice
		c.Next = "see what the backend says below; ADSP_LIBRARY_PATH and the DSP's own log tell more"
		c.Evidence = diagnose.Launch(1, log, nil).Evidence
	default:
		finding := diagnose.Launch(max(status, 1), log+"\n"+out, nil)
		c.Detail, c.Outcome, c.Fault, c.Evidence = finding.Reason, finding.Outcome, finding.Fault, finding.Evidence
	}
	return c, nil
}

// computes is the correctness gate: a few cases of the operations of the
// models' families against the CPU's reference. An arm of the CPU alone has
// none.
func (s *session) computes(ctx context.Context, a bench.Arm) (Look, error) {
	if backendOf(a) == "CPU" {
		return Look{}, nil
	}
	c := Look{Name: "correctness"}
	log := &cappedBuffer{limit: maxKept}
	r, err := s.operations(ctx, a, OpsOptions{Mode: backendops.Test, Op: backendops.Filter(backendops.Sample(s.families()))}, sampleTimeout, log)
	total := r.Total()
	switch broken := err.(type) {
	case nil:
	case *OpsError:
		c.Detail, c.Outcome, c.Fault, c.Evidence = broken.Reason, broken.Outcome, broken.Fault, broken.Evidence
		if broken.Err != nil {
			c.Detail += ": " + broken.Err.Error()
		}
		return c, nil
	default:
		return c, err
	}
	if total.Failed > 0 {
		c.Detail = fmt.Sprintf("%d of %d operations compute wrongly", total.Failed, total.Failed+total.Passed)
		c.Outcome, c.Fault, c.Next = bench.OutcomeCrashed, bench.FaultVariant, "a wrong backend is not timed; see testOp for one operation alone"
		for _, failure := range r.Failures() {
			c.Evidence = append(c.Evidence, failure.String()+" "+failure.Detail)
		}
		return c, nil
	}
	if total.Passed == 0 {
		c.Detail = fmt.Sprintf("%s takes none of the %d operations tried", backendOf(a), total.Unsupported)
		c.Outcome, c.Fault, c.Next = bench.OutcomeSessionError, bench.FaultVariant, "the figures would be those of the CPU"
		return c, nil
	}
	c.OK, c.Detail = true, fmt.Sprintf("%d cases agree with the CPU, %d are left to it", total.Passed, total.Unsupported)
	return c, nil
}

// room checks that the largest model fits into the memory that the device has
// available now.
func (s *session) room(ctx context.Context, files []workload) (Look, error) {
	c := Look{Arm: "all arms", Name: "memory", OK: true}
	reading, err := device.ReadSensors(ctx, s.target)
	if err != nil {
		return c, err
	}
	var largest bench.Model
	for _, f := range files {
		if f.Size > largest.Size {
			largest = f.Model
		}
	}
	if reading.MemoryAvailable == nil {
		c.Detail = "the device does not tell how much is available"
		return c, nil
	}
	c.Detail = fmt.Sprintf("%s available, %s has %s", *reading.MemoryAvailable, largest.Alias, largest.Size)
	if *reading.MemoryAvailable < largest.Size {
		c.OK, c.Outcome, c.Fault = false, bench.OutcomeMemLimit, bench.FaultDevice
		c.Next = "close what runs on the device, or leave " + largest.Alias + " out"
	}
	return c, nil
}

// Bounds of a short script: what is kept of its output, and its time.
const (
	maxAsked   = 1 << 20
	askTimeout = 3 * time.Minute
)

var errAskTimeout = fmt.Errorf("the device did not answer within %s", askTimeout)

// ask runs a short script and gives what it printed.
func (s *session) ask(ctx context.Context, script string) (out, log string, status int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askTimeout, errAskTimeout)
	defer cancel()
	stdout, stderr := &cappedBuffer{limit: maxAsked}, &cappedBuffer{limit: maxAsked}
	exit, err := s.target.Run(ctx, device.Command{Script: script, Stdout: stdout, Stderr: stderr})
	return stdout.String(), stderr.String(), exit.Status, err
}
