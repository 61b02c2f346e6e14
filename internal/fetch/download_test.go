package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestSecondGetTouchesNothing(t *testing.T) {
	data := content(1, 100_000)
	h := newHost(t, data)
	r := request(t, h)
	c := quick()
	f, err := c.Get(t.Context(), r)
	if err != nil || !f.Downloaded || f.SHA256 != r.SHA256 {
		t.Fatalf("%+v, %v", f, err)
	}
	wantFile(t, r, data)
	f, err = c.Get(t.Context(), r)
	if err != nil || f.Downloaded {
		t.Fatalf("second: %+v, %v", f, err)
	}
	if n := len(h.requests()); n != 1 {
		t.Errorf("%d requests, expected 1", n)
	}
	c.Offline = true
	if _, err := c.Verify(t.Context(), r); err != nil {
		t.Errorf("verify: %v", err)
	}
}

// TestServersThatRecover: faults after which the right bytes must arrive.
func TestServersThatRecover(t *testing.T) {
	data := content(2, 200_000)
	half := int64(len(data) / 2)
	cut := func(h *host) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			h.cutting = func(int64) int64 { return half }
			defer func() { h.cutting = nil }()
			h.serve(w, r)
		}
	}
	for name, queue := range map[string]func(h *host) []http.HandlerFunc{
		"cut once":             func(h *host) []http.HandlerFunc { return []http.HandlerFunc{cut(h)} },
		"500 then 503":         func(*host) []http.HandlerFunc { return []http.HandlerFunc{status(500), status(503)} },
		"429 with Retry-After": func(*host) []http.HandlerFunc { return []http.HandlerFunc{status(429, "Retry-After", "1")} },
		"408":                  func(*host) []http.HandlerFunc { return []http.HandlerFunc{status(408)} },
		"cut, then Range is ignored": func(h *host) []http.HandlerFunc {
			return []http.HandlerFunc{cut(h), func(w http.ResponseWriter, r *http.Request) {
				r.Header.Del("Range")
				h.serve(w, r)
			}}
		},
		"cut, then the wrong range": func(h *host) []http.HandlerFunc {
			return []http.HandlerFunc{cut(h), func(w http.ResponseWriter, r *http.Request) {
				r.Header.Set("Range", "bytes=7-")
				h.serve(w, r)
			}}
		},
		"cut, then 416": func(h *host) []http.HandlerFunc { return []http.HandlerFunc{cut(h), status(416)} },
		"cut, then other bytes at the same place": func(h *host) []http.HandlerFunc {
			return []http.HandlerFunc{cut(h), func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", half, len(data)-1, len(data)))
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(bytes.Repeat([]byte("x"), len(data)-int(half)))
			}}
		},
		"redirect": func(h *host) []http.HandlerFunc {
			return []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }}
		},
		"no length": func(h *host) []http.HandlerFunc {
			return []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write(data[:half])
				w.(http.Flusher).Flush()
				_, _ = w.Write(data[half:])
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, data)
			h.queue = queue(h)
			r := request(t, h)
			if _, err := quick().Get(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			wantFile(t, r, data)
		})
	}
}

// TestServersThatDoNot: answers that must be told plainly, with nothing kept.
func TestServersThatDoNot(t *testing.T) {
	data := content(3, 50_000)
	other := content(4, 50_000)
	t.Setenv("HEXAB_TEST_TOKEN", "")
	html := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>Sign in</title>")
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
		tries  int // requests expected at most
	}{
		{"HTML", html, "web page", 1},
		{"HTML called octet-stream", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = io.WriteString(w, "  <HTML><body>portal")
			_, _ = w.Write(make([]byte, len(data)-20))
		}, "web page", 1},
		{"401", status(401), "set HEXAB_TEST_TOKEN", 1},
		{"403", status(403), "accept the licence", 1},
		{"404", status(404), "not there", 1},
		{"429 for an hour", status(429, "Retry-After", "3600"), "1h0m0s", 1},
		{"500 for ever", status(500), "500 Internal Server Error", 5},
		{"a longer file", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "50001")
			_, _ = w.Write(make([]byte, len(data)+1))
		}, "size is 50001", 1},
		{"a shorter file", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(other[:100]) }, "size is 100", 1},
		{"more than it should have, unannounced", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			_, _ = w.Write(make([]byte, len(data)+100))
		}, "more than the 50000 bytes", 1},
		{"a wrong hash", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(other) }, "sha256 is " + sum(other), 1},
		{"redirects for ever", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, "redirects", 60},
		{"redirect to plain http elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://files.invalid/x?sig=SECRET", http.StatusFound)
		}, "only https", 5},
		{"compressed", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write(data)
		}, "compressed", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t, data)
			h.always = c.answer
			r := request(t, h)
			client := quick()
			client.Tokens = []Token{{EnvName: "HEXAB_TEST_TOKEN", Hosts: []string{"127.0.0.1"}}}
			_, err := client.Get(t.Context(), r)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %q, expected %q in it", err, c.want)
			}
			if strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the query is shown: %v", err)
			}
			wantNothing(t, r)
			if n := len(h.requests()); n > c.tries {
				t.Errorf("%d requests, expected at most %d", n, c.tries)
			}
			// The next one may go right.
			h.mu.Lock()
			h.always = nil
			h.mu.Unlock()
			if _, err := quick().Get(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			wantFile(t, r, data)
		})
	}
}

