package llamabench

import (
	"slices"
	"strings"
	"testing"
)

func TestParseDevices(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
		ok   bool
	}{
		{"Available devices:\n  (none)\n", nil, true},
		{"Available devices:\r\n  HTP0: Hexagon (2048 MiB, 2048 MiB free)\r\n  HTP1: Hexagon (2048 MiB, 2048 MiB free)\r\n", []string{"HTP0", "HTP1"}, true},
		{"W linker: x: unused\nAvailable devices:\nE/adsprpc: noise\n  HTP0: Hexagon (0 MiB, 0 MiB free)\n", []string{"HTP0"}, true},
		{"  HTP0: Hexagon (0 MiB)\n", nil, false},
		{"", nil, false},
	} {
		if got, ok := ParseDevices(test.text); !slices.Equal(got, test.want) || ok != test.ok {
			t.Errorf("%q: %q, %v", test.text, got, ok)
		}
	}
}

func FuzzParseDevices(f *testing.F) {
	f.Add("Available devices:\n  HTP0: Hexagon (2048 MiB, 2048 MiB free)\n")
	f.Fuzz(func(t *testing.T, text string) {
		names, ok := ParseDevices(text)
		if len(names) > maxDevices || len(names) > 0 && !ok {
			t.Error(names, ok)
		}
		for _, name := range names {
			if strings.ContainsAny(name, " /\n'") {
				t.Errorf("%q", name)
			}
		}
	})
}
