package build

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hexab/internal/bench"
)

func TestNewest(t *testing.T) {
	cache := t.TempDir()
	dir := filepath.Join(cache, "bundles")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i, b := range []bench.Bundle{
		{Variant: "cpu", Platform: "sim", Source: "old"}, {Variant: "cpu", Platform: "sim", Source: "new"}, {Variant: "cpu", Platform: "android-arm64", Source: "phone"},
	} {
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, b.Source+".json")
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, now, now.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := Newest(cache)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, b := range list {
		if b.Source == "old" {
			t.Error("an older build is kept")
		}
	}
	if list, err := Newest(t.TempDir()); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}
