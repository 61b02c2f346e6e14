package macros

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden mends every testdata/*.h and compares findings and text.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.h")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []Mode{Least, Greatest, Majority} {
			mended, findings, err := Align(source, mode)
			if err != nil {
				t.Fatal(file, err)
			}
			var text bytes.Buffer
			for _, f := range findings {
				text.WriteString(strings.Join([]string{file, ": ", f.String(), "\n"}, ""))
			}
			text.Write(mended)
			golden := strings.TrimSuffix(file, ".h") + "." + string(mode) + ".golden"
			if *update {
				if err := os.WriteFile(golden, text.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || !bytes.Equal(text.Bytes(), want) {
				t.Errorf("%s %s:\n%s\nwant\n%s%v", file, mode, text.Bytes(), want, err)
			}
		}
	}
}

func TestAlign(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"aligned stays", "#define A \\\n  bb      \\\n  c\n", ""},
		{"aligned far away stays", "#define A    \\\n  bb         \\\n  c\n", "#define A    \\\n  bb         \\\n  c\n"},
		{"one line", "#define A 1\n", "#define A 1\n"},
		{"crlf", "#define A \\\r\n  bbbbbbbbbb \\\r\n  c\r\n", "#define A    \\\r\n  bbbbbbbbbb \\\r\n  c\r\n"},
		{"blanks after", "#define A  \\ \t\n  bb       \\\n  c\n", "#define A \\\n  bb      \\\n  c\n"},
		{"tabs inside stay", "#define A \\\n\tbb\t\\\n  c\n", "#define A  \\\n\tbb \\\n  c\n"},
		{"runes count", "#define Ä \\\n  \"größe\" \\\n  c\n", "#define Ä \\\n  \"größe\" \\\n  c\n"},
		{"invalid utf-8 stays", "#define A \\\n  \"\xff\xfe\xfd\xfc\xfb\xfa\" \\\n  c\n", "#define A  \\\n  \"\xff\xfe\xfd\xfc\xfb\xfa\" \\\n  c\n"},
		{"split literal stays", "#define A \\\n  \"x   \\\n  y\"    \\\n  c\n", "#define A \\\n  \"x   \\\n  y\"      \\\n  c\n"},
		{"in a comment", "/*\n#define A \\\n   b   \\\n c\n*/\n", "/*\n#define A \\\n   b   \\\n c\n*/\n"},
		{"in a raw string", "x = R\"(\n#define A \\\n   b   \\\n c\n)\";\n", "x = R\"(\n#define A \\\n   b   \\\n c\n)\";\n"},
		{"empty line", "#define A \\\n\\\n  b\n", "#define A \\\n          \\\n  b\n"},
		{"no end", "#define A \\\n  b  \\", "#define A \\\n  b  \\"},
		{"indented", "  #  define A(x) \\\n  x  \\\n  c\n", "  #  define A(x) \\\n  x              \\\n  c\n"},
		{"nested", "#define A \\\n #define B \\\n  b\n", "#define A  \\\n #define B \\\n  b\n"},
		{"after a comment", "/* a\n */ #define A \\\n  b \\\n  c\n", "/* a\n */ #define A \\\n  b           \\\n  c\n"},
		{"two", "#define A \\\n  b \\\n  c\n#define B \\\n  b \\\n  c\n", "#define A \\\n  b       \\\n  c\n#define B \\\n  b       \\\n  c\n"},
	} {
		if test.want == "" {
			test.want = test.source
		}
		got, _, err := Align([]byte(test.source), Least)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %q, want %q (%v)", test.name, got, test.want, err)
		}
	}
}

func TestModeIsChecked(t *testing.T) {
	if _, _, err := Align(nil, "left"); err == nil || !strings.Contains(err.Error(), `"left"`) {
		t.Error(err)
	}
}

// FuzzAlign holds that mending never fails, changes only blanks, and that
// mending again changes nothing.
func FuzzAlign(f *testing.F) {
	for _, seed := range []string{
		"#define A \\\n  bb \\\n  c\n", "#define A \\ \r\n\t\"x \\\n y\"  \\\r\n", "#define A // x \\\n y  \\\n", "#define A /* \\\n */ b  \\\n\n", "#define",
		"#define A '\\\n'   \\\n b\n", "#define A \\\n #define B \\\n", "#define\\\n A  \\\n b\n",
	} {
		f.Add([]byte(seed))
	}
	squeeze := func(text []byte) string { return strings.NewReplacer(" ", "", "\t", "").Replace(string(text)) }
	f.Fuzz(func(t *testing.T, source []byte) {
		for _, mode := range []Mode{Least, Greatest, Majority} {
			once, _, err := Align(source, mode)
			if err != nil {
				t.Fatal(err)
			}
			if squeeze(once) != squeeze(source) {
				t.Fatalf("%q became %q", source, once)
			}
			twice, findings, err := Align(once, mode)
			if err != nil || !bytes.Equal(once, twice) || findings != nil {
				t.Fatalf("%q, then %q, then %q: %v %v", source, once, twice, findings, err)
			}
		}
	})
}
