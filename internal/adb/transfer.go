package adb

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"hexab/internal/proc"
	"hexab/internal/shell"
)

// progressInterval is how often a push asks the device how far it is.
const progressInterval = time.Second

// Push copies a local file to an absolute path on the device: to a temporary
// name beside it, whose hash is verified on the device, then renamed. sha256
// is what the content must be, in lower-case hex. Whatever happens, remote is
// either the whole file or what it was before; a temporary file that an
// interruption leaves is named .part-... Progress, if not nil, is called about
// every second with the bytes that have arrived.
func (d *Device) Push(ctx context.Context, local, remote, sha256 string, progress func(sent int64)) error {
	op := "push " + filepath.Base(local)
	info, err := os.Stat(local)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if !info.Mode().IsRegular() || !path.IsAbs(remote) || path.Clean(remote) != remote {
		return fmt.Errorf("%s: want a regular file and an absolute path on the device, got %s and %s", op, local, remote)
	}
	part := path.Join(path.Dir(remote), ".part-"+rand.Text())

	err = d.transfer(ctx, op, part, progress, "push", local, part)
	if err == nil {
		err = d.settle(ctx, op, local, part, remote, sha256)
	}
	if err != nil {
		d.remove(ctx, part)
	}
	return err
}

// Send copies a local file to a path on the device and verifies nothing: for
// callers that check and rename by themselves. It may leave a part behind.
func (d *Device) Send(ctx context.Context, local, remote string) error {
	return d.transfer(ctx, "push "+path.Base(remote), remote, nil, "push", local, remote)
}

// transfer runs `adb push` or `adb pull`.
func (d *Device) transfer(ctx context.Context, op, part string, progress func(int64), args ...string) error {
	stop := d.watch(ctx, part, progress)
	result, err := d.client.run(ctx, proc.Command{}, append([]string{"-s", d.serial}, args...)...)
	stop()
	if err == nil {
		return nil
	}
	e := d.client.failure(ctx, op, d.serial, splitLines(result.Stderr.String()+"\n"+result.Stdout.String()), err)
	if e.Kind == KindUnknown || e.Kind == KindLost {
		e.Kind = KindLost
		if state, err := d.client.stateOf(ctx, d.serial); err == nil {
			e.Detail = "the transfer was interrupted; the device is now: " + string(state)
		} else if KindOf(err) == KindNotFound {
			e.Detail = "the transfer was interrupted; the device is gone"
		}
	}
	return e
}

// watch reports the size of a file on the device now and then until stopped.
func (d *Device) watch(ctx context.Context, part string, progress func(int64)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			out, err := d.Sh(ctx, "look at progress", "stat -c %s "+shell.Quote(part))
			if err != nil {
				continue
			}
			for _, line := range splitLines(out) {
				if size, err := strconv.ParseInt(line, 10, 64); err == nil {
					progress(size)
				}
			}
		}
	})
	return func() { cancel(); watching.Wait() }
}

// settle verifies a pushed file on the device and gives it its name.
func (d *Device) settle(ctx context.Context, op, local, part, remote, want string) error {
	// chmod: any of hexab's files may be run or loaded, and all may be read.
	script := fmt.Sprintf("p=%s\nh=$(sha256sum \"$p\") || exit\nh=${h%%%% *}; h=${h#\\\\}\nif [ \"$h\" = %s ]; then chmod 755 \"$p\" && mv -f \"$p\" %s; else echo \"sha256 $h\"; fi",
		shell.Quote(part), shell.Quote(want), shell.Quote(remote))
	out, err := d.Sh(ctx, op, script)
	if err != nil {
		return err
	}
	got, differs := findHash(out)
	if !differs {
		return nil
	}
	e := &Error{Op: op, Serial: d.serial, Kind: KindCorrupt, Detail: fmt.Sprintf("arrived as sha256 %s, not %s", got, want)}
	if here, err := hashFile(local); err == nil && here != want {
		return fmt.Errorf("%s: %s is not what it should be: sha256 %s, not %s: build or fetch it again", op, local, here, want)
	}
	return e
}

var hashLine = regexp.MustCompile(`(?m)^sha256 ([0-9a-f]{64})\r?$`)

func findHash(out string) (string, bool) {
	match := hashLine.FindStringSubmatch(out)
	if match == nil {
		return "", false
	}
	return match[1], true
}

// remove takes a temporary file away, as well as it can.
func (d *Device) remove(ctx context.Context, part string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), questionTime)
	defer cancel()
	_, _ = d.Sh(ctx, "remove temporary file", "rm -f "+shell.Quote(part))
}

// Pull copies a file from the device to a local path, by a temporary name
// beside it, and verifies it against the hash that the device computes.
func (d *Device) Pull(ctx context.Context, remote, local string) error {
	op := "pull " + path.Base(remote)
	out, err := d.Sh(ctx, op, "h=$(sha256sum "+shell.Quote(remote)+") || exit\nh=${h%% *}; echo \"sha256 ${h#\\\\}\"")
	if err != nil {
		return err
	}
	want, ok := findHash(out)
	if !ok {
		return &Error{Op: op, Serial: d.serial, Kind: KindUnknown, Detail: "the device's sha256sum gave no hash", Evidence: evidenceFrom(splitLines(out), "")}
	}
	part, err := os.CreateTemp(filepath.Dir(local), ".part-*")
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	defer os.Remove(part.Name())
	if err := part.Close(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if err := d.transfer(ctx, op, remote, nil, "pull", remote, part.Name()); err != nil {
		return err
	}
	got, err := hashFile(part.Name())
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if got != want {
		return &Error{Op: op, Serial: d.serial, Kind: KindCorrupt, Detail: fmt.Sprintf("arrived as sha256 %s, not %s", got, want)}
	}
	return errors.Join(os.Chmod(part.Name(), 0o644), os.Rename(part.Name(), local))
}

func hashFile(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
