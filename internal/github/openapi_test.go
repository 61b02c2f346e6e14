package github

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"hexab/internal/github/githubtest"
)

// GitHub's own description of its API, as published on the npm registry.
const (
	descriptionPackage   = "@octokit/openapi@23.0.2"
	descriptionFile      = "octokit-openapi-23.0.2.tgz"
	descriptionIntegrity = "sha512-pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg=="
)

// description fetches the package unless the cache has it, checks its hash and
// reads one of its documents.
func description(t *testing.T, name string) *openapi3.T {
	t.Helper()
	cache := os.Getenv("HEXAB_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Skip(err)
		}
		cache = filepath.Join(user, "hexab")
	}
	dir := filepath.Join(cache, "npm")
	archive := filepath.Join(dir, descriptionFile)
	if _, err := os.Stat(archive); err != nil {
		npm, err := exec.LookPath("npm")
		if err != nil {
			t.Skip("the npm client is not installed: it fetches GitHub's description of its API")
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		command := exec.Command(npm, "pack", descriptionPackage, "--pack-destination", dir, "--ignore-scripts", "--silent", "--no-update-notifier")
		if out, err := command.CombinedOutput(); err != nil {
			t.Skipf("%s can not be fetched: %v\n%s", descriptionPackage, err, out)
		}
	}
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(data)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != descriptionIntegrity {
		_ = os.Remove(archive)
		t.Fatalf("%s has the hash %s, not %s", descriptionPackage, got, descriptionIntegrity)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if header.Name != "package/generated/"+name {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		document, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil {
			t.Fatal(err)
		}
		return document
	}
}

// match finds the operation of a request and its path's parameters.
func match(document *openapi3.T, method, path string) (*routers.Route, map[string]string) {
	want := strings.Split(path, "/")
	for _, template := range document.Paths.InMatchingOrder() {
		parts := strings.Split(template, "/")
		if len(parts) != len(want) {
			continue
		}
		params, ok := map[string]string{}, true
		for i, part := range parts {
			if strings.HasPrefix(part, "{") {
				params[strings.Trim(part, "{}")] = want[i]
			} else if part != want[i] {
				ok = false
			}
		}
		item := document.Paths.Value(template)
		if operation := item.GetOperation(method); ok && operation != nil {
			return &routers.Route{Spec: document, Path: template, PathItem: item, Method: method, Operation: operation}, params
		}
	}
	return nil, nil
}

// validate holds an exchange against the description.
func validate(t *testing.T, document *openapi3.T, e githubtest.Exchange) error {
	path := strings.TrimPrefix(e.Request.URL.Path, "/api/v3")
	route, params := match(document, e.Request.Method, path)
	if route == nil {
		return errors.New("no such operation")
	}
	request := e.Request.Clone(t.Context())
	request.Body = io.NopCloser(bytes.NewReader(e.Body))
	if len(e.Body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}
	in := &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route, Options: options}
	if err := openapi3filter.ValidateRequest(t.Context(), in); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	if e.Status == http.StatusNotModified || e.Status == http.StatusForbidden {
		return nil // said of all operations at once, not of each
	}
	header := e.Header.Clone()
	header.Del("Link") // described as a single link
	answer := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: e.Status, Header: header, Options: options}
	answer.SetBodyBytes(e.Response)
	if err := openapi3filter.ValidateResponse(t.Context(), answer); err != nil {
		return fmt.Errorf("answer %d: %w", e.Status, err)
	}
	return nil
}

// What the client asks for and what the loopback server answers is what GitHub
// describes, on github.com and on an Enterprise server.
func TestAgainstGitHubsDescription(t *testing.T) {
	if os.Getenv("HEXAB_HEAVY") == "" {
		t.Skip("HEXAB_HEAVY is not set: this fetches GitHub's description of its API")
	}
	s := hub(t)
	s.MaxPerPage = 2
	c := client(t, s, newClock())
	for range 3 {
		s.Comments = append(s.Comments, &githubtest.Comment{ID: s.ID(), Login: "someone", Number: 7, Body: "hello"})
	}
	post(t, c, section(1, "x"), Created)
	post(t, c, section(2, "y"), Updated)
	s.Comments = append(s.Comments, &githubtest.Comment{ID: s.ID(), Login: s.Login, Number: 7, Body: Document{Head: headA, Sections: []Section{section(1, "x")}}.String()})
	post(t, c, section(3, "z"), Updated)
	for _, e := range []Event{{Head: headA, Owner: "someone", Branch: "faster"}, {Head: headA}} {
		if _, err := c.Pulls(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range []int64{1, 2} {
		if _, err := c.Publish(t.Context(), headA, Check{Key: "pr", Run: run, Attempt: 1, Title: "t", Summary: "s", Conclusion: Neutral}); err != nil {
			t.Fatal(err)
		}
	}
	s.User, s.Login = true, "a-person"
	post(t, client(t, s, newClock()), section(1, "x"), Created)
	for _, name := range []string{"api.github.com.json", "ghes-3.19.json"} {
		document := description(t, name)
		kinds := map[string]bool{}
		for _, e := range s.Exchanges {
			route, _ := match(document, e.Request.Method, strings.TrimPrefix(e.Request.URL.Path, "/api/v3"))
			if route != nil {
				kinds[route.Method+" "+route.Path] = true
			}
			if err := validate(t, document, e); err != nil {
				t.Errorf("%s: %s %s: %.1500v", name, e.Request.Method, e.Request.URL, err)
			}
		}
		if len(kinds) != 13 {
			t.Errorf("%s: %d kinds of request: %v", name, len(kinds), kinds)
		}
	}
}
