package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	gh "github.com/google/go-github/v60/github"
)

// Pull is a pull request.
type Pull struct {
	Number int
	// Head and Base are its commits as they are now.
	Head, Base string
}

// Pulls finds the open pull requests of this repository whose branch the event
// is about. Their heads may have moved on since.
func (c *Client) Pulls(ctx context.Context, e Event) ([]Pull, error) {
	var found []Pull
	add := func(list []*gh.PullRequest) {
		for _, p := range list {
			base := p.GetBase().GetRepo()
			if p.GetState() == "open" && base.GetOwner().GetLogin() == c.owner && base.GetName() == c.repo {
				found = append(found, Pull{p.GetNumber(), p.GetHead().GetSHA(), p.GetBase().GetSHA()})
			}
		}
	}
	page := gh.ListOptions{PerPage: 100}
	for {
		var list []*gh.PullRequest
		var resp *gh.Response
		var err error
		if e.Owner != "" && e.Branch != "" {
			list, resp, err = c.api.PullRequests.List(ctx, c.owner, c.repo, &gh.PullRequestListOptions{State: "open", Head: e.Owner + ":" + e.Branch, ListOptions: page})
		} else { // the fork is gone; GitHub still knows the commit
			list, resp, err = c.api.PullRequests.ListPullRequestsWithCommit(ctx, c.owner, c.repo, e.Head, &page)
		}
		if err != nil {
			return nil, c.fail("looking for the pull request of "+e.Head, err)
		}
		add(list)
		if page.Page = resp.NextPage; page.Page == 0 {
			return found, nil
		}
	}
}

// head asks what a pull request's head is now.
func (c *Client) head(ctx context.Context, number int) (string, error) {
	p, _, err := c.api.PullRequests.Get(ctx, c.owner, c.repo, number)
	if err != nil {
		return "", c.fail(fmt.Sprintf("asking for pull request %d", number), err)
	}
	return p.GetHead().GetSHA(), nil
}

// Posted is what became of a comment.
type Posted string

// What can become of a comment.
const (
	Created Posted = "created"
	Updated Posted = "updated"
	// Unchanged: it said so already.
	Unchanged Posted = "unchanged"
	// Superseded: a newer run of the same workflow has posted before.
	Superseded Posted = "superseded"
	// Stale: the pull request has a newer head, whose own run will post.
	Stale Posted = "stale"
)

// comment is one of ours on a pull request.
type comment struct {
	id       int64
	url      string
	document Document
}

// ours lists our comments on a pull request, the oldest first.
func (c *Client) ours(ctx context.Context, number int, self string) ([]comment, error) {
	var found []comment
	options := gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: 100}}
	for {
		list, resp, err := c.api.Issues.ListComments(ctx, c.owner, c.repo, number, &options)
		if err != nil {
			return nil, c.fail(fmt.Sprintf("listing the comments of pull request %d", number), err)
		}
		for _, one := range list {
			if one.GetUser().GetLogin() != self {
				continue
			}
			if d, ok := ParseDocument(one.GetBody()); ok {
				found = append(found, comment{one.GetID(), one.GetHTMLURL(), d})
			}
		}
		if options.Page = resp.NextPage; options.Page == 0 {
			break
		}
	}
	slices.SortFunc(found, func(a, b comment) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return found, nil
}

// maxRounds bounds how often a comment is read back and mended.
const maxRounds = 8

// Comment makes the pull request say the section about its head commit, in
// exactly one comment. It returns the comment's address.
func (c *Client) Comment(ctx context.Context, number int, head string, section Section) (posted Posted, url string, err error) {
	if err := (Document{Head: head, Sections: []Section{section}}).check(); err != nil {
		return "", "", err
	}
	state, err := c.look(ctx, number, head, section)
	if err != nil || state.posted != "" {
		return state.posted, state.url, err
	}
	unlock, err := c.lock(ctx, number)
	if err != nil {
		return "", "", err
	}
	defer func() {
		if failed := unlock(); failed != nil {
			posted, url, err = "", "", errors.Join(err, failed)
		}
	}()
	done := Unchanged
	var failure error
	for range maxRounds {
		if state, err = c.look(ctx, number, head, section); err != nil {
			return "", "", err
		}
		switch {
		case state.posted == Stale && done != Unchanged:
			return "", "", fmt.Errorf("pull request %d moved on while its comment was written; if the comment of its new head is missing, run that report again", number)
		case state.posted == Unchanged:
			return done, state.url, nil
		case state.posted != "":
			return state.posted, state.url, nil
		}
		var changed Posted
		if changed, failure = c.mend(ctx, number, state.mine, state.wanted); changed != "" && done != Created {
			done = changed
		}
		if failure != nil && !worthAnother(failure) {
			return "", "", failure
		}
	}
	if failure == nil {
		failure = fmt.Errorf("comment of pull request %d: something keeps changing it", number)
	}
	return "", "", failure
}

// state is what a pull request says by us, and what it should say.
type state struct {
	// posted is set when there is nothing to do: Stale, Superseded, Unchanged.
	posted Posted
	url    string
	mine   []comment
	wanted Document
}

func (c *Client) look(ctx context.Context, number int, head string, section Section) (s state, err error) {
	self, err := c.self(ctx)
	if err != nil {
		return s, err
	}
	now, err := c.head(ctx, number)
	if err != nil {
		return s, err
	}
	if now != head {
		s.posted = Stale
		return s, nil
	}
	if s.mine, err = c.ours(ctx, number, self); err != nil {
		return s, err
	}
	s.wanted = merge(head, documents(s.mine), section)
	if err := s.wanted.check(); err != nil {
		return s, err
	}
	if len(s.mine) == 1 && s.mine[0].document.same(s.wanted) {
		s.posted, s.url = Unchanged, s.mine[0].url
		if !s.wanted.has(section) {
			s.posted = Superseded
		}
	}
	return s, nil
}

func documents(list []comment) []Document {
	all := make([]Document, len(list))
	for i, c := range list {
		all[i] = c.document
	}
	return all
}

func (d Document) has(s Section) bool {
	return slices.ContainsFunc(d.Sections, func(other Section) bool {
		return other.Key == s.Key && other.Run == s.Run && other.Attempt == s.Attempt && other.sum() == s.sum()
	})
}

// worthAnother tells whether reading back and trying again can help: the
// comment was deleted in between, or an answer was lost on the way.
func worthAnother(err error) bool {
	code := status(err)
	return code == 0 || code == http.StatusNotFound || code == http.StatusGone || code >= 500
}

// mend takes one step from what is there to what is wanted.
func (c *Client) mend(ctx context.Context, number int, mine []comment, wanted Document) (Posted, error) {
	body := &gh.IssueComment{Body: gh.String(wanted.String())}
	if len(mine) == 0 {
		_, _, err := c.api.Issues.CreateComment(ctx, c.owner, c.repo, number, body)
		return Created, c.fail(fmt.Sprintf("commenting on pull request %d", number), err)
	}
	changed := Posted("")
	if !mine[0].document.same(wanted) {
		if _, _, err := c.api.Issues.EditComment(ctx, c.owner, c.repo, mine[0].id, body); err != nil {
			return "", c.fail(fmt.Sprintf("updating comment %d of pull request %d", mine[0].id, number), err)
		}
		changed = Updated
	}
	for _, extra := range mine[1:] {
		_, err := c.api.Issues.DeleteComment(ctx, c.owner, c.repo, extra.id)
		if err != nil && status(err) != http.StatusNotFound {
			return changed, c.fail(fmt.Sprintf("deleting the second comment %d of pull request %d", extra.id, number), err)
		}
	}
	return changed, nil
}
