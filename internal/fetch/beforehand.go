package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// spaceMargin is left free: a full disk breaks more than the download.
const spaceMargin = 64 << 20

// Room checks beforehand that what is missing of the requests fits on the
// disks that it goes to. What has arrived of a file counts as there already.
// The error is a *SpaceError.
func (c *Client) Room(requests []Request) error {
	type disk struct {
		dir  string
		need int64
	}
	disks := map[uint64]*disk{}
	for _, r := range requests {
		need := c.Missing(r)
		if need == 0 {
			continue
		}
		dir, device, err := existingParent(r.Dest)
		if err != nil {
			return err
		}
		if disks[device] == nil {
			disks[device] = &disk{dir: dir}
		}
		disks[device].need += need
	}
	free := c.free
	if free == nil {
		free = freeBytes
	}
	for _, d := range disks {
		have, err := free(d.dir)
		if err == nil && d.need+spaceMargin > have {
			return &SpaceError{Dir: d.dir, Need: d.need + spaceMargin, Have: have}
		}
	}
	return nil
}

// Missing is the number of bytes that have yet to be written for a request, as
// far as known.
func (c *Client) Missing(r Request) int64 {
	if _, err := os.Stat(r.Dest); err == nil {
		return 0
	}
	size := max(r.Size, r.Estimate)
	if want, err := c.expect(r); err == nil && want.Size > 0 {
		size = want.Size
	}
	if c.Offline && c.From == "" {
		return 0 // nothing will be written
	}
	return max(0, size-sizeOf(r.Dest+".part"))
}

// existingParent is the nearest folder above a path that exists, and the
// device number of its file system.
func existingParent(path string) (dir string, device uint64, err error) {
	for dir = filepath.Dir(path); ; dir = filepath.Dir(dir) {
		var s unix.Stat_t
		err := unix.Stat(dir, &s)
		if err == nil {
			return dir, uint64(s.Dev), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", 0, fmt.Errorf("%s: %w", dir, err)
		}
	}
}

// hosts limits the downloads at one time by host name.
type hosts struct {
	mu    sync.Mutex
	slots map[string]chan struct{}
}

// enter waits for a place at the host.
func (h *hosts) enter(ctx context.Context, name string, limit int) (leave func(), err error) {
	h.mu.Lock()
	if h.slots == nil {
		h.slots = map[string]chan struct{}{}
	}
	slots := h.slots[name]
	if slots == nil {
		slots = make(chan struct{}, max(1, limit))
		h.slots[name] = slots
	}
	h.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
