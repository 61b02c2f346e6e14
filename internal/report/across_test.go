package report

import (
	"os"
	"path/filepath"
	"testing"

	"hexab/internal/across"
	"hexab/internal/compare"
)

func TestAcrossGolden(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "results", "published", "fastrpc-fork.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	published, err := across.ParsePublished("fastrpc-fork", text)
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]across.Set{}
	for _, s := range samples() {
		c, run := s.compare(t)
		sets[s.id] = across.FromRun(run, []compare.Part{{Run: run, Comparisons: c}})
	}
	later := sets["quiet"]
	later.Name, later.Figures = "later", append([]across.Figure(nil), later.Figures...)
	for i := range later.Figures {
		later.Figures[i].Speed *= 1.05
	}
	for name, r := range map[string]across.Beside{
		"across-runs":      across.Sets(sets["quiet"], later),
		"across-simulated": across.Sets(sets["quiet"], sets["simulated"]),
		"across-published": across.Sets(sets["holes"], published),
		"across-hostile":   across.Sets(sets["hostile"], sets["hostile"]),
	} {
		golden(t, name+"-0.txt", Across(r, Options{}))
		golden(t, name+"-80.txt", Across(r, Options{Width: 80}))
	}
}
