package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hexab/internal/artifact"
	"hexab/internal/bench"
	"hexab/internal/github"
	"hexab/internal/github/githubtest"
)

var headCommit = strings.Repeat("a", 40)

// pullArtifact is the artifact of a run of base against head.
func pullArtifact(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "artifact", "testdata", "pull.json"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// actions is a job in GitHub Actions: the server, the event's file, a folder of
// artifacts and the environment.
func actions(t testing.TB, artifacts map[string][]byte) (*githubtest.Server, CIReportOptions) {
	t.Helper()
	s := githubtest.Start(t)
	s.Pulls = []*githubtest.Pull{{Number: 7, HeadOwner: "someone", Branch: "faster", HeadSHA: headCommit, BaseSHA: strings.Repeat("b", 40), State: "open"}}
	dir := t.TempDir()
	event := filepath.Join(dir, "event.json")
	text := fmt.Sprintf(`{"workflow_run":{"id":50,"run_attempt":1,"name":"pr","head_sha":%q,"head_branch":"faster","event":"pull_request","conclusion":"success","head_repository":{"owner":{"login":"someone"}}}}`, headCommit)
	if err := os.WriteFile(event, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "artifacts")
	if err := os.MkdirAll(in, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range artifacts {
		path := filepath.Join(in, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	setenv(t, envToken, githubtest.Token)
	setenv(t, envAPI, s.URL)
	setenv(t, envRepository, githubtest.Owner+"/"+githubtest.Repo)
	setenv(t, envEvent, event)
	setenv(t, envSummary, filepath.Join(dir, "summary.md"))
	return s, CIReportOptions{In: in, Gate: "tg:-2%"}
}

func setenv(t testing.TB, name, value string) {
	if real, ok := t.(*testing.T); ok {
		real.Setenv(name, value)
	}
}

func onlyComment(t testing.TB, s *githubtest.Server) string {
	t.Helper()
	if len(s.Comments) != 1 {
		t.Fatalf("%d comments", len(s.Comments))
	}
	return s.Comments[0].Body
}

func TestReportOfARun(t *testing.T) {
	s, o := actions(t, map[string][]byte{"hexab-run/" + artifact.FileName: pullArtifact(t)})
	for range 2 { // a second time changes nothing
		if err := CIReport(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	text := onlyComment(t, s)
	for _, want := range []string{"hexab: 1 slower, 3 equivalent", "Gate tg:-2%: failed", "Head aaaaaaaaaaaa", "figures say nothing about a real phone", "seed 7"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(s.Checks) != 1 || s.Checks[0].Conclusion != "failure" || s.Checks[0].HeadSHA != headCommit || s.Checks[0].OutputTitle != "1 slower, 3 equivalent" {
		t.Errorf("%+v", s.Checks)
	}
	summary, err := os.ReadFile(os.Getenv(envSummary))
	if err != nil || !strings.Contains(string(summary), "1 slower") {
		t.Errorf("summary: %v", err)
	}
}

// The number of the pull request comes from GitHub, whatever the artifact says,
// and what an artifact can not be is said in the comment.
func TestReportOfNothing(t *testing.T) {
	for name, test := range map[string]struct {
		artifacts map[string][]byte
		want      string
	}{
		"no artifact":       {nil, "left no result that could be read; it ended with: success"},
		"not an artifact":   {map[string][]byte{"x/" + artifact.FileName: []byte(`{"pull":1}`)}, "artifact 1 of 1 was refused"},
		"another name":      {map[string][]byte{"x/run.json": pullArtifact(t)}, "left no result"},
		"too deep a folder": {map[string][]byte{"x/y/" + artifact.FileName: pullArtifact(t)}, "left no result"},
	} {
		s, o := actions(t, test.artifacts)
		if err := CIReport(t.Context(), o); err != nil {
			t.Fatal(name, err)
		}
		if text := onlyComment(t, s); !strings.Contains(text, "no result") || !strings.Contains(text, test.want) {
			t.Errorf("%s: %s", name, text)
		}
		if s.Checks[0].Conclusion != "failure" {
			t.Errorf("%s: %s", name, s.Checks[0].Conclusion)
		}
	}
}

func TestReportFollowsNoLink(t *testing.T) {
	s, o := actions(t, nil)
	outside := filepath.Join(t.TempDir(), artifact.FileName)
	if err := os.WriteFile(outside, pullArtifact(t), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{artifact.FileName: outside, "folder": filepath.Dir(outside)} {
		if err := os.Symlink(target, filepath.Join(o.In, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := CIReport(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if text := onlyComment(t, s); !strings.Contains(text, "no result") {
		t.Error(text)
	}
}

// Several devices, each with its artifact, make one table; one that is refused
// does not take the others along.
func TestReportOfAFleet(t *testing.T) {
	phone := func(name string) []byte {
		var a artifact.Artifact
		if err := json.Unmarshal(pullArtifact(t), &a); err != nil {
			t.Fatal(err)
		}
		a.Run.Device = bench.Device{Serial: name, Kind: "adb", Platform: bench.AndroidArm64, Properties: map[string]string{"model": "Phone " + name}}
		data, err := artifact.Encode(a.Run, a.Records)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	s, o := actions(t, map[string][]byte{
		"hexab-run-a/" + artifact.FileName: phone("A"), "hexab-run-b/" + artifact.FileName: phone("B"), "hexab-run-c/" + artifact.FileName: []byte("{}"),
	})
	if err := CIReport(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	text := onlyComment(t, s)
	for _, want := range []string{"2 slower, 6 equivalent", "| Phone A | llama3", "| Phone B | qwen2", "artifact 3 of 3 was refused", "adjusted for the 8 comparisons"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestReportOutsideAPullRequest(t *testing.T) {
	s, o := actions(t, map[string][]byte{artifact.FileName: pullArtifact(t)})
	event := os.Getenv(envEvent)
	text, _ := os.ReadFile(event)
	if err := os.WriteFile(event, bytes.Replace(text, []byte(`"pull_request"`), []byte(`"workflow_dispatch"`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CIReport(t.Context(), o); err != nil || len(s.Comments) != 0 || len(s.Checks) != 1 {
		t.Errorf("%v, %d comments, %d checks", err, len(s.Comments), len(s.Checks))
	}
}

func TestReportUsage(t *testing.T) {
	_, o := actions(t, map[string][]byte{artifact.FileName: pullArtifact(t)})
	for name, spoil := range map[string]func(*CIReportOptions){
		"no folder": func(o *CIReportOptions) { o.In = "" }, "a bad gate": func(o *CIReportOptions) { o.Gate = "x" },
		"no event": func(*CIReportOptions) { t.Setenv(envEvent, "") }, "no token": func(*CIReportOptions) { t.Setenv(envToken, "") },
	} {
		bad := o
		spoil(&bad)
		if err := CIReport(t.Context(), bad); ExitStatus(err) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A dry run needs neither token nor event, and sends nothing.
	s, o := actions(t, map[string][]byte{artifact.FileName: pullArtifact(t)})
	t.Setenv(envToken, "")
	t.Setenv(envEvent, "")
	o.DryRun = true
	if err := CIReport(t.Context(), o); err != nil || len(s.Exchanges) != 0 {
		t.Errorf("%v, %d requests", err, len(s.Exchanges))
	}
}

// A dry run prints to the letter what is then sent.
func TestDryRunPrintsWhatIsSent(t *testing.T) {
	s, o := actions(t, map[string][]byte{artifact.FileName: pullArtifact(t)})
	o.DryRun = true
	said := captured(t, &os.Stdout, func() error { return CIReport(t.Context(), o) })
	if len(s.Exchanges) != 0 {
		t.Errorf("a dry run made %d requests", len(s.Exchanges))
	}
	o.DryRun = false
	if err := CIReport(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	check := s.Checks[0]
	for _, want := range []string{onlyComment(t, s), fmt.Sprintf("%q of %s: %s: %s\n", check.Name, check.HeadSHA, check.Conclusion, check.OutputTitle)} {
		if !strings.Contains(said, want) {
			t.Errorf("the dry run did not say\n%s\nbut\n%s", want, said)
		}
	}
}

func TestGateOfArtifacts(t *testing.T) {
	_, o := actions(t, map[string][]byte{artifact.FileName: pullArtifact(t)})
	for conditions, want := range map[string]int{"tg:-2%": 3, "pp:-2%": 0, "tg:-20%": 0, "": 2, "x": 2, "pg:-2%": 2} {
		if err := CIGate(o.In, conditions); ExitStatus(err) != want {
			t.Errorf("%q: %v, want status %d", conditions, err, want)
		}
	}
}

// onlyAPI lets requests to the server pass and counts all others.
type onlyAPI struct {
	next    http.RoundTripper
	host    string
	foreign atomic.Int64
}

func (w *onlyAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != w.host || !strings.HasPrefix(r.URL.Path, "/api/v3/") {
		w.foreign.Add(1)
	}
	return w.next.RoundTrip(r)
}

// mutate changes one to four places of an artifact's JSON.
func mutate(rng *rand.Rand, data []byte) []byte {
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		panic(err)
	}
	if rng.IntN(3) == 0 {
		tree = mutateNode(rng, tree, 0)
	}
	for range rng.IntN(6) {
		mutateText(rng, tree.(map[string]any))
	}
	text, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	if rng.IntN(20) == 0 { // not even JSON
		at := rng.IntN(len(text))
		text = append(text[:at:at], append([]byte{byte(rng.IntN(256))}, text[at:]...)...)
	}
	return text
}

func mutateNode(rng *rand.Rand, node any, depth int) any {
	if depth > 1 && rng.IntN(12) == 0 {
		return hostileValue(rng)
	}
	switch n := node.(type) {
	case map[string]any:
		keys := make([]string, 0, len(n))
		for key := range n {
			keys = append(keys, key)
		}
		if len(keys) == 0 {
			return hostileValue(rng)
		}
		// Sorted keys make the seed mean something.
		for i := range keys {
			for j := i + 1; j < len(keys); j++ {
				if keys[j] < keys[i] {
					keys[i], keys[j] = keys[j], keys[i]
				}
			}
		}
		key := keys[rng.IntN(len(keys))]
		n[key] = mutateNode(rng, n[key], depth+1)
		return n
	case []any:
		if len(n) == 0 {
			return hostileValue(rng)
		}
		i := rng.IntN(len(n))
		n[i] = mutateNode(rng, n[i], depth+1)
		return n
	}
	return hostileValue(rng)
}

// mutateText puts hostile text where any text is allowed.
func mutateText(rng *rand.Rand, tree map[string]any) {
	run, ok := tree["run"].(map[string]any)
	records, okay := tree["records"].([]any)
	if !ok || !okay || len(records) == 0 {
		return
	}
	text := hostileValue(rng)
	for _, is := text.(string); !is; _, is = text.(string) {
		text = hostileValue(rng)
	}
	one, _ := records[rng.IntN(len(records))].(map[string]any)
	device, _ := run["device"].(map[string]any)
	if one == nil || device == nil {
		return
	}
	switch rng.IntN(7) {
	case 0:
		run["host"] = map[string]any{"cpu": text, text.(string): "x"}
	case 1:
		run["command"] = text
	case 2:
		device["properties"] = map[string]any{"model": text, text.(string): text}
	case 3:
		device["serial"] = text
	case 4:
		if list, _ := run["bundles"].([]any); len(list) > 0 {
			if b, _ := list[0].(map[string]any); b != nil {
				b["compiler"], b["source"], b["sdk"], b["flags"] = text, text, text, []any{text}
			}
		}
	case 5:
		one["outcome"], one["fault"], one["reason"], one["evidence"], one["log"] = "crashed", "variant", text, []any{text}, text
		delete(one, "results")
	case 6:
		if list, _ := run["models"].([]any); len(list) > 0 {
			if m, _ := list[0].(map[string]any); m != nil {
				m["file"] = text
			}
		}
	}
}

func hostileValue(rng *rand.Rand) any {
	texts := []string{"", "|", "```\n", "@everyone", "#1", "GH-1", "<script>alert(1)</script>", "</details>", "<!-- hexab:end -->", "-->", "](http://169.254.169.254/)", "https://example.com/x",
		"../../../etc/passwd", "\x00", "\x1b]0;x\x07", "\u202e", "::set-output name=x::y", "$(id)", "`id`", "pp64", "tg16", "ok", "crashed", "variant", "head:cpu", "base:cpu", "llama3", strings.Repeat("A", 3000), strings.Repeat("|", 5000)}
	switch rng.IntN(4) {
	case 0:
		return json.Number([]string{"0", "-1", "1", "1e308", "-1e308", "9223372036854775807", "18446744073709551616", "0.5", "1e-300", "100", "999999999999"}[rng.IntN(11)])
	case 1:
		return []any{nil, true, false, []any{}, map[string]any{}, map[string]any{texts[rng.IntN(len(texts))]: texts[rng.IntN(len(texts))]}}[rng.IntN(6)]
	}
	return texts[rng.IntN(len(texts))] + texts[rng.IntN(len(texts))]
}

// hostileArtifacts reports so many mutated artifacts and looks at what GitHub
// would get.
func hostileArtifacts(t *testing.T, count int) {
	good := pullArtifact(t)
	s, o := actions(t, map[string][]byte{artifact.FileName: good})
	w := &onlyAPI{next: http.DefaultTransport, host: strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/api/v3")}
	http.DefaultTransport = w
	defer func() { http.DefaultTransport = w.next }()
	t.Log("seed 20261130")
	var next, accepted atomic.Int64
	var posting sync.Mutex // one report at a time is on the way
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		mine := o
		mine.In = t.TempDir()
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < count && !t.Failed(); i = int(next.Add(1)) - 1 {
				data := mutate(rand.New(rand.NewPCG(20261130, uint64(i))), good)
				n, err := hostileArtifact(mine.In, data)
				if err != nil {
					t.Errorf("case %d: %v\n%.2000s", i, err, data)
				}
				accepted.Add(int64(n))
				if i%100 == 0 {
					posting.Lock()
					err := CIReport(t.Context(), mine)
					if err != nil || len(s.Comments) != 1 {
						t.Errorf("case %d: %v, %d comments", i, err, len(s.Comments))
					}
					posting.Unlock()
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d of %d were accepted", accepted.Load(), count)
	if n := accepted.Load(); n == 0 || n == int64(count) {
		t.Errorf("%d of %d were accepted: this tries nothing", n, count)
	}
	if n := w.foreign.Load(); n != 0 {
		t.Errorf("%d requests to something else than the API", n)
	}
}

// hostileArtifact lets an artifact be read and told of; it gives 1 when it was
// accepted.
func hostileArtifact(dir string, data []byte) (accepted int, err error) {
	if err := os.WriteFile(filepath.Join(dir, artifact.FileName), data, 0o644); err != nil {
		return 0, err
	}
	parts, notes, err := collect(dir)
	if err != nil {
		return 0, err
	}
	r, err := review(nil, parts, notes)
	if err != nil {
		return 0, err
	}
	r.Head = headCommit
	text := string(r.Markdown(github.MaxSectionBytes))
	if what := githubtest.Live(text); what != "" || len(text) > github.MaxSectionBytes {
		return 0, fmt.Errorf("%s is live, or %d bytes:\n%s", what, len(text), text)
	}
	return min(len(parts), 1), nil
}

func TestHostileArtifacts(t *testing.T) { hostileArtifacts(t, 60) }

func TestTenThousandHostileArtifacts(t *testing.T) {
	heavy(t)
	hostileArtifacts(t, 10_000)
}

// A workflow command in an artifact must not reach the job's log at the start
// of a line.
func TestNoWorkflowCommands(t *testing.T) {
	data := bytes.Replace(pullArtifact(t), []byte(`"a processor"`), []byte(`"x\n::add-mask::y"`), 1)
	_, o := actions(t, map[string][]byte{artifact.FileName: data, "b/" + artifact.FileName: []byte("::error::x")})
	for _, dry := range []bool{true, false} {
		o.DryRun = dry
		out := captured(t, &os.Stdout, func() error { return CIReport(t.Context(), o) })
		for _, line := range strings.Split(out, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "::") {
				t.Errorf("the log has %q", line)
			}
		}
	}
}

// captured gives what a target prints to one of the standard files.
func captured(t *testing.T, file **os.File, run func() error) string {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := *file
	*file = writer
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(reader)
		text <- string(all)
	}()
	err = run()
	*file = before
	if err := writer.Close(); err != nil {
		t.Error(err)
	}
	out := <-text
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}
