package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"hexab/internal/artifact"
	"hexab/internal/compare"
	"hexab/internal/gate"
	"hexab/internal/github"
	"hexab/internal/report"
	"hexab/internal/stat"
)

// Bounds on a folder of artifacts.
const (
	maxArtifacts  = 16
	maxEntries    = 1000
	maxTotalCells = 512
)

// CIReportOptions say what is reported where.
type CIReportOptions struct {
	// In is the folder of artifacts, one file or one folder with a file for
	// each device.
	In string
	// Event is the file of the workflow_run event; empty is what GitHub
	// Actions says (GITHUB_EVENT_PATH).
	Event string
	// Repository is owner/name, API the API's address, Author the login whose
	// comment is updated; empty is what GitHub Actions says.
	Repository, API, Author string
	// Gate are the conditions of the check run.
	Gate string
	// DryRun prints what would be sent, and sends nothing.
	DryRun bool
}

func orEnv(value, name string) string {
	if value != "" {
		return value
	}
	return os.Getenv(name)
}

// CIReport tells a pull request what the artifacts of its run say. The
// artifacts may be anybody's: they are validated as hostile input, and which
// pull request it is comes from GitHub's event alone.
func CIReport(ctx context.Context, o CIReportOptions) error {
	w, err := Open()
	if err != nil {
		return err
	}
	g, err := gate.Parse(o.Gate)
	if err != nil {
		return &UsageError{err}
	}
	if o.In == "" {
		return usage("in: name the folder of artifacts (-in=DIR)")
	}
	event, err := o.event()
	if err != nil {
		return err
	}
	parts, notes, err := collect(o.In)
	if err != nil {
		return err
	}
	p := posting{w: w, o: o, event: event}
	if p.review, err = review(g, parts, notes); err != nil {
		// A gate about something else than was measured is no result.
		p.review, _ = review(nil, parts, append(notes, err.Error()))
	}
	if event.Head != "" {
		p.review.Head = event.Head
	}
	if len(parts) == 0 {
		p.review.Notes = append(p.review.Notes, fmt.Sprintf("the run left no result that could be read; it ended with: %s", wordOf(event.Conclusion)))
	}
	p.section = github.Section{Key: event.Key, Run: event.Run, Attempt: event.Attempt, Body: string(p.review.Markdown(github.MaxSectionBytes))}
	p.check = github.Check{
		Key: event.Key, Run: event.Run, Attempt: event.Attempt, Title: p.review.Headline(),
		Summary: string(p.review.Markdown(github.MaxCheckBytes)), Conclusion: conclusion(p.review),
	}
	if o.DryRun {
		return p.show()
	}
	if path := os.Getenv(envSummary); path != "" {
		if err := github.AppendSummary(path, append(p.review.Markdown(github.MaxSummaryBytes/2), '\n')); err != nil {
			return err
		}
	}
	return p.send(ctx)
}

// wordOf keeps a plain word of GitHub's.
func wordOf(text string) string {
	for _, known := range []string{"success", "failure", "cancelled", "timed_out", "skipped"} {
		if text == known {
			return known
		}
	}
	return "unknown"
}

// event is what GitHub says of the run; a dry run can do without.
func (o CIReportOptions) event() (github.Event, error) {
	path := orEnv(o.Event, envEvent)
	if path == "" && o.DryRun {
		return github.Event{Key: "local", Run: 1, Attempt: 1}, nil
	}
	if path == "" {
		return github.Event{}, usage("event: %s is not set; outside GitHub Actions use -dryRun, or name the event's file with -event=", envEvent)
	}
	return github.ReadEvent(path, ownRun())
}

// ownRun is what GitHub Actions says of this very run.
func ownRun() github.Own {
	run, _ := strconv.ParseInt(os.Getenv("GITHUB_RUN_ID"), 10, 64)
	attempt, _ := strconv.Atoi(os.Getenv("GITHUB_RUN_ATTEMPT"))
	return github.Own{Run: run, Attempt: attempt, Workflow: os.Getenv("GITHUB_WORKFLOW"), Trigger: os.Getenv("GITHUB_EVENT_NAME")}
}

// commented are the triggers of runs about a pull request.
var commented = []string{"pull_request", "pull_request_target"}

// conclusion is the check run's answer.
func conclusion(r report.Review) github.Conclusion {
	if len(r.Parts) == 0 {
		return github.Failure
	}
	if r.Result.State == gate.Fail {
		return github.Failure
	}
	complete := len(r.Notes) == 0
	for _, part := range r.Parts {
		complete = complete && part.Comparisons.Complete
	}
	if r.Result.State == gate.Neutral || len(r.Gate) == 0 || !complete {
		return github.Neutral
	}
	return github.Success
}

