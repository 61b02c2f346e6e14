package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// transfer is one file on its way into its .part.
type transfer struct {
	c    *Client
	r    Request
	want Locked
	part string
	http *http.Client
}

// partState is what is needed to go on with a .part; it is beside it.
type partState struct {
	URL string `json:"url"` // without query
	// Validator is the strong ETag or the Last-Modified date of the bytes.
	Validator string `json:"validator"`
	Revision  string `json:"revision,omitempty"`
}

func (t *transfer) statePath() string { return t.part + ".json" }

func (t *transfer) run(ctx context.Context) (File, error) {
	t.http = t.c.client()
	var failures []error
	for _, raw := range t.r.URLs {
		f, err := t.fromURL(ctx, raw)
		if err == nil {
			return f, nil
		}
		if ctx.Err() != nil {
			return File{}, fmt.Errorf("%s: stopped, what has arrived is kept: %w", t.r.Name, context.Cause(ctx))
		}
		var space *SpaceError
		if errors.As(err, &space) {
			return File{}, fmt.Errorf("%s: %w", t.r.Name, err)
		}
		failures = append(failures, err)
	}
	return File{}, fmt.Errorf("%s could not be fetched: %w", t.r.Name, errors.Join(failures...))
}

// fromURL fetches from one URL with retries, then checks the bytes. Bytes that
// turn out wrong are thrown away; when they were pieced together, the whole is
// fetched once more.
func (t *transfer) fromURL(ctx context.Context, raw string) (File, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return File{}, fmt.Errorf("%s: not a URL", plainURL(raw))
	}
	if err := checkURL(u); err != nil {
		return File{}, err
	}
	for again := range 2 {
		leave, err := t.c.hosts.enter(ctx, u.Hostname(), orDefault(t.c.PerHost, 2))
		if err != nil {
			return File{}, err
		}
		pieced, err := t.complete(ctx, u)
		leave()
		if err != nil {
			return File{}, err
		}
		got, err := t.c.check(ctx, t.r, t.want, t.part)
		if err == nil {
			return t.finish(got)
		}
		if ctx.Err() != nil {
			return File{}, err
		}
		t.discard()
		if !pieced || again > 0 {
			return File{}, fmt.Errorf("%s: %w", plainURL(raw), err)
		}
	}
	panic("not reached")
}

func (t *transfer) finish(got Locked) (File, error) {
	got.Revision = t.state().Revision
	f, err := os.OpenFile(t.part, os.O_RDWR, 0)
	if err != nil {
		return File{}, err
	}
	err = errors.Join(f.Sync(), f.Close())
	if err != nil {
		return File{}, err
	}
	if err := os.Rename(t.part, t.r.Dest); err != nil {
		return File{}, err
	}
	_ = os.Remove(t.statePath())
	accepted, err := t.c.accept(t.r, got, true)
	if err != nil {
		// The lock file disagrees: the name must not be kept.
		_ = os.Remove(t.r.Dest)
	}
	return accepted, err
}

func (t *transfer) discard() {
	_ = os.Remove(t.part)
	_ = os.Remove(t.statePath())
}

func (t *transfer) state() partState {
	var s partState
	data, err := os.ReadFile(t.statePath())
	if err != nil || json.Unmarshal(data, &s) != nil {
		return partState{}
	}
	return s
}

