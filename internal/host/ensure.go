package host

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"hexab/internal/proc"
)

// manager is a distribution's package manager.
type manager struct {
	name, program string
	// install is the command line before the packages.
	install string
	// automatic tells that it is run for the user. Elsewhere the package
	// names are known but were not tried.
	automatic bool
}

var managers = []manager{
	{"apt", "apt-get", "apt-get install -y --no-install-recommends", true},
	{"dnf", "dnf", "dnf install", false},
	{"pacman", "pacman", "pacman -S --needed", false},
	{"apk", "apk", "apk add", false},
}

// MissingError is what the machine lacks and could not be got.
type MissingError struct {
	Missing []Found
	// Commands are the exact command lines that would get it, in order; empty
	// when they are not known.
	Commands []string
	// Reason is why they were not run.
	Reason string
}

// Error lists what is missing and what to type.
func (e *MissingError) Error() string {
	var b strings.Builder
	b.WriteString("this machine lacks:")
	for _, f := range e.Missing {
		fmt.Fprintf(&b, "\n  %s (%s): %s", f.Need.Tool, f.Need.Why, f.Problem)
	}
	if e.Reason != "" {
		b.WriteString("\n" + e.Reason)
	}
	if len(e.Commands) > 0 {
		fmt.Fprintf(&b, "\nto install it: %s", strings.Join(e.Commands, " && "))
	}
	return b.String()
}

// Ensure checks the machine and gets what is missing: as root on Debian and
// Ubuntu by apt-get, with one line that says what; for another user by sudo
// after asking on the terminal. Without a terminal, and on other
// distributions, it is a *MissingError with the exact command.
func (m Machine) Ensure(ctx context.Context, cache string, needs ...Need) (Report, error) {
	report, err := m.Check(ctx, cache, needs...)
	missing := report.Missing()
	if err != nil || len(missing) == 0 {
		return report, err
	}
	pm, known := managerOf(report.Manager)
	if !known {
		return report, &MissingError{Missing: missing, Reason: "no known package manager was found; install these by hand"}
	}
	packages := packagesFor(missing, report.Manager)
	failed := &MissingError{Missing: missing, Commands: report.Commands(missing)}
	switch {
	case !pm.automatic:
		return report, failed
	case report.Root:
		m.note("installing %s (for %s)", strings.Join(packages, " "), tools(missing))
	case m.Confirm == nil:
		failed.Reason = "not root, and no terminal to ask on"
		return report, failed
	default:
		if _, err := m.lookPath("sudo"); err != nil {
			failed.Reason = "not root, and there is no sudo: run this as root"
			failed.Commands = stripSudo(failed.Commands)
			return report, failed
		}
		if !m.Confirm(fmt.Sprintf("Install %s (for %s) with sudo %s?", strings.Join(packages, " "), tools(missing), pm.program)) {
			failed.Reason = "not installed, as answered"
			return report, failed
		}
	}
	for _, line := range failed.Commands {
		if err := m.apt(ctx, strings.Fields(line)); err != nil {
			failed.Reason = err.Error()
			return report, failed
		}
	}
	report, err = m.Check(ctx, cache, needs...)
	if missing = report.Missing(); err == nil && len(missing) > 0 {
		err = &MissingError{Missing: missing, Reason: "the packages were installed, but this remains: the distribution's are too old?"}
	}
	return report, err
}

// Commands are the command lines that install what is missing, in order; none
// where the package manager is not known.
func (r Report) Commands(missing []Found) []string {
	pm, known := managerOf(r.Manager)
	packages := packagesFor(missing, r.Manager)
	if !known || len(packages) == 0 {
		return nil
	}
	sudo := ""
	if !r.Root {
		sudo = "sudo "
	}
	commands := []string{sudo + pm.install + " " + strings.Join(packages, " ")}
	if pm.automatic {
		commands = append([]string{sudo + pm.program + " update"}, commands...)
	}
	return commands
}

func managerOf(name string) (manager, bool) {
	at := slices.IndexFunc(managers, func(p manager) bool { return p.name == name })
	if at < 0 {
		return manager{}, false
	}
	return managers[at], true
}

func (m Machine) note(format string, args ...any) {
	if m.Note != nil {
		m.Note(fmt.Sprintf(format, args...))
	}
}

func tools(missing []Found) string {
	names := make([]string, len(missing))
	for i, f := range missing {
		names[i] = f.Need.Tool
	}
	return strings.Join(names, ", ")
}

func packagesFor(missing []Found, manager string) []string {
	var packages []string
	for _, f := range missing {
		for _, p := range f.Need.Packages[manager] {
			if !slices.Contains(packages, p) {
				packages = append(packages, p)
			}
		}
	}
	return packages
}

func stripSudo(commands []string) []string {
	stripped := make([]string, len(commands))
	for i, c := range commands {
		stripped[i] = strings.TrimPrefix(c, "sudo ")
	}
	return stripped
}

// apt runs one command of the package manager without questions of its own.
// A signal must not tear it up half-way, so it gets time to end well.
func (m Machine) apt(ctx context.Context, words []string) error {
	env := os.Environ()
	if words[0] == "sudo" {
		words = append([]string{"sudo", "DEBIAN_FRONTEND=noninteractive"}, words[1:]...)
	} else {
		env = append(env, "DEBIAN_FRONTEND=noninteractive")
	}
	_, err := m.run(ctx, proc.Command{Path: words[0], Args: words[1:], Env: env, Stdin: m.Input, Stdout: m.Output, Stderr: m.Output})
	return err
}
