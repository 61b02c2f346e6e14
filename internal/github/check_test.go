package github

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hexab/internal/github/githubtest"
)

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