// complete tries until the .part is whole. It tells whether the bytes came in
// more than one piece.
func (t *transfer) complete(ctx context.Context, u *url.URL) (pieced bool, err error) {
	failures := 0
	for {
		before := sizeOf(t.part)
		pieced = pieced || before > 0
		err := t.attempt(ctx, u)
		if err == nil {
			return pieced, nil
		}
		if ctx.Err() != nil {
			return pieced, context.Cause(ctx)
		}
		if sizeOf(t.part) > before {
			failures = 0
		}
		failures++
		wait, retry := t.retry(err, failures)
		if !retry {
			return pieced, err
		}
		t.c.tell(Event{Name: t.r.Name, Phase: PhaseWait, Bytes: sizeOf(t.part), Total: t.total(), Left: -1,
			Note: fmt.Sprintf("%v; trying again in %s", err, wait.Round(time.Millisecond))})
		select {
		case <-ctx.Done():
			return pieced, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// retry decides whether another attempt can help, and when.
func (t *transfer) retry(err error, failures int) (time.Duration, bool) {
	if failures >= t.c.attempts() {
		return 0, false
	}
	var status *StatusError
	var final *finalError
	switch {
	case errors.As(err, &status):
		if !status.temporary() || status.RetryAfter > t.c.maxWait() {
			return 0, false
		}
		return max(status.RetryAfter, t.c.backoff(failures)), true
	case errors.As(err, &final):
		return 0, false
	}
	return t.c.backoff(failures), true
}

// finalError is an answer that another attempt would get again.
type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

func final(err error) error { return &finalError{err} }

func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (t *transfer) total() int64 {
	if t.want.Size == 0 {
		return -1
	}
	return t.want.Size
}

// attempt makes one request and appends its body to the .part.
func (t *transfer) attempt(ctx context.Context, u *url.URL) error {
	have, validator := t.resumeFrom(u)
	if have > 0 && have == t.want.Size {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return final(err)
	}
	req.Header.Set("User-Agent", "hexab")
	req.Header.Set("Accept-Encoding", "identity")
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		if validator != "" {
			req.Header.Set("If-Range", validator)
		}
	}
	stalled := time.AfterFunc(t.c.stall(), func() { cancel(errStalled) })
	defer stalled.Stop()
	resp, err := t.http.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
			return fmt.Errorf("%s: %w", plainURL(u.String()), errStalled)
		}
		return plainError(err)
	}
	defer resp.Body.Close()
	start, total, err := t.accepts(resp, have)
	if err != nil {
		return err
	}
	return t.append(ctx, resp, start, total, stalled)
}

// resumeFrom is where to go on. Bytes of this URL need its validator, unless
// the hash is known and will tell; bytes of another URL need the hash.
func (t *transfer) resumeFrom(u *url.URL) (have int64, validator string) {
	have = sizeOf(t.part)
	if have == 0 {
		return 0, ""
	}
	s := t.state()
	switch {
	case t.want.Size != 0 && have > t.want.Size:
	case s.URL == plainURL(u.String()) && s.Validator != "":
		return have, s.Validator
	case t.want.SHA256 != "":
		return have, ""
	}
	t.discard()
	return 0, ""
}

// accepts decides whether the answer is the file, from which offset, and how
// long the whole is (-1: unknown).
func (t *transfer) accepts(resp *http.Response, have int64) (start, total int64, err error) {
	at := plainURL(resp.Request.URL.String())
	total = -1
	switch resp.StatusCode {
	case http.StatusOK:
		total = resp.ContentLength
	case http.StatusPartialContent:
		first, last, all, err := contentRange(resp.Header.Get("Content-Range"))
		if err != nil {
			return 0, 0, final(fmt.Errorf("%s: %w", at, err))
		}
		if first != have || (all >= 0 && last != all-1) {
			t.discard()
			return 0, 0, fmt.Errorf("%s: asked for bytes from %d, got %d to %d of %d", at, have, first, last, all)
		}
		start, total = first, all
	case http.StatusRequestedRangeNotSatisfiable:
		t.discard() // what is here is longer than, or another than, what is there
		return 0, 0, fmt.Errorf("%s: can not go on from byte %d; starting over", at, have)
	default:
		name, value := findToken(t.c.Tokens, resp.Request.URL)
		return 0, 0, &StatusError{URL: at, Status: resp.StatusCode, TokenName: name, TokenSent: value != "",
			RetryAfter: retryAfter(resp.Header.Get("Retry-After"), time.Now())}
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" || kind == "application/xhtml+xml" {
		return 0, 0, final(&HTMLError{at})
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return 0, 0, final(fmt.Errorf("%s: came compressed (%s) although that was declined", at, enc))
	}
	if t.want.Size != 0 && total >= 0 && total != t.want.Size {
		return 0, 0, final(&MismatchError{Name: at, Field: "size", Got: fmt.Sprint(total), Want: fmt.Sprint(t.want.Size), From: t.c.source(t.r, "size")})
	}
	if total < 0 && t.want.Size != 0 {
		total = t.want.Size
	}
	return start, total, t.room(total - start)
}

