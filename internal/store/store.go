// Package store keeps a run: an append-only journal of launches and the files
// made from it, in one folder below results. The journal is the truth; what is
// in it is never changed, and what was written before a crash is found again.
package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"hexab/internal/bench"
)

// Names of the files in an archive.
const (
	RunFile     = "run.json"
	JournalFile = "launches.jsonl"
	LogFolder   = "logs"
	lockFile    = ".lock"
)

// Bounds on what is read.
const (
	MaxRunBytes     = 256 << 20
	MaxJournalBytes = 1 << 30
	MaxLineBytes    = 4 << 20
)

// Archive is a run's folder, open for appending by one process.
type Archive struct {
	dir string
	run bench.Run
	mu  sync.Mutex
	// attempts is the last attempt of each launch in the journal. Its records
	// are not kept in memory: a run of many hours stays as small as it began.
	attempts map[int]int
	journal  *os.File
	lock     *flock.Flock
	// Warnings are what was mended when the archive was opened.
	Warnings []string
}

// NewID names a run: its UTC time and eight digits that tell runs of the same
// second apart.
func NewID(created time.Time, seed uint64, salt []byte) string {
	h := sha256.New()
	_ = binary.Write(h, binary.LittleEndian, [2]uint64{uint64(created.UnixNano()), seed}) // a hash takes all
	h.Write(salt)
	return created.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(h.Sum(nil)[:4])
}

// Create makes a new run's archive below root. An existing folder is refused.
func Create(root string, run bench.Run) (*Archive, error) {
	if run.ID == "" || filepath.Base(run.ID) != run.ID || strings.HasPrefix(run.ID, ".") {
		return nil, fmt.Errorf("archive: %q can not name a folder", run.ID)
	}
	if err := checkRun(run); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	dir := filepath.Join(root, run.ID)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	if err := os.Mkdir(filepath.Join(dir, LogFolder), 0o755); err != nil {
		return nil, err
	}
	head, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	// The journal comes first: a folder with a head always has one.
	if err := os.WriteFile(filepath.Join(dir, JournalFile), nil, 0o644); err != nil {
		return nil, err
	}
	if err := renameio.WriteFile(filepath.Join(dir, RunFile), append(head, '\n'), 0o644); err != nil {
		return nil, err
	}
	if err := errors.Join(syncDir(dir), syncDir(root)); err != nil {
		return nil, err
	}
	return Open(dir)
}

// Open opens an archive for appending. A last line that a crash cut short is
// moved aside, with a warning; anything else that is wrong is an error.
func Open(dir string) (*Archive, error) {
	// A folder that is no archive is left as it is, without a lock.
	run, err := readRun(dir)
	if err != nil {
		return nil, err
	}
	if warning := misnamed(dir, run); warning != "" {
		return nil, errors.New(warning + ": name it so again before it is gone on with")
	}
	a := &Archive{dir: dir, lock: flock.New(filepath.Join(dir, lockFile))}
	if ok, err := a.lock.TryLock(); err != nil {
		return nil, fmt.Errorf("archive %s: %w", dir, err)
	} else if !ok {
		return nil, fmt.Errorf("archive %s: another process writes it (it holds %s)", dir, a.lock.Path())
	}
	if err := a.load(); err != nil {
		return nil, errors.Join(err, a.lock.Unlock())
	}
	return a, nil
}

func (a *Archive) load() error {
	var err error
	if a.run, err = readRun(a.dir); err != nil {
		return err
	}
	path := filepath.Join(a.dir, JournalFile)
	text, err := readBounded(path, MaxJournalBytes)
	if err != nil {
		return err
	}
	records, whole, err := parseJournal(path, text, a.run)
	if err != nil {
		return err
	}
	if whole < len(text) {
		aside, err := setAside(path, text[whole:])
		if err != nil {
			return err
		}
		if err := os.Truncate(path, int64(whole)); err != nil {
			return err
		}
		a.Warnings = append(a.Warnings, fmt.Sprintf("%s: the last line was cut short; it was moved to %s", path, aside))
	}
	a.attempts = map[int]int{}
	for _, record := range records {
		a.attempts[record.Seq] = record.Attempt
	}
	a.journal, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	return err
}

// setAside keeps torn bytes in a file of their own.
func setAside(path string, torn []byte) (string, error) {
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.torn-%d", path, n)
		f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(torn)
		return aside, errors.Join(err, f.Sync(), f.Close())
	}
}

