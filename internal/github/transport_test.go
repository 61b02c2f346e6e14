package github

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hexab/internal/github/githubtest"
)

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
