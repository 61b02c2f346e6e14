package github

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hexab/internal/github/githubtest"
)

var (
	headA = strings.Repeat("a", 40)
	headB = strings.Repeat("b", 40)
)

// clock is a time that only sleeping moves on.
type clock struct {
	sync.Mutex
	at    time.Time
	slept []time.Duration
}

func (c *clock) now() time.Time {
	c.Lock()
	defer c.Unlock()
	return c.at
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.Lock()
	defer c.Unlock()
	c.at, c.slept = c.at.Add(d), append(c.slept, d)
	runtime.Gosched()
	return ctx.Err()
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)} }

func client(t testing.TB, s *githubtest.Server, c *clock) *Client {
	t.Helper()
	made, err := New(Config{
		API: s.URL, Token: githubtest.Token, Repository: githubtest.Owner + "/" + githubtest.Repo, Sleep: c.sleep, Now: c.now,
		Note: func(line string) { t.Log(line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// hub is a server with pull request 7, whose head is headA.
func hub(t testing.TB) *githubtest.Server {
	s := githubtest.Start(t)
	s.Pulls = []*githubtest.Pull{{Number: 7, HeadOwner: "someone", Branch: "faster", HeadSHA: headA, BaseSHA: headB, State: "open"}}
	return s
}

func section(run int64, text string) Section {
	return Section{Key: "pr", Run: run, Attempt: 1, Body: "### " + text}
}

// said is what the pull request says by us, which must be one comment.
func said(t testing.TB, s *githubtest.Server) string {
	t.Helper()
	s.Lock()
	defer s.Unlock()
	var bodies []string
	for _, c := range s.Comments {
		if _, ok := ParseDocument(c.Body); ok && c.Login == s.Login {
			bodies = append(bodies, c.Body)
		}
	}
	if len(bodies) != 1 {
		t.Fatalf("%d comments: %q", len(bodies), bodies)
	}
	return bodies[0]
}

func post(t testing.TB, c *Client, sec Section, want Posted) string {
	t.Helper()
	got, url, err := c.Comment(t.Context(), 7, headA, sec)
	if err != nil || got != want {
		t.Fatalf("%s, %v; want %s", got, err, want)
	}
	return url
}

func TestConfiguration(t *testing.T) {
	for _, test := range []struct {
		config Config
		want   string
	}{
		{Config{Token: "t", Repository: "a/b"}, ""}, {Config{Token: "t", Repository: "a/b", API: "https://ghe.example.com"}, ""},
		{Config{Token: "t", Repository: "ab"}, "OWNER/NAME"}, {Config{Token: "t", Repository: "a/.."}, "OWNER/NAME"}, {Config{Token: "t", Repository: "a/b/c"}, "OWNER/NAME"},
		{Config{Token: "t", Repository: "a/b?x"}, "OWNER/NAME"}, {Config{Repository: "a/b"}, "GITHUB_TOKEN"}, {Config{Token: "t\n", Repository: "a/b"}, "line end"},
		{Config{Token: "t", Repository: "a/b", API: "http://ghe.example.com"}, "https only"}, {Config{Token: "t", Repository: "a/b", API: "ghe"}, "want https"},
		{Config{Token: "t", Repository: "a/b", API: "https://user:pass@h"}, "want https"},
	} {
		_, err := New(test.config)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: %v, want %q", test.config, err, test.want)
		}
	}
	for text, want := range map[string]string{
		"": "https://api.github.com/", "https://api.github.com": "https://api.github.com/", "https://ghe.example.com": "https://ghe.example.com/api/v3/",
		"https://ghe.example.com/api/v3": "https://ghe.example.com/api/v3/", "https://ghe.example.com/api/v3/": "https://ghe.example.com/api/v3/", "https://api.tenant.ghe.com": "https://api.tenant.ghe.com/",
	} {
		if u, err := parseAPI(text); err != nil || u.String() != want {
			t.Errorf("%q: %v, %v", text, u, err)
		}
	}
}