func TestMirrorTakesOver(t *testing.T) {
	data := content(5, 80_000)
	bad, good := newHost(t, data), newHost(t, data)
	bad.cutting = func(int64) int64 { return 0 }
	bad.queue = []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:30_000])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}}
	good.etag = `"another"`
	r := request(t, good)
	r.URLs = []string{bad.URL + "/f", good.URL + "/f"}
	if _, err := quick().Get(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantFile(t, r, data)
	if got := good.requests()[0].Header.Get("Range"); got != "bytes=30000-" {
		t.Errorf("the mirror was asked for %q, not for the rest", got)
	}
}

// TestKillPoints ends a download after a random number of bytes, a few times
// over, and wants the right bytes in the end. HEXAB_HEAVY=1 tries 200 of them.
func TestKillPoints(t *testing.T) {
	rounds := 30
	if os.Getenv("HEXAB_HEAVY") == "1" {
		rounds = 200
	}
	const seed = 20260930
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	data := content(6, 300_000)
	for round := range rounds {
		h := newHost(t, data)
		r := request(t, h)
		if round%2 == 1 {
			r.SHA256 = "" // only If-Range protects
		}
		for range 3 {
			ctx, kill := context.WithCancel(t.Context())
			at, got := int64(rnd.IntN(len(data))), int64(0)
			h.always = func(w http.ResponseWriter, req *http.Request) {
				h.cutting = func(n int64) int64 { return min(n, at) }
				got++
				defer kill()
				h.serve(w, req)
			}
			c := quick()
			_, err := c.Get(ctx, r)
			kill()
			if err == nil {
				break
			}
			wantNothing(t, r)
			if got == 0 {
				t.Fatal(err)
			}
		}
		h.always, h.cutting = nil, nil
		if _, err := quick().Get(t.Context(), r); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		wantFile(t, r, data)
	}
}

func TestChangedFileIsNotPieced(t *testing.T) {
	old, now := content(7, 60_000), content(8, 60_000)
	h := newHost(t, now)
	r := request(t, h)
	r.SHA256 = ""
	if err := os.WriteFile(r.Dest+".part", old[:40_000], 0o644); err != nil {
		t.Fatal(err)
	}
	state := fmt.Sprintf(`{"url":%q,"validator":"\"old\""}`, h.URL+"/model.gguf")
	if err := os.WriteFile(r.Dest+".part.json", []byte(state), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := quick().Get(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantFile(t, r, now)
}

func TestTokenGoesToItsHostOnly(t *testing.T) {
	t.Setenv("HEXAB_TEST_TOKEN", "hf_very_secret")
	data := content(9, 1000)
	var leaked atomic.Bool
	cdn := newHost(t, data)
	cdn.always = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			leaked.Store(true)
		}
		cdn.serve(w, r)
	}
	home := newHost(t, data)
	const commit = "067b946cf014b7c697f3654f621d577a3e3afd1c"
	home.always = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hf_very_secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-Repo-Commit", commit)
		http.Redirect(w, r, strings.Replace(cdn.URL, "127.0.0.1", "localhost", 1)+"/blob", http.StatusFound)
	}
	r := request(t, home)
	c := quick()
	c.Tokens = []Token{{EnvName: "HEXAB_TEST_TOKEN", Hosts: []string{"127.0.0.1"}}}
	var said strings.Builder
	c.Progress = func(e Event) { fmt.Fprintln(&said, e) }
	f, err := c.Get(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if leaked.Load() {
		t.Error("the token went to the redirect's host")
	}
	if f.Revision != commit {
		t.Errorf("revision %q, expected that of the redirect", f.Revision)
	}
	home.always = status(403)
	r.Dest += "2"
	_, err = c.Get(t.Context(), r)
	if err == nil || strings.Contains(err.Error()+said.String(), "very_secret") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(fmt.Sprint(err), "another token") {
		t.Errorf("error %v does not say that the token was refused", err)
	}
}

