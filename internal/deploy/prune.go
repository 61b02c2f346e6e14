package deploy

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/device"
)

// Keep names what a device's store is to keep.
type Keep struct {
	// Bundles are the bundles to keep, with their files.
	Bundles []bench.Bundle
	// Models are the hashes of the model files to keep.
	Models []string
}

// Entry is one thing in hexab's folder on a device.
type Entry struct {
	// Path is relative to the device's root.
	Path string
	// Size is a store file's; zero for anything else.
	Size bench.Bytes
}

// Pruned is what was removed, and what was left alone since it is not of
// hexab's making.
type Pruned struct {
	Removed []Entry
	Freed   bench.Bytes
	Strange []string
}

// The names that hexab gives on a device. What is called otherwise is left
// alone.
var (
	storeName  = regexp.MustCompile(`^([0-9a-f]{64}|\.tmp-[0-9A-Za-z]{16,64})$`)
	bundleName = regexp.MustCompile(`^([0-9a-f]{64})(\.making)?$`)
	modelName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}-([0-9a-f]{12})\.gguf$`)
	listedLine = regexp.MustCompile(`^(store|bundles|models) ([0-9]+) (.*)$`)
)

// Prune removes bundles, store files and model names that keep does not name.
// Links are removed as links: nothing that they lead to is touched, and a root
// or a folder below it that is itself a link is refused. The caller holds the
// device's lock.
func (t *Target) Prune(ctx context.Context, keep Keep) (Pruned, error) {
	var p Pruned
	entries, err := t.entries(ctx)
	if err != nil {
		return p, err
	}
	files, ids := map[string]bool{}, map[string]bool{}
	for _, b := range keep.Bundles {
		id, err := b.ID()
		if err != nil {
			return p, err
		}
		ids[string(id)] = true
		for _, f := range b.Files {
			files[f.SHA256] = true
		}
	}
	for _, sum := range keep.Models {
		files[sum] = true
	}
	var remove []string
	for _, e := range entries {
		folder, name := path.Split(e.Path)
		kept, ours := false, false
		switch folder {
		case "store/":
			kept, ours = files[name], storeName.MatchString(name)
		case "bundles/":
			ours = bundleName.MatchString(name)
			kept = ids[name]
		case "models/":
			if m := modelName.FindStringSubmatch(name); m != nil {
				ours = true
				kept = slices.ContainsFunc(keep.Models, func(sum string) bool { return strings.HasPrefix(sum, m[1]) })
			}
		}
		switch {
		case !ours:
			p.Strange = append(p.Strange, e.Path)
		case !kept:
			p.Removed = append(p.Removed, e)
			p.Freed += e.Size
			remove = append(remove, device.Quote(t.path(e.Path)))
		}
	}
	for batch := range slices.Chunk(remove, 100) {
		// rm does not follow links, neither those named nor those found inside.
		if _, err := t.ask(ctx, "remove what is not used", "rm -rf -- "+strings.Join(batch, " ")); err != nil {
			return p, err
		}
	}
	return p, nil
}

// entries lists hexab's folders on the device.
func (t *Target) entries(ctx context.Context) ([]Entry, error) {
	root := device.Quote(t.Device.Root())
	script := fmt.Sprintf(`cd %s 2>/dev/null || exit 0
for d in . store bundles models; do
  if [ -L "$d" ] || { [ "$d" = . ] && [ -L %s ]; }; then echo "%slink $d"; exit 0; fi
done
for f in store/* store/.tmp-* bundles/* models/*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  n=0; [ -f "$f" ] && [ ! -L "$f" ] && [ "${f%%%%/*}" = store ] && n=$(wc -c < "$f" | tr -d ' ')
  echo "%s${f%%%%/*} ${n:-0} ${f#*/}"
done
echo "%send"`, root, root, answerMark, answerMark, answerMark)
	answers, err := t.ask(ctx, "list what is there", script)
	if err != nil {
		return nil, err
	}
	var list []Entry
	for i, answer := range answers {
		if name, ok := strings.CutPrefix(answer, "link "); ok {
			return nil, t.fail("prune", "", fmt.Errorf("%s is a link to somewhere else: nothing is removed", t.path(name)))
		}
		if answer == "end" && i == len(answers)-1 {
			return list, nil
		}
		if m := listedLine.FindStringSubmatch(answer); m != nil {
			size, err := strconv.ParseInt(m[2], 10, 64)
			if err != nil {
				return nil, t.fail("prune", "", fmt.Errorf("%q is no size", m[2]))
			}
			list = append(list, Entry{m[1] + "/" + m[3], bench.Bytes(size)})
		}
	}
	if len(answers) == 0 {
		return nil, nil // hexab was never on this device
	}
	return nil, t.fail("prune", "", errors.New("the list of what is there was cut short"))
}
