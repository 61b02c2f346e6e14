package github

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxCommentBytes bounds a comment; GitHub refuses more than 65536 characters.
const MaxCommentBytes = 65_000

// MaxSectionBytes bounds one section, so that three fit.
const MaxSectionBytes = 20_000

// maxSections bounds the sections of a comment.
const maxSections = 3

// Section is what one workflow says in the comment.
type Section struct {
	// Key names the workflow.
	Key string
	// Run and Attempt are those of the workflow's run: a larger pair is newer.
	Run     int64
	Attempt int
	// Body is Markdown.
	Body string
}

func (s Section) newer(than Section) bool {
	if s.Run != than.Run {
		return s.Run > than.Run
	}
	return s.Attempt > than.Attempt
}

// Document is a whole comment: the sections about one head commit.
type Document struct {
	Head     string
	Sections []Section
}

var (
	keyPattern  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	headPattern = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	headMarker  = regexp.MustCompile(`^<!-- hexab:pull head=([0-9a-f]{40,64}) -->\r?\n`)
	sectionHead = regexp.MustCompile(`<!-- hexab:section key=([a-z0-9-]{1,32}) run=([0-9]{1,18}) attempt=([0-9]{1,6}) sum=([0-9a-f]{16}) -->\r?\n`)
)

const sectionEnd = "<!-- hexab:end -->"

func (s Section) sum() string {
	hash := sha256.Sum256([]byte(strings.TrimSpace(strings.ReplaceAll(s.Body, "\r\n", "\n"))))
	return hex.EncodeToString(hash[:8])
}

// check refuses what would not be found again.
func (d Document) check() error {
	if !headPattern.MatchString(d.Head) {
		return fmt.Errorf("comment: %.80q is not a commit", d.Head)
	}
	for _, s := range d.Sections {
		switch {
		case !keyPattern.MatchString(s.Key):
			return fmt.Errorf("comment: %.40q is not a section's key", s.Key)
		case s.Run < 1 || s.Attempt < 1:
			return fmt.Errorf("comment: run %d, attempt %d", s.Run, s.Attempt)
		case strings.Contains(s.Body, "<!--"):
			return fmt.Errorf("comment: section %s holds a marker of its own", s.Key)
		case len(s.Body) > MaxSectionBytes:
			return fmt.Errorf("comment: section %s has %d bytes, more than %d", s.Key, len(s.Body), MaxSectionBytes)
		}
	}
	return nil
}

// String is the comment's text.
func (d Document) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- hexab:pull head=%s -->\n", d.Head)
	for _, s := range d.Sections {
		fmt.Fprintf(&b, "<!-- hexab:section key=%s run=%d attempt=%d sum=%s -->\n%s\n%s\n", s.Key, s.Run, s.Attempt, s.sum(), strings.TrimSpace(s.Body), sectionEnd)
	}
	return b.String()
}

// ParseDocument reads a comment's text; ok is false for a comment that is none
// of ours. A section that somebody changed by hand is left out, so that it is
// posted anew.
func ParseDocument(text string) (d Document, ok bool) {
	match := headMarker.FindStringSubmatch(text)
	if match == nil {
		return d, false
	}
	d.Head = match[1]
	for rest := text; ; {
		at := sectionHead.FindStringSubmatchIndex(rest)
		if at == nil {
			return d, true
		}
		field := func(i int) string { return rest[at[2*i]:at[2*i+1]] }
		s := Section{Key: field(1)}
		s.Run, _ = strconv.ParseInt(field(2), 10, 64) // 18 digits always fit
		s.Attempt, _ = strconv.Atoi(field(3))
		sum := field(4)
		body, after, closed := strings.Cut(rest[at[1]:], sectionEnd)
		s.Body = strings.TrimSpace(body)
		if rest = after; closed && s.sum() == sum {
			d.Sections = append(d.Sections, s)
		}
		if !closed {
			return d, true
		}
	}
}

// merge puts the newest section of each key together. Documents about other
// commits do not count.
func merge(head string, documents []Document, ours Section) Document {
	newest := map[string]Section{ours.Key: ours}
	for _, d := range documents {
		if d.Head != head {
			continue
		}
		for _, s := range d.Sections {
			if known, ok := newest[s.Key]; !ok || s.newer(known) {
				newest[s.Key] = s
			}
		}
	}
	merged := Document{Head: head}
	for _, s := range newest {
		merged.Sections = append(merged.Sections, s)
	}
	slices.SortFunc(merged.Sections, func(a, b Section) int { return strings.Compare(a.Key, b.Key) })
	if len(merged.Sections) > maxSections { // the oldest runs go, never ours
		slices.SortStableFunc(merged.Sections, func(a, b Section) int {
			switch {
			case a.Key == ours.Key:
				return -1
			case b.Key == ours.Key:
				return 1
			case a.newer(b):
				return -1
			}
			return 1
		})
		merged.Sections = merged.Sections[:maxSections]
		slices.SortFunc(merged.Sections, func(a, b Section) int { return strings.Compare(a.Key, b.Key) })
	}
	return merged
}

// same tells whether two documents say the same.
func (d Document) same(other Document) bool {
	return d.Head == other.Head && slices.EqualFunc(d.Sections, other.Sections, func(a, b Section) bool {
		return a.Key == b.Key && a.Run == b.Run && a.Attempt == b.Attempt && a.sum() == b.sum()
	})
}
