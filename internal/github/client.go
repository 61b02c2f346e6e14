package github

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// DefaultAPI is GitHub's own API.
const DefaultAPI = "https://api.github.com"

// ActionsLogin is whose comments a workflow's own token writes.
const ActionsLogin = "github-actions[bot]"

// DefaultMaxWait is how long rate limits are waited for altogether.
const DefaultMaxWait = 15 * time.Minute

// Config says where and as whom to post.
type Config struct {
	// API is the API's address: empty for GitHub's own; for an Enterprise
	// server its address, with or without /api/v3.
	API string
	// Token is a token with pull-requests: write and checks: write. It is sent
	// in a header and shown nowhere.
	Token string
	// Repository is owner/name.
	Repository string
	// Author is the login whose comments are ours; empty asks GitHub.
	Author string
	// Note is told what is waited for; it may be nil.
	Note func(string)
	// MaxWait bounds the waiting for one request; zero is DefaultMaxWait.
	MaxWait time.Duration

	// Transport, Sleep and Now are for tests; nil is the real thing.
	Transport http.RoundTripper
	Sleep     func(context.Context, time.Duration) error
	Now       func() time.Time
}

// Client posts to one repository.
type Client struct {
	api         *gh.Client
	owner, repo string
	token       string
	author      string
	note        func(string)
	sleep       func(context.Context, time.Duration) error
	lockStale   time.Duration
}

var repositoryPattern = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9-]{0,99})/([A-Za-z0-9._-]{1,100})$`)

// New checks the configuration; it sends nothing.
func New(c Config) (*Client, error) {
	names := repositoryPattern.FindStringSubmatch(c.Repository)
	if names == nil || names[2] == "." || names[2] == ".." {
		return nil, fmt.Errorf("repository %.80q is not of the form OWNER/NAME", c.Repository)
	}
	if c.Token == "" {
		return nil, errors.New("no token: set GITHUB_TOKEN (permissions pull-requests: write, checks: write)")
	}
	if strings.ContainsAny(c.Token, " \r\n\t") {
		return nil, errors.New("GITHUB_TOKEN holds a blank or a line end")
	}
	base, err := parseAPI(c.API)
	if err != nil {
		return nil, err
	}
	t := &transport{base: base, token: c.Token, next: c.Transport, sleep: c.Sleep, now: c.Now, note: c.Note, maxWait: c.MaxWait, cached: map[string]cachedAnswer{}}
	if t.next == nil {
		t.next = http.DefaultTransport
	}
	if t.sleep == nil {
		t.sleep = sleep
	}
	if t.now == nil {
		t.now = time.Now
	}
	if t.note == nil {
		t.note = func(string) {}
	}
	if t.maxWait == 0 {
		t.maxWait = DefaultMaxWait
	}
	httpClient := &http.Client{Transport: t, CheckRedirect: redirect}
	client := &Client{api: gh.NewClient(httpClient), owner: names[1], repo: names[2], token: c.Token, author: c.Author, note: t.note, sleep: t.sleep, lockStale: lockStale}
	client.api.BaseURL, client.api.UserAgent = base, "hexab"
	return client, nil
}

// redirect follows a renamed repository for reading only: net/http would make
// a POST a GET.
func redirect(req *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet {
		return http.ErrUseLastResponse
	}
	if len(via) >= 3 {
		return errors.New("redirected three times")
	}
	return nil
}

// parseAPI gives the base of all requests, ending in a slash.
func parseAPI(text string) (*url.URL, error) {
	if text == "" {
		text = DefaultAPI
	}
	u, err := url.Parse(strings.TrimSuffix(text, "/") + "/")
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("API address %.100q: want https://HOST, for an Enterprise server https://HOST/api/v3", text)
	}
	loopback := net.ParseIP(u.Hostname()).IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && loopback) {
		return nil, fmt.Errorf("API address %.100q: a token goes over https only", text)
	}
	if u.Path == "/" && !strings.HasPrefix(u.Hostname(), "api.") && !loopback {
		u.Path = "/api/v3/"
	}
	return u, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// cleanError is an error without the token in it, whoever put it there, and
// with what the status means.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.err }

// fail names what was being done and what to do about it.
func (c *Client) fail(doing string, err error) error {
	if err == nil {
		return nil
	}
	text := doing + ": " + err.Error()
	switch status(err) {
	case http.StatusUnauthorized:
		text += "\nthe token is not valid (any more)"
	case http.StatusForbidden:
		text += "\nthe token may not do that: the job needs the permissions pull-requests: write and checks: write; a pull request's own job never has them (see docs/ci.md)"
	case http.StatusNotFound:
		text += fmt.Sprintf("\n%s/%s or what was asked for is not there, or the token may not see it", c.owner, c.repo)
	case http.StatusUnprocessableEntity:
		text += "\nGitHub refuses the content; run it with -dryRun to see it"
	}
	return &cleanError{strings.ReplaceAll(text, c.token, "***"), err}
}

// status is the HTTP status that an error tells of, or zero.
func status(err error) int {
	var answer *gh.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		return answer.Response.StatusCode
	}
	return 0
}

// self is the login whose comments are ours.
func (c *Client) self(ctx context.Context) (string, error) {
	if c.author != "" {
		return c.author, nil
	}
	user, _, err := c.api.Users.Get(ctx, "")
	switch code := status(err); {
	case code == http.StatusForbidden || code == http.StatusNotFound:
		// A workflow's own token is an installation's and has no user.
		c.author = ActionsLogin
	case err != nil:
		return "", c.fail("asking whose token this is", err)
	default:
		c.author = user.GetLogin()
	}
	return c.author, nil
}
