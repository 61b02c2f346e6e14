package github

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hexab/internal/github/githubtest"
)

// Whatever goes wrong, at whichever request, once or for good: in the end there
// is exactly one right comment, or an error that says what was being done and
// what came of it; never two comments, never the token, and the next run mends
// what is left.
func TestEveryStepCanFail(t *testing.T) {
	kinds := []struct {
		name   string
		status int
		header [2]string
	}{
		{"401", 401, [2]string{}}, {"403", 403, [2]string{}}, {"404", 404, [2]string{}}, {"410", 410, [2]string{}}, {"422", 422, [2]string{}},
		{"429", 429, [2]string{"Retry-After", "9"}}, {"403 that names a wait", 403, [2]string{"Retry-After", "9"}},
		{"500", 500, [2]string{}}, {"502", 502, [2]string{}}, {"503", 503, [2]string{}},
	}
	right, failed := 0, 0
	for _, kind := range kinds {
		for _, there := range []bool{false, true} {
			for _, forGood := range []bool{false, true} {
				if there && forGood { // nothing that the other three do not show
					continue
				}
				for step := 1; step <= 9; step++ {
					name := fmt.Sprintf("%s at request %d, for good %v, a comment there %v", kind.name, step, forGood, there)
					s, requests := hub(t), 0
					if there {
						s.Comments = append(s.Comments, &githubtest.Comment{ID: s.ID(), Login: s.Login, Number: 7, Body: Document{Head: headB, Sections: []Section{section(1, "old")}}.String()})
					}
					s.Before = func(w http.ResponseWriter, _ *http.Request) bool {
						s.Lock()
						requests++
						bad := requests == step || forGood && requests > step
						s.Unlock()
						if !bad {
							return false
						}
						w.Header().Set("Content-Type", "application/json")
						if kind.header[0] != "" {
							w.Header().Set(kind.header[0], kind.header[1])
						}
						w.WriteHeader(kind.status)
						_, _ = fmt.Fprintf(w, `{"message":"no, %s"}`, githubtest.Token)
						return true
					}
					_, _, err := client(t, s, newClock()).Comment(t.Context(), 7, headA, section(2, "new"))
					s.Before = nil
					if n := len(s.Comments); n > 1 || there && n != 1 {
						t.Errorf("%s: %d comments", name, n)
					}
					if err == nil {
						right++
						if text := said(t, s); !strings.Contains(text, "### new") {
							t.Errorf("%s: no error, and the comment is\n%s", name, text)
						}
					} else if failed++; strings.Contains(err.Error(), githubtest.Token) || !strings.Contains(err.Error(), "pull request 7") && !strings.Contains(err.Error(), "whose token") && !strings.Contains(err.Error(), "again later") {
						t.Errorf("%s: an unclear error: %v", name, err)
					}
					delete(s.Reactions, 7) // as a lock that was left behind is broken after a while
					if _, _, err := client(t, s, newClock()).Comment(t.Context(), 7, headA, section(3, "next")); err != nil {
						t.Errorf("%s: the next run: %v", name, err)
					}
					if text := said(t, s); !strings.Contains(text, "### next") {
						t.Errorf("%s: the next run left\n%s", name, text)
					}
				}
			}
		}
	}
	t.Logf("%d came right, %d failed clearly", right, failed)
	if right == 0 || failed == 0 {
		t.Error("this tries nothing")
	}
}

// A comment that somebody deletes before any one request is there again in the
// end.
func TestDeletedAtEveryStep(t *testing.T) {
	for step := 1; step <= 9; step++ {
		s := hub(t)
		c := client(t, s, newClock())
		post(t, c, section(1, "old"), Created)
		requests := 0
		s.Before = func(http.ResponseWriter, *http.Request) bool {
			s.Lock()
			defer s.Unlock()
			if requests++; requests == step {
				s.Comments = nil
			}
			return false
		}
		if _, _, err := c.Comment(t.Context(), 7, headA, section(2, "new")); err != nil {
			t.Fatalf("deleted before request %d: %v", step, err)
		}
		if requests < step { // it was done before
			continue
		}
		if len(s.Comments) == 0 && requests == step {
			continue // deleted after the last look: the comment was right until then
		}
		if text := said(t, s); !strings.Contains(text, "### new") {
			t.Errorf("deleted before request %d:\n%s", step, text)
		}
	}
}
