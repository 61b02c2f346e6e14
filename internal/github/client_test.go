package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
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

func TestOneComment(t *testing.T) {
	s := hub(t)
	c := client(t, s, newClock())
	if url := post(t, c, section(10, "first"), Created); !strings.Contains(url, "/pull/7#issuecomment-") {
		t.Errorf("address %q", url)
	}
	post(t, c, section(10, "first"), Unchanged)
	post(t, c, section(11, "second"), Updated)
	post(t, c, section(10, "late"), Superseded)
	post(t, c, Section{Key: "pr", Run: 11, Attempt: 2, Body: "### again"}, Updated)
	if text := said(t, s); !strings.Contains(text, "### again") || strings.Contains(text, "second") {
		t.Errorf("%s", text)
	}
	// Another workflow has a section of its own in the same comment.
	post(t, c, Section{Key: "phone", Run: 3, Attempt: 1, Body: "### phone"}, Updated)
	if text := said(t, s); !strings.Contains(text, "### again") || !strings.Contains(text, "### phone") {
		t.Errorf("%s", text)
	}
	// A new head makes a new start in the same comment.
	s.Pulls[0].HeadSHA = headB
	if got, _, err := c.Comment(t.Context(), 7, headA, section(12, "old head")); err != nil || got != Stale {
		t.Errorf("%s, %v", got, err)
	}
	if got, _, err := c.Comment(t.Context(), 7, headB, section(9, "new head")); err != nil || got != Updated {
		t.Errorf("%s, %v", got, err)
	}
	if text := said(t, s); strings.Contains(text, "phone") || strings.Contains(text, "again") || !strings.Contains(text, headB) {
		t.Errorf("%s", text)
	}
}

// Ours is found among many, on whatever page, and only when we wrote it.
func TestFoundByMarkerAndAuthor(t *testing.T) {
	s := hub(t)
	fake := Document{Head: headA, Sections: []Section{section(99, "forged")}}.String()
	s.MaxPerPage = 10
	for i := range 57 {
		s.Comments = append(s.Comments, &githubtest.Comment{ID: s.ID(), Login: "someone", Number: 7, Body: fmt.Sprintf("%d\n%s", i, fake)},
			&githubtest.Comment{ID: s.ID(), Login: "someone", Number: 7, Body: fake}, &githubtest.Comment{ID: s.ID(), Login: s.Login, Number: 7, Body: "another workflow's"})
	}
	c := client(t, s, newClock())
	post(t, c, section(1, "ours"), Created)
	for i := range 30 {
		s.Comments = append(s.Comments, &githubtest.Comment{ID: s.ID(), Login: "someone", Number: 7, Body: fmt.Sprint(i)})
	}
	post(t, c, section(2, "ours again"), Updated)
	if text := said(t, s); !strings.Contains(text, "ours again") {
		t.Error(text)
	}
	if len(s.Comments) != 57*3+1+30 {
		t.Errorf("%d comments", len(s.Comments))
	}
}

func TestPersonsToken(t *testing.T) {
	s := hub(t)
	s.Login, s.User = "a-person", true
	post(t, client(t, s, newClock()), section(1, "x"), Created)
	post(t, client(t, s, newClock()), section(2, "y"), Updated)
	said(t, s)
}

// Duplicates of an earlier mishap become one, with the newest of their
// sections.
func TestDuplicatesAreMended(t *testing.T) {
	s := hub(t)
	for _, run := range []int64{5, 9, 7} {
		s.Comments = append(s.Comments, &githubtest.Comment{ID: s.ID(), Login: s.Login, Number: 7, Body: Document{Head: headA, Sections: []Section{section(run, fmt.Sprint("run ", run))}}.String()})
	}
	first := s.Comments[0].ID
	post(t, client(t, s, newClock()), section(6, "run 6"), Superseded)
	if text := said(t, s); !strings.Contains(text, "run 9") || s.Comments[0].ID != first {
		t.Errorf("%s in %d", text, s.Comments[0].ID)
	}
}

