// Package deploy puts bundles and models on a device: each file once, by its
// content, and each bundle as a folder of links to them. Switching variants
// sends nothing and overwrites nothing, so libraries of two variants can not
// mix.
//
// Below the device's root:
//
//	store/<sha256>          every file once
//	bundles/<id>/           a variant's own folder: hard links into the store
//	models/<alias>-<sha>.gguf  a readable name for a model in the store
//	lock/                   held by the run that uses the device
package deploy

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"hexab/internal/bench"
	"hexab/internal/device"
)

// Target is a device to deploy to.
type Target struct {
	Device device.Device
	// Progress is told before each file that is sent; it may be nil.
	Progress func(name string, size bench.Bytes)
	// Note is told what is waited for; it may be nil.
	Note func(text string)
}

// Sent counts what went over the link.
type Sent struct {
	Files int
	Bytes bench.Bytes
}

// Add counts what another transfer sent as well.
func (s *Sent) Add(other Sent) {
	s.Files += other.Files
	s.Bytes += other.Bytes
}

// answerMark begins every line that our scripts print on purpose; vendor noise
// between them is passed over.
const answerMark = "hexab:"

// MaxListing bounds the output of one script.
const MaxListing = 4 << 20

// ask runs a script and gives its marked lines.
func (t *Target) ask(ctx context.Context, op, script string) ([]string, error) {
	var out, errs limited
	exit, err := t.Device.Run(ctx, device.Command{Script: script, Stdout: &out, Stderr: &errs})
	if err != nil {
		return nil, err
	}
	if exit.Status != 0 {
		return nil, t.fail(op, errs.String()+"\n"+out.String(), fmt.Errorf("status %d", exit.Status))
	}
	if out.cut {
		return nil, t.fail(op, "", fmt.Errorf("the device answered more than %s: nothing is concluded from a part of it", bench.Bytes(MaxListing)))
	}
	return marked(out.String()), nil
}

func marked(text string) []string {
	var answers []string
	for _, line := range strings.Split(text, "\n") {
		if at := strings.Index(line, answerMark); at >= 0 {
			answers = append(answers, strings.TrimSpace(line[at+len(answerMark):]))
		}
	}
	return answers
}

// fail makes an error of what a device said.
func (t *Target) fail(op, said string, err error) error {
	return device.Refused(op, t.Device.Serial(), said, err)
}

// limited keeps the first MaxListing bytes; cut is set when more came. It does
// not embed the buffer: its other methods would go past the limit.
type limited struct {
	kept bytes.Buffer
	cut  bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := MaxListing - l.kept.Len()
	l.cut = l.cut || len(p) > room
	_, _ = l.kept.Write(p[:min(room, len(p))]) // never fails
	return len(p), nil
}

func (l *limited) String() string { return l.kept.String() }

func (t *Target) path(parts ...string) string {
	return path.Join(append([]string{t.Device.Root()}, parts...)...)
}

// item is one file that must be in the store.
type item struct {
	name, local, sha256 string
	size                bench.Bytes
}

// Bundle makes the bundle's folder on the device and sends what its store
// lacks. localDir holds the manifest's files. The result is the folder, every
// file of which was hashed on the device against the manifest.
func (t *Target) Bundle(ctx context.Context, b bench.Bundle, localDir string) (dir string, sent Sent, err error) {
	if err := b.Check(); err != nil {
		return "", sent, err
	}
	id, err := b.ID()
	if err != nil {
		return "", sent, err
	}
	items := make([]item, 0, len(b.Files))
	for _, f := range b.Files {
		items = append(items, item{f.Path, filepath.Join(localDir, filepath.FromSlash(f.Path)), f.SHA256, f.Size})
	}
	if sent, err = t.store(ctx, items); err != nil {
		return "", sent, err
	}
	dir = t.path("bundles", string(id))
	if t.whole(ctx, dir, b) == nil {
		return dir, sent, nil
	}
	mended, err := t.mend(ctx, items)
	sent.Add(mended)
	if err != nil {
		return dir, sent, err
	}
	if err := t.link(ctx, dir, b); err != nil {
		return dir, sent, err
	}
	return dir, sent, t.whole(ctx, dir, b)
}

// mend sends again what the store has in the right size with another content.
func (t *Target) mend(ctx context.Context, items []item) (Sent, error) {
	names := make([]string, len(items))
	for i, it := range items {
		names[i] = t.path("store", it.sha256)
	}
	sums, err := t.sums(ctx, names)
	if err != nil {
		return Sent{}, err
	}
	var script strings.Builder
	for i, it := range items {
		if sums[names[i]] != it.sha256 {
			fmt.Fprintf(&script, "rm -f %s\n", device.Quote(names[i]))
		}
	}
	if script.Len() == 0 {
		return Sent{}, nil
	}
	if _, err := t.ask(ctx, "remove damaged files", script.String()); err != nil {
		return Sent{}, err
	}
	return t.store(ctx, items)
}

