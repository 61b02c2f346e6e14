//go:build mage

// The targets of hexab: one sentence and a few lines each. The work is done in
// internal/harness.
package main

import (
	"context"
	"fmt"

	"github.com/magefile/mage/mg"

	"hexab/internal/backendops"
	"hexab/internal/bench"
	"hexab/internal/harness"
)

// done gives mage the exit status of an error: 1 for a run with holes or a
// failure, 2 for wrong usage, 3 for a gate that failed.
func done(err error) error {
	if err == nil {
		return nil
	}
	return mg.Fatal(harness.ExitStatus(err), err)
}

// stoppable runs what stops cleanly at the first Ctrl-C.
func stoppable(ctx context.Context, run func(context.Context) error) error {
	ctx, stop := harness.Interruptible(ctx)
	defer stop()
	return done(run(ctx))
}

// text is a flag's value, or empty.
func text(flag *string) string {
	if flag == nil {
		return ""
	}
	return *flag
}

// yes is a flag's value, or false.
func yes(flag *bool) bool { return flag != nil && *flag }

func once(model, arm, device *string) harness.ProgramOptions {
	return harness.ProgramOptions{Model: text(model), Arm: text(arm), Device: text(device)}
}

func abtest(ctx context.Context, o harness.Options) error {
	return stoppable(ctx, func(ctx context.Context) error { return harness.ABTest(ctx, o) })
}

func ops(ctx context.Context, o harness.OpsOptions) error {
	return stoppable(ctx, func(ctx context.Context) error { return harness.Ops(ctx, o) })
}

// AbtestAll compares the default arms on all eight models in ROUNDS rounds.
func AbtestAll(ctx context.Context, rounds int) error {
	if rounds < 1 {
		return mg.Fatal(2, fmt.Errorf("rounds: %d is not a number of rounds", rounds))
	}
	return abtest(ctx, harness.Options{Models: "all", Rounds: rounds})
}

// Abtest compares arms on models (-arms=cpu,cpu:threads=1 -models=llama3 -rounds=6; all flags: go tool mage -h abtest).
//
// WHAT: -arms=LIST such as dspqueue,fastrpc:ubatch=512,env.NAME=VALUE (the same one twice is an A/A test; settings: go tool
// mage settings); -baseline=ARM (the first); -sweep=SETTING=VALUES makes an arm of each value; -models=LIST or all (the
// default model); -tests=LIST (pp512,tg128; embedded phone pp64,tg16); -base= -head= -repo= are the commits of arms named
// base:... and head:... .
//
// HOW SURE: -rounds=N blocks of each model (3; from 6 on a verdict assumes nothing); -until=PERCENT goes on until the
// intervals are so narrow, -maxRounds=N at most; -threshold=PERCENT counts as no difference (1); -gate=CONDITIONS such as
// tg:-2% end with status 3 when missed; -seed=N (printed).
//
// WHERE: -device=auto, sim, sim:PROFILE, ssh:USER@HOST or a serial (auto: the one phone there is, else sim); -root=FOLDER on
// it, or run-as:APP for a debuggable app's own; -standIns uses small models there too; -cool=wait, mark or off; -ceiling=CELSIUS; -busy=wait or refuse; -fixed=auto
// or off.
//
// THE RUN: -resume=RUN goes on with one; -out=FOLDER of archives (results); -progress=bar, plain, none or auto.
// Exit status: 0 complete, 1 holes or failed, 2 wrong usage, 3 a gate was missed. Ctrl-C once stops cleanly.
func Abtest(ctx context.Context, arms, sweep, models, tests, seed, device, threshold, out, resume, baseline, gate, base, head, repo, progress, cool, ceiling, busy, fixed, until, root *string, rounds, maxRounds *int, standIns *bool) error {
	o := harness.Options{
		Arms: text(arms), Sweep: text(sweep), Models: text(models), Tests: text(tests), Seed: text(seed), Device: text(device), Threshold: text(threshold),
		Out: text(out), Resume: text(resume), Baseline: text(baseline), Progress: text(progress),
		Gate: text(gate), Base: text(base), Head: text(head), Repo: text(repo),
		Cool: text(cool), Ceiling: text(ceiling), Busy: text(busy), Fixed: text(fixed), Until: text(until),
		Root: text(root), StandIns: yes(standIns),
	}
	if rounds != nil {
		o.Rounds = *rounds
	}
	if maxRounds != nil {
		o.MaxRounds = *maxRounds
	}
	return abtest(ctx, o)
}

