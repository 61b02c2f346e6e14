package github

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// Conclusion is a check run's answer.
type Conclusion string

// The conclusions that are used.
const (
	Success Conclusion = "success"
	Failure Conclusion = "failure"
	Neutral Conclusion = "neutral"
)

// MaxCheckBytes bounds a check run's summary (docs.github.com, "Create a check
// run": 65535 characters).
const MaxCheckBytes = 65_000

// Check is a check run on a commit.
type Check struct {
	// Key, Run and Attempt are as in Section.
	Key     string
	Run     int64
	Attempt int
	// Title is one line, Summary Markdown.
	Title, Summary string
	Conclusion     Conclusion
}

// Name is what the check run is called.
func (k Check) Name() string { return "hexab (" + k.Key + ")" }

// id is how the check run of the same workflow is known again.
func (k Check) id() string { return fmt.Sprintf("hexab:%s:%d:%d", k.Key, k.Run, k.Attempt) }

var checkID = regexp.MustCompile(`^hexab:([a-z0-9-]{1,32}):([0-9]{1,18}):([0-9]{1,6})$`)

func parseCheckID(id string) (k Check, ok bool) {
	m := checkID.FindStringSubmatch(id)
	if m == nil {
		return k, false
	}
	k.Key = m[1]
	k.Run, _ = strconv.ParseInt(m[2], 10, 64) // 18 digits always fit
	k.Attempt, _ = strconv.Atoi(m[3])
	return k, true
}

// Publish puts the check run on a commit: the one of the same workflow is
// updated, unless a newer run made it.
func (c *Client) Publish(ctx context.Context, head string, k Check) (Posted, error) {
	if len(k.Summary) > MaxCheckBytes {
		return "", fmt.Errorf("check run: a summary of %d bytes is longer than %d", len(k.Summary), MaxCheckBytes)
	}
	var failure error
	for try := range 3 {
		known, err := c.known(ctx, head, k)
		if err != nil {
			return "", err
		}
		output := &gh.CheckRunOutput{Title: gh.String(k.Title), Summary: gh.String(k.Summary)}
		completed := &gh.Timestamp{Time: time.Now().UTC()}
		if known != nil {
			before, _ := parseCheckID(known.GetExternalID())
			ours, theirs := Section{Run: k.Run, Attempt: k.Attempt}, Section{Run: before.Run, Attempt: before.Attempt}
			if theirs.newer(ours) {
				return Superseded, nil
			}
			if try > 0 && !ours.newer(theirs) {
				return Created, nil // the first try was done after all
			}
			_, _, err := c.api.Checks.UpdateCheckRun(ctx, c.owner, c.repo, known.GetID(), gh.UpdateCheckRunOptions{
				Name: k.Name(), ExternalID: gh.String(k.id()), Status: gh.String("completed"), Conclusion: gh.String(string(k.Conclusion)), CompletedAt: completed, Output: output,
			})
			if err == nil {
				return Updated, nil
			}
			failure = c.fail("updating the check run of "+head, err)
		} else {
			_, _, err := c.api.Checks.CreateCheckRun(ctx, c.owner, c.repo, gh.CreateCheckRunOptions{
				Name: k.Name(), HeadSHA: head, ExternalID: gh.String(k.id()), Status: gh.String("completed"), Conclusion: gh.String(string(k.Conclusion)), CompletedAt: completed, Output: output,
			})
			if err == nil {
				return Created, nil
			}
			failure = c.fail("making the check run of "+head, err)
		}
		if !worthAnother(failure) || status(failure) == http.StatusNotFound && known == nil {
			return "", failure
		}
	}
	return "", failure
}

// known finds the check run of the same workflow on the commit.
func (c *Client) known(ctx context.Context, head string, k Check) (*gh.CheckRun, error) {
	options := gh.ListCheckRunsOptions{CheckName: gh.String(k.Name()), Filter: gh.String("latest"), ListOptions: gh.ListOptions{PerPage: 100}}
	for {
		list, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, c.owner, c.repo, head, &options)
		if err != nil {
			return nil, c.fail("listing the check runs of "+head, err)
		}
		for _, run := range list.CheckRuns {
			if other, ok := parseCheckID(run.GetExternalID()); ok && other.Key == k.Key {
				return run, nil
			}
		}
		if options.Page = resp.NextPage; options.Page == 0 {
			return nil, nil
		}
	}
}
