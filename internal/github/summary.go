package github

import (
	"bytes"
	"fmt"
	"os"
)

// MaxSummaryBytes bounds a step's summary (docs.github.com, "Workflow
// commands": 1 MiB a step).
const MaxSummaryBytes = 1<<20 - 1024

// AppendSummary adds Markdown to a step's summary file (GITHUB_STEP_SUMMARY)
// as far as there is room; what does not fit is cut at a line's end.
func AppendSummary(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("step summary: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("step summary: %w", err)
	}
	const more = "\n_cut for length_\n"
	room := int(MaxSummaryBytes - info.Size())
	if len(text) > room {
		if room -= len(more); room <= 0 {
			return nil
		}
		text = append(bytes.Clone(text[:bytes.LastIndexByte(text[:room], '\n')+1]), more...)
	}
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("step summary: %w", err)
	}
	return f.Close()
}
