package counters

import (
	"reflect"
	"strings"
	"testing"
)

const document = `{"simulated":true,"soc":"SM8750","processes":[{"domain":3,"session":0,"packets":4,"dma_bytes":100,"invokes":{"2":1,"8":3}},{"domain":3,"session":1,"packets":1,"dma_bytes":18446744073709551000,"invokes":{"8":1}}]}`

func TestFind(t *testing.T) {
	want := Set{"packets": 5, "dma_bytes": 18446744073709551100, "invokes.2": 1, "invokes.8": 4}
	for _, log := range []string{document, "loading\n" + document + "\n", "0m1s 0m2s\n" + document + "\r\nmore\n", document[:40] + "\n" + document} {
		got, found, err := Find(log)
		if !found || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v %v %v", log, got, found, err)
		}
	}
	for _, log := range []string{"", "nothing", "text " + document} {
		if _, found, err := Find(log); found || err != nil {
			t.Errorf("%q: %v %v", log, found, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ data, want string }{
		{`{}`, "no counters"},
		{`{"simulated":true,"processes":[]}`, "no counters"},
		{`{"simulated":true,"processes":[{"packets":-1}]}`, "packets"},
		{`{"simulated":true,"processes":[{"packets":1.5}]}`, "packets"},
		{`{"simulated":true,"processes":[{"invokes":3}]}`, "invokes"},
		{document[:60], "unexpected end"},
		{strings.Repeat(" ", MaxDocument+1), "more than"},
	} {
		if _, err := Parse([]byte(test.data)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.60q: %v, want %s", test.data, err, test.want)
		}
	}
}

func TestDifferAndPerToken(t *testing.T) {
	a, b := Set{"packets": 10, "same": 7, "polls": 1}, Set{"packets": 42, "same": 7, "new": 1, "polls": 2}
	if got := Differ(a, b, "polls"); !reflect.DeepEqual(got, []string{"new", "packets"}) {
		t.Error(got)
	}
	if got := PerToken(a, b, 16); got["packets"] != 2 || got["same"] != 0 || got["new"] != 1.0/16 {
		t.Error(got)
	}
	if got := PerToken(b, a, 16)["packets"]; got != -2 {
		t.Error(got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(document)
	f.Fuzz(func(t *testing.T, text string) {
		if set, err := Parse([]byte(text)); err == nil && set == nil {
			t.Error("neither counters nor an error")
		}
		_, _, _ = Find(text)
	})
}
