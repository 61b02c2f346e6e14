package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of the transport.
const (
	maxAttempts    = 5
	maxResponse    = 64 << 20
	maxErrorBody   = 64 << 10
	maxCachedBody  = 8 << 20
	requestTimeout = 60 * time.Second
	// secondaryWait is how long GitHub asks to wait after a secondary rate
	// limit that names no time (docs.github.com, "Rate limits for the REST
	// API": at least one minute).
	secondaryWait = time.Minute
)

// errForeign is a request to anything but the API's base.
var errForeign = errors.New("not a request to the API: refused")

// transport adds the token, keeps requests within the API, waits where GitHub
// asks for it, tries again where that can do no harm, and remembers answers by
// their ETag.
type transport struct {
	base    *url.URL
	token   string
	next    http.RoundTripper
	sleep   func(context.Context, time.Duration) error
	now     func() time.Time
	note    func(string)
	maxWait time.Duration

	mu     sync.Mutex
	cached map[string]cachedAnswer
	reset  time.Time // no primary requests before
}

type cachedAnswer struct {
	etag   string
	header http.Header
	body   []byte
}

// within tells whether a request is one to the API.
func (t *transport) within(u *url.URL) bool {
	return u.Scheme == t.base.Scheme && u.Host == t.base.Host && u.User == nil &&
		strings.HasPrefix(u.Path, t.base.Path) && !strings.Contains(u.Path, "/../")
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !t.within(req.URL) {
		return nil, fmt.Errorf("%s %s://%s: %w", req.Method, req.URL.Scheme, req.URL.Host, errForeign)
	}
	var waited time.Duration
	for attempt := 1; ; attempt++ {
		if err := t.awaitReset(req.Context(), &waited); err != nil {
			return nil, err
		}
		resp, err := t.once(req)
		wait, again := t.again(req, resp, err, attempt)
		if !again {
			if attempt > 1 && err == nil && req.Method == http.MethodDelete && resp.StatusCode == http.StatusNotFound {
				// An earlier attempt did it and its answer was lost.
				resp.StatusCode, resp.Status = http.StatusNoContent, "204 No Content"
			}
			return t.finish(req, resp, err)
		}
		if resp != nil {
			_ = resp.Body.Close()
		}
		if waited += wait; waited > t.maxWait {
			return nil, fmt.Errorf("%s %s: GitHub asks to wait %v, more than the %v that this may take; run it again later", req.Method, req.URL.Path, waited.Round(time.Second), t.maxWait)
		}
		t.note(fmt.Sprintf("%s %s: %s; trying again in %v", req.Method, req.URL.Path, told(resp, err), wait.Round(time.Second)))
		if err := t.sleep(req.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// awaitReset waits out a primary rate limit that is known to be used up.
func (t *transport) awaitReset(ctx context.Context, waited *time.Duration) error {
	t.mu.Lock()
	wait := t.reset.Sub(t.now())
	t.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	wait += time.Second // clocks differ
	if *waited += wait; *waited > t.maxWait {
		return fmt.Errorf("the rate limit is used up for %v, longer than the %v that this may take; run it again later", wait.Round(time.Second), t.maxWait)
	}
	t.note(fmt.Sprintf("the rate limit is used up; waiting %v", wait.Round(time.Second)))
	if err := t.sleep(ctx, wait); err != nil {
		return err
	}
	t.mu.Lock()
	t.reset = time.Time{}
	t.mu.Unlock()
	return nil
}

// told says what an attempt came to.
func told(resp *http.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	return resp.Status
}

// once sends the request one time.
func (t *transport) once(req *http.Request) (*http.Response, error) {
	sent := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		sent.Body = body
	}
	if t.token != "" {
		sent.Header.Set("Authorization", "Bearer "+t.token)
	}
	t.mu.Lock()
	known, ok := t.cached[req.URL.String()]
	t.mu.Unlock()
	if ok && req.Method == http.MethodGet {
		sent.Header.Set("If-None-Match", known.etag)
	}
	resp, err := t.next.RoundTrip(sent)
	if err == nil && ok && resp.StatusCode == http.StatusNotModified {
		_ = resp.Body.Close()
		resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
		for name, values := range known.header {
			if resp.Header.Get(name) == "" {
				resp.Header[name] = values
			}
		}
		resp.ContentLength, resp.Body = int64(len(known.body)), io.NopCloser(bytes.NewReader(known.body))
	}
	return resp, err
}

// again tells whether a request is worth another try, and after what wait.
func (t *transport) again(req *http.Request, resp *http.Response, err error, attempt int) (time.Duration, bool) {
	if attempt >= maxAttempts || req.Context().Err() != nil || req.Body != nil && req.GetBody == nil {
		return 0, false
	}
	backoff := time.Second << (attempt - 1)
	// A POST that failed half-way may have been done; the caller looks.
	repeatable := req.Method != http.MethodPost
	switch {
	case err != nil:
		return backoff, repeatable
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden:
		return t.limited(resp, attempt)
	case resp.StatusCode >= 500:
		return backoff, repeatable
	}
	return 0, false
}

// limited tells a rate limit, which was not processed and may be tried again,
// from a plain refusal.
func (t *transport) limited(resp *http.Response, attempt int) (time.Duration, bool) {
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		return min(time.Duration(seconds)*time.Second, 24*time.Hour) + time.Second, true
	}
	if resp.Header.Get("X-RateLimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return max(time.Unix(at, 0).Sub(t.now()), 0) + time.Second, true
		}
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	resp.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(body), resp.Body}
	text := strings.ToLower(string(body))
	if resp.StatusCode == http.StatusTooManyRequests || strings.Contains(text, "secondary rate limit") || strings.Contains(text, "abuse detection") {
		return secondaryWait << (attempt - 1), true
	}
	return 0, false
}

// finish bounds the answer and remembers it.
func (t *transport) finish(req *http.Request, resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	if resp.Header.Get("X-RateLimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			t.mu.Lock()
			t.reset = time.Unix(at, 0)
			t.mu.Unlock()
		}
	}
	// Waiting is done here; go-github would refuse where this can wait.
	resp.Header.Set("X-From-Cache", "1")
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	if len(body) > maxResponse {
		return nil, fmt.Errorf("%s %s: the answer is larger than %d bytes", req.Method, req.URL.Path, maxResponse)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if etag := resp.Header.Get("ETag"); req.Method == http.MethodGet && resp.StatusCode == http.StatusOK && etag != "" && len(body) <= maxCachedBody {
		t.mu.Lock()
		t.cached[req.URL.String()] = cachedAnswer{etag, resp.Header.Clone(), body}
		t.mu.Unlock()
	}
	return resp, nil
}
