package github

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// maxEventBytes bounds the file of an event.
const maxEventBytes = 8 << 20

// Event is what is known of the run that measured, from GitHub itself and not
// from that run's artifact.
type Event struct {
	// Head is the commit that was measured.
	Head string
	// Owner and Branch are where it was pushed to; empty when that repository
	// is gone.
	Owner, Branch string
	// Key is the workflow's name in the form of a section's key.
	Key string
	// Run and Attempt are those of the workflow's run.
	Run     int64
	Attempt int
	// Trigger is the event that started it: pull_request, workflow_dispatch.
	Trigger string
	// Conclusion is how it ended: success, failure and so on.
	Conclusion string
}

// Own is what a job knows of its own run (GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT,
// GITHUB_WORKFLOW, GITHUB_EVENT_NAME): it counts where the same run measured
// and reports.
type Own struct {
	Run      int64
	Attempt  int
	Workflow string
	Trigger  string
}

// ReadEvent reads the event of a job (GITHUB_EVENT_PATH).
func ReadEvent(path string, own Own) (Event, error) {
	f, err := os.Open(path)
	if err != nil {
		return Event{}, fmt.Errorf("event: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEventBytes+1))
	if err != nil {
		return Event{}, fmt.Errorf("event: %w", err)
	}
	if len(data) > maxEventBytes {
		return Event{}, fmt.Errorf("event %s: larger than %d bytes", path, maxEventBytes)
	}
	return ParseEvent(data, own)
}

var notKey = regexp.MustCompile(`[^a-z0-9-]+`)

// ParseEvent reads a workflow_run event, or that of a run that reports itself:
// one about a pull request, or one started by hand with the input commit.
func ParseEvent(data []byte, own Own) (Event, error) {
	var event struct {
		Run *struct {
			ID         int64  `json:"id"`
			Attempt    int    `json:"run_attempt"`
			Name       string `json:"name"`
			Head       string `json:"head_sha"`
			Branch     string `json:"head_branch"`
			Event      string `json:"event"`
			Conclusion string `json:"conclusion"`
			Repository *struct {
				Owner struct {
					Login string `json:"login"`
				} `json:"owner"`
			} `json:"head_repository"`
		} `json:"workflow_run"`
		Pull *struct {
			Head struct {
				SHA  string `json:"sha"`
				Ref  string `json:"ref"`
				User struct {
					Login string `json:"login"`
				} `json:"user"`
			} `json:"head"`
		} `json:"pull_request"`
		Inputs map[string]any `json:"inputs"`
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return Event{}, fmt.Errorf("event: %w", err)
	}
	e := Event{Run: own.Run, Attempt: own.Attempt, Trigger: own.Trigger, Key: KeyOf(own.Workflow)}
	commit, byHand := event.Inputs["commit"].(string)
	switch run := event.Run; {
	case run != nil:
		e = Event{Head: run.Head, Branch: run.Branch, Run: run.ID, Attempt: run.Attempt, Trigger: run.Event, Conclusion: run.Conclusion, Key: KeyOf(run.Name)}
		if run.Repository != nil {
			e.Owner = run.Repository.Owner.Login
		}
	case event.Pull != nil:
		head := event.Pull.Head
		e.Head, e.Branch, e.Owner = head.SHA, head.Ref, head.User.Login
	case byHand:
		e.Head = commit
	default:
		return Event{}, fmt.Errorf("event: is none of workflow_run, of a pull request, or by hand with a commit")
	}
	if !headPattern.MatchString(e.Head) || e.Run < 1 || e.Attempt < 1 {
		return Event{}, fmt.Errorf("event: head %.80q, run %d, attempt %d", e.Head, e.Run, e.Attempt)
	}
	return e, nil
}

// KeyOf makes a section's key of a workflow's name.
func KeyOf(name string) string {
	key := strings.Trim(notKey.ReplaceAllString(strings.ToLower(name), "-"), "-")
	key = strings.Trim(key[:min(len(key), 32)], "-")
	if key == "" {
		return "run"
	}
	return key
}
