package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hexab/internal/artifact"
)

// fleet is the list of phones that docs/ci.md gives as an example of
// HEXAB_PHONES.
func fleet(t *testing.T) []map[string]string {
	t.Helper()
	m := regexp.MustCompile("`HEXAB_PHONES` to `(.*)`").FindStringSubmatch(readDocs(t))
	var list []map[string]string
	if m == nil || json.Unmarshal([]byte(m[1]), &list) != nil || len(list) < 2 {
		t.Fatalf("docs/ci.md has no example of HEXAB_PHONES: %q", m)
	}
	return list
}

// onPhone is the context of one job of phone.yml's matrix.
func onPhone(entry map[string]string) runner {
	r := runner{context: map[string]string{}}
	for key, value := range entry {
		r.context["matrix.phone."+key] = value
	}
	return r
}

// The documented list of phones makes a job for each phone: on its own runner,
// one at a time for each serial, with an artifact of its own that the report
// finds.
func TestMatrixOfPhones(t *testing.T) {
	var w workflow
	text := load(t, filepath.Join(root, ".github", "workflows", "phone.yml"), &w)
	measure, report := w.Jobs["measure"], w.Jobs["report"]
	if got := measure.Strategy.Matrix["phone"]; got != "${{ fromJSON(vars.HEXAB_PHONES) }}" {
		t.Errorf("the matrix is %q", got)
	}
	// Only code that somebody has read: a label names the very commit, or a
	// person starts it, and the environment may ask once more.
	if !strings.Contains(measure.If, "github.event.label.name == format('phone {0}', github.event.pull_request.head.sha)") || measure.Environment != "phone" {
		t.Errorf("measures if %q in the environment %q", measure.If, measure.Environment)
	}
	for what, access := range measure.Permissions {
		if access != "read" {
			t.Errorf("what runs a pull request's code may %s %s", access, what)
		}
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`matrix\.phone\.([a-z]+)`).FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
	}
	var seen []string
	for _, entry := range fleet(t) {
		for key := range entry {
			if !used[key] {
				t.Errorf("phone.yml does not use %s of %v", key, entry)
			}
		}
		for key := range used {
			if entry[key] == "" {
				t.Errorf("%v lacks %s", entry, key)
			}
		}
		r := onPhone(entry)
		if on := r.expand(fmt.Sprint(measure.RunsOn)); on != "[self-hosted "+entry["runner"]+"]" {
			t.Errorf("runs on %s", on)
		}
		group, name := r.expand(measure.Concurrency.Group), r.expand(measure.uses(t, "actions/upload-artifact").With["name"])
		if slices.Contains(seen, group) || slices.Contains(seen, name) || group != "phone-"+entry["serial"] {
			t.Errorf("%s and %s stand twice, or are not the phone's", group, name)
		}
		if matches, err := path.Match(report.uses(t, "actions/download-artifact").With["pattern"], name); err != nil || !matches {
			t.Errorf("the report does not take %s (%v)", name, err)
		}
		seen = append(seen, group, name)
		if command := measure.command(t); r.expand(command.Env["SERIAL"]) != entry["serial"] {
			t.Errorf("measures on %q", r.expand(command.Env["SERIAL"]))
		}
	}
}

// A pull request's own code leaves its run's JSON and nothing else.
func TestPullRequestsLeaveOneFile(t *testing.T) {
	var w workflow
	load(t, filepath.Join(root, ".github", "workflows", "pr.yml"), &w)
	for name, j := range w.Jobs {
		for _, s := range j.Steps {
			if strings.HasPrefix(s.Uses, "actions/upload-artifact@") && (name != "compare" || s.With["path"] != defaultArtifacts+"/"+artifact.FileName) {
				t.Errorf("%s uploads %s", name, s.With["path"])
			}
		}
	}
}

// workflows execute the commands of the workflows' jobs in a clone, as the
// documentation says that they run locally.
type workflows struct {
	dir  string
	jobs map[string]job // by workflow and job, as pr/compare
	runner
}

// upload keeps a job's artifact as download-artifact lays it out for the
// report.
func (w workflows) upload(t *testing.T, from, to string) {
	t.Helper()
	up, down := w.jobs[from].uses(t, "actions/upload-artifact").With, w.jobs[to].uses(t, "actions/download-artifact").With
	folder := filepath.Join(w.dir, filepath.FromSlash(down["path"]), w.expand(up["name"]))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(w.dir, filepath.FromSlash(up["path"])), filepath.Join(folder, artifact.FileName)); err != nil {
		t.Fatal(err)
	}
}

