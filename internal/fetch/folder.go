package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fromFolder takes a file from the client's folder when the right one is
// there: by its name, by the name with its folder's, or by the whole key. The
// error tells what was wrong with those that were there.
func (c *Client) fromFolder(ctx context.Context, r Request, want Locked) (f File, ok bool, notRight error) {
	if c.From == "" {
		return File{}, false, nil
	}
	base := filepath.Base(r.Dest)
	names := []string{base, filepath.Join(filepath.Base(filepath.Dir(r.Dest)), base)}
	if r.Key != "" {
		names = append(names, filepath.FromSlash(r.Key))
	}
	for _, name := range names {
		at := filepath.Join(c.From, name)
		if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		f, err := c.take(ctx, r, want, at)
		if err == nil {
			return f, true, notRight
		}
		if ctx.Err() != nil {
			return File{}, false, context.Cause(ctx)
		}
		notRight = errors.Join(notRight, err)
		c.tell(Event{Name: r.Name, Phase: PhaseVerify, Total: -1, Left: -1, Note: fmt.Sprintf("%s is not taken: %v", at, err)})
	}
	return File{}, false, notRight
}

// take checks the file at a path and links or copies it to its place.
func (c *Client) take(ctx context.Context, r Request, want Locked, at string) (File, error) {
	got, err := c.check(ctx, r, want, at)
	if err != nil {
		return File{}, err
	}
	temp := r.Dest + ".part"
	_ = os.Remove(temp)
	_ = os.Remove(temp + ".json")
	if at, err = filepath.EvalSymlinks(at); err != nil {
		return File{}, err
	}
	if err := os.Link(at, temp); err != nil {
		if err := c.copyChecked(ctx, r, at, temp, got); err != nil {
			_ = os.Remove(temp)
			return File{}, err
		}
	}
	if err := os.Rename(temp, r.Dest); err != nil {
		return File{}, err
	}
	f, err := c.accept(r, got, false)
	if err != nil {
		_ = os.Remove(r.Dest)
		return File{}, err
	}
	f.From = at
	return f, nil
}

// copyChecked copies a file and compares what was read with what it is to be.
func (c *Client) copyChecked(ctx context.Context, r Request, from, to string, want Locked) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if have, err := freeBytes(filepath.Dir(to)); err == nil && want.Size+spaceMargin > have {
		return &SpaceError{Dir: filepath.Dir(to), Need: want.Size + spaceMargin, Have: have}
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	sum := sha256.New()
	m := newMeter(c.Progress, Event{Name: r.Name, Phase: PhaseCopy, Total: want.Size})
	if _, err := io.Copy(io.MultiWriter(out, sum), &countingReader{ctx: ctx, r: in, meter: m}); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 {
		return &MismatchError{Name: from, Field: "sha256", Got: got, Want: want.SHA256, From: "an earlier look at the same file"}
	}
	return errors.Join(out.Sync(), out.Close())
}
