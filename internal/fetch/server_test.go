package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// content is a file's bytes, the same for a seed.
func content(seed uint64, size int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	copy(b, "GGUF\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	return b
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// host is a server that serves data well, unless an answer is queued first.
type host struct {
	*httptest.Server
	mu      sync.Mutex
	data    []byte
	etag    string
	queue   []http.HandlerFunc
	always  http.HandlerFunc
	seen    []*http.Request
	cutting func(size int64) int64 // bytes to send of a body; nil for all
}

func newHost(t *testing.T, data []byte) *host {
	h := &host{data: data, etag: `"` + sum(data)[:16] + `"`}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.seen = append(h.seen, r.Clone(r.Context()))
	answer := h.always
	if len(h.queue) > 0 {
		answer, h.queue = h.queue[0], h.queue[1:]
	}
	h.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	h.serve(w, r)
}

// serve answers like a file host, with ranges and If-Range.
func (h *host) serve(w http.ResponseWriter, r *http.Request) {
	start, status := int64(0), http.StatusOK
	if from, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok && (r.Header.Get("If-Range") == "" || r.Header.Get("If-Range") == h.etag) {
		start, _ = strconv.ParseInt(strings.TrimSuffix(from, "-"), 10, 64)
		if start >= int64(len(h.data)) {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return
		}
		status = http.StatusPartialContent
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(h.data)-1, len(h.data)))
	}
	body := h.data[start:]
	w.Header().Set("ETag", h.etag)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if h.cutting != nil {
		n := min(h.cutting(int64(len(body))), int64(len(body)))
		_, _ = w.Write(body[:n])
		if n < int64(len(body)) {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		return
	}
	_, _ = w.Write(body)
}

func (h *host) requests() []*http.Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*http.Request(nil), h.seen...)
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "not the file")
	}
}

// quick is a client that does not wait between attempts.
func quick() *Client {
	return &Client{Backoff: func(int) time.Duration { return 0 }, Stall: 10 * time.Second}
}

func request(t *testing.T, h *host) Request {
	return Request{
		Name: "model", Key: "owner/repo/model.gguf", URLs: []string{h.URL + "/model.gguf?sig=SECRET"},
		Dest: filepath.Join(t.TempDir(), "model.gguf"), Size: int64(len(h.data)), SHA256: sum(h.data), Validate: GGUF,
	}
}

// wantFile fails unless the file is there with the bytes and nothing is left
// of its making.
func wantFile(t *testing.T, r Request, want []byte) {
	t.Helper()
	got, err := os.ReadFile(r.Dest)
	if err != nil {
		t.Fatal(err)
	}
	if sum(got) != sum(want) {
		t.Fatalf("%d wrong bytes under the final name", len(got))
	}
	for _, left := range []string{".part", ".part.json"} {
		if _, err := os.Stat(r.Dest + left); err == nil {
			t.Errorf("%s is left", left)
		}
	}
}

// wantNothing fails when anything has the final name.
func wantNothing(t *testing.T, r Request) {
	t.Helper()
	if _, err := os.Stat(r.Dest); err == nil {
		t.Fatal("a file that was refused has the final name")
	}
}
