package fetch

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFromFolder(t *testing.T) {
	data, other := content(20, 5000), content(21, 5000)
	for name, at := range map[string]string{"name": "model.gguf", "key": "owner/repo/model.gguf", "with its folder": "alias/model.gguf"} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, data)
			h.always = status(500)
			r := request(t, h)
			r.Dest = filepath.Join(filepath.Dir(r.Dest), "alias", "model.gguf")
			c := quick()
			c.From, c.Offline = t.TempDir(), true
			write(t, filepath.Join(c.From, at), data)
			f, err := c.Get(t.Context(), r)
			if err != nil || f.Downloaded || f.From == "" || f.SHA256 != sum(data) {
				t.Fatalf("%+v, %v", f, err)
			}
			wantFile(t, r, data)
			if len(h.requests()) > 0 {
				t.Error("the network was used")
			}
		})
	}
	t.Run("of the same name with other bytes, offline", func(t *testing.T) {
		h := newHost(t, data)
		r := request(t, h)
		c := quick()
		c.From, c.Offline = t.TempDir(), true
		write(t, filepath.Join(c.From, "model.gguf"), other)
		_, err := c.Get(t.Context(), r)
		var absent *AbsentError
		if !errors.As(err, &absent) || !strings.Contains(err.Error(), sum(other)) || len(h.requests()) > 0 {
			t.Fatalf("error %v", err)
		}
		wantNothing(t, r)
	})
	t.Run("of the same name with other bytes, then the network", func(t *testing.T) {
		h := newHost(t, data)
		r := request(t, h)
		c := quick()
		c.From = t.TempDir()
		write(t, filepath.Join(c.From, "model.gguf"), other)
		if f, err := c.Get(t.Context(), r); err != nil || !f.Downloaded {
			t.Fatalf("%+v, %v", f, err)
		}
		wantFile(t, r, data)
		if got, _ := os.ReadFile(filepath.Join(c.From, "model.gguf")); sum(got) != sum(other) {
			t.Error("the folder's file was changed")
		}
	})
	t.Run("not there, offline", func(t *testing.T) {
		h := newHost(t, data)
		r := request(t, h)
		c := quick()
		c.From, c.Offline = t.TempDir(), true
		if _, err := c.Get(t.Context(), r); err == nil || !strings.Contains(err.Error(), "nor is it in "+c.From) {
			t.Fatalf("error %v", err)
		}
	})
}

// TestRoomForAll: two files that fit one by one but not together are refused
// before a byte is asked for; what has arrived already counts.
func TestRoomForAll(t *testing.T) {
	data := content(22, 4000)
	h := newHost(t, data)
	a, b := request(t, h), request(t, h)
	c := quick()
	c.free = func(string) (int64, error) { return spaceMargin + 7000, nil }
	_, err := c.GetAll(t.Context(), []Request{a, b})
	var space *SpaceError
	if !errors.As(err, &space) || space.Need != spaceMargin+8000 {
		t.Fatalf("error %v", err)
	}
	if len(h.requests()) > 0 {
		t.Error("a download was begun")
	}
	write(t, a.Dest+".part", data[:1500])
	if _, err := c.GetAll(t.Context(), []Request{a, b}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, a, data)
	b.Dest += "2"
	b.Size, b.Estimate = 0, 8000
	if err := c.Room([]Request{a, b}); !errors.As(err, &space) {
		t.Errorf("an estimate counts for nothing: %v", err)
	}
}

func TestPerHostLimit(t *testing.T) {
	data := content(23, 4000)
	h := newHost(t, data)
	var now, most atomic.Int64
	h.always = func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		h.serve(w, r)
	}
	requests := make([]Request, 24)
	for i := range requests {
		requests[i] = request(t, h)
	}
	c := quick()
	c.Parallel, c.PerHost = 12, 3
	if _, err := c.GetAll(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	if n := most.Load(); n > 3 {
		t.Errorf("%d downloads from one host at a time, 3 are allowed", n)
	}
}