// Build builds the FastRPC variant with its DSP libraries.
func Build(ctx context.Context, platform *string) error {
	return done(harness.Build(ctx, bench.FastRPC, text(platform)))
}

// CIRun compares the base and the head commit in one run (-base= -head= -repo= -arms= -models= -gate= -install; see docs/ci.md).
func CIRun(ctx context.Context, arms, models, tests, seed, device, threshold, out, gate, base, head, repo, artifacts *string, rounds *int, install *bool) error {
	o := harness.Options{
		Arms: text(arms), Models: text(models), Tests: text(tests), Seed: text(seed), Device: text(device), Threshold: text(threshold),
		Out: text(out), Gate: text(gate), Base: text(base), Head: text(head), Repo: text(repo), Install: yes(install),
	}
	if rounds != nil {
		o.Rounds = *rounds
	}
	return stoppable(ctx, func(ctx context.Context) error { return harness.CIRun(ctx, o, text(artifacts)) })
}

// CIReport tells a pull request what a run's artifacts say (-in=DIR -gate= -dryRun; see docs/ci.md).
func CIReport(ctx context.Context, in, event, repository, api, author, gate *string, dryRun *bool) error {
	return done(harness.CIReport(ctx, harness.CIReportOptions{
		In: text(in), Event: text(event), Repository: text(repository), API: text(api), Author: text(author), Gate: text(gate),
		DryRun: yes(dryRun),
	}))
}

// CIGate ends with status 3 when a run's artifacts fail a gate (-in=DIR -gate=tg:-2%).
func CIGate(in, gate *string) error { return done(harness.CIGate(text(in), text(gate))) }

// CINightly measures all models, keeps the history and measures suspects again (-device= -arms= -rounds= -branch= -install).
func CINightly(ctx context.Context, device, arms, models, branch *string, rounds *int, install *bool) error {
	n := harness.Nightly{Options: harness.Options{Device: text(device), Arms: text(arms), Models: text(models), Install: yes(install)}, Branch: text(branch)}
	if rounds != nil {
		n.Rounds = *rounds
	}
	return stoppable(ctx, func(ctx context.Context) error { return harness.CINightly(ctx, n) })
}

// History shows speeds from commit to commit (-add=latest -model= -test= -arm= -svg=FILE).
func History(ctx context.Context, file, add, commit, svg, model, test, arm, threshold *string) error {
	return done(harness.History(ctx, harness.HistoryOptions{
		File: text(file), Add: text(add), Commit: text(commit), SVG: text(svg), Model: text(model), Test: text(test), Arm: text(arm), Threshold: text(threshold),
	}))
}

// BuildCPU builds the CPU variant (-platform=linux-arm64; sim is this machine).
func BuildCPU(ctx context.Context, platform *string) error {
	return done(harness.Build(ctx, bench.CPU, text(platform)))
}

// BuildDspqueue builds the official Hexagon backend with its DSP libraries.
func BuildDspqueue(ctx context.Context, platform *string) error {
	return done(harness.Build(ctx, bench.DSPQueue, text(platform)))
}