// Read reads an archive without changing it. A torn last line is a warning.
func Read(dir string) (bench.Run, []bench.Record, []string, error) {
	run, err := readRun(dir)
	if err != nil {
		return run, nil, nil, err
	}
	path := filepath.Join(dir, JournalFile)
	text, err := readBounded(path, MaxJournalBytes)
	if err != nil {
		return run, nil, nil, err
	}
	records, whole, err := parseJournal(path, text, run)
	var warnings []string
	if warning := misnamed(dir, run); warning != "" {
		warnings = append(warnings, warning)
	}
	if err == nil && whole < len(text) {
		warnings = append(warnings, path+": the last line is cut short and was left out")
	}
	return run, records, warnings, err
}

func readRun(dir string) (bench.Run, error) {
	var run bench.Run
	path := filepath.Join(dir, RunFile)
	text, err := readBounded(path, MaxRunBytes)
	if err != nil {
		return run, err
	}
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return run, fmt.Errorf("%s: %w", path, err)
	}
	if head.Schema != bench.SchemaVersion {
		return run, fmt.Errorf("%s: schema %d; this hexab reads schema %d", path, head.Schema, bench.SchemaVersion)
	}
	if err := strict(text, &run); err != nil {
		return run, fmt.Errorf("%s: %w", path, err)
	}
	if err := checkRun(run); err != nil {
		return run, fmt.Errorf("%s: %w", path, err)
	}
	return run, nil
}

// checkRun refuses a head that its journal could not be read against.
func checkRun(run bench.Run) error {
	if run.Schema != bench.SchemaVersion {
		return fmt.Errorf("schema %d; this hexab writes schema %d", run.Schema, bench.SchemaVersion)
	}
	for i, l := range run.Plan {
		if l.Seq != i {
			return fmt.Errorf("the plan's entry %d calls itself launch %d", i, l.Seq)
		}
	}
	return nil
}

// misnamed tells that a folder is not called as its run; empty when it is.
func misnamed(dir string, run bench.Run) string {
	full, err := filepath.Abs(dir)
	if err != nil || filepath.Base(full) == run.ID {
		return ""
	}
	return fmt.Sprintf("%s holds the run %s", full, run.ID)
}

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("text after the end of the object")
	}
	return nil
}

func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s: larger than %d bytes", path, limit)
	}
	return text, err
}

