package harness

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
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
	for i, block := range documentedWorkflows(t) {
		found, err := linter.Lint(fmt.Sprintf("docs/ci.md block %d", i+1), []byte(block), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			t.Error(e)
		}
	}
}

func readDocs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documentedWorkflows are those that docs/ci.md gives a fork: for a run, and for
// its report.
func documentedWorkflows(t *testing.T) []string {
	t.Helper()
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readDocs(t), -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) != 2 {
		t.Fatalf("docs/ci.md has %d workflows", len(blocks))
	}
	return blocks
}

// TestForksWorkflows holds what docs/ci.md gives a fork: five lines at most for
// a run, inputs that the action has, the permissions that the report needs, and
// that the report follows the run.
func TestForksWorkflows(t *testing.T) {
	var a action
	load(t, filepath.Join(root, "action.yml"), &a)
	run := ""
	for i, block := range documentedWorkflows(t) {
		var w workflow
		if err := yaml.Unmarshal([]byte(block), &w); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(block, "\n"); i == 0 && lines > 5 {
			t.Errorf("%d lines for a run:\n%s", lines, block)
		}
		if i == 0 {
			run = w.Name
		} else if !slices.Equal(w.follows(), []string{run}) || run == "" {
			t.Errorf("the report follows %q, the run is called %q", w.follows(), run)
		}
		for name, job := range w.Jobs {
			if len(job.Steps) != 1 || !strings.HasSuffix(job.Steps[0].Uses, "/hexab@main") {
				t.Errorf("%s: %+v", name, job.Steps)
			}
			for input, value := range job.Steps[0].With {
				if _, known := a.Inputs[input]; !known {
					t.Errorf("%s: the action has no input %s", name, input)
				}
				if input == "mode" && (value != "report" || job.Permissions["pull-requests"] != "write" || job.Permissions["checks"] != "write") {
					t.Errorf("%s: mode %s with %v", name, value, job.Permissions)
				}
			}
		}
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

type job struct {
	RunsOn      any               `yaml:"runs-on"`
	If          string            `yaml:"if"`
	Environment string            `yaml:"environment"`
	Permissions map[string]string `yaml:"permissions"`
	Strategy    struct {
		Matrix map[string]string `yaml:"matrix"`
	} `yaml:"strategy"`
	Concurrency struct {
		Group string `yaml:"group"`
	} `yaml:"concurrency"`
	Steps []step `yaml:"steps"`
}

type workflow struct {
	Name        string            `yaml:"name"`
	On          yaml.Node         `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]job    `yaml:"jobs"`
}

// follows are the names of the workflows after whose runs this one runs.
func (w workflow) follows() []string {
	var on struct {
		After struct {
			Workflows []string `yaml:"workflows"`
		} `yaml:"workflow_run"`
	}
	_ = w.On.Decode(&on) // a plain event follows none
	return on.After.Workflows
}

// uses gives the step that uses an action.
func (j job) uses(t *testing.T, action string) step {
	t.Helper()
	for _, s := range j.Steps {
		if strings.HasPrefix(s.Uses, action+"@") {
			return s
		}
	}
	t.Fatalf("no step uses %s", action)
	return step{}
}

// command gives the job's shell command, of which each has one.
func (j job) command(t *testing.T) step {
	t.Helper()
	var found []step
	for _, s := range j.Steps {
		if s.Run != "" {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d commands: %+v", len(found), found)
	}
	return found[0]
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

// mageTarget is one of mage's: its flags with their types, and how many arguments
// it takes.
type mageTarget struct {
	flags     map[string]string
	arguments int
}

// targetsOf lists mage's targets as the magefile has them.
func targetsOf(t *testing.T) map[string]mageTarget {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "magefile.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]mageTarget{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !f.Name.IsExported() {
			continue
		}
		name := strings.ToLower(f.Name.Name)
		if f.Recv != nil {
			name = strings.ToLower(types.ExprString(f.Recv.List[0].Type)) + ":" + name
		}
		found := mageTarget{flags: map[string]string{}}
		for _, field := range f.Type.Params.List {
			for _, param := range field.Names {
				switch kind := types.ExprString(field.Type); {
				case strings.HasPrefix(kind, "*"):
					found.flags[param.Name] = kind[1:]
				case kind != "context.Context":
					found.arguments++
				}
			}
		}
		targets[name] = found
	}
	return targets
}

// checkCommand wants one mage target with flags that it has.
func checkCommand(t *testing.T, where, command string, targets map[string]mageTarget) {
	t.Helper()
	words := strings.Fields(command)
	if strings.Contains(strings.TrimSpace(command), "\n") || len(words) < 4 || strings.Join(words[:3], " ") != "go tool mage" {
		t.Errorf("%s: %q is not one mage target", where, command)
		return
	}
	target, known := targets[strings.ToLower(words[3])]
	if !known {
		t.Errorf("%s: there is no target %s", where, words[3])
	}
	arguments := 0
	for _, word := range words[4:] {
		if !strings.HasPrefix(word, "-") {
			arguments++
			continue
		}
		name, _, ok := strings.Cut(word[1:], "=")
		if kind := target.flags[name]; kind == "" || !ok && kind != "bool" {
			t.Errorf("%s: %s has no flag %q", where, words[3], word)
		}
	}
	if known && arguments != target.arguments {
		t.Errorf("%s: %s takes %d arguments: %s", where, words[3], target.arguments, command)
	}
	if strings.Contains(command, "${{") {
		t.Errorf("%s: an expression in a shell command can inject: %s", where, command)
	}
}

var byCommit = regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)

func TestWorkflows(t *testing.T) {
	targets, docs := targetsOf(t), readDocs(t)
	write := map[string][]string{"pr": nil, "pr-report": {"checks", "pull-requests"}, "phone": {"checks", "pull-requests"}, "nightly": {"contents"}}
	for _, path := range workflowFiles(t) {
		var w workflow
		text := load(t, path, &w)
		if w.Name == "pr-report" && !slices.Equal(w.follows(), []string{"pr"}) || w.Name+".yml" != filepath.Base(path) {
			t.Errorf("%s is called %s and follows %q", path, w.Name, w.follows())
		}
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
			}
			// One target, and docs/ci.md says how the same runs locally.
			command := job.command(t).Run
			checkCommand(t, where, command, targets)
			row := "| " + strings.TrimSuffix(filepath.Base(path), ".yml") + " | " + name + " | `go tool mage " + strings.Fields(command)[3]
			at := strings.Index(docs, row)
			if at < 0 {
				t.Errorf("%s: docs/ci.md has no row %q", where, row)
				continue
			}
			line, _, _ := strings.Cut(docs[at:], "\n")
			if strings.Count(line, "`") != 2 {
				t.Errorf("%s: not one command: %s", where, line)
			}
			checkCommand(t, "docs/ci.md "+where, strings.Split(line, "`")[1], targets)
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
	docs := readDocs(t)
	if a.Runs.Using != "composite" {
		t.Fatal(a.Runs.Using)
	}
	targets := targetsOf(t)
	for name, input := range a.Inputs {
		if input.Description == "" || !strings.Contains(text, "inputs."+name) || !strings.Contains(docs, "`"+name+"`") {
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

// documented finds the commands of mage in a page: in code spans, and as lines
// of code blocks.
var documented = regexp.MustCompile("`(go tool mage [^`]+)`|(?m)^(?:[A-Z_]+=\\S+ )*(go tool mage [^#\\n`]+)")

// Every command that a page tells people to type has a target and its flags.
func TestDocumentedCommands(t *testing.T) {
	targets, flags := targetsOf(t), map[string]bool{}
	for _, target := range targets {
		for flag := range target.flags {
			flags[flag] = true
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, page := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range documented.FindAllStringSubmatch(string(text), -1) {
			command := strings.TrimSpace(m[1] + m[2])
			if strings.HasPrefix(command, "go tool mage -") { // mage's own, -l and -h
				continue
			}
			commands++
			checkCommand(t, filepath.Base(page), command, targets)
		}
		if name := filepath.Base(page); name == "ci.md" || name == "phone.md" {
			for _, m := range regexp.MustCompile("`-([A-Za-z]+)(=[^`]*)?`").FindAllStringSubmatch(string(text), -1) {
				if !flags[m[1]] {
					t.Errorf("%s: no target has the flag of %s", name, m[0])
				}
			}
		}
	}
	if commands < 40 {
		t.Errorf("%d commands were found", commands)
	}
}