// Costs counts what arms ask of the simulated NPU, by prompt and by token (-arms= -models= -prompt= -depth= -direct).
func Costs(ctx context.Context, arms, models *string, prompt, depth *int, direct *bool) error {
	o := harness.CostOptions{Arms: text(arms), Models: text(models), Direct: yes(direct)}
	if prompt != nil {
		o.Prompt = *prompt
	}
	if depth != nil {
		o.Depth = *depth
	}
	return done(harness.Costs(ctx, o))
}

// Fetch gets llama.cpp, the models and the SDKs, or verifies them (-only=models|sdks|llama.cpp -from=DIR -offline -acceptLicences).
func Fetch(ctx context.Context, only, from *string, offline, acceptLicences *bool) error {
	return done(harness.Fetch(ctx, harness.FetchOptions{
		Only: text(only), From: text(from), Offline: yes(offline), AcceptLicences: yes(acceptLicences),
	}))
}

// LlamaBench runs llama-bench once on the device (-model= -arm= -device=).
func LlamaBench(ctx context.Context, model, arm, device *string) error {
	return done(harness.LlamaBench(ctx, once(model, arm, device)))
}

// LlamaCLI completes a short prompt on the device (-model= -arm= -device=).
func LlamaCLI(ctx context.Context, model, arm, device *string) error {
	return done(harness.LlamaCLI(ctx, once(model, arm, device)))
}

// LlamaVersion shows the version of the programs on the device (-arm= -device=).
func LlamaVersion(ctx context.Context, arm, device *string) error {
	return done(harness.LlamaVersion(ctx, once(nil, arm, device)))
}

// TestOps tests every operation on the device against the CPU reference (-arm= -device= -check=).
func TestOps(ctx context.Context, arm, device, check *string) error {
	return ops(ctx, harness.OpsOptions{Mode: backendops.Test, Arm: text(arm), Device: text(device), Check: text(check)})
}

// TestOp tests the operation OP, such as MUL_MAT (-params=REGEX -arm= -device= -check=).
func TestOp(ctx context.Context, op string, params, arm, device, check *string) error {
	return ops(ctx, harness.OpsOptions{Mode: backendops.Test, Op: op, Params: text(params), Arm: text(arm), Device: text(device), Check: text(check)})
}

// PerfOp measures the operation OP on the device (-params=REGEX -arm= -device=).
func PerfOp(ctx context.Context, op string, params, arm, device *string) error {
	return ops(ctx, harness.OpsOptions{Mode: backendops.Perf, Op: op, Params: text(params), Arm: text(arm), Device: text(device)})
}

// UpdateCPULibs builds the CPU variant and sends the device what it lacks.
func UpdateCPULibs(ctx context.Context, device *string) error {
	return done(harness.Update(ctx, bench.CPU, text(device)))
}

// UpdateFastrpcLibs builds the FastRPC variant and sends the device what it lacks.
func UpdateFastrpcLibs(ctx context.Context, device *string) error {
	return done(harness.Update(ctx, bench.FastRPC, text(device)))
}

// UpdateGgmlLibs builds the FastRPC variant's programs and host library, without DSP libraries, and sends the device what it lacks.
func UpdateGgmlLibs(ctx context.Context, device *string) error {
	return done(harness.UpdateApplication(ctx, bench.FastRPC, text(device)))
}

// UpdateDspqueueLibs builds the dspqueue variant and sends the device what it lacks.
func UpdateDspqueueLibs(ctx context.Context, device *string) error {
	return done(harness.Update(ctx, bench.DSPQueue, text(device)))
}

// Clean removes builds and the embedded phone's files; models and results stay.
func Clean() error { return done(harness.Clean()) }

// Prune removes from the device what the newest builds and the models here do not use (-all -device= -root= as the run had it).
func Prune(ctx context.Context, device, root *string, all *bool) error {
	return done(harness.Prune(ctx, harness.PruneOptions{Device: text(device), Root: text(root), All: yes(all)}))
}

// Settings lists what an arm can set, with llama-bench's flags and the defaults (-variant=).
func Settings(variant *string) error { return done(harness.Settings(text(variant))) }