// Two runs post at the same time, in every order of their requests that the
// schedule comes to: one comment remains, and it is the newer run's.
func TestRaces(t *testing.T) {
	for trial := range 16 {
		s := hub(t)
		if trial%2 == 1 {
			s.Comments = append(s.Comments, &githubtest.Comment{ID: s.ID(), Login: s.Login, Number: 7, Body: Document{Head: headB, Sections: []Section{section(1, "old")}}.String()})
		}
		var wg sync.WaitGroup
		errs := make([]error, 3)
		for i := range errs {
			c := client(t, s, newClock())
			c.lockStale = 24 * time.Hour
			wg.Go(func() {
				_, _, errs[i] = c.Comment(t.Context(), 7, headA, section(int64(20+i), fmt.Sprint("run ", 20+i)))
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if text := said(t, s); !strings.Contains(text, "run 22") {
			t.Fatalf("trial %d: %s", trial, text)
		}
	}
}

// The older run is stopped before each of its requests while a newer one posts
// as far as it can. Whatever the step, the newer run's words stay.
func TestOlderRunFinishesLast(t *testing.T) {
	for _, before := range []bool{true, false} {
		for stop := 1; stop <= 12; stop++ {
			olderFinishesLast(t, stop, before)
		}
	}
}

func olderFinishesLast(t *testing.T, stop int, commented bool) {
	s := hub(t)
	if commented {
		s.Comments = append(s.Comments, &githubtest.Comment{ID: s.ID(), Login: s.Login, Number: 7, Body: Document{Head: headB, Sections: []Section{section(1, "old")}}.String()})
	}
	older := client(t, s, newClock())
	blocked, done := make(chan struct{}), make(chan error, 1)
	newer := client(t, s, newClock())
	newer.lockStale = time.Hour
	tell := sync.OnceFunc(func() { close(blocked) })
	newer.note = func(string) { tell() }
	requests := 0
	var started atomic.Bool
	s.Before = func(http.ResponseWriter, *http.Request) bool {
		s.Lock()
		requests++
		now := requests == stop && started.CompareAndSwap(false, true)
		s.Unlock()
		if now {
			go func() {
				_, _, err := newer.Comment(context.Background(), 7, headA, section(31, "newer"))
				done <- err
			}()
			select {
			case <-blocked: // it waits for the older one
			case err := <-done:
				done <- err
			}
		}
		return false
	}
	if _, _, err := older.Comment(t.Context(), 7, headA, section(30, "older")); err != nil {
		t.Fatalf("stopped at request %d: %v", stop, err)
	}
	if !started.Load() {
		return
	}
	if err := <-done; err != nil {
		t.Fatalf("stopped at request %d: %v", stop, err)
	}
	if text := said(t, s); !strings.Contains(text, "newer") || strings.Contains(text, "older") {
		t.Errorf("stopped at request %d: %s", stop, text)
	}
	if s.Locked(7) {
		t.Errorf("stopped at request %d: the lock was left behind", stop)
	}
}

// A lock that a killed job left behind is broken after a while.
func TestLockLeftBehind(t *testing.T) {
	s, clock := hub(t), newClock()
	s.Reactions[7] = s.ID()
	post(t, client(t, s, clock), section(1, "x"), Created)
	var waited time.Duration
	for _, d := range clock.slept {
		waited += d
	}
	if waited != lockStale || s.Locked(7) {
		t.Errorf("waited %v", waited)
	}
}

// Whoever is so slow that its lock was broken says so.
func TestLockLost(t *testing.T) {
	s := hub(t)
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		s.Lock()
		defer s.Unlock()
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/comments") {
			s.Reactions[7] = s.ID()
		}
		return false
	}
	if _, _, err := client(t, s, newClock()).Comment(t.Context(), 7, headA, section(1, "x")); err == nil || !strings.Contains(err.Error(), "another run went on") {
		t.Errorf("%v", err)
	}
}

// The head moves on while an older run writes: a clear failure or nothing.
func TestHeadMovesOn(t *testing.T) {
	for stop := 1; stop <= 6; stop++ {
		s := hub(t)
		requests := 0
		s.Before = func(http.ResponseWriter, *http.Request) bool {
			s.Lock()
			defer s.Unlock()
			if requests++; requests == stop {
				s.Pulls[0].HeadSHA = headB
			}
			return false
		}
		got, _, err := client(t, s, newClock()).Comment(t.Context(), 7, headA, section(1, "x"))
		wrote := len(s.Comments) > 0
		switch {
		case !wrote && (err != nil || got != Stale):
			t.Errorf("moved at %d: %s, %v", stop, got, err)
		case wrote && err == nil && requests >= stop && got != Created:
			t.Errorf("moved at %d: %s", stop, got)
		case wrote && err != nil && !strings.Contains(err.Error(), "moved on"):
			t.Errorf("moved at %d: %v", stop, err)
		}
	}
}

func TestDeletedInBetween(t *testing.T) {
	s := hub(t)
	c := client(t, s, newClock())
	post(t, c, section(1, "x"), Created)
	deleted := false
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		s.Lock()
		defer s.Unlock()
		if r.Method == http.MethodPatch && !deleted {
			deleted, s.Comments = true, nil
		}
		return false
	}
	post(t, c, section(2, "y"), Created)
	if text := said(t, s); !strings.Contains(text, "### y") {
		t.Error(text)
	}
}