// collect reads the artifacts of a folder: those directly in it and in its
// folders. What is refused is told in notes; the rest counts all the same.
func collect(in string) (parts []compare.Part, notes []string, err error) {
	root, err := os.OpenRoot(in)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil // nothing was downloaded
	}
	if err != nil {
		return nil, nil, fmt.Errorf("artifacts: %w", err)
	}
	defer root.Close()
	files, err := artifactFiles(root)
	if err != nil {
		return nil, nil, err
	}
	if len(files) > maxArtifacts {
		notes, files = append(notes, fmt.Sprintf("%d artifacts are more than %d; the rest was left out", len(files), maxArtifacts)), files[:maxArtifacts]
	}
	cells := 0
	for i, name := range files {
		some, err := readParts(root, name)
		for _, part := range some {
			cells += len(part.Comparisons.Cells)
		}
		if err == nil && cells > maxTotalCells {
			err = fmt.Errorf("more than %d comparisons altogether", maxTotalCells)
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("artifact %d of %d was refused: %.200v", i+1, len(files), err))
			continue
		}
		parts = append(parts, some...)
	}
	// What was measured apart is judged as one table.
	return parts, notes, compare.Adjust(parts, tableOptions(parts))
}

// artifactFiles lists the files by the one name that counts; links are not
// followed.
func artifactFiles(root *os.Root) ([]string, error) {
	var files []string
	look := func(dir string) ([]fs.DirEntry, error) {
		f, err := root.Open(dir)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		entries, err := f.ReadDir(maxEntries)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		for _, e := range entries {
			if e.Name() == artifact.FileName && e.Type().IsRegular() {
				files = append(files, path.Join(dir, e.Name()))
			}
		}
		return entries, err
	}
	entries, err := look(".")
	if err != nil {
		return nil, fmt.Errorf("artifacts: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if _, err := look(e.Name()); err != nil {
				return nil, fmt.Errorf("artifacts: %w", err)
			}
		}
	}
	sort.Strings(files)
	return files, nil
}

func readParts(root *os.Root, name string) ([]compare.Part, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, artifact.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	a, err := artifact.Decode(data)
	if err != nil {
		return nil, err
	}
	// No page shows the bootstrap.
	o := statOptions(a.Run)
	o.Bootstrap, o.Resamples = 0, 9_999
	return compare.Parts(a.Run, a.Records, o)
}

// tableOptions are the limits of a table of several runs: the coarsest
// threshold of any.
func tableOptions(parts []compare.Part) stat.Options {
	o := stat.DefaultOptions()
	if len(parts) > 0 {
		o.Threshold = 0
	}
	for _, part := range parts {
		o.Threshold = max(o.Threshold, part.Run.Threshold)
	}
	return o
}

// posting is one report on its way.
type posting struct {
	w       *Workspace
	o       CIReportOptions
	event   github.Event
	review  report.Review
	section github.Section
	check   github.Check
}

// show prints what would be sent.
func (p posting) show() error {
	head := p.event.Head
	if head == "" {
		head = strings.Repeat("0", 40)
	}
	fmt.Fprintf(p.w.Out, "# would comment on the open pull request whose head is %s:\n\n%s\n", head, github.Document{Head: head, Sections: []github.Section{p.section}})
	fmt.Fprintf(p.w.Out, "# would make the check run %q of %s: %s: %s\n", p.check.Name(), head, p.check.Conclusion, p.check.Title)
	return nil
}

// send posts the check run and the comment.
func (p posting) send(ctx context.Context) error {
	client, err := github.New(github.Config{
		API: orEnv(p.o.API, envAPI), Token: os.Getenv(envToken), Repository: orEnv(p.o.Repository, envRepository), Author: p.o.Author,
		Note: func(line string) { p.w.Note("%s", line) },
	})
	if err != nil {
		return &UsageError{err}
	}
	posted, err := client.Publish(ctx, p.event.Head, p.check)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.w.Out, "check run %s of %.12s: %s (%s)\n", p.check.Name(), p.event.Head, p.check.Conclusion, posted)
	if !slices.Contains(commented, p.event.Trigger) {
		fmt.Fprintf(p.w.Out, "no comment: the run was started by %.40q\n", p.event.Trigger)
		return nil
	}
	pulls, err := client.Pulls(ctx, p.event)
	if err != nil {
		return err
	}
	if len(pulls) == 0 {
		fmt.Fprintf(p.w.Out, "no comment: no open pull request has the head %s\n", p.event.Head)
	}
	var errs []error
	for _, pull := range pulls {
		posted, url, err := client.Comment(ctx, pull.Number, p.event.Head, p.section)
		if errs = append(errs, err); err == nil {
			fmt.Fprintf(p.w.Out, "comment on pull request %d: %s %s\n", pull.Number, posted, url)
		}
	}
	return errors.Join(errs...)
}
