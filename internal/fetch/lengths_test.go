package fetch

import (
	"fmt"
	"net/http"
	"testing"
)

// raw answers with bytes of its own making on the connection, which it closes.
func raw(head string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write(append([]byte("HTTP/1.1 "+head+"\r\nConnection: close\r\n\r\n"), body...))
		_ = conn.Close()
	}
}

// A server lies about lengths, once or for ever, from the beginning or about
// the rest of a download that was cut: the file is right in the end, or there is
// an error and no file. Where neither size nor hash is known beforehand, only
// lies that contradict themselves can be seen.
func TestLiesAboutLengths(t *testing.T) {
	data := content(21, 60_000)
	const half = 30_000
	cut := func(h *host) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			h.cutting = func(int64) int64 { return half }
			defer func() { h.cutting = nil }()
			h.serve(w, r)
		}
	}
	part := func(format string, args ...any) string {
		return "206 Partial Content\r\n" + fmt.Sprintf(format, args...)
	}
	for _, lie := range []struct {
		name   string
		answer http.HandlerFunc
		resume bool // after a cut
		silent bool // says nothing that contradicts itself
	}{
		{"more announced than sent", raw("200 OK\r\nContent-Length: 60000", data[:half]), false, false},
		{"less announced than sent", raw("200 OK\r\nContent-Length: 30000", data), false, true},
		{"far more announced", raw("200 OK\r\nContent-Length: 9000000000000000000", data), false, false},
		{"a length that is no number", raw("200 OK\r\nContent-Length: many", data), false, false},
		{"two lengths", raw("200 OK\r\nContent-Length: 60000\r\nContent-Length: 5", data), false, false},
		{"a negative length", raw("200 OK\r\nContent-Length: -5", data), false, false},
		{"a part that nobody asked for", raw(part("Content-Length: 30000\r\nContent-Range: bytes 30000-59999/60000"), data[half:]), false, false},
		{"another total", raw(part("Content-Length: 30000\r\nContent-Range: bytes 30000-59999/70000"), data[half:]), true, false},
		{"another end", raw(part("Content-Length: 30000\r\nContent-Range: bytes 30000-49999/60000"), data[half:]), true, false},
		{"another start", raw(part("Content-Length: 30000\r\nContent-Range: bytes 29999-59999/60000"), data[half:]), true, false},
		{"a range that is none", raw(part("Content-Length: 30000\r\nContent-Range: bytes all"), data[half:]), true, false},
		{"no range", raw(part("Content-Length: 30000"), data[half:]), true, false},
		{"less of the rest", raw(part("Content-Length: 10\r\nContent-Range: bytes 30000-59999/60000"), data[half:half+10]), true, false},
		{"more of the rest", raw(part("Content-Length: 40000\r\nContent-Range: bytes 30000-59999/60000"), append(data[half:60_000:60_000], data[:10_000]...)), true, false},
	} {
		for _, forEver := range []bool{false, true} {
			for _, known := range []bool{true, false} {
				name := fmt.Sprintf("%s, for ever %v, known beforehand %v", lie.name, forEver, known)
				h := newHost(t, data)
				if lie.resume {
					h.queue = append(h.queue, cut(h))
				}
				if forEver {
					h.always = lie.answer
				} else {
					h.queue = append(h.queue, lie.answer)
				}
				r := request(t, h)
				if !known {
					if lie.silent {
						continue
					}
					r.Size, r.SHA256 = 0, ""
				}
				if _, err := quick().Get(t.Context(), r); err != nil {
					wantNothing(t, r)
					t.Logf("%s: %v", name, err)
					h.mu.Lock()
					h.always, h.queue = nil, nil
					h.mu.Unlock()
					if _, err := quick().Get(t.Context(), r); err != nil {
						t.Errorf("%s: the next download: %v", name, err)
						continue
					}
				}
				wantFile(t, r, data)
			}
		}
	}
}
