package github

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hexab/internal/github/githubtest"
)

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
