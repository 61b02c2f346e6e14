// Package githubtest is a loopback server that speaks the part of GitHub's API
// that package github uses: pages with Link headers, ETags, rate limits, and
// the refusals that GitHub has for bad input.
package githubtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// Token is what the server accepts.
const Token = "ghs_the-token-of-the-test"

// Owner and Repo name the one repository.
const (
	Owner = "octo"
	Repo  = "hexab"
)

// maxComment is GitHub's bound on a comment, in characters.
const maxComment = 65536

// Comment is an issue comment.
type Comment struct {
	ID     int64
	Login  string
	Number int
	Body   string
}

// Pull is a pull request.
type Pull struct {
	Number             int
	HeadOwner, Branch  string
	HeadSHA, BaseSHA   string
	State              string
	BaseOwner, BaseRef string
}

// CheckRun is a check run.
type CheckRun struct {
	ID                            int64
	Name, HeadSHA, ExternalID     string
	Status, Conclusion            string
	OutputTitle, OutputSummary    string
	CompletedAt, DetailsURL, From string
}

// Exchange is a request with its answer.
type Exchange struct {
	Request  *http.Request
	Body     []byte
	Status   int
	Header   http.Header
	Response []byte
}

// Server is the loopback server. Its fields may be changed under Lock.
type Server struct {
	sync.Mutex
	// URL is the API's base, as an Enterprise server has it.
	URL string
	// Login is who the token writes as. User tells whether it is a person's
	// token; a workflow's own has no user.
	Login string
	User  bool
	// MaxPerPage is the largest page given out, whatever is asked for.
	MaxPerPage int

	Pulls    []*Pull
	Comments []*Comment
	Checks   []*CheckRun
	// Reactions are the numbers of the one reaction that is used, by pull
	// request.
	Reactions map[int64]int64
	// Before is called before each request, without the lock; it may answer in
	// the server's place by returning true.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// After is called when a request was done and before it is answered; true
	// answers 502 although it was done.
	After func(r *http.Request) bool
	// Exchanges are all requests with their answers.
	Exchanges []Exchange

	nextID int64
	server *httptest.Server
}

// Start starts the server; it ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{Login: "github-actions[bot]", MaxPerPage: 100, nextID: 1000, Reactions: map[int64]int64{}}
	mux := http.NewServeMux()
	repo := fmt.Sprintf("/api/v3/repos/%s/%s", Owner, Repo)
	for pattern, handler := range map[string]func(*http.Request, []byte) (int, any){
		"GET /api/v3/user":                              s.getUser,
		"GET " + repo + "/pulls":                        s.listPulls,
		"GET " + repo + "/pulls/{n}":                    s.getPull,
		"GET " + repo + "/commits/{sha}/pulls":          s.commitPulls,
		"GET " + repo + "/issues/{n}/comments":          s.listComments,
		"POST " + repo + "/issues/{n}/comments":         s.createComment,
		"PATCH " + repo + "/issues/comments/{n}":        s.editComment,
		"DELETE " + repo + "/issues/comments/{n}":       s.deleteComment,
		"POST " + repo + "/issues/{n}/reactions":        s.createReaction,
		"DELETE " + repo + "/issues/{n}/reactions/{id}": s.deleteReaction,
		"GET " + repo + "/commits/{sha}/check-runs":     s.listChecks,
		"POST " + repo + "/check-runs":                  s.createCheck,
		"PATCH " + repo + "/check-runs/{n}":             s.updateCheck,
	} {
		mux.HandleFunc(pattern, s.serve(handler))
	}
	mux.HandleFunc("/", s.serve(func(*http.Request, []byte) (int, any) { return 404, message("Not Found") }))
	s.server = httptest.NewServer(mux)
	s.URL = s.server.URL + "/api/v3"
	t.Cleanup(s.server.Close)
	return s
}

// ID gives a fresh number, as GitHub does: always growing.
func (s *Server) ID() int64 {
	s.nextID++
	return s.nextID
}

// Locked tells whether the reaction is on a pull request.
func (s *Server) Locked(pull int64) bool {
	s.Lock()
	defer s.Unlock()
	return s.Reactions[pull] != 0
}

func message(text string) map[string]any {
	return map[string]any{"message": text, "documentation_url": "https://docs.github.com/rest"}
}

