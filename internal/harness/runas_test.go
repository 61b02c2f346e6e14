package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/phone"
)

// An app's own folder holds the store and runs the programs; adb's user, who
// may not enter it, leaves nothing behind on the way. A launch that hangs is
// ended as the app.
func TestAppPrivateRoot(t *testing.T) {
	heavy(t)
	defer func(home string, limit time.Duration) { phoneHome, launchTimeoutEmbedded = home, limit }(phoneHome, launchTimeoutEmbedded)
	phoneHome, launchTimeoutEmbedded = t.TempDir(), 30*time.Second
	o := shortRun(1, 1, "cool+drop:after=launch,nth=2")
	o.Root = "run-as:" + phone.DebuggableApp
	run, records, _, err := compareHere(t, t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 3 || records[1].Outcome != bench.OutcomeTransportLost || records[2].Outcome != bench.OutcomeOK || records[2].Before == nil {
		t.Errorf("%d records, %+v", len(records), records)
	}
	if !strings.Contains(run.Command, "-root="+o.Root) {
		t.Errorf("the root is not in %s", run.Command)
	}
	data := filepath.Join(phoneHome, "sim", "data")
	if found, _ := filepath.Glob(filepath.Join(data, "user/0", phone.DebuggableApp, "hexab/bundles/*/llama-bench")); len(found) != 1 {
		t.Errorf("the app's folder has %v", found)
	}
	o = shortRun(1, 1, "cool+hang:after=launch,nth=2")
	o.Root = "run-as:" + phone.DebuggableApp
	if _, records, _, _ = compareHere(t, t.Context(), o); len(records) != 2 || records[1].Outcome != bench.OutcomeTimeout {
		t.Errorf("%d records, %+v", len(records), records)
	}
	for _, all := range []bool{false, true} { // what is in use stays, then all goes
		if err := Prune(t.Context(), PruneOptions{Device: "sim", Root: o.Root, All: all}); err != nil {
			t.Fatal(err)
		}
		if kept, _ := filepath.Glob(filepath.Join(data, "user/0", phone.DebuggableApp, "hexab/store/*")); (len(kept) == 0) != all {
			t.Errorf("pruned with all=%v: %d files are left", all, len(kept))
		}
	}
	if left, err := os.ReadDir(filepath.Join(data, "local/tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for _, pid := range processesOf(phoneHome) {
		t.Errorf("process %d still runs", pid)
	}
	for app, want := range map[string]string{phone.ReleaseApp: "not debuggable", "com.example.absent": "unknown package"} {
		o.Root = "run-as:" + app
		if err := ABTest(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "android:debuggable") {
			t.Errorf("%s: %v", app, err)
		}
	}
	for _, wrong := range []string{"run-as:", "run-as:app", "run-as:com.example;reboot"} {
		o.Root = wrong
		if err := ABTest(t.Context(), o); ExitStatus(err) != 2 {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
