package deploy

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hexab/internal/bench"
	"hexab/internal/device"
)

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPrune(t *testing.T) {
	d := newDevice(t)
	target, kept, _, keptDir := deployed(t, d)
	old, local := bundle(t, "fastrpc", map[string]string{"lib/a.so": "aaaa", "lib/b.so": "bbbbbb"})
	oldDir, _, err := target.Bundle(t.Context(), old, local)
	if err != nil {
		t.Fatal(err)
	}
	model := strings.Repeat("ab", 32)
	for _, sum := range []string{model, strings.Repeat("cd", 32)} {
		put(t, filepath.Join(d.root, "store", sum), "model")
		put(t, filepath.Join(d.root, "models", "llama3-"+sum[:12]+".gguf"), "model")
	}
	put(t, filepath.Join(d.root, "store", ".tmp-0123456789abcdef"), "half")
	put(t, filepath.Join(d.root, "bundles", strings.Repeat("e", 64)+".making", "x"), "half")
	put(t, filepath.Join(d.root, "store", "notes of mine.txt"), "mine")
	// Links lead out of hexab's folder: where hexab's own names are expected,
	// inside a bundle, and under names of somebody else.
	outside := t.TempDir()
	put(t, filepath.Join(outside, "precious", "file"), "precious")
	for _, name := range []string{"bundles/" + strings.Repeat("f", 64), "store/" + strings.Repeat("9", 64), "models/qwen1-111111111111.gguf", "models/link"} {
		if err := os.Symlink(filepath.Join(outside, "precious"), filepath.Join(d.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "precious"), filepath.Join(oldDir, "inside")); err != nil {
		t.Fatal(err)
	}
	p, err := target.Prune(t.Context(), Keep{Bundles: []bench.Bundle{kept}, Models: []string{model}})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(p.Strange)
	if got := strings.Join(p.Strange, ";"); got != "models/link;store/notes of mine.txt" {
		t.Errorf("left alone: %s", got)
	}
	if len(p.Removed) != 9 || p.Freed != 6+5+4 {
		t.Errorf("%d removed, %d bytes: %+v", len(p.Removed), p.Freed, p.Removed)
	}
	if err := target.Verify(t.Context(), kept); err != nil {
		t.Error(err)
	}
	if got := names(t, filepath.Join(d.root, "bundles")); len(got) != 1 || got[0] != filepath.Base(keptDir) {
		t.Errorf("%q", got)
	}
	if got := names(t, filepath.Join(d.root, "store")); len(got) != 4 { // two of the bundle, the model, the notes
		t.Errorf("%q", got)
	}
	if text, err := os.ReadFile(filepath.Join(outside, "precious", "file")); err != nil || string(text) != "precious" {
		t.Errorf("a link was followed: %v", err)
	}
	// A second time there is nothing to do, and a third one on an empty device.
	if p, err := target.Prune(t.Context(), Keep{Bundles: []bench.Bundle{kept}, Models: []string{model}}); err != nil || len(p.Removed) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := (&Target{Device: newDevice(t)}).Prune(t.Context(), Keep{}); err != nil || len(p.Removed) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// A folder of hexab's that leads elsewhere is not cleaned.
func TestPruneRefusesLinkedFolders(t *testing.T) {
	for _, name := range []string{"", "store", "bundles", "models"} {
		d := newDevice(t)
		outside := t.TempDir()
		victim := filepath.Join(outside, strings.Repeat("a", 64))
		put(t, victim, "precious")
		link := filepath.Join(d.root, name)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if name == "" {
			put(t, filepath.Join(outside, "store", strings.Repeat("a", 64)), "precious")
		}
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
		if _, err := (&Target{Device: d}).Prune(t.Context(), Keep{}); err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := os.Stat(victim); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// cutDevice loses the last line of what a script prints.
type cutDevice struct{ *shellDevice }

func (d cutDevice) Run(ctx context.Context, c device.Command) (device.Exit, error) {
	out := c.Stdout
	var all bytes.Buffer
	c.Stdout = &all
	exit, err := d.shellDevice.Run(ctx, c)
	lines := bytes.SplitAfter(all.Bytes(), []byte("\n"))
	_, _ = out.Write(bytes.Join(lines[:max(0, len(lines)-2)], nil))
	return exit, err
}

// A listing that ends early removes nothing.
func TestPruneNeedsTheWholeList(t *testing.T) {
	d := newDevice(t)
	_, _, _, dir := deployed(t, d)
	if p, err := (&Target{Device: cutDevice{d}}).Prune(t.Context(), Keep{}); err == nil || len(p.Removed) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
