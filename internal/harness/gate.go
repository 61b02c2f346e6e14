package harness

import (
	"errors"
	"fmt"

	"hexab/internal/compare"
	"hexab/internal/gate"
	"hexab/internal/stat"
	"hexab/internal/store"
)

// GateError is a gate that failed: exit status 3.
type GateError struct {
	Gate   gate.Gate
	Result gate.Result
}

func (e *GateError) Error() string {
	failed := 0
	for _, f := range e.Result.Findings {
		if f.State == gate.Fail {
			failed++
		}
	}
	return fmt.Sprintf("the gate %s failed in %d of %d comparisons (see above)", e.Gate, failed, len(e.Result.Findings))
}

// understandGate reads the gate, which takes enough blocks to be sure.
func (r *request) understandGate(o Options) (err error) {
	if r.gate, err = gate.Parse(o.Gate); err != nil {
		return &UsageError{err}
	}
	if r.gate == nil {
		return nil
	}
	if o.Rounds == 0 {
		r.rounds = stat.MinBlocks
	}
	if r.rounds < stat.MinBlocks {
		return usage("gate: %d rounds can not fail a gate: fewer than %d blocks are never sure; use -rounds=%d or more", r.rounds, stat.MinBlocks, stat.MinBlocks)
	}
	return nil
}

// gateFlag is the argument that states the gate again.
func gateFlag(g gate.Gate) string {
	if g == nil {
		return ""
	}
	return " -gate=" + g.String()
}

// passGate applies the gate to a finished run and shows what it found. A run
// with holes stays one, unless the gate has more to say.
func (w *Workspace) passGate(g gate.Gate, a *store.Archive, presented error) error {
	var holes *HolesError
	if g == nil || presented != nil && !errors.As(presented, &holes) {
		return presented
	}
	run, records, err := sofar(a)
	if err != nil {
		return err
	}
	parts, err := compare.Parts(run, records, statOptions(run))
	if err != nil {
		return err
	}
	result, err := w.showGate(g, parts)
	if err != nil {
		return err
	}
	if result.State == gate.Fail {
		return &GateError{g, result}
	}
	return presented
}

func (w *Workspace) showGate(g gate.Gate, parts []compare.Part) (gate.Result, error) {
	result, err := g.Evaluate(parts)
	if err != nil {
		return result, &UsageError{err}
	}
	fmt.Fprintf(w.Out, "\nGate %s: %s\n", g, result.State)
	for _, f := range result.Findings {
		cell := parts[f.Part].Comparisons.Cells[f.Cell]
		fmt.Fprintf(w.Out, "- %-7s %s: %s %s %s to %s: %s\n", f.State, f.Condition, cell.Model, cell.Test, cell.Arm, cell.Baseline, f.Reason)
	}
	return result, nil
}

// archivedParts compares a run as far as it went, each head with its own base.
func archivedParts(a *store.Archive) ([]compare.Part, error) {
	run, records, err := sofar(a)
	if err != nil {
		return nil, err
	}
	return compare.Parts(run, records, statOptions(run))
}