func TestOnlyHTTPS(t *testing.T) {
	for _, u := range []string{"http://example.com/x", "ftp://example.com/x", "file:///etc/passwd", "://"} {
		_, err := quick().Get(t.Context(), Request{Name: "x", URLs: []string{u}, Dest: filepath.Join(t.TempDir(), "x")})
		if err == nil {
			t.Errorf("%s was fetched", u)
		}
	}
}

func TestSpaceIsCheckedBeforehand(t *testing.T) {
	h := newHost(t, content(10, 1000))
	r := request(t, h)
	c := quick()
	c.free = func(string) (int64, error) { return 500, nil }
	_, err := c.Get(t.Context(), r)
	var space *SpaceError
	if !errors.As(err, &space) {
		t.Fatalf("error %v", err)
	}
	if sizeOf(r.Dest+".part") != 0 {
		t.Error("bytes were written nonetheless")
	}
}

func TestStalledBodyIsTriedAgain(t *testing.T) {
	data := content(11, 10_000)
	h := newHost(t, data)
	h.queue = []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		w.Header().Set("ETag", h.etag)
		_, _ = w.Write(data[:5000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}}
	r := request(t, h)
	c := quick()
	c.Stall = 50 * time.Millisecond
	if _, err := c.Get(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantFile(t, r, data)
}

func TestWrongFileInPlaceIsKept(t *testing.T) {
	h := newHost(t, content(12, 1000))
	r := request(t, h)
	if err := os.WriteFile(r.Dest, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := quick().Get(t.Context(), r); err == nil || !strings.Contains(err.Error(), "remove "+r.Dest) {
		t.Fatalf("error %v", err)
	}
	if got, _ := os.ReadFile(r.Dest); string(got) != "mine" {
		t.Error("it was overwritten")
	}
}

func TestGetAllGoesOnAfterFailures(t *testing.T) {
	good, bad := newHost(t, content(13, 1000)), newHost(t, content(14, 1000))
	bad.always = status(404)
	r1, r2, r3 := request(t, bad), request(t, good), request(t, good)
	files, err := quick().GetAll(t.Context(), []Request{r1, r2, r3})
	if err == nil || files[1].Path != r2.Dest || files[2].Path != r3.Dest {
		t.Fatalf("%v, %v", files, err)
	}
}

func TestTwoClientsOneDownload(t *testing.T) {
	data := content(15, 50_000)
	h := newHost(t, data)
	r := request(t, h)
	same := []Request{r, r, r, r}
	c := quick()
	c.Parallel = 4
	if _, err := c.GetAll(t.Context(), same); err != nil {
		t.Fatal(err)
	}
	if n := len(h.requests()); n != 1 {
		t.Errorf("%d requests for one file", n)
	}
	wantFile(t, r, data)
}

// FuzzHeaders: numbers in headers are hostile; a range that is accepted makes
// sense, and a wait is never negative or beyond what the caller can compare.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{"bytes 0-9/10", "bytes 5-9/*", "bytes 9-5/10", "bytes -1-5/9", "120", "Wed, 21 Oct 2099 07:28:00 GMT", "99999999999999999999"} {
		f.Add(seed)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value string) {
		first, last, total, err := contentRange(value)
		if err == nil && (first < 0 || last < first || total >= 0 && last >= total || total < -1) {
			t.Errorf("%q: %d to %d of %d", value, first, last, total)
		}
		if wait := retryAfter(value, now); wait < 0 {
			t.Errorf("%q: %s", value, wait)
		}
	})
}