// serve does what all requests have in common.
func (s *Server) serve(handler func(*http.Request, []byte) (int, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.Lock()
		before, after := s.Before, s.After
		s.Unlock()
		recorder := &recorder{ResponseWriter: w, status: 200}
		defer func() {
			s.Lock()
			defer s.Unlock()
			s.Exchanges = append(s.Exchanges, Exchange{r, body, recorder.status, recorder.Header().Clone(), recorder.body})
		}()
		if before != nil && before(recorder, r) {
			return
		}
		if r.Header.Get("Authorization") != "Bearer "+Token {
			answer(recorder, r, 401, message("Bad credentials"))
			return
		}
		s.Lock()
		status, value := handler(r, body)
		if list, ok := value.(paged); ok {
			value = s.page(recorder, r, list)
		}
		s.Unlock()
		if after != nil && after(r) {
			answer(recorder, r, 502, message("Server Error"))
			return
		}
		answer(recorder, r, status, value)
	}
}

type recorder struct {
	http.ResponseWriter
	status int
	body   []byte
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.body = append(r.body, p...)
	return r.ResponseWriter.Write(p)
}

// answer writes JSON, or 304 where the asker has it already.
func answer(w http.ResponseWriter, r *http.Request, status int, value any) {
	if value == nil {
		w.WriteHeader(status)
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if r.Method == http.MethodGet && status == 200 {
		sum := sha256.Sum256(append(text, w.Header().Get("Link")...))
		etag := `"` + hex.EncodeToString(sum[:8]) + `"`
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// paged is a list of which a request gets one page.
type paged struct {
	items []any
	wrap  func(items []any) any
}

func (s *Server) page(w http.ResponseWriter, r *http.Request, list paged) any {
	query := r.URL.Query()
	size, err := strconv.Atoi(query.Get("per_page"))
	if err != nil || size < 1 {
		size = 30
	}
	size = min(size, s.MaxPerPage, 100)
	number, err := strconv.Atoi(query.Get("page"))
	if err != nil || number < 1 {
		number = 1
	}
	last := max((len(list.items)+size-1)/size, 1)
	link := func(page int, rel string) string {
		query.Set("page", fmt.Sprint(page))
		u := url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawQuery: query.Encode()}
		return fmt.Sprintf("<%s>; rel=%q", u.String(), rel)
	}
	if number < last {
		w.Header().Set("Link", link(number+1, "next")+", "+link(last, "last"))
	}
	from := min((number-1)*size, len(list.items))
	return list.wrap(append([]any{}, list.items[from:min(from+size, len(list.items))]...))
}

func number(r *http.Request) int64 {
	n, _ := strconv.ParseInt(r.PathValue("n"), 10, 64)
	return n
}

func (s *Server) getUser(*http.Request, []byte) (int, any) {
	if !s.User {
		return 403, message("Resource not accessible by integration")
	}
	return 200, s.fullUser(s.Login)
}

func (s *Server) pull(n int) *Pull {
	for _, p := range s.Pulls {
		if p.Number == n {
			return p
		}
	}
	return nil
}

func (s *Server) listPulls(r *http.Request, _ []byte) (int, any) {
	query := r.URL.Query()
	var items []any
	for _, p := range s.Pulls {
		if state := query.Get("state"); state != "all" && p.State != state {
			continue
		}
		if head := query.Get("head"); head != "" && head != p.HeadOwner+":"+p.Branch {
			continue
		}
		items = append(items, s.pullJSON(p, false))
	}
	return 200, paged{items, func(items []any) any { return items }}
}

func (s *Server) commitPulls(r *http.Request, _ []byte) (int, any) {
	var items []any
	for _, p := range s.Pulls {
		if p.HeadSHA == r.PathValue("sha") {
			items = append(items, s.pullJSON(p, false))
		}
	}
	return 200, paged{items, func(items []any) any { return items }}
}

func (s *Server) getPull(r *http.Request, _ []byte) (int, any) {
	if p := s.pull(int(number(r))); p != nil {
		return 200, s.pullJSON(p, true)
	}
	return 404, message("Not Found")
}

func (s *Server) listComments(r *http.Request, _ []byte) (int, any) {
	if s.pull(int(number(r))) == nil {
		return 404, message("Not Found")
	}
	var items []any
	for _, c := range s.Comments {
		if int64(c.Number) == number(r) {
			items = append(items, s.commentJSON(c))
		}
	}
	return 200, paged{items, func(items []any) any { return items }}
}

// commentBody reads and checks what a comment is to say.
func commentBody(data []byte) (string, int, any) {
	var in struct {
		Body *string `json:"body"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return "", 400, message("Problems parsing JSON")
	}
	if in.Body == nil || *in.Body == "" || utf8.RuneCountInString(*in.Body) > maxComment {
		return "", 422, map[string]any{"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest",
			"errors": []any{map[string]any{"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body is too long (maximum is 65536 characters)"}}}
	}
	return strings.ReplaceAll(*in.Body, "\r\n", "\n"), 0, nil
}

func (s *Server) createComment(r *http.Request, data []byte) (int, any) {
	if s.pull(int(number(r))) == nil {
		return 404, message("Not Found")
	}
	body, status, refused := commentBody(data)
	if refused != nil {
		return status, refused
	}
	c := &Comment{ID: s.ID(), Login: s.Login, Number: int(number(r)), Body: body}
	s.Comments = append(s.Comments, c)
	return 201, s.commentJSON(c)
}

func (s *Server) findComment(id int64) (int, *Comment) {
	for i, c := range s.Comments {
		if c.ID == id {
			return i, c
		}
	}
	return -1, nil
}

func (s *Server) editComment(r *http.Request, data []byte) (int, any) {
	_, c := s.findComment(number(r))
	if c == nil {
		return 404, message("Not Found")
	}
	if c.Login != s.Login {
		return 403, message("Resource not accessible by integration")
	}
	body, status, refused := commentBody(data)
	if refused != nil {
		return status, refused
	}
	c.Body = body
	return 200, s.commentJSON(c)
}

func (s *Server) deleteComment(r *http.Request, _ []byte) (int, any) {
	i, c := s.findComment(number(r))
	if c == nil {
		return 404, message("Not Found")
	}
	if c.Login != s.Login {
		return 403, message("Resource not accessible by integration")
	}
	s.Comments = append(s.Comments[:i:i], s.Comments[i+1:]...)
	return 204, nil
}

// createReaction tells by its status whether the reaction was there before.
func (s *Server) createReaction(r *http.Request, data []byte) (int, any) {
	if s.pull(int(number(r))) == nil {
		return 404, message("Not Found")
	}
	var in struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal(data, &in); err != nil || in.Content != "eyes" {
		return 422, message("Validation Failed")
	}
	status := 200
	if s.Reactions[number(r)] == 0 {
		status, s.Reactions[number(r)] = 201, s.ID()
	}
	return status, map[string]any{"id": s.Reactions[number(r)], "node_id": "REA_1", "user": s.fullUser(s.Login), "content": in.Content, "created_at": when}
}

func (s *Server) deleteReaction(r *http.Request, _ []byte) (int, any) {
	if id := s.Reactions[number(r)]; id == 0 || fmt.Sprint(id) != r.PathValue("id") {
		return 404, message("Not Found")
	}
	delete(s.Reactions, number(r))
	return 204, nil
}

func (s *Server) listChecks(r *http.Request, _ []byte) (int, any) {
	var items []any
	for _, c := range s.Checks {
		if name := r.URL.Query().Get("check_name"); c.HeadSHA == r.PathValue("sha") && (name == "" || name == c.Name) {
			items = append(items, s.checkJSON(c))
		}
	}
	total := len(items)
	return 200, paged{items, func(items []any) any { return map[string]any{"total_count": total, "check_runs": items} }}
}

func (s *Server) readCheck(data []byte, into *CheckRun) (int, any) {
	var in struct {
		Name       *string `json:"name"`
		HeadSHA    *string `json:"head_sha"`
		ExternalID *string `json:"external_id"`
		Status     *string `json:"status"`
		Conclusion *string `json:"conclusion"`
		Completed  *string `json:"completed_at"`
		Output     *struct {
			Title   *string `json:"title"`
			Summary *string `json:"summary"`
		} `json:"output"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return 400, message("Problems parsing JSON")
	}
	for from, to := range map[*string]*string{in.Name: &into.Name, in.HeadSHA: &into.HeadSHA, in.ExternalID: &into.ExternalID, in.Status: &into.Status, in.Conclusion: &into.Conclusion, in.Completed: &into.CompletedAt} {
		if from != nil {
			*to = *from
		}
	}
	if in.Output != nil {
		if in.Output.Title == nil || in.Output.Summary == nil || utf8.RuneCountInString(*in.Output.Summary) > 65535 {
			return 422, message("Validation Failed")
		}
		into.OutputTitle, into.OutputSummary = *in.Output.Title, *in.Output.Summary
	}
	if into.Name == "" || into.HeadSHA == "" || into.Status == "completed" && into.Conclusion == "" {
		return 422, message("Validation Failed")
	}
	return 0, nil
}

func (s *Server) createCheck(_ *http.Request, data []byte) (int, any) {
	c := &CheckRun{ID: s.ID(), Status: "queued"}
	if status, refused := s.readCheck(data, c); refused != nil {
		return status, refused
	}
	s.Checks = append(s.Checks, c)
	return 201, s.checkJSON(c)
}

func (s *Server) updateCheck(r *http.Request, data []byte) (int, any) {
	for _, c := range s.Checks {
		if c.ID == number(r) {
			if status, refused := s.readCheck(data, c); refused != nil {
				return status, refused
			}
			return 200, s.checkJSON(c)
		}
	}
	return 404, message("Not Found")
}