// Models lists the eight models with size, family, licence and state.
func Models() error { return done(harness.Models()) }

// Devices lists what a run can take place on.
func Devices(ctx context.Context) error { return done(harness.Devices(ctx)) }

// Phone starts the embedded phone (-profile=hot) and shows how to connect to it.
func Phone(ctx context.Context, profile *string) error {
	return done(harness.Phone(ctx, text(profile)))
}

// Report renders the archived run RUN again (-format=terminal|markdown|csv|json|html).
func Report(run string, format *string) error { return done(harness.Report(run, text(format))) }

// Compare sets the archived runs A and B side by side; B may be published figures (fastrpc-fork).
func Compare(a, b string) error { return done(harness.Compare(a, b)) }

// Calibrate simulates drifting devices and shows how often each procedure errs.
func Calibrate(ctx context.Context) error { return done(harness.Calibrate(ctx)) }

// Doctor tells what this machine has and lacks.
func Doctor(ctx context.Context) error { return done(harness.Doctor(ctx)) }

// Knobs lists the environment variables of the Hexagon backend, checked against the llama.cpp tree in use (-path= of another).
func Knobs(ctx context.Context, path *string) error { return done(harness.Knobs(ctx, text(path))) }

// AlignMacros finds ragged multi-line macros (-mode=check, diff or fix; -path= of sources; -column=min, max or majority).
func AlignMacros(ctx context.Context, mode, path, column *string) error {
	return done(harness.AlignMacros(ctx, text(mode), text(path), text(column)))
}

// Lint holds the backend's sources against its developer guide (-path=, -baseline=FILE of known findings, -all shows those too).
func Lint(ctx context.Context, path, baseline *string, all *bool) error {
	return done(harness.Lint(ctx, text(path), text(baseline), yes(all)))
}

// Inspect examines a DSP library (-skel=PATH or v73 to v81; -function=REGEX -disasm=REGEX -against= -addr= -strict -workers= -all; see docs/toolbox.md).
func Inspect(ctx context.Context, skel, function, disasm, against, addr, workers *string, strict, all *bool) error {
	return done(harness.Inspect(ctx, harness.InspectOptions{
		Skel: text(skel), Func: text(function), Disasm: text(disasm), Against: text(against), Addr: text(addr), Workers: text(workers),
		Strict: yes(strict), All: yes(all),
	}))
}

// Tiles are the tiled weight formats of the Hexagon backend.
type Tiles mg.Namespace

// Show draws a format's layout (-svg=FILE draws it as a picture too).
func (Tiles) Show(format string, svg *string) error {
	return done(harness.TilesShow(format, text(svg)))
}

// Profile shows what operations took in profiled launches (-log=FILES -against=FILES -trace=FILE for Perfetto -simulated).
func Profile(log, against, trace *string, simulated *bool) error {
	return done(harness.Profile(harness.ProfileOptions{Log: text(log), Against: text(against), Trace: text(trace), Simulated: yes(simulated)}))
}

// Check runs vet, staticcheck, the format check and the unit tests.
func Check(ctx context.Context) error { return done(harness.Check(ctx)) }

// Test runs all tests, the heavy ones with real builds and real launches too (-install gets what the machine lacks without asking).
func Test(ctx context.Context, install *bool) error {
	return done(harness.Test(ctx, false, yes(install)))
}

// TestLong runs all tests and those that take many minutes each: all NPU architectures, more DMA orders.
func TestLong(ctx context.Context) error { return done(harness.Test(ctx, true, false)) }

// TestFaults runs the tests of runs that survive and writes results/faults (HEXAB_TRIES=5 HEXAB_SOAK=2000 HEXAB_SOAK_SEED=2 HEXAB_KILLS=50 in the environment: as much as that).
func TestFaults(ctx context.Context) error { return done(harness.TestFaults(ctx)) }
