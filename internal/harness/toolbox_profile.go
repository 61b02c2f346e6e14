package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/google/renameio/v2"

	"hexab/internal/opprofile"
	"hexab/internal/stat"
)

// ProfileOptions say which logs to read and what to make of them.
type ProfileOptions struct {
	// Log is the log of a launch with GGML_HEXAGON_PROFILE set, or several of
	// one arm, separated by commas; - is standard input. Against are as many
	// of another arm, the baseline.
	Log, Against string
	// Trace is a file to write a trace for Perfetto to.
	Trace string
	// Simulated labels logs that do not say themselves that they are of the
	// embedded phone.
	Simulated bool
}

// simulatedLabel stands wherever simulated figures are shown.
const simulatedLabel = "simulated NPU: the times say nothing of a real one"

// Profile shows what the operations of profiled launches took.
func Profile(o ProfileOptions) error {
	w, err := Open()
	if err != nil {
		return err
	}
	if o.Log == "" {
		return usage("profile: name a log by -log=: that of a launch with GGML_HEXAGON_PROFILE=1, 2 or 3 and -v, such as mage llamaBench -arm=dspqueue:profile=3 2> launch.log")
	}
	logs, err := readProfiles(o.Log)
	if err != nil {
		return err
	}
	simulated := o.Simulated
	for _, l := range logs {
		simulated = simulated || l.Simulated
		for _, torn := range l.Torn {
			w.Note("%s", torn)
		}
	}
	if simulated {
		fmt.Fprintln(w.Out, simulatedLabel)
	}
	if o.Trace != "" {
		if err := writeTrace(o, logs[0], simulated); err != nil {
			return err
		}
		w.Note("%s: open it in Perfetto (ui.perfetto.dev)", o.Trace)
	}
	if o.Against != "" {
		return w.compareProfiles(o.Against, logs)
	}
	for i, l := range logs {
		if len(logs) > 1 {
			fmt.Fprintf(w.Out, "launch %d\n", i+1)
		}
		for _, byShape := range []bool{false, true} {
			if err := opprofile.WriteSums(w.Out, l.Sums(byShape)); err != nil {
				return err
			}
			fmt.Fprintln(w.Out)
		}
		w.overlap("", l)
	}
	return nil
}

// overlap tells how DMA and computation share the time, where there is a trace.
func (w *Workspace) overlap(name string, l *opprofile.Log) {
	o := l.Overlap()
	if o.DMA == 0 && o.Compute == 0 {
		return
	}
	fmt.Fprintf(w.Out, "%sDMA under way for %d cycles, computation for %d; both for %d: %.1f %% of the DMA's time is hidden behind computation", name, o.DMA, o.Compute, o.Both, 100*o.Fraction())
	if o.Lost > 0 {
		fmt.Fprintf(w.Out, " (%d events without a partner)", o.Lost)
	}
	fmt.Fprintln(w.Out)
}

func (w *Workspace) compareProfiles(list string, after []*opprofile.Log) error {
	before, err := readProfiles(list)
	if err != nil {
		return err
	}
	differences, err := opprofile.Compare(before, after, stat.DefaultOptions())
	if err != nil {
		return &UsageError{err}
	}
	if err := opprofile.WriteDifferences(w.Out, differences); err != nil {
		return err
	}
	fmt.Fprintf(w.Out, "\n%d operations by shape, %d launches of each arm\n", len(differences), len(after))
	w.overlap("before: ", before[0])
	w.overlap("after:  ", after[0])
	return nil
}

func readProfiles(list string) ([]*opprofile.Log, error) {
	var logs []*opprofile.Log
	for _, name := range strings.Split(list, ",") {
		var r io.Reader = os.Stdin
		if name != "-" {
			f, err := os.Open(name)
			if err != nil {
				return nil, unusable("log", err)
			}
			defer f.Close()
			r = f
		}
		l, err := opprofile.Parse(r)
		if at := new(fs.PathError); errors.As(err, &at) {
			return nil, unusable("log", err)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(l.Batches) == 0 {
			return nil, fmt.Errorf("%s: none of its %d lines is the profiler's: was GGML_HEXAGON_PROFILE set, and -v given?", name, l.Lines)
		}
		logs = append(logs, l)
	}
	return logs, nil
}

func writeTrace(o ProfileOptions, l *opprofile.Log, simulated bool) error {
	label := ""
	if simulated {
		label = "(" + simulatedLabel + ")"
	}
	var trace bytes.Buffer
	if err := l.WriteTrace(&trace, label); err != nil {
		return err
	}
	return unusable("trace", renameio.WriteFile(o.Trace, trace.Bytes(), 0o644))
}
