package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Token is a bearer token that is sent to some hosts only.
type Token struct {
	// EnvName is the environment variable that holds it, such as HF_TOKEN.
	EnvName string
	// Hosts are the host names that may see it.
	Hosts []string
}

// authorizer adds tokens to requests on their way out, so that no redirect can
// carry one to another host.
type authorizer struct {
	tokens []Token
	base   http.RoundTripper
}

// find is the token for a URL: value is empty when the variable is not set.
func findToken(tokens []Token, u *url.URL) (name, value string) {
	for _, t := range tokens {
		if slices.Contains(t.Hosts, u.Hostname()) && checkURL(u) == nil {
			return t.EnvName, strings.TrimSpace(os.Getenv(t.EnvName))
		}
	}
	return "", ""
}

func (a authorizer) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, value := findToken(a.tokens, r.URL); value != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+value)
	}
	return a.base.RoundTrip(r)
}

// checkURL allows https, and http to this machine.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme == "https" && u.Host != "":
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%s: only https is fetched", plainURL(u.String()))
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// maxRedirects is more than any known host needs (Hugging Face: two).
const maxRedirects = 8

// newHTTP makes the client. There is no timeout on the whole, since a model
// may take hours; one that delivers nothing is ended by the stall timer.
func newHTTP(tokens []Token) *http.Client {
	base := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 20 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   20 * time.Second,
		ResponseHeaderTimeout: 60 * time.Second,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       30 * time.Second,
		// Bytes are wanted as they are stored; ranges count in them.
		DisableCompression: true,
	}
	return &http.Client{
		Transport: authorizer{tokens, base},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			return checkURL(next.URL)
		},
	}
}

// contentRange parses "bytes 100-199/200"; total is -1 for "*".
func contentRange(value string) (first, last, total int64, err error) {
	bad := fmt.Errorf("content range %q can not be read", value)
	spec, ok := strings.CutPrefix(value, "bytes ")
	if !ok {
		return 0, 0, 0, bad
	}
	span, size, ok := strings.Cut(spec, "/")
	from, to, ok2 := strings.Cut(span, "-")
	if !ok || !ok2 {
		return 0, 0, 0, bad
	}
	first, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	total = -1
	var err3 error
	if size != "*" {
		total, err3 = strconv.ParseInt(size, 10, 64)
	}
	if errors.Join(err1, err2, err3) != nil || first < 0 || last < first || (total >= 0 && last >= total) {
		return 0, 0, 0, bad
	}
	return first, last, total, nil
}

// retryAfter parses the header's seconds or date; zero when there is none.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && seconds > 0 && seconds < 1<<20 {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil && date.After(now) {
		return date.Sub(now).Round(time.Second)
	}
	return 0
}
