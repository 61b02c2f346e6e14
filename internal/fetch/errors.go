package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// StatusError is an HTTP answer that is not the file.
type StatusError struct {
	URL    string // without its query, which can hold a signature
	Status int
	// RetryAfter is how long the server asks to wait; zero when it does not.
	RetryAfter time.Duration
	// TokenName is the environment variable that a token is taken from for
	// this host, TokenSent whether there was one.
	TokenName string
	TokenSent bool
}

// Error says what the answer means and what to do.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s: %d %s", e.URL, e.Status, http.StatusText(e.Status))
	switch {
	case (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden) && e.TokenSent:
		return text + ": the token in " + e.TokenName + " is not allowed to read it: accept the licence on the file's page with that account, or use another token"
	case (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden) && e.TokenName != "":
		return text + ": it is gated: accept the licence on its page, then set " + e.TokenName + " to an access token"
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return text + ": the server wants a sign-in"
	case e.Status == http.StatusNotFound || e.Status == http.StatusGone:
		return text + ": the file is not there (moved or renamed?)"
	case e.Status == http.StatusTooManyRequests && e.RetryAfter > 0:
		return fmt.Sprintf("%s: the server asks to wait %s", text, e.RetryAfter)
	}
	return text
}

func (e *StatusError) temporary() bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout || e.Status >= 500
}

// HTMLError is a web page in place of the file: a sign-in, a consent page, or
// the portal of a network.
type HTMLError struct{ URL string }

// Error says so.
func (e *HTMLError) Error() string {
	return e.URL + ": answered with a web page, not the file: a sign-in or consent page, or this network's portal; open it in a browser to see"
}

// MismatchError is a file that is not the one expected.
type MismatchError struct {
	Name string
	// Field is "size", "sha256" or "revision".
	Field     string
	Got, Want string
	// From says who expects it: "the manifest" or the lock file.
	From string
}

// Error names both values.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s: %s is %s, %s says %s", e.Name, e.Field, e.Got, e.From, e.Want)
}

// SpaceError is too little room on a disk.
type SpaceError struct {
	Dir        string
	Need, Have int64 // bytes
}

// Error says how much is missing and where.
func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s: %s needed, %s free: free %s there, or set HEXAB_CACHE to a folder on another disk",
		e.Dir, humanize.IBytes(uint64(e.Need)), humanize.IBytes(uint64(max(0, e.Have))), humanize.IBytes(uint64(e.Need-max(0, e.Have))))
}

// AbsentError is a file that is not here while the network is not to be used.
type AbsentError struct {
	Name, Dest string
	// From is the folder that was looked in as well; Reason says what was
	// wrong with the file there; empty and nil without.
	From   string
	Reason error
}

// Error says where the file was looked for.
func (e *AbsentError) Error() string {
	text := fmt.Sprintf("%s: %s is not here", e.Name, e.Dest)
	switch {
	case e.Reason != nil:
		text += fmt.Sprintf(", the one in %s is not the right one (%v)", e.From, e.Reason)
	case e.From != "":
		text += ", nor is it in " + e.From
	}
	return text + ", and the network is not to be used"
}

// Unwrap gives what was wrong with the file in the folder.
func (e *AbsentError) Unwrap() error { return e.Reason }

// KindError is a file whose content is not of its kind.
type KindError struct {
	Name   string
	Reason string
}

// Error says what is wrong.
func (e *KindError) Error() string { return e.Name + ": " + e.Reason }

// errStalled ends a request that no longer delivers.
var errStalled = errors.New("no data arrived for too long")

// errCut is a body that ended before its length.
var errCut = errors.New("the connection was cut")

// plainURL is a URL that can be shown: without query, fragment or user.
func plainURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		raw, _, _ = strings.Cut(raw, "?")
		return raw
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return u.String()
}

// plainError takes the query out of the HTTP client's own errors.
func plainError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return fmt.Errorf("%s: %w", plainURL(u.URL), u.Err)
	}
	return err
}
