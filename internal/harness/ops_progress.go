package harness

import (
	"bytes"
	"regexp"
	"sync"
	"time"
)

const (
	// casePause is the least time between two lines of progress.
	casePause = 5 * time.Second
	// silence is how long nothing is said while one case runs.
	silence = 30 * time.Second
)

// caseCounter tells every few seconds how far test-backend-ops has come. It
// reads the program's output. How many cases there are the program does not say.
type caseCounter struct {
	note func(format string, args ...any)
	now  func() time.Time

	mu          sync.Mutex // guards all below
	said, began time.Time  // the last line; the case that runs
	cases       int
	op          string
}

func newCaseCounter(note func(format string, args ...any), now func() time.Time) *caseCounter {
	return &caseCounter{note: note, now: now, said: now(), began: now()}
}

// caseName is the name of a case, which begins its line or follows what was
// said while the one before ran.
var caseName = regexp.MustCompile(`(?m)(?:^|  )([A-Za-z][A-Za-z0-9_+]*)\(`)

func (c *caseCounter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cases += bytes.Count(p, []byte("): "))
	if names := caseName.FindAllSubmatch(p, -1); len(names) > 0 {
		c.op, c.began = string(names[len(names)-1][1]), c.now()
	}
	if c.op != "" && c.now().Sub(c.said) >= casePause {
		c.said = c.now()
		c.note("%d cases, now %.40s", c.cases, c.op)
	}
	return len(p), nil
}

// remind tells of a case that takes long.
func (c *caseCounter) remind() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.op != "" && c.now().Sub(c.said) >= silence {
		c.said = c.now()
		c.note("%d cases, the last (%.40s) for %s so far", c.cases, c.op, c.now().Sub(c.began).Round(time.Second))
	}
}
