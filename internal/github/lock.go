package github

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// lockContent is the reaction that means "being written". Adding a reaction is
// the one thing in GitHub's API that tells whether it was there before, which
// makes it a lock, and it notifies nobody.
const lockContent = "eyes"

// Times of the lock. One that is held longer than lockStale was left behind by
// a job that was killed.
const (
	lockPoll  = 2 * time.Second
	lockStale = 10 * time.Minute
)

// lock makes sure that nobody else of our login writes the pull request's
// comment at the same time. Whoever unlocks learns whether the lock was held
// all the time.
func (c *Client) lock(ctx context.Context, number int) (unlock func() error, err error) {
	doing := fmt.Sprintf("locking the comment of pull request %d", number)
	var holder int64
	for waited := time.Duration(0); ; waited += lockPoll {
		reaction, resp, err := c.api.Reactions.CreateIssueReaction(ctx, c.owner, c.repo, number, lockContent)
		if err != nil {
			return nil, c.fail(doing, err)
		}
		id := reaction.GetID()
		if resp.StatusCode == http.StatusCreated {
			return func() error { return c.unlock(ctx, number, id) }, nil
		}
		if id != holder {
			holder, waited = id, 0
			c.note(fmt.Sprintf("another run writes the comment of pull request %d; waiting", number))
		}
		if waited >= c.lockStale {
			c.note(fmt.Sprintf("that run has not written anything for %v; going on without it", c.lockStale))
			if _, err := c.api.Reactions.DeleteIssueReaction(ctx, c.owner, c.repo, number, id); err != nil && status(err) != http.StatusNotFound {
				return nil, c.fail(doing, err)
			}
			continue
		}
		if err := c.sleep(ctx, lockPoll); err != nil {
			return nil, err
		}
	}
}

func (c *Client) unlock(ctx context.Context, number int, id int64) error {
	// An interrupted run gives the lock back too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	_, err := c.api.Reactions.DeleteIssueReaction(ctx, c.owner, c.repo, number, id)
	if status(err) == http.StatusNotFound {
		return fmt.Errorf("pull request %d: this took so long that another run went on; look at the comment, and run the report again if it is not the newest", number)
	}
	return c.fail(fmt.Sprintf("unlocking the comment of pull request %d", number), err)
}
