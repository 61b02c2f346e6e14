package fetch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Environment of the child that TestKilledProcess runs: this test program
// again, as one that downloads or unpacks.
const (
	childWork = "HEXAB_FETCH_CHILD"
	childFrom = "HEXAB_FETCH_CHILD_FROM"
	childDest = "HEXAB_FETCH_CHILD_DEST"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childWork) {
	case "":
		os.Exit(m.Run())
	case "download":
		c := quick()
		_, err := c.Get(context.Background(), Request{Name: "model", URLs: []string{os.Getenv(childFrom)}, Dest: os.Getenv(childDest), Validate: GGUF})
		exit(err)
	case "unpack":
		exit(Unpack(context.Background(), os.Getenv(childFrom), os.Getenv(childDest), UnpackOptions{}))
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child runs this program again and kills it when the channel is closed. It
// tells whether it came to its end.
func child(t *testing.T, work, from, dest string, kill <-chan struct{}) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childWork+"="+work, childFrom+"="+from, childDest+"="+dest)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("the child failed by itself: %v", err)
		}
		return true
	case <-kill:
		_ = cmd.Process.Signal(syscall.SIGKILL)
		return <-ended == nil
	}
}

// TestKilledProcess ends a process that downloads by SIGKILL after a random
// number of bytes, up to three times, and wants the right bytes from the next
// one. There is no hash that would tell: only If-Range and the length protect.
func TestKilledProcess(t *testing.T) {
	points := 4
	if os.Getenv("HEXAB_HEAVY") == "1" {
		points = 200
	}
	const seed = 20261130
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	data := content(30, 2_000_000)
	killed := 0
	for killed < points {
		h := newHost(t, data)
		dest := filepath.Join(t.TempDir(), "model.gguf")
		for range 1 + random.IntN(3) {
			at := random.IntN(len(data))
			kill := make(chan struct{})
			h.mu.Lock()
			h.always = func(w http.ResponseWriter, r *http.Request) {
				h.cutAt(w, r, at, func() { close(kill) })
			}
			h.mu.Unlock()
			if child(t, "download", h.URL+"/model.gguf", dest, kill) {
				break
			}
			if killed++; sizeOf(dest) != 0 {
				t.Fatalf("kill point %d at byte %d: a part has the final name", killed, at)
			}
		}
		h.mu.Lock()
		h.always = nil
		h.mu.Unlock()
		if !child(t, "download", h.URL+"/model.gguf", dest, nil) {
			t.Fatal("the last child did not come to its end")
		}
		wantFile(t, Request{Dest: dest}, data)
		h.Close()
	}
	t.Logf("%d kill points", killed)
}

// cutAt serves a range in small pieces, and stops for good at a byte of it.
func (h *host) cutAt(w http.ResponseWriter, r *http.Request, at int, reached func()) {
	start := 0
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &start); err == nil {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(h.data)-1, len(h.data)))
	}
	w.Header().Set("ETag", h.etag)
	w.Header().Set("Content-Length", strconv.Itoa(len(h.data)-start))
	if start > 0 {
		w.WriteHeader(http.StatusPartialContent)
	}
	end := min(len(h.data), start+at)
	for start < end {
		n := min(end, start+40_000)
		if _, err := w.Write(h.data[start:n]); err != nil {
			break
		}
		w.(http.Flusher).Flush()
		start = n
	}
	reached()
	<-r.Context().Done()
}

// TestKilledUnpacking ends a process that unpacks and wants the next one to end
// with the right files, and to leave the finished ones of a zip alone.
func TestKilledUnpacking(t *testing.T) {
	t.Run("zip", func(t *testing.T) { killedUnpacking(t, "sdk.zip", 20_000, zipOf) })
	t.Run("tar.xz", func(t *testing.T) {
		killedUnpacking(t, "sdk.tar.xz", 3_000, func(t testing.TB, entries []entry) []byte { return xzOf(t, tarOf(t, entries)) })
	})
}

func killedUnpacking(t *testing.T, name string, size int, pack func(testing.TB, []entry) []byte) {
	rounds := 2
	if os.Getenv("HEXAB_HEAVY") == "1" {
		rounds = 8
	}
	const files = 300
	random := rand.New(rand.NewPCG(20261130, 1))
	var entries []entry
	for i := range files {
		entries = append(entries, entry{name: fmt.Sprintf("sdk/%03d", i), body: string(content(uint64(i), size))})
	}
	entries = append(entries, entry{name: "sdk/latest", kind: '2', link: "299"})
	archive := filepath.Join(t.TempDir(), name)
	write(t, archive, pack(t, entries))
	for round := range rounds {
		dest := filepath.Join(t.TempDir(), "sdk")
		kill := make(chan struct{})
		after := random.IntN(files)
		go func() { // when that many files are there
			for i := 0; i < 100_000; i++ {
				if found, _ := filepath.Glob(filepath.Join(filepath.Dir(dest), ".sdk.unpack-*", "sdk", fmt.Sprintf("%03d", after))); len(found) > 0 {
					break
				}
			}
			close(kill)
		}()
		whole := child(t, "unpack", archive, dest, kill)
		var before map[string]time.Time
		if !whole {
			before = finished(t, dest, entries)
			if err := Unpack(t.Context(), archive, dest, UnpackOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range entries[:files] {
			at := filepath.Join(dest, e.name)
			got, err := os.ReadFile(at)
			if err != nil || string(got) != e.body {
				t.Fatalf("round %d: %s is wrong (%v)", round, e.name, err)
			}
			info, _ := os.Stat(at)
			if then, ok := before[e.name]; ok && !then.Equal(info.ModTime()) && name == "sdk.zip" {
				t.Errorf("round %d: %s was finished and was written again", round, e.name)
			}
		}
		if left, _ := os.ReadDir(filepath.Dir(dest)); len(left) != 1 {
			t.Errorf("round %d: %v is left", round, left)
		}
		t.Logf("round %d: whole %v, %d of %d files were finished", round, whole, len(before), files)
	}
}

// finished lists the entries that an interrupted attempt wrote whole.
func finished(t *testing.T, dest string, entries []entry) map[string]time.Time {
	t.Helper()
	list := map[string]time.Time{}
	for _, e := range entries {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(dest), ".sdk.unpack-*", filepath.FromSlash(e.name)))
		if len(found) != 1 || e.kind != 0 {
			continue
		}
		info, err := os.Lstat(found[0])
		if got, _ := os.ReadFile(found[0]); err == nil && string(got) == e.body {
			list[e.name] = info.ModTime()
		}
	}
	return list
}
