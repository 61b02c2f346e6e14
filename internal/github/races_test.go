package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hexab/internal/github/githubtest"
)

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
