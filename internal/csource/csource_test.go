package csource

import (
	"fmt"
	"strings"
	"testing"
)

func TestLex(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"a+=b", "0a 4+= 0b"},
		{"x->y++ <<= 3", "0x 4-> 0y 4++ 4<<= 13"},
		{"1.5e-3f 0x1p+4 0xe+1 1'000", "11.5e-3f 10x1p+4 10xe 4+ 11 11'000"},
		{`"a\"b" 'c' L"x"`, `2"a\"b" 3'c' 2L"x"`},
		{`R"(a"b)" R"x()")x"`, `2R"(a"b)" 2R"x()")x"`},
		{"a // b\nc", "0a 5// b 0c"},
		{"a /* b\n */ c", "0a 5/* b\n */ 0c"},
		{"// a \\\n b\nc", "5// a  b 0c"},
		{"ab\\\ncd e\\ \t\r\nf", "0abcd 0ef"},
		{"\"open\nb", "6\"open 0b"},
		{"#define A \\\n B\nc", "4# 0define 0A 0B 0c"},
		{"größe", "0größe"},
		{"a ? b : c::d", "0a 4? 0b 4: 0c 4:: 0d"},
	} {
		var got []string
		for _, token := range Lex([]byte(test.source)) {
			got = append(got, fmt.Sprint(token.Kind, token.Text))
		}
		squeeze := strings.NewReplacer(" ", "", "\n", "")
		if text := squeeze.Replace(strings.Join(got, "")); text != squeeze.Replace(test.want) {
			t.Errorf("%q: %q, want %q", test.source, text, test.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	source := "a\n/* two\nlines */ #define X \\\n y\nz\n"
	type place struct {
		line      int
		directive bool
	}
	want := map[string]place{"a": {1, false}, "define": {3, true}, "X": {3, true}, "y": {4, true}, "z": {5, false}}
	for _, token := range Code(Lex([]byte(source))) {
		if w, ok := want[token.Text]; ok {
			if (place{token.Line, token.Directive}) != w {
				t.Errorf("%s: line %d, directive %v, want %+v", token.Text, token.Line, token.Directive, w)
			}
			delete(want, token.Text)
		}
		if got := source[token.Start:token.End]; got != token.Text {
			t.Errorf("%q spans %q", token.Text, got)
		}
	}
	if len(want) != 0 {
		t.Errorf("not seen: %v", want)
	}
}

// FuzzLex holds that tokens are in order, do not overlap, and leave out only
// blanks and splices.
func FuzzLex(f *testing.F) {
	for _, seed := range []string{"a b", "\"x\\\n\"", "R\"a(b)a\"", "/*", "#d\\\n#", "'", "0x.e+", "\\ \n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		end := 0
		for _, token := range Lex(source) {
			if token.Start < end || token.End <= token.Start || token.End > len(source) {
				t.Fatalf("token %q at %d..%d after %d", token.Text, token.Start, token.End, end)
			}
			if gap := string(source[end:token.Start]); strings.Trim(gap, " \t\r\n\f\v\\") != "" {
				t.Fatalf("%q was skipped", gap)
			}
			end = token.End
		}
		if gap := string(source[end:]); strings.Trim(gap, " \t\r\n\f\v\\") != "" {
			t.Fatalf("%q was skipped at the end", gap)
		}
	})
}
