package harness

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// licence is what a file may be used under.
type licence struct {
	Name, Licence, Page string
	// Needed tells that a user has to accept it before the download.
	Needed bool
}

// key is what is remembered of an acceptance: another licence under the same
// name is asked for again.
func (l licence) key() string { return l.Name + "\t" + l.Licence }

// LicenceError is licences that nobody has accepted.
type LicenceError struct{ Names []string }

// Error says how to accept them.
func (e *LicenceError) Error() string {
	return fmt.Sprintf("not fetched, since their licences were not accepted: %s; read them, then run: go tool mage fetch -acceptLicences", strings.Join(e.Names, ", "))
}

func (w *Workspace) licencesPath() string { return filepath.Join(w.Cache, "accepted-licences") }

// accept asks once for the licences that need it and gives the items that may
// be fetched. What is here already was accepted when it came. The error names
// the others.
func (w *Workspace) accept(items []item, accepted bool) ([]item, error) {
	known, err := w.acceptedLicences()
	if err != nil {
		return nil, err
	}
	var open []licence
	for _, it := range items {
		if it.licence.Needed && !known[it.licence.key()] && !w.here(it) {
			open = append(open, it.licence)
		}
	}
	if len(open) == 0 {
		return items, nil
	}
	if !accepted {
		accepted = w.askLicences(open)
	}
	if accepted {
		return items, w.rememberLicences(open)
	}
	refused := map[string]bool{}
	failed := &LicenceError{}
	for _, l := range open {
		refused[l.key()] = true
		failed.Names = append(failed.Names, fmt.Sprintf("%s (%s, %s)", l.Name, l.Licence, l.Page))
	}
	var rest []item
	for _, it := range items {
		if !refused[it.licence.key()] {
			rest = append(rest, it)
		}
	}
	return rest, failed
}

func (w *Workspace) here(it item) bool {
	return exists(it.request.Dest) || it.sdk != nil && w.sdkReady(it.sdk)
}

func (w *Workspace) askLicences(open []licence) bool {
	confirm := w.asks()
	if confirm == nil {
		return false
	}
	for _, l := range open {
		fmt.Fprintf(w.Err, "  %s: %s, %s\n", l.Name, l.Licence, l.Page)
	}
	return confirm("Do you accept these licences?")
}

// acceptedLicences reads what was accepted: date, name and licence by line.
func (w *Workspace) acceptedLicences() (map[string]bool, error) {
	known := map[string]bool{}
	data, err := os.ReadFile(w.licencesPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if _, key, ok := strings.Cut(lines.Text(), "\t"); ok {
			known[key] = true
		}
	}
	return known, lines.Err()
}

func (w *Workspace) rememberLicences(list []licence) error {
	if err := os.MkdirAll(w.Cache, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(w.licencesPath(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	for _, l := range list {
		if _, err := fmt.Fprintf(f, "%s\t%s\n", time.Now().UTC().Format(time.RFC3339), l.key()); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}