// parseJournal reads the journal's lines. whole is the length of what is sound:
// less than the text when the last line is torn.
func parseJournal(path string, text []byte, run bench.Run) (records []bench.Record, whole int, err error) {
	attempts := map[int]int{}
	for number := 1; whole < len(text); number++ {
		end := bytes.IndexByte(text[whole:], '\n')
		last := end < 0 || whole+end+1 == len(text)
		if end < 0 {
			return records, whole, nil
		}
		line := text[whole : whole+end]
		var record bench.Record
		err := strict(line, &record)
		if err == nil {
			err = check(record, run, attempts)
		} else if last {
			return records, whole, nil // torn in the middle of a page, newline and all
		}
		if len(line) > MaxLineBytes {
			err = fmt.Errorf("longer than %d bytes", MaxLineBytes)
		}
		if err != nil {
			return records, whole, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		attempts[record.Seq] = record.Attempt
		records = append(records, record)
		whole += end + 1
	}
	return records, whole, nil
}

// check refuses a record that does not belong to the run's plan.
func check(record bench.Record, run bench.Run, attempts map[int]int) error {
	switch {
	case record.Seq < 0 || record.Seq >= len(run.Plan):
		return fmt.Errorf("launch %d is not in the plan of %d", record.Seq, len(run.Plan))
	case run.Plan[record.Seq] != record.Launch:
		return fmt.Errorf("launch %d is %+v here and %+v in the plan", record.Seq, record.Launch, run.Plan[record.Seq])
	case !record.Outcome.Valid():
		return fmt.Errorf("outcome %q is not known", record.Outcome)
	case record.Attempt <= attempts[record.Seq]:
		return fmt.Errorf("attempt %d of launch %d comes after attempt %d", record.Attempt, record.Seq, attempts[record.Seq])
	}
	for _, result := range record.Results {
		for _, ns := range result.SamplesNs {
			if ns <= 0 {
				return fmt.Errorf("a sample of %s took %d ns", result.Test, ns)
			}
		}
	}
	return nil
}

// Append adds a record and returns when it is on the disk.
func (a *Archive) Append(record bench.Record) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := check(record, a.run, a.attempts); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	line, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if len(line) > MaxLineBytes {
		return fmt.Errorf("journal: a record of %d bytes is larger than %d", len(line), MaxLineBytes)
	}
	before, err := a.journal.Stat()
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if _, err := a.journal.Write(append(line, '\n')); err != nil {
		// Half a line would spoil the next one.
		return fmt.Errorf("journal: %w", errors.Join(err, a.journal.Truncate(before.Size())))
	}
	if err := a.journal.Sync(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	a.attempts[record.Seq] = record.Attempt
	return nil
}

// Run is the run's head.
func (a *Archive) Run() bench.Run { return a.run }

// Dir is the archive's folder.
func (a *Archive) Dir() string { return a.dir }

// Attempts is how often a launch was tried so far.
func (a *Archive) Attempts(seq int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.attempts[seq]
}

// Records reads the journal's records so far.
func (a *Archive) Records() ([]bench.Record, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	path := filepath.Join(a.dir, JournalFile)
	text, err := readBounded(path, MaxJournalBytes)
	if err != nil {
		return nil, err
	}
	records, whole, err := parseJournal(path, text, a.run)
	if err == nil && whole < len(text) {
		err = fmt.Errorf("%s: something else has written to it: its last line is cut short", path)
	}
	return records, err
}

// WriteReport writes a file made from the journal, whole or not at all.
func (a *Archive) WriteReport(name string, data []byte) error {
	if filepath.Base(name) != name || name == RunFile || name == JournalFile || strings.HasPrefix(name, ".") {
		return fmt.Errorf("archive: %q can not name a report", name)
	}
	return renameio.WriteFile(filepath.Join(a.dir, name), data, 0o644)
}

// Log makes the log file of a launch and gives its path within the archive. A
// log that an interrupted attempt left behind stays beside it.
func (a *Archive) Log(seq, attempt int) (io.WriteCloser, string, error) {
	base := fmt.Sprintf("%03d", seq)
	if attempt > 1 {
		base = fmt.Sprintf("%03d-%d", seq, attempt)
	}
	name := base + ".log"
	for n := 2; ; n++ {
		f, err := os.OpenFile(filepath.Join(a.dir, LogFolder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, os.ErrExist) {
			return f, LogFolder + "/" + name, err
		}
		name = fmt.Sprintf("%s.%d.log", base, n)
	}
}

// WriteBeside writes a file into the folder of logs under a name relative to the
// archive, such as one made from a log's.
func (a *Archive) WriteBeside(name string, data []byte) error {
	if base, ok := strings.CutPrefix(name, LogFolder+"/"); !ok || filepath.Base(base) != base || strings.HasPrefix(base, ".") {
		return fmt.Errorf("archive: %q is no name in %s", name, LogFolder)
	}
	return os.WriteFile(filepath.Join(a.dir, filepath.FromSlash(name)), data, 0o644)
}

// Close gives the archive back.
func (a *Archive) Close() error {
	return errors.Join(a.journal.Close(), a.lock.Unlock())
}

// Find gives the folder of a run by its path, its name or a part of its name
// that no other has; "latest" is the last one made.
func Find(root, name string) (string, error) {
	if _, err := os.Stat(filepath.Join(name, RunFile)); err == nil {
		return name, nil
	}
	heads, err := filepath.Glob(filepath.Join(root, "*", RunFile))
	if err != nil {
		return "", err
	}
	sort.Strings(heads)
	var matches, all []string
	for _, head := range heads {
		dir := filepath.Dir(head)
		all = append(all, filepath.Base(dir))
		if filepath.Base(dir) == name {
			return dir, nil
		}
		if name != "" && (strings.HasPrefix(filepath.Base(dir), name) || strings.HasSuffix(filepath.Base(dir), name)) {
			matches = append(matches, dir)
		}
	}
	switch {
	case name == "latest" && len(heads) > 0:
		return filepath.Dir(heads[len(heads)-1]), nil
	case len(matches) == 1:
		return matches[0], nil
	case len(all) == 0:
		return "", fmt.Errorf("no run %q: there is none in %s", name, root)
	}
	return "", fmt.Errorf("no one run is %q; there are %s", name, strings.Join(all[max(0, len(all)-10):], ", "))
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