// room checks that the rest fits on the disk.
func (t *transfer) room(need int64) error {
	free := t.c.free
	if free == nil {
		free = freeBytes
	}
	dir := filepath.Dir(t.part)
	have, err := free(dir)
	if err != nil || need <= 0 {
		return nil // unknown: the write will tell
	}
	if need+spaceMargin > have {
		return final(&SpaceError{Dir: dir, Need: need + spaceMargin, Have: have})
	}
	return nil
}

// append writes the body at start and remembers how to go on from any point.
func (t *transfer) append(ctx context.Context, resp *http.Response, start, total int64, stalled *time.Timer) error {
	flags := os.O_WRONLY | os.O_CREATE
	if start == 0 {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(t.part, flags, 0o644)
	if err != nil {
		return final(err)
	}
	defer f.Close()
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return final(err)
	}
	if start == 0 {
		if err := t.remember(resp); err != nil {
			return final(err)
		}
	}
	limit := int64(maxUnknown)
	if total >= 0 {
		limit = total
	}
	body := &sniffer{r: resp.Body, at: plainURL(resp.Request.URL.String()), check: start == 0}
	n, err := io.Copy(f, io.LimitReader(&alive{
		r:     &countingReader{ctx: ctx, r: body, meter: newMeter(t.c.Progress, Event{Name: t.r.Name, Phase: PhaseDownload, Bytes: start, Total: total})},
		timer: stalled, stall: t.c.stall(),
	}, limit-start+1))
	if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
		err = errStalled
	}
	var html *HTMLError
	switch {
	case errors.As(err, &html):
		f.Close()
		t.discard()
		return final(err)
	case start+n > limit:
		f.Close()
		t.discard()
		return final(fmt.Errorf("%s: sends more than the %d bytes it should have", body.at, limit))
	case err == nil && total >= 0 && start+n < total, errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w after %d of %d bytes", body.at, errCut, start+n, total)
	case isWriteError(err):
		return final(err)
	case err != nil:
		return plainError(fmt.Errorf("%s: %w", body.at, err))
	}
	return f.Close()
}

func isWriteError(err error) bool {
	var p *os.PathError
	return errors.As(err, &p) && p.Op == "write"
}

// revisionPattern is a git commit as Hugging Face reports it.
var revisionPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (t *transfer) remember(resp *http.Response) error {
	s := partState{URL: plainURL(firstRequest(resp).URL.String())}
	if tag := resp.Header.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		s.Validator = tag
	} else {
		s.Validator = resp.Header.Get("Last-Modified")
	}
	// Hugging Face names the commit on the way, not with the file.
	for r := resp; r != nil; r = r.Request.Response {
		if commit := r.Header.Get("X-Repo-Commit"); revisionPattern.MatchString(commit) {
			s.Revision = commit
		}
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return renameio.WriteFile(t.statePath(), data, 0o644)
}

func firstRequest(resp *http.Response) *http.Request {
	req := resp.Request
	for req.Response != nil {
		req = req.Response.Request
	}
	return req
}

// sniffer refuses a body that begins like a web page.
type sniffer struct {
	r     io.Reader
	at    string
	check bool
}

func (s *sniffer) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.check && n > 0 {
		s.check = false
		head := bytes.ToLower(bytes.TrimLeft(p[:min(n, 64)], " \t\r\n\xef\xbb\xbf"))
		if bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html")) {
			return 0, &HTMLError{s.at}
		}
	}
	return n, err
}

// alive puts the stall timer off with each read.
type alive struct {
	r     io.Reader
	timer *time.Timer
	stall time.Duration
}

func (a *alive) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if n > 0 {
		a.timer.Reset(a.stall)
	}
	return n, err
}
