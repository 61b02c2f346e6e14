package github

import (
	"strings"
	"testing"
)

func TestDocument(t *testing.T) {
	d := Document{Head: headA, Sections: []Section{{Key: "phone", Run: 3, Attempt: 2, Body: "a\nb"}, {Key: "pr", Run: 12, Attempt: 1, Body: "c"}}}
	got, ok := ParseDocument(d.String())
	if !ok || !got.same(d) {
		t.Errorf("%+v", got)
	}
	if got, ok := ParseDocument(strings.ReplaceAll(d.String(), "\n", "\r\n")); !ok || !got.same(d) {
		t.Errorf("with other line ends: %+v", got)
	}
	if got, ok := ParseDocument(strings.Replace(d.String(), "a\nb", "a\nc", 1)); !ok || len(got.Sections) != 1 {
		t.Errorf("a section changed by hand counts: %+v", got)
	}
	for _, text := range []string{"", "x\n" + d.String(), "<!-- hexab:pull head=x -->\n", " " + d.String()} {
		if got, ok := ParseDocument(text); ok {
			t.Errorf("%q reads as %+v", text, got)
		}
	}
	for _, bad := range []Document{{Head: "x"}, {Head: headA, Sections: []Section{{Key: "A", Run: 1, Attempt: 1}}}, {Head: headA, Sections: []Section{{Key: "a", Run: 0, Attempt: 1}}},
		{Head: headA, Sections: []Section{{Key: "a", Run: 1, Attempt: 1, Body: "<!-- x -->"}}}, {Head: headA, Sections: []Section{{Key: "a", Run: 1, Attempt: 1, Body: strings.Repeat("x", MaxSectionBytes+1)}}}} {
		if bad.check() == nil {
			t.Errorf("%.80v is accepted", bad)
		}
	}
}

func TestMergeKeepsThree(t *testing.T) {
	var d Document
	d.Head = headA
	for i, key := range []string{"a", "b", "c", "d"} {
		d.Sections = append(d.Sections, Section{Key: key, Run: int64(10 + i), Attempt: 1, Body: "x"})
	}
	merged := merge(headA, []Document{d}, Section{Key: "e", Run: 1, Attempt: 1, Body: "x"})
	var keys []string
	for _, s := range merged.Sections {
		keys = append(keys, s.Key)
	}
	if strings.Join(keys, "") != "cde" {
		t.Errorf("%v", keys)
	}
	if len(merged.String()) > MaxCommentBytes {
		t.Error("too long")
	}
}

func FuzzParseDocument(f *testing.F) {
	f.Add(Document{Head: headA, Sections: []Section{{Key: "pr", Run: 1, Attempt: 1, Body: "x"}}}.String())
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := ParseDocument(text)
		if !ok {
			return
		}
		again, ok := ParseDocument(d.String())
		if !ok || !again.same(d) {
			t.Errorf("%q reads back as %q", d, again)
		}
	})
}

const event = `{"action":"completed","workflow_run":{"id":123,"run_attempt":2,"name":"PR run!","head_sha":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","head_branch":"faster",
"event":"pull_request","conclusion":"success","pull_requests":[{"number":99}],"head_repository":{"owner":{"login":"someone"}}},"more":{}}`

func TestParseEvent(t *testing.T) {
	e, err := ParseEvent([]byte(event), Own{})
	want := Event{Head: headA, Owner: "someone", Branch: "faster", Key: "pr-run", Run: 123, Attempt: 2, Trigger: "pull_request", Conclusion: "success"}
	if err != nil || e != want {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := ParseEvent([]byte(strings.Replace(event, `{"owner":{"login":"someone"}}`, "null", 1)), Own{}); err != nil || e.Owner != "" {
		t.Errorf("a fork that is gone: %+v, %v", e, err)
	}
	own := Own{Run: 5, Attempt: 1, Workflow: "phone", Trigger: "pull_request_target"}
	for text, want := range map[string]Event{
		`{"pull_request":{"number":3,"head":{"sha":"` + headA + `","ref":"faster","user":{"login":"someone"}}}}`: {Head: headA, Owner: "someone", Branch: "faster", Key: "phone", Run: 5, Attempt: 1, Trigger: own.Trigger},
		`{"inputs":{"commit":"` + headB + `"}}`: {Head: headB, Key: "phone", Run: 5, Attempt: 1, Trigger: own.Trigger},
	} {
		if e, err := ParseEvent([]byte(text), own); err != nil || e != want {
			t.Errorf("%s: %+v, %v", text, e, err)
		}
	}
	for _, bad := range []string{"", "{}", `{"inputs":{"commit":"HEAD"}}`, `{"inputs":null}`, "[]", `{"workflow_run":null}`, strings.Replace(event, "aaaa", "zzzz", 1), strings.Replace(event, `"id":123`, `"id":-1`, 1), strings.Replace(event, `"id":123`, `"id":"x"`, 1)} {
		if e, err := ParseEvent([]byte(bad), Own{}); err == nil {
			t.Errorf("%.60q reads as %+v", bad, e)
		}
	}
	for name, want := range map[string]string{"": "run", "pr": "pr", "Phone / Nightly": "phone-nightly", "<!-- -->": "run", strings.Repeat("a", 50): strings.Repeat("a", 32)} {
		if got := KeyOf(name); got != want || !keyPattern.MatchString(got) {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(event))
	f.Fuzz(func(t *testing.T, data []byte) {
		if e, err := ParseEvent(data, Own{Run: 1, Attempt: 1}); err == nil && (!headPattern.MatchString(e.Head) || !keyPattern.MatchString(e.Key)) {
			t.Errorf("%+v", e)
		}
	})
}
