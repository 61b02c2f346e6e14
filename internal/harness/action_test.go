package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hexab/internal/artifact"
)

// expression is what workflows and actions take from the runner.
var expression = regexp.MustCompile(`\$\{\{ *(.+?) *\}\}`)

// runner does what the Actions runner does with shell commands: conditions,
// expressions, environment and working folder, and bash with the runner's
// options.
type runner struct {
	context map[string]string
	env     []string
	// more is put behind each command, to make it short.
	more string
}

// expand evaluates the expressions in a text: names, a comparison with a text,
// and the first of several names that is not empty.
func (r runner) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(m string) string {
		inner := expression.FindStringSubmatch(m)[1]
		if name, want, ok := strings.Cut(inner, " == "); ok {
			return strconv.FormatBool(r.context[name] == strings.Trim(want, "'"))
		}
		for _, name := range strings.Split(inner, " || ") {
			if value := r.context[name]; value != "" {
				return value
			}
		}
		return ""
	})
}

// holds evaluates a condition: comparisons with a text, joined by &&.
func (r runner) holds(t *testing.T, condition string) bool {
	t.Helper()
	for _, part := range strings.Split(condition, "&&") {
		part = strings.TrimSpace(part)
		name, want, equal := strings.Cut(part, " == ")
		other, not, unequal := strings.Cut(part, " != ")
		switch {
		case part == "" || part == "always()":
		case unequal:
			if r.context[other] == strings.Trim(not, "'") {
				return false
			}
		case !equal:
			t.Fatalf("a condition that this test does not know: %q", condition)
		case r.context[name] != strings.Trim(want, "'"):
			return false
		}
	}
	return true
}

// run executes the action's commands and gives how many there were.
func (r runner) run(t *testing.T, a action) (commands int) {
	t.Helper()
	for _, s := range a.Runs.Steps {
		if s.Run == "" || !r.holds(t, s.If) {
			continue
		}
		commands++
		if s.Shell != "bash" {
			t.Fatalf("%q: shell %q", s.Run, s.Shell)
		}
		r.step(t, s, r.expand(s.WorkingDirectory))
	}
	return commands
}

// step executes one command in a folder.
func (r runner) step(t *testing.T, s step, dir string) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "step.sh")
	if err := os.WriteFile(script, []byte(strings.TrimSpace(r.expand(s.Run))+r.more), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", script)
	command.Dir = dir
	command.Env = append(os.Environ(), r.env...)
	for name, value := range s.Env {
		command.Env = append(command.Env, name+"="+r.expand(value))
	}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.Run, err, out)
	}
	t.Logf("%s%s\n%s", s.Run, r.more, out)
}

// TestActionRuns executes the composite action as a fork's two workflows do: a
// run on a pull request's merge commit, then the report about its artifact.
func TestActionRuns(t *testing.T) {
	heavy(t)
	var a action
	load(t, filepath.Join(root, "action.yml"), &a)
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	fork, git := clone(t)
	git("commit", "--quiet", "--allow-empty", "-m", "nothing")
	temp := t.TempDir()
	server, _ := actions(t, nil)
	r := runner{context: map[string]string{"github.action_path": checkout, "github.token": os.Getenv(envToken), "runner.temp": temp}}
	r.env = []string{"GITHUB_WORKSPACE=" + fork, "RUNNER_TEMP=" + temp}
	for name, input := range a.Inputs {
		r.context["inputs."+name] = r.expand(input.Default)
	}
	for name, value := range map[string]string{"arms": "cpu", "models": "minicpm5-1b", "tests": "tg2", "rounds": "2"} {
		r.context["inputs."+name] = value
	}
	if n := r.run(t, a); n != 1 {
		t.Errorf("mode run has %d commands", n)
	}
	data, err := os.ReadFile(filepath.Join(temp, "hexab", artifact.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if measured, err := artifact.Decode(data); err != nil || len(measured.Run.Trees) != 2 || len(measured.Records) != 4 {
		t.Errorf("%v: %+v", err, measured)
	}
	// As download-artifact lays it out: a folder for each artifact.
	folder := filepath.Join(temp, "hexab", r.context["inputs.name"])
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(temp, "hexab", artifact.FileName), filepath.Join(folder, artifact.FileName)); err != nil {
		t.Fatal(err)
	}
	r.context["inputs.mode"] = "report"
	if n := r.run(t, a); n != 1 {
		t.Errorf("mode report has %d commands", n)
	}
	if text := onlyComment(t, server); !strings.Contains(text, "head:cpu") && !strings.Contains(text, "minicpm5-1b") {
		t.Errorf("the comment says nothing of the run:\n%s", text)
	}
	if len(server.Checks) != 1 {
		t.Errorf("%d check runs", len(server.Checks))
	}
}
