package store

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/plan"
)

func example(t testing.TB) bench.Run {
	t.Helper()
	launches, err := plan.New(1, 3, []string{"llama3"}, []string{"cpu", "cpu#2"})
	if err != nil {
		t.Fatal(err)
	}
	created := time.Date(2026, 11, 30, 6, 45, 0, 0, time.UTC)
	return bench.Run{Schema: bench.SchemaVersion, ID: NewID(created, 1, nil), Created: created, Plan: launches, Tests: []bench.Test{{Prompt: 64}}}
}

func record(run bench.Run, seq, attempt int) bench.Record {
	return bench.Record{Launch: run.Plan[seq], Attempt: attempt, Started: run.Created, Outcome: bench.OutcomeOK,
		Results: []bench.Result{{Test: bench.Test{Prompt: 64}, SamplesNs: []bench.Nanoseconds{1000, 2000}}}}
}

// filled is an archive with two records, closed.
func filled(t *testing.T) (string, bench.Run) {
	t.Helper()
	run := example(t)
	a, err := Create(t.TempDir(), run)
	if err != nil {
		t.Fatal(err)
	}
	for seq := range 2 {
		if err := a.Append(record(run, seq, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return a.Dir(), run
}

func TestRoundTrip(t *testing.T) {
	dir, run := filled(t)
	got, records, warnings, err := Read(dir)
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	if !reflect.DeepEqual(got, run) || !reflect.DeepEqual(records, []bench.Record{record(run, 0, 1), record(run, 1, 1)}) {
		t.Errorf("%+v\n%+v", got, records)
	}
	if _, err := Create(filepath.Dir(dir), run); err == nil {
		t.Error("an existing run was taken")
	}
}

// A crash can cut the last line at any byte.
func TestTornLastLine(t *testing.T) {
	dir, run := filled(t)
	path := filepath.Join(dir, JournalFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := bytes.IndexByte(whole, '\n') + 1
	for cut := second; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		a, err := Open(dir)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if records, err := a.Records(); err != nil || len(records) != 1 || (len(a.Warnings) == 1) != (cut > second) {
			t.Fatalf("cut at %d: %d records, %v, warnings %q", cut, len(records), err, a.Warnings)
		}
		if err := a.Append(record(run, 1, 1)); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if mended, _ := os.ReadFile(path); !bytes.Equal(mended, whole) {
			t.Fatalf("cut at %d: the mended journal differs", cut)
		}
	}
	torn, _ := filepath.Glob(path + ".torn-*")
	if len(torn) != len(whole)-second-1 {
		t.Errorf("%d torn lines kept of %d", len(torn), len(whole)-second-1)
	}
}

func TestLogsAreNeverOverwritten(t *testing.T) {
	dir, _ := filled(t)
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	seen := map[string]bool{}
	for range 3 {
		f, name, err := a.Log(0, 1)
		if err != nil || seen[name] {
			t.Fatal(name, err)
		}
		seen[name] = true
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOversizedRecordIsRefused(t *testing.T) {
	dir, run := filled(t)
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	big := record(run, 2, 1)
	big.Reason = strings.Repeat("x", MaxLineBytes)
	if err := a.Append(big); err == nil {
		t.Error("a record that can not be read back was taken")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, records, _, err := Read(dir); err != nil || len(records) != 2 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

func TestOneWriter(t *testing.T) {
	dir, _ := filled(t)
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "another process writes it") {
		t.Errorf("%v", err)
	}
}

func TestBadJournals(t *testing.T) {
	dir, run := filled(t)
	path := filepath.Join(dir, JournalFile)
	whole, _ := os.ReadFile(path)
	for _, test := range []struct{ from, to, want string }{
		{`"arm":"cpu"`, `"arm":"gpu"`, "in the plan"},
		{`"outcome":"ok"`, `"outcome":"fine"`, `outcome "fine" is not known`},
		{`"seq":0`, `"seq":99`, "launch 99 is not in the plan of 6"},
		{`"attempt":1`, `"attempt":0`, "attempt 0"},
		{`"samples_ns":[1000`, `"samples_ns":[-1`, "took -1 ns"},
		{`{`, `{"extra":1,`, "extra"},
		{`{`, ``, "launches.jsonl:1"},
	} {
		bad := bytes.Replace(whole, []byte(test.from), []byte(test.to), 1)
		if bytes.Equal(bad, whole) {
			bad = bytes.Replace(whole, []byte(strings.Replace(test.from, "cpu", "cpu#2", 1)), []byte(test.to), 1)
		}
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := Read(dir); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), JournalFile+":1") {
			t.Errorf("%s: %v", test.to, err)
		}
	}
	a := &Archive{run: run}
	if err := a.Append(bench.Record{Launch: run.Plan[0]}); err == nil {
		t.Error("a record without outcome was taken")
	}
}

func TestBadHeads(t *testing.T) {
	for _, test := range []struct {
		change func(*bench.Run)
		want   string
	}{
		{func(r *bench.Run) { r.Schema = 2 }, "schema 2"},
		{func(r *bench.Run) { r.Plan[1].Seq = 7 }, "entry 1 calls itself launch 7"},
		{func(r *bench.Run) { r.ID = "../x" }, "can not name a folder"},
	} {
		run, root := example(t), t.TempDir()
		test.change(&run)
		if _, err := Create(root, run); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v", err)
		}
		if left, _ := os.ReadDir(root); len(left) != 0 {
			t.Errorf("%s left %v behind", test.want, left)
		}
	}
	dir, _ := filled(t)
	path := filepath.Join(dir, RunFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(`"seq": 1,`), []byte(`"seq": 4,`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "launch 4") {
		t.Errorf("%v", err)
	}
}

// A folder that is no archive is not touched.
func TestNoArchive(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err == nil {
		t.Error("an empty folder was opened")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A renamed folder can be read, with a warning, and is not written to.
func TestRenamedFolder(t *testing.T) {
	dir, run := filled(t)
	other := filepath.Join(filepath.Dir(dir), "other")
	if err := os.Rename(dir, other); err != nil {
		t.Fatal(err)
	}
	if _, records, warnings, err := Read(other); err != nil || len(records) != 2 || len(warnings) != 1 || !strings.Contains(warnings[0], run.ID) {
		t.Error(warnings, err)
	}
	if _, err := Open(other); err == nil || !strings.Contains(err.Error(), run.ID) {
		t.Errorf("%v", err)
	}
}

func TestFind(t *testing.T) {
	dir, run := filled(t)
	root := filepath.Dir(dir)
	for _, name := range []string{dir, run.ID, run.ID[:10], run.ID[len(run.ID)-8:], "latest"} {
		if got, err := Find(root, name); err != nil || got != dir {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := Find(root, "nothing"); err == nil || !strings.Contains(err.Error(), run.ID) {
		t.Errorf("%v", err)
	}
}

func FuzzJournal(f *testing.F) {
	run := example(f)
	f.Add([]byte("{\"seq\":0}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		records, whole, err := parseJournal("journal", text, run)
		if whole > len(text) || err == nil && bytes.Count(text[:whole], []byte("\n")) != len(records) {
			t.Errorf("%d records in %d of %d bytes", len(records), whole, len(text))
		}
	})
}
