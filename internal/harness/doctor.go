package harness

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/host"
	"hexab/internal/models"
	"hexab/internal/source"
)

// finding is one line of the doctor's report.
type finding struct{ state, name, text string }

// The states of a finding.
const (
	stateOK       = "ok"
	stateMissing  = "missing"
	stateFetch    = "to fetch" // by itself, on first use
	stateOptional = "optional"
)

// Doctor tells, platform by platform, what this machine has and lacks and what
// would be downloaded. It changes nothing.
func Doctor(ctx context.Context) error {
	w, err := Open()
	if err != nil {
		return err
	}
	return w.doctor(ctx, w.machine())
}

func (w *Workspace) doctor(ctx context.Context, machine host.Machine) error {
	report, err := machine.Check(ctx, w.Cache, w.allNeeds()...)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Out, "%s, %s, %d cores, %s memory available, %s free for the cache (%s)\n",
		cmp.Or(report.Distribution, "an unknown system"), report.Arch, report.Cores, amount(report.MemoryBytes), amount(report.FreeBytes), w.Cache)
	tools := map[string]host.Found{}
	for _, f := range report.Found {
		tools[f.Need.Tool] = f
	}
	common := make([]finding, 0, len(w.needs())+2)
	for _, n := range w.needs() {
		common = append(common, toolFinding(tools[n.Tool], false))
	}
	common = append(common, toolFinding(tools[host.CCache.Tool], true), w.sourceFinding(tools[host.NPM.Tool]))
	w.section("every platform", common)
	w.section("sim: the embedded phone, with a simulated NPU", []finding{toolFinding(tools[host.Clang19.Tool], false)})
	w.section("linux-arm64: Linux boards, over adb or SSH", []finding{
		toolFinding(tools[host.CrossArm64.Tool], false), toolFinding(tools[host.SSH.Tool], false),
		toolFinding(tools[host.QEMU.Tool], true), toolFinding(tools[host.Clang19.Tool], true), w.kitFinding(kindHexagon),
	})
	w.section("android-arm64: phones", []finding{w.kitFinding(kindNDK), w.kitFinding(kindHexagon)})
	w.section("models", w.modelFindings())
	w.next(report)
	return nil
}

// amount is a size, or the word for one that is not known.
func amount(bytes int64) string {
	if bytes < 0 {
		return "unknown"
	}
	return bench.Bytes(bytes).String()
}

// next says how to get the programs that are missing. npm is left out: it may
// never be needed, and is then installed by itself.
func (w *Workspace) next(report host.Report) {
	missing := slices.DeleteFunc(report.Missing(), func(f host.Found) bool { return f.Need.Tool == host.NPM.Tool })
	switch commands := report.Commands(missing); {
	case len(missing) == 0:
	case len(commands) == 0:
		fmt.Fprintf(w.Out, "\nno package manager that is known was found: install by hand what is missing\n")
	default:
		fmt.Fprintf(w.Out, "\nto install what is missing and optional:\n  %s\n", strings.Join(commands, " && "))
	}
}

func (w *Workspace) section(title string, findings []finding) {
	fmt.Fprintf(w.Out, "\n%s\n", title)
	for _, f := range findings {
		fmt.Fprintln(w.Out, strings.TrimRight(fmt.Sprintf("  %-9s %-28s %s", f.state, f.name, f.text), " "))
	}
}

func toolFinding(f host.Found, optional bool) finding {
	switch {
	case f.OK:
		return finding{stateOK, f.Need.Tool, f.Version}
	case optional:
		return finding{stateOptional, f.Need.Tool, fmt.Sprintf("%s (%s)", f.Problem, f.Need.Why)}
	}
	return finding{stateMissing, f.Need.Tool, fmt.Sprintf("%s (%s)", f.Problem, f.Need.Why)}
}

// sourceFinding tells of the llama.cpp sources; npm is needed where GitHub is
// out of reach.
func (w *Workspace) sourceFinding(npm host.Found) finding {
	name := "llama.cpp " + w.Manifest.LlamaCpp.Tag
	switch {
	case w.Llama != "":
		return finding{stateOK, "llama.cpp", "your own, " + w.Llama}
	case source.Cached(w.pin(), w.Cache):
		return finding{stateOK, name, ""}
	case npm.OK:
		return finding{stateFetch, name, "from GitHub, or by npm where that is out of reach"}
	}
	return finding{stateFetch, name, "from GitHub; where that is out of reach npm is needed, which is not installed"}
}

// kitFinding tells which SDK of a kind would be used, and what it would take to
// get it.
func (w *Workspace) kitFinding(kind string) finding {
	name := map[string]string{kindNDK: "Android NDK", kindHexagon: "Hexagon SDK"}[kind]
	if kind == kindHexagon {
		name += " (NPU variants)"
	}
	k, ok, err := w.findKit(kind)
	switch {
	case err != nil:
		return finding{stateMissing, name, err.Error()}
	case ok && k.Own:
		return finding{stateOK, name, k.Name + ", your own: " + k.Root}
	case ok:
		return finding{stateOK, name, k.Root}
	}
	s := w.defaultSDK(kind)
	if s == nil {
		return finding{stateMissing, name, "models.yaml names none"}
	}
	return finding{stateFetch, name, w.sdkPlan(s)}
}

// sdkPlan says what fetching an SDK takes.
func (w *Workspace) sdkPlan(s *models.SDK) string {
	from := s.URL
	if u, err := url.Parse(s.URL); err == nil {
		from = u.Host
	}
	text := fmt.Sprintf("%s from %s, about %s unpacked", bench.Bytes(s.Bytes), from, bench.Bytes(unpackedSize(s)))
	if accepted, err := w.acceptedLicences(); s.NeedsAcceptance && (err != nil || !accepted[w.sdkItem(s).licence.key()]) {
		text += "; its licence has to be accepted"
	}
	if runtime.GOARCH != "amd64" {
		text += "; its programs run on amd64 machines only"
	}
	return text
}

// modelFindings sums the models up.
func (w *Workspace) modelFindings() []finding {
	here, missing, open := 0, bench.Bytes(0), 0
	accepted, err := w.acceptedLicences()
	for i := range w.Manifest.Models {
		it := w.modelItem(&w.Manifest.Models[i])
		if exists(it.request.Dest) {
			here++
			continue
		}
		missing += bench.Bytes(max(it.request.Size, it.request.Estimate))
		if it.licence.Needed && (err != nil || !accepted[it.licence.key()]) {
			open++
		}
	}
	all := len(w.Manifest.Models)
	findings := []finding{{stateOK, "stand-ins", "made on first use, for the embedded phone"}}
	if here > 0 {
		findings = append(findings, finding{stateOK, fmt.Sprintf("%d of %d models", here, all), ""})
	}
	if here < all {
		text := fmt.Sprintf("%s from huggingface.co", missing)
		if open > 0 {
			text += fmt.Sprintf("; %d licences have to be accepted", open)
		}
		findings = append(findings, finding{stateFetch, fmt.Sprintf("%d of %d models", all-here, all), text})
	}
	return findings
}
