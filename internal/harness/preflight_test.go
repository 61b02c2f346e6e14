package harness

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hexab/internal/bench"
)

func looksOf(t *testing.T, dir string) (looks []Look) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, preflightFile))
	if err == nil {
		err = json.Unmarshal(text, &looks)
	}
	if err != nil {
		t.Fatal(err)
	}
	return looks
}

// shareBuilds makes a cache folder that shares what was built and has nothing
// else: the phone in it is the test's own.
func shareBuilds(t *testing.T, w *Workspace) string {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"build", "bundles", "llama.cpp", "simsdk", "stand-ins", "models"} {
		if err := os.Symlink(filepath.Join(w.Cache, name), filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// Good news is kept for the next run; the memory is looked at each time.
func TestPreflight(t *testing.T) {
	heavy(t)
	w, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvCache, shareBuilds(t, w))
	for i, kept := range []bool{false, true} {
		_, _, dir, err := compareHere(t, t.Context(), Options{Arms: "cpu,cpu", Models: "minicpm5-1b", Rounds: 1, Seed: "7", Device: "sim", Tests: "pp16,tg4"})
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, l := range looksOf(t, dir) {
			names[l.Name] = true
			if !l.OK || l.Detail == "" || l.Name != "memory" && l.Kept.IsZero() == kept {
				t.Errorf("run %d: %+v", i, l)
			}
		}
		if len(names) != 3 || !names["libraries"] || !names["device list"] || !names["memory"] {
			t.Errorf("%v", names)
		}
	}
}

// An arm whose device is not there costs its own launches, with the reason;
// when no arm is fit, nothing is measured.
func TestUnfitArms(t *testing.T) {
	heavy(t)
	o := Options{Arms: "cpu,cpu:device=HTP9", Models: "minicpm5-1b", Rounds: 1, Seed: "7", Device: "sim", Tests: "pp16,tg4"}
	_, records, _, err := compareHere(t, t.Context(), o)
	var holes *HolesError
	if !errors.As(err, &holes) || len(records) != 2 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, r := range records {
		if r.Arm == "cpu" && r.Outcome != bench.OutcomeOK ||
			r.Arm != "cpu" && (r.Outcome != bench.OutcomeSessionError || r.Wall != 0 || !strings.Contains(r.Reason, "no HTP9")) {
			t.Errorf("%+v", r)
		}
	}
	o.Arms = "cpu:device=HTP9,cpu:device=HTP9"
	_, records, dir, err := compareHere(t, t.Context(), o)
	var unfit *UnfitError
	if !errors.As(err, &unfit) || ExitStatus(err) != 1 || len(records) != 0 || !strings.Contains(err.Error(), "no HTP9") {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if looks := looksOf(t, dir); len(looks) != 3 || !looks[0].OK || looks[1].OK || looks[1].Outcome != bench.OutcomeSessionError {
		t.Errorf("%+v", looks)
	}
}

func TestKeptChecks(t *testing.T) {
	name := filepath.Join(t.TempDir(), "preflight", "x.json")
	if _, _, ok := readChecks(name); ok {
		t.Error("nothing was read as something")
	}
	good := []Look{{Arm: "cpu", Name: "libraries", OK: true, Detail: "all there"}}
	if err := writeChecks(name, good); err != nil {
		t.Fatal(err)
	}
	if got, when, ok := readChecks(name); !ok || len(got) != 1 || time.Since(when) > time.Hour {
		t.Errorf("%+v, %v", got, when)
	}
	for _, text := range []string{"", "[]", "{", `[{"ok":false}]`} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := readChecks(name); ok {
			t.Errorf("%q was taken", text)
		}
	}
}
