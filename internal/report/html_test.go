package report

import (
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"hexab/internal/compare"
)

func TestHTMLGolden(t *testing.T) {
	for _, s := range samples() {
		c, run := s.compare(t)
		text, err := HTML(c, run)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, s.id+".html", text)
	}
}

// The page is sound, needs nothing from elsewhere, and nothing that came from
// outside is live in it.
func TestHTMLInert(t *testing.T) {
	element := map[string]bool{}
	for _, name := range strings.Fields("html head meta title style body h1 h2 p strong div table thead tbody tr th td svg g rect line circle ul li pre") {
		element[name] = true
	}
	for _, s := range samples() {
		c, run := s.compare(t)
		text, err := HTML(c, run)
		if err != nil {
			t.Fatal(err)
		}
		decoder := xml.NewDecoder(strings.NewReader(string(text)))
		decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
		rows, cells := 0, map[int]bool{}
		n := 0
		for {
			token, err := decoder.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", s.id, err)
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			if !element[start.Name.Local] {
				t.Errorf("%s: <%s> is in the page", s.id, start.Name.Local)
			}
			switch start.Name.Local {
			case "tr":
				if rows++; rows > 1 {
					cells[n] = true
				}
				n = 0
			case "td", "th":
				n++
			}
			for _, a := range start.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "src" || a.Name.Local == "style" {
					t.Errorf("%s: attribute %s=%q", s.id, a.Name.Local, a.Value)
				}
			}
		}
		if want := 1 + len(run.Models)*len(run.Tests); rows != want || len(cells) > 1 {
			t.Errorf("%s: %d rows, want %d; cells a row %v", s.id, rows, want, cells)
		}
		if strings.Contains(string(text), compare.SimulatedNotice) != run.Simulated() {
			t.Errorf("%s: labelled wrongly", s.id)
		}
		if word := regexp.MustCompile(`\b(NaN|[+-]?Inf)\b|url\(|@import`).FindString(string(text)); word != "" {
			t.Errorf("%s: %s is in the page", s.id, word)
		}
	}
}