// TestWorkflowsRun executes what the jobs of pr, pr-report, phone and nightly
// execute, made short by more flags: a pull request gets its comment, a fleet of
// two phones one table, and a night its line of history. (The jobs check and
// test of pr are what runs this test.)
func TestWorkflowsRun(t *testing.T) {
	heavy(t)
	dir, git := clone(t)
	git("commit", "--quiet", "--allow-empty", "-m", "nothing")
	origin := filepath.Join(t.TempDir(), "origin.git")
	if out, err := exec.Command("git", "clone", "--quiet", "--bare", dir, origin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	git("remote", "set-url", "origin", origin)
	commit := func(ref string) string {
		out, err := exec.Command("git", "-C", dir, "rev-parse", ref).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	server, _ := actions(t, nil)
	server.Pulls[0].HeadSHA = commit("HEAD")
	ws := workflows{dir: dir, jobs: map[string]job{}}
	for _, file := range workflowFiles(t) {
		var w workflow
		load(t, file, &w)
		for name, j := range w.Jobs {
			ws.jobs[w.Name+"/"+name] = j
		}
	}
	context := map[string]string{
		"github.token": os.Getenv(envToken), "github.event.pull_request.head.sha": commit("HEAD"), "github.event.pull_request.base.sha": commit("HEAD^"),
	}
	do := func(name, more string, extra map[string]string) {
		t.Helper()
		ws.more, ws.context = more, map[string]string{}
		for _, from := range []map[string]string{context, extra} {
			for key, value := range from {
				ws.context[key] = value
			}
		}
		ws.step(t, ws.jobs[name].command(t), dir)
	}
	event := func(text string) {
		t.Helper()
		if err := os.WriteFile(os.Getenv(envEvent), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const short = " -arms=cpu:threads=1 -models=minicpm5-1b -tests=pp8,tg2 -rounds=2"

	do("pr/compare", short, nil)
	ws.upload(t, "pr/compare", "pr-report/report")
	event(fmt.Sprintf(`{"workflow_run":{"id":50,"run_attempt":1,"name":"pr","head_sha":%q,"head_branch":"faster","event":"pull_request","conclusion":"success","head_repository":{"owner":{"login":"someone"}}}}`, commit("HEAD")))
	do("pr-report/report", "", nil)
	if text := onlyComment(t, server); !strings.Contains(text, "minicpm5-1b") || strings.Contains(text, "no result") {
		t.Errorf("after pr:\n%s", text)
	}

	if err := os.RemoveAll(filepath.Join(dir, "results", "artifacts")); err != nil {
		t.Fatal(err)
	}
	phones := []string{"sim", "sim:old"} // in place of those on a shelf
	for i, entry := range fleet(t)[:len(phones)] {
		entry["serial"] = phones[i]
		do("phone/measure", short, onPhone(entry).context)
		ws.upload(t, "phone/measure", "phone/report")
	}
	event(fmt.Sprintf(`{"pull_request":{"number":7,"head":{"sha":%q,"ref":"faster","user":{"login":"someone"}}}}`, commit("HEAD")))
	ws.env = []string{"GITHUB_RUN_ID=60", "GITHUB_RUN_ATTEMPT=1", "GITHUB_WORKFLOW=phone", "GITHUB_EVENT_NAME=pull_request_target"}
	do("phone/report", "", nil)
	_, own, _ := strings.Cut(onlyComment(t, server), "key=phone ")
	own, _, _ = strings.Cut(own, "<!-- hexab:end -->")
	if strings.Count(own, "| minicpm5-1b (stand-in) | tg2 |") != 2 || !strings.Contains(own, "adjusted for the 4 comparisons") {
		t.Errorf("after phone:\n%s", own)
	}
	if len(server.Checks) != 2 {
		t.Errorf("%d check runs", len(server.Checks))
	}

	do("nightly/measure", " -arms=cpu:threads=1,cpu:threads=1 -models=minicpm5-1b -rounds=2", nil)
	text, err := exec.Command("git", "-C", origin, "show", "hexab-data:history.jsonl").Output()
	if err != nil || !strings.Contains(string(text), `"model":"minicpm5-1b"`) || !strings.Contains(string(text), commit("HEAD")) {
		t.Errorf("after nightly: %v\n%s", err, text)
	}
}
