package harness

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"gopkg.in/yaml.v3"
)

const root = "../.."

func workflowFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	return files
}

func TestWorkflowsPassActionlint(t *testing.T) {
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{Shellcheck: tool("shellcheck"), Pyflakes: ""})
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.LintFiles(workflowFiles(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		t.Error(e)
	}
}

// tool is a program where it is installed.
func tool(name string) string {
	path, _ := exec.LookPath(name)
	return path
}

// step is what a workflow and a composite action have in common.
type step struct {
	Uses string            `yaml:"uses"`
	Run  string            `yaml:"run"`
	With map[string]string `yaml:"with"`
	Env  map[string]string `yaml:"env"`
	If   string            `yaml:"if"`
	// Shell and WorkingDirectory are a composite action's own.
	Shell            string `yaml:"shell"`
	WorkingDirectory string `yaml:"working-directory"`
}

type workflow struct {
	Name        string            `yaml:"name"`
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Permissions map[string]string `yaml:"permissions"`
		Steps       []step            `yaml:"steps"`
	} `yaml:"jobs"`
}

type action struct {
	Inputs map[string]struct {
		Description string `yaml:"description"`
		Default     string `yaml:"default"`
	} `yaml:"inputs"`
	Runs struct {
		Using string `yaml:"using"`
		Steps []step `yaml:"steps"`
	} `yaml:"runs"`
}

func load(t *testing.T, path string, into any) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(path, err)
	}
	return string(text)
}

// targetsOf lists mage's targets with their flags, as the magefile has them.
func targetsOf(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "magefile.go"))
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(([^)]*)\)`).FindAllStringSubmatch(string(text), -1) {
		name := strings.ToLower(m[1])
		targets[name] = strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(", ", r) })
	}
	return targets
}

// checkCommand wants one mage target with flags that it has.
func checkCommand(t *testing.T, where, command string, targets map[string][]string) {
	t.Helper()
	words := strings.Fields(command)
	if strings.Contains(strings.TrimSpace(command), "\n") || len(words) < 4 || strings.Join(words[:3], " ") != "go tool mage" {
		t.Errorf("%s: %q is not one mage target", where, command)
		return
	}
	flags, known := targets[strings.ToLower(words[3])]
	if !known {
		t.Errorf("%s: there is no target %s", where, words[3])
	}
	for _, word := range words[4:] {
		name, _, ok := strings.Cut(strings.TrimPrefix(word, "-"), "=")
		if !ok || !slices.Contains(flags, name) {
			t.Errorf("%s: %s has no flag %q", where, words[3], word)
		}
	}
	if strings.Contains(command, "${{") {
		t.Errorf("%s: an expression in a shell command can inject: %s", where, command)
	}
}

var byCommit = regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)

func TestWorkflows(t *testing.T) {
	targets := targetsOf(t)
	docs, err := os.ReadFile(filepath.Join(root, "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	write := map[string][]string{"pr": nil, "pr-report": {"checks", "pull-requests"}, "phone": {"checks", "pull-requests"}, "nightly": {"contents"}}
	for _, path := range workflowFiles(t) {
		var w workflow
		text := load(t, path, &w)
		if w.Permissions == nil {
			t.Errorf("%s: no permissions at the top", path)
		}
		for name, job := range w.Jobs {
			where := filepath.Base(path) + " " + name
			for what, access := range job.Permissions {
				if access == "write" && !slices.Contains(write[w.Name], what) {
					t.Errorf("%s: may write %s", where, what)
				}
			}
			for _, s := range job.Steps {
				if s.Uses != "" && !byCommit.MatchString(s.Uses) {
					t.Errorf("%s: %s is not pinned by its commit", where, s.Uses)
				}
				if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" && w.Name != "nightly" {
					t.Errorf("%s: leaves the token in the checkout", where)
				}
				if s.Run == "" {
					continue
				}
				checkCommand(t, where, s.Run, targets)
				if target := strings.Fields(s.Run)[3]; !strings.Contains(string(docs), "| "+strings.TrimSuffix(filepath.Base(path), ".yml")+" | "+name+" | `go tool mage ") || !strings.Contains(string(docs), target) {
					t.Errorf("%s: docs/ci.md does not say how to run %s locally", where, target)
				}
			}
		}
		for _, m := range regexp.MustCompile(`uses: \S+( # v[0-9.]+)?`).FindAllStringSubmatch(text, -1) {
			if m[1] == "" {
				t.Errorf("%s: %s: say which version the commit is", path, m[0])
			}
		}
	}
}

// The action's steps pass on every input, and nothing else than inputs.
func TestAction(t *testing.T) {
	var a action
	text := load(t, filepath.Join(root, "action.yml"), &a)
	docs, err := os.ReadFile(filepath.Join(root, "docs", "ci.md"))
	if err != nil || a.Runs.Using != "composite" {
		t.Fatal(err, a.Runs.Using)
	}
	targets := targetsOf(t)
	for name, input := range a.Inputs {
		if input.Description == "" || !strings.Contains(text, "inputs."+name) || !strings.Contains(string(docs), "`"+name+"`") {
			t.Errorf("input %s: not described, not used or not in docs/ci.md", name)
		}
	}
	for _, m := range regexp.MustCompile(`inputs\.([a-z]+)`).FindAllStringSubmatch(text, -1) {
		if _, known := a.Inputs[m[1]]; !known {
			t.Errorf("there is no input %s", m[1])
		}
	}
	for i, s := range a.Runs.Steps {
		if s.Uses != "" && !byCommit.MatchString(s.Uses) {
			t.Errorf("step %d: %s is not pinned by its commit", i, s.Uses)
		}
		if s.Run != "" {
			checkCommand(t, s.Run, s.Run, targets)
			for _, m := range regexp.MustCompile(`\$([A-Z]+)\b`).FindAllStringSubmatch(s.Run, -1) {
				if _, set := s.Env[m[1]]; !set && m[1] != "GITHUB" {
					t.Errorf("step %d: %s is not set", i, m[0])
				}
			}
		}
	}
}