// link makes the bundle's folder beside its place and renames it.
func (t *Target) link(ctx context.Context, dir string, b bench.Bundle) error {
	making := dir + ".making"
	var script strings.Builder
	fmt.Fprintf(&script, "set -e; rm -rf %s %s; mkdir -p %s\n", device.Quote(making), device.Quote(dir), device.Quote(making))
	for _, f := range b.Files {
		to, from := device.Quote(path.Join(making, f.Path)), device.Quote(t.path("store", f.SHA256))
		if folder := path.Dir(f.Path); folder != "." {
			fmt.Fprintf(&script, "mkdir -p %s\n", device.Quote(path.Join(making, folder)))
		}
		fmt.Fprintf(&script, "ln %s %s 2>/dev/null || cp %s %s\n", from, to, from, to)
	}
	fmt.Fprintf(&script, "mv %s %s\n", device.Quote(making), device.Quote(dir))
	_, err := t.ask(ctx, "make the bundle's folder", script.String())
	return err
}

// Verify reads every file of the bundle on the device and compares its hash
// with the manifest. A file that is not the manifest's is an error too: the
// programs load every backend plug-in that lies beside them.
func (t *Target) Verify(ctx context.Context, b bench.Bundle) error {
	id, err := b.ID()
	if err != nil {
		return err
	}
	return t.whole(ctx, t.path("bundles", string(id)), b)
}

func (t *Target) whole(ctx context.Context, dir string, b bench.Bundle) error {
	names := make([]string, len(b.Files))
	for i, f := range b.Files {
		names[i] = path.Join(dir, f.Path)
	}
	sums, err := t.sums(ctx, names)
	if err != nil {
		return err
	}
	for i, f := range b.Files {
		if sums[names[i]] != f.SHA256 {
			return t.fail("verify "+f.Path, "", fmt.Errorf("its hash on the device is %q, the manifest's %s: deploy again", sums[names[i]], f.SHA256))
		}
	}
	return t.noStrangers(ctx, dir, b)
}

// noStrangers finds what lies in a bundle's folder and is not the manifest's.
// Where the device has no find(1) nothing is known of it.
func (t *Target) noStrangers(ctx context.Context, dir string, b bench.Bundle) error {
	own := map[string]bool{}
	for _, f := range b.Files {
		own["./"+f.Path] = true
	}
	answers, err := t.ask(ctx, "list the bundle's folder", fmt.Sprintf("cd %s && find . ! -type d 2>/dev/null | sed 's/^/%s/'; true", device.Quote(dir), answerMark))
	if err != nil {
		return err
	}
	for _, name := range answers {
		if !own[name] {
			return t.fail("verify "+path.Base(dir), "", fmt.Errorf("%q lies in its folder and is not the manifest's: deploy again", name))
		}
	}
	return nil
}

var sumLine = regexp.MustCompile(`^([0-9]+) ([0-9a-f]{64})\b`)

// sums hashes files on the device; what can not be read has no entry.
func (t *Target) sums(ctx context.Context, names []string) (map[string]string, error) {
	var script strings.Builder
	for i, name := range names {
		// The name is not echoed: sha256sum escapes odd ones.
		fmt.Fprintf(&script, "echo \"%s%d $(sha256sum < %s 2>/dev/null)\"\n", answerMark, i, device.Quote(name))
	}
	answers, err := t.ask(ctx, "hash files", script.String())
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for _, answer := range answers {
		if m := sumLine.FindStringSubmatch(answer); m != nil {
			if i, err := strconv.Atoi(m[1]); err == nil && i < len(names) {
				sums[names[i]] = m[2]
			}
		}
	}
	return sums, nil
}

// store sends the items that the device's store lacks.
func (t *Target) store(ctx context.Context, items []item) (Sent, error) {
	var sent Sent
	missing, free, err := t.missing(ctx, items)
	if err != nil {
		return sent, err
	}
	var need bench.Bytes
	for _, it := range missing {
		need += it.size
	}
	if need > 0 && free >= 0 && need+MinFree > free {
		return sent, device.Full("deploy", t.Device.Serial(), fmt.Errorf("%s are needed and %s are free", need, free))
	}
	for _, it := range missing {
		if t.Progress != nil {
			t.Progress(it.name, it.size)
		}
		err := t.send(ctx, it)
		var corrupt *corruptError
		if errors.As(err, &corrupt) {
			err = t.send(ctx, it)
		}
		if errors.As(err, &corrupt) {
			return sent, &device.Error{Op: "push " + it.name, Serial: t.Device.Serial(), Fault: bench.FaultInfrastructure,
				Outcome: bench.OutcomeNotRun, Err: corrupt, Next: "check the cable, and that the file here is what its manifest says"}
		}
		if err != nil {
			return sent, err
		}
		sent.Files++
		sent.Bytes += it.size
	}
	return sent, nil
}

