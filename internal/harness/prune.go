package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/build"
	"hexab/internal/deploy"
	"hexab/internal/fetch"
)

// PruneOptions say what is removed from where.
type PruneOptions struct {
	// Device and Root are as in Options.
	Device, Root string
	// All removes everything that hexab has put there.
	All bool
}

// Prune removes from a device what this machine's newest builds and its models
// do not use.
func Prune(ctx context.Context, o PruneOptions) (err error) {
	w, err := Open()
	if err != nil {
		return err
	}
	if w.DeviceRoot, err = rootOf(o.Root); err != nil {
		return err
	}
	target, err := w.openTarget(ctx, o.Device, wants{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	t := &deploy.Target{Device: target.Device, Note: func(text string) { w.Note("%s", text) }}
	release, err := t.Lock(ctx, deploy.Self("prune"), false)
	if err != nil {
		return err
	}
	defer release()
	var keep deploy.Keep
	if !o.All {
		if keep.Bundles, err = build.Newest(w.Cache); err != nil {
			return err
		}
		keep.Models = w.modelHashes()
	}
	p, err := t.Prune(ctx, keep)
	if err != nil {
		return err
	}
	for _, e := range p.Removed {
		fmt.Fprintf(w.Out, "removed %s\n", e.Path)
	}
	for _, name := range p.Strange {
		fmt.Fprintf(w.Out, "left alone, not of hexab's making: %q\n", name)
	}
	fmt.Fprintf(w.Out, "%s: %d entries removed, %s freed\n", target.describe().Serial, len(p.Removed), p.Freed)
	return nil
}

// modelHashes are those of the manifest's models and of the stand-ins here.
func (w *Workspace) modelHashes() []string {
	var list []string
	lock := &fetch.LockFile{Path: filepath.Join(w.Root, "models.lock")}
	for _, m := range w.Manifest.Models {
		if m.SHA256 != "" {
			list = append(list, m.SHA256)
		} else if taken, found, err := lock.Find(m.Repo + "/" + m.File); err == nil && found {
			list = append(list, taken.SHA256)
		}
	}
	names, err := filepath.Glob(filepath.Join(w.Cache, "*", "*.sha256"))
	if err != nil {
		return list
	}
	for _, name := range names {
		if sum, err := os.ReadFile(name); err == nil && bench.IsSHA256(strings.TrimSpace(string(sum))) {
			list = append(list, strings.TrimSpace(string(sum)))
		}
	}
	return list
}