// Every answer can be lost after its request was done, and every request can
// fail before: one comment all the same.
func TestServerErrors(t *testing.T) {
	for _, lost := range []string{"POST /comments", "PATCH ", "DELETE ", "GET "} {
		s := hub(t)
		c := client(t, s, newClock())
		once := map[string]int{}
		s.After = func(r *http.Request) bool {
			s.Lock()
			defer s.Unlock()
			method, suffix, _ := strings.Cut(lost, " ")
			if r.Method != method || !strings.HasSuffix(r.URL.Path, suffix) {
				return false
			}
			once[lost]++
			return once[lost] == 1
		}
		post(t, c, section(1, "x"), Created)
		post(t, c, section(2, "y"), Updated)
		if text := said(t, s); !strings.Contains(text, "### y") {
			t.Errorf("%s: %s", lost, text)
		}
	}
	s := hub(t)
	clock := newClock()
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	_, _, err := client(t, s, clock).Comment(t.Context(), 7, headA, section(1, "x"))
	if err == nil || !strings.Contains(err.Error(), "503") || len(clock.slept) != maxAttempts-1 {
		t.Errorf("%v after %v", err, clock.slept)
	}
}

func TestRateLimits(t *testing.T) {
	for _, test := range []struct {
		name   string
		header map[string]string
		status int
		body   string
		wait   time.Duration
	}{
		{"429 with a time", map[string]string{"Retry-After": "17"}, 429, "", 18 * time.Second},
		{"403 with a time", map[string]string{"Retry-After": "30"}, 403, `{"message":"You have exceeded a secondary rate limit"}`, 31 * time.Second},
		{"secondary without a time", nil, 403, `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`, time.Minute},
		{"429 without a time", nil, 429, "", time.Minute},
		{"primary", map[string]string{"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(newClock().at.Add(5 * time.Minute).Unix())}, 403, `{"message":"API rate limit exceeded"}`, 5*time.Minute + time.Second},
	} {
		for _, method := range []string{"GET", "POST"} {
			t.Run(test.name+" "+method, func(t *testing.T) {
				s, clock := hub(t), newClock()
				limited := false
				s.Before = func(w http.ResponseWriter, r *http.Request) bool {
					if limited || r.Method != method {
						return false
					}
					limited = true
					for name, value := range test.header {
						w.Header().Set(name, value)
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(test.status)
					_, _ = w.Write([]byte(test.body))
					return true
				}
				post(t, client(t, s, clock), section(1, "x"), Created)
				if len(clock.slept) != 1 || clock.slept[0] != test.wait {
					t.Errorf("waited %v, want %v", clock.slept, test.wait)
				}
				said(t, s)
			})
		}
	}
}

// A limit that is used up by our own request is waited out before the next.
func TestRateLimitUsedUp(t *testing.T) {
	s, clock := hub(t), newClock()
	first := true
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if first {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", fmt.Sprint(clock.at.Add(90*time.Second).Unix()))
		}
		first = false
		return false
	}
	post(t, client(t, s, clock), section(1, "x"), Created)
	if len(clock.slept) != 1 || clock.slept[0] != 91*time.Second {
		t.Errorf("waited %v", clock.slept)
	}
}

func TestRateLimitTooLong(t *testing.T) {
	s, clock := hub(t), newClock()
	s.Before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "86400")
		w.WriteHeader(429)
		return true
	}
	_, _, err := client(t, s, clock).Comment(t.Context(), 7, headA, section(1, "x"))
	if err == nil || !strings.Contains(err.Error(), "run it again later") || clock.slept != nil {
		t.Errorf("%v after %v", err, clock.slept)
	}
}