// MinFree is the space left alone on a device: a full one fails in odd ways.
const MinFree = 16 * bench.MiB

var sizeLine = regexp.MustCompile(`^([0-9]+) size ([0-9]+)$`)

// missing lists the items that the store has not in full size, each content
// once, and the free space, -1 where it is not known. One round trip.
func (t *Target) missing(ctx context.Context, items []item) ([]item, bench.Bytes, error) {
	store := device.Quote(t.path("store"))
	var script strings.Builder
	fmt.Fprintf(&script, "mkdir -p %s && cd %s || exit 1\nrm -f .tmp-*\n", store, store)
	fmt.Fprintf(&script, "echo \"%sfree $(df -k . | tail -n 1)\"\n", answerMark)
	for i, it := range items {
		fmt.Fprintf(&script, "[ -f %s ] && echo \"%s%d size $(wc -c < %s | tr -d ' ')\"\n", it.sha256, answerMark, i, it.sha256)
	}
	script.WriteString("true\n")
	answers, err := t.ask(ctx, "list the store", script.String())
	if err != nil {
		return nil, 0, err
	}
	free := bench.Bytes(-1)
	sizes := map[string]bench.Bytes{}
	for _, answer := range answers {
		if rest, ok := strings.CutPrefix(answer, "free "); ok {
			free = parseFree(rest)
		} else if m := sizeLine.FindStringSubmatch(answer); m != nil {
			i, err1 := strconv.Atoi(m[1])
			n, err2 := strconv.ParseInt(m[2], 10, 64)
			if err1 == nil && err2 == nil && i < len(items) {
				sizes[items[i].sha256] = bench.Bytes(n)
			}
		}
	}
	var missing []item
	asked := map[string]bool{}
	for _, it := range items {
		if size, ok := sizes[it.sha256]; (!ok || size != it.size) && !asked[it.sha256] {
			asked[it.sha256] = true
			missing = append(missing, it)
		}
	}
	return missing, free, nil
}

// parseFree reads the last line of df -k: the available KiB stand before the
// column that ends in %.
func parseFree(line string) bench.Bytes {
	fields := strings.Fields(line)
	for i := 1; i < len(fields); i++ {
		if strings.HasSuffix(fields[i], "%") {
			if n, err := strconv.ParseInt(fields[i-1], 10, 64); err == nil && n >= 0 && n < 1<<50 {
				return bench.Bytes(n) * bench.KiB
			}
		}
	}
	return -1
}

// corruptError is a file that arrived with another content.
type corruptError struct{ name, got, want string }

func (e *corruptError) Error() string {
	return fmt.Sprintf("%s arrived damaged: its hash is %q instead of %s", e.name, e.got, e.want)
}

// send pushes one file under a temporary name, verifies it on the device and
// only then gives it its name.
func (t *Target) send(ctx context.Context, it item) error {
	temporary := t.path("store", ".tmp-"+rand.Text())
	if err := t.Device.Push(ctx, it.local, temporary); err != nil {
		return err
	}
	sums, err := t.sums(ctx, []string{temporary})
	if err != nil {
		return err
	}
	if got := sums[temporary]; got != it.sha256 {
		return &corruptError{it.name, got, it.sha256}
	}
	_, err = t.ask(ctx, "store "+it.name, fmt.Sprintf("chmod 755 %[1]s; mv -f %[1]s %[2]s", device.Quote(temporary), device.Quote(t.path("store", it.sha256))))
	return err
}

var aliasName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Model sends a model unless the device has it, and gives its readable path.
// A model's hash was verified when it was sent; later only its size is checked,
// since hashing takes minutes on a phone.
func (t *Target) Model(ctx context.Context, alias, local, sha256 string, size bench.Bytes) (name string, sent Sent, err error) {
	if !aliasName.MatchString(alias) || !bench.IsSHA256(sha256) {
		return "", sent, fmt.Errorf("deploy: %q with hash %q can not name a model", alias, sha256)
	}
	if sent, err = t.store(ctx, []item{{alias, local, sha256, size}}); err != nil {
		return "", sent, err
	}
	name = t.path("models", alias+"-"+sha256[:12]+".gguf")
	from, to := device.Quote(t.path("store", sha256)), device.Quote(name)
	_, err = t.ask(ctx, "name the model "+alias, fmt.Sprintf(
		"mkdir -p %s; rm -f %s; ln %s %s 2>/dev/null || ln -s %s %s", device.Quote(t.path("models")), to, from, to, from, to))
	return name, sent, err
}