func TestETags(t *testing.T) {
	s := hub(t)
	c := client(t, s, newClock())
	post(t, c, section(1, "x"), Created)
	before := len(s.Exchanges)
	post(t, c, section(1, "x"), Unchanged)
	for _, e := range s.Exchanges[before:] {
		if e.Request.Method == "GET" && e.Status != http.StatusNotModified {
			t.Errorf("%s %s: %d", e.Request.Method, e.Request.URL, e.Status)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*githubtest.Server)
		want  string
	}{
		{"no such pull request", func(s *githubtest.Server) { s.Pulls = nil }, "is not there"},
		{"no permission", func(s *githubtest.Server) {
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPost {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(403)
				_, _ = w.Write([]byte(`{"message":"Resource not accessible by integration ` + githubtest.Token + `"}`))
				return true
			}
		}, "pull-requests: write"},
		{"not JSON", func(s *githubtest.Server) {
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				_, _ = w.Write([]byte("<html>"))
				return true
			}
		}, "invalid character"},
		{"redirected elsewhere", func(s *githubtest.Server) {
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, "http://127.0.0.1:1/api/v3/x", http.StatusMovedPermanently)
				return true
			}
		}, "refused"},
		{"a post redirected", func(s *githubtest.Server) {
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPost {
					http.Redirect(w, r, r.URL.String(), http.StatusFound)
				}
				return r.Method == http.MethodPost
			}
		}, "302"},
	} {
		s := hub(t)
		test.spoil(s)
		_, _, err := client(t, s, newClock()).Comment(t.Context(), 7, headA, section(1, "x"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), githubtest.Token) {
			t.Errorf("%s: the token is in the error: %v", test.name, err)
		}
	}
	s := hub(t)
	c, _ := New(Config{API: s.URL, Token: "wrong-token", Repository: "octo/hexab", Author: "x", Sleep: newClock().sleep})
	if _, _, err := c.Comment(t.Context(), 7, headA, section(1, "x")); err == nil || !strings.Contains(err.Error(), "not valid") || strings.Contains(err.Error(), "wrong-token") {
		t.Errorf("a wrong token: %v", err)
	}
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

func TestPulls(t *testing.T) {
	s := hub(t)
	s.Pulls = append(s.Pulls, &githubtest.Pull{Number: 8, HeadOwner: "someone", Branch: "other", HeadSHA: headB, State: "open"},
		&githubtest.Pull{Number: 9, HeadOwner: "someone", Branch: "faster", HeadSHA: headA, State: "closed"},
		&githubtest.Pull{Number: 10, HeadOwner: "someone", Branch: "faster", HeadSHA: headA, State: "open", BaseOwner: "someone"})
	c := client(t, s, newClock())
	for _, e := range []Event{{Head: headA, Owner: "someone", Branch: "faster"}, {Head: headA}} {
		pulls, err := c.Pulls(t.Context(), e)
		if err != nil || len(pulls) != 1 || pulls[0].Number != 7 || pulls[0].Head != headA || pulls[0].Base != headB {
			t.Errorf("%+v: %+v, %v", e, pulls, err)
		}
	}
	if pulls, err := c.Pulls(t.Context(), Event{Head: headA, Owner: "nobody", Branch: "x"}); err != nil || len(pulls) != 0 {
		t.Errorf("%+v, %v", pulls, err)
	}
}

func TestChecks(t *testing.T) {
	s := hub(t)
	c := client(t, s, newClock())
	check := func(run int64, conclusion Conclusion) Check {
		return Check{Key: "pr", Run: run, Attempt: 1, Title: "t", Summary: "s", Conclusion: conclusion}
	}
	publish := func(k Check, want Posted) {
		t.Helper()
		if got, err := c.Publish(t.Context(), headA, k); err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	publish(check(5, Neutral), Created)
	publish(check(6, Failure), Updated)
	publish(check(5, Success), Superseded)
	publish(Check{Key: "phone", Run: 1, Attempt: 1, Title: "t", Summary: "s", Conclusion: Success}, Created)
	lost := false
	s.After = func(r *http.Request) bool {
		s.Lock()
		defer s.Unlock()
		if r.Method == "POST" && !lost {
			lost = true
			return true
		}
		return false
	}
	publish(Check{Key: "third", Run: 1, Attempt: 1, Title: "t", Summary: "s", Conclusion: Success}, Created)
	if len(s.Checks) != 3 || s.Checks[0].Conclusion != "failure" || s.Checks[0].Name != "hexab (pr)" {
		t.Errorf("%d checks, %+v", len(s.Checks), s.Checks[0])
	}
	if _, err := c.Publish(t.Context(), headA, Check{Key: "x", Summary: strings.Repeat("x", 70_000)}); err == nil {
		t.Error("a summary that is too long")
	}
}

func TestSummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary")
	line := []byte(strings.Repeat("x", 99) + "\n")
	text := bytes.Repeat(line, 6000)
	for range 3 {
		if err := AppendSummary(path, text); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || len(got) > MaxSummaryBytes || len(got) < MaxSummaryBytes-300 || !strings.HasSuffix(string(got), "\n_cut for length_\n") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
