package models

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func manifest(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../../models.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parsed(t testing.TB) *Manifest {
	t.Helper()
	m, err := Parse("models.yaml", manifest(t))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestManifest(t *testing.T) {
	m := parsed(t)
	want := []string{"qwen3-2b", "qwen3-9b", "gemma4-e2b", "gemma4-e4b", "qwen1", "llama3", "nanbeige-3b", "minicpm5-1b"}
	if got := m.Aliases(); !slices.Equal(got, want) {
		t.Errorf("aliases are %v, want %v", got, want)
	}
	if got := m.Default().Alias; got != "gemma4-e2b" {
		t.Errorf("default is %s", got)
	}
	var large []string // need more than one mapping of an NPU session
	for _, m := range m.Models {
		if m.ApproximateBytes > 4<<30 {
			large = append(large, m.Alias)
		}
	}
	if want := []string{"qwen3-9b", "gemma4-e4b"}; !slices.Equal(large, want) {
		t.Errorf("over 4 GiB: %v, want %v", large, want)
	}
	for alias, want := range map[string]string{
		"gemma4-e2b":  "https://huggingface.co/unsloth/gemma-4-E2B-it-GGUF/resolve/0314792d7f1f7e229411f620751375812bb9faf2/gemma-4-E2B-it-Q4_0.gguf",
		"minicpm5-1b": "https://huggingface.co/Elmermoreno/MiniCPM5-1B-Q4_0-GGUF/resolve/main/minicpm5-1b-q4_0.gguf",
	} {
		one, err := m.Model(alias)
		if err != nil {
			t.Fatal(err)
		}
		if one.URL() != want {
			t.Errorf("URL of %s is %s, want %s", alias, one.URL(), want)
		}
	}
	sdk, err := m.SDK("hexagon-sdk-6.6.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if sdk.File() != "hexagon-sdk-v6.6.0.0-amd64-lnx.tar.xz" || sdk.Bytes != 694150896 {
		t.Errorf("Hexagon SDK is %+v", sdk)
	}
	if o := m.LlamaCpp.Origins; len(o) != 2 || o[0].Git == nil || o[1].NPM == nil || o[0].NPM != nil || o[1].Git != nil {
		t.Errorf("origins are %+v", o)
	}
}

func TestSuggestions(t *testing.T) {
	m := parsed(t)
	for alias, want := range map[string]string{
		"gema4-e2b": `no model "gema4-e2b", did you mean gemma4-e2b or gemma4-e4b?`,
		"LLAMA3":    `no model "LLAMA3", did you mean llama3?`,
		"qwen":      `no model "qwen", did you mean qwen1 or qwen3-2b or qwen3-9b?`,
		"nanbeige":  `no model "nanbeige", did you mean nanbeige-3b?`,
		"mistral":   `no model "mistral", there are: qwen3-2b, qwen3-9b, gemma4-e2b, gemma4-e4b, qwen1, llama3, nanbeige-3b, minicpm5-1b`,
		"":          `no model "", there are: qwen3-2b, qwen3-9b, gemma4-e2b, gemma4-e4b, qwen1, llama3, nanbeige-3b, minicpm5-1b`,
	} {
		if _, err := m.Model(alias); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := m.SDK("hexagon"); err == nil || err.Error() != `no SDK "hexagon", did you mean hexagon-sdk-6.6.0.0?` {
		t.Error(err)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := editDistance(c.b, c.a); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

// TestErrors holds all messages for files full of mistakes.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse("models.yaml", data)
		if err == nil {
			t.Errorf("%s: no error", file)
			continue
		}
		got, golden := err.Error()+"\n", strings.TrimSuffix(file, ".yaml")+".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%swant\n%s", file, got, want)
		}
	}
}

// TestOneMistake makes one mistake in the real file and wants one error, at
// its line.
func TestOneMistake(t *testing.T) {
	good := string(manifest(t))
	for _, c := range []struct{ old, new, want string }{
		{"version: 1\n", "version: 2\n", "version: 2 is not from 1 to 1"},
		{"version: 1\n", "version: one\n", `version: "one" is not a whole number`},
		{"default: gemma4-e2b\n", "default: gemma4-e3b\n", `default: no model "gemma4-e3b", did you mean gemma4-e2b or gemma4-e4b?`},
		{"alias: llama3 ", "alias: qwen1 ", "alias qwen1 is there already, at line "},
		{"alias: llama3 ", "alias: Llama 3 ", `alias: "Llama 3" is not a name of up to 64`},
		{"alias: llama3 ", "alias: ../llama3 ", `alias: "../llama3" is not a name`},
		{"alias: llama3 ", "alias: -llama3 ", `alias: "-llama3" is not a name`},
		{"alias: llama3 ", "alias: 'llama3,cpu' ", `is not a name`},
		{"alias: llama3 ", "alias: ~ ", "alias: empty is not a name"},
		{"alias: llama3 ", "alias: [llama3] ", "a list is not a name"},
		{"alias: llama3 ", "alias: &a llama3 ", "anchor &a is not allowed"},
		{"repo: Qwen/Qwen1.5-1.8B-Chat-GGUF", "repo: Qwen/../x", "is not a repository"},
		{"file: qwen1_5-1_8b-chat-q4_0.gguf", "file: a/b.gguf", "is not the name of a .gguf file"},
		{"file: qwen1_5-1_8b-chat-q4_0.gguf", "file: b.bin", "is not the name of a .gguf file"},
		{"revision: 067b946cf014b7c697f3654f621d577a3e3afd1c", "revision: main", `revision: "main" is not a hash of 40 digits`},
		{"bytes: 773025920", "bytes: 23", "bytes: 23 is not from 24 to"},
		{"bytes: 773025920", "bytes: -773025920", "bytes: -773025920 is not from 24"},
		{"bytes: 773025920", "bytes: 99999999999999999999", "is not a whole number"},
		{"bytes: 773025920", "bytes: 7.7e8", "is not a whole number"},
		{"bytes: 773025920", "bytes: \"773025920\"", "is not a whole number"},
		{"bytes: 773025920", "bytes: 773025920\n    bytes: 773025920", "key bytes is there already, at line "},
		{"approximate_bytes: 1120000000", "approximate_bytes: 1120000000\n    bytes: 1120000000", "exclude each other"},
		{"sha256: fa0390e7c043f", "sha256: FA0390e7c043f", "is not a SHA-256 of 64 digits"},
		{"sha256: fa0390e7c043f", "sha256: fa0390e7c043", "is not a SHA-256 of 64 digits"},
		{"sha256: fa0390e7c043f", "sha265: fa0390e7c043f", `unknown key "sha265" of a model, did you mean sha256?`},
		{"    parameters: 1.8B\n", "", "key parameters of a model is missing"},
		{"parameters: 1.8B", "parameters: small", `parameters: "small" is not a size such as`},
		{"architecture: nanbeige", "architecture: Nan beige", "is not a GGUF architecture"},
		{"needs_acceptance: true\n    stand_in: {preset: qwen2, ", "needs_acceptance: maybe\n    stand_in: {preset: qwen2, ", `needs_acceptance: "maybe" is neither true nor false`},
		{"preset: qwen2, seed: 5", "preset: qwen2, seed: -5", "seed: -5 is not from 0"},
		{"preset: qwen2, seed: 5", "preset: qwen2, sed: 5, seed: 5", `unknown key "sed" of a stand-in, did you mean seed?`},
		{"https://dl.google.com/android/repository/android-ndk-r29", "http://dl.google.com/android/repository/android-ndk-r29", "url: \"http://dl.google.com"},
		{"https://dl.google.com/android/repository/android-ndk-r29", "https://user:pw@dl.google.com/android/repository/android-ndk-r29", "is not an https URL of a file"},
		{"android-ndk-r29-linux.zip", "android-ndk-r29-linux.zip?x=1", "is not an https URL of a file"},
		{"android-ndk-r29-linux.zip", "../android-ndk-r29-linux.zip", "is not an https URL of a file"},
		{"android-ndk-r29-linux.zip", "android-ndk-r29-linux.exe", "neither a .zip nor a .tar.xz"},
		{"root: android-ndk-r29", "root: /opt", "is not a relative path that stays below its root"},
		{"root: android-ndk-r29", "root: ../ndk", "is not a relative path that stays below its root"},
		{"root: 6.6.0.0 ", "root: 6.7 ", "tools: 6.6.0.0/tools/HEXAGON_Tools/19.0.07 is not below 6.7"},
		{"kind: hexagon-sdk", "kind: hexagon", `"hexagon" is not android-ndk or hexagon-sdk`},
		{"name: android-ndk-r28", "name: android-ndk-r29", "SDK name android-ndk-r29 is there already, at line "},
		{"tree: fd570ef5", "tree: xd570ef5", "is not a hash of 40 digits"},
		{"git: https://github.com/ggml-org/llama.cpp", "git: git@github.com:ggml-org/llama.cpp", "is not an https URL"},
		{"qfTiDw==", "qfTiDw=", "is not an integrity of the form"},
		{"sha512-bltI", "sha1-bltI", "is not an integrity of the form"},
		{"npm: node-llama-cpp", "npm: ../../x", "is not the name of an npm package"},
		{"bundle: llama/gitRelease.bundle", "bundle: llama/../../x", "is not a relative path"},
	} {
		at := strings.Index(good, c.old)
		if at < 0 {
			t.Errorf("%q is not in models.yaml", c.old)
			continue
		}
		_, err := Parse("models.yaml", []byte(strings.Replace(good, c.old, c.new, 1)))
		var all Errors
		if !errors.As(err, &all) {
			t.Errorf("%q: error is %v", c.new, err)
			continue
		}
		if len(all) != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got\n%v\nwant one error with %q", c.new, err, c.want)
		}
		// The mistake is at the line of the change or, in keys that are missing
		// or do not fit together, at the head of its group.
		line := strings.Count(good[:at], "\n") + 1
		if got := all[0].Line; got > line+1 || got < line-12 {
			t.Errorf("%q: error at line %d, the change is at %d: %v", c.new, got, line, err)
		}
	}
}

// TestEveryLineRemoved removes each line of the file in turn: the
// result is right or an error, never a manifest with a hole that matters.
func TestEveryLineRemoved(t *testing.T) {
	lines := strings.SplitAfter(string(manifest(t)), "\n")
	whole := parsed(t)
	for i, line := range lines {
		rest := strings.Join(slices.Concat(lines[:i], lines[i+1:]), "")
		m, err := Parse("models.yaml", []byte(rest))
		code, _, _ := strings.Cut(line, "#")
		code = strings.TrimSpace(code)
		key, _, _ := strings.Cut(code, ":")
		mayMiss := slices.Contains([]string{"", "revision", "bytes", "approximate_bytes", "approximate_unpacked_bytes",
			"sha1", "sha256", "tools"}, key)
		if mayMiss != (err == nil) {
			t.Errorf("without line %d, %q: %v", i+1, line, err)
		}
		if code == "" && err == nil && !reflect.DeepEqual(stripLines(m), stripLines(whole)) {
			t.Errorf("line %d, %q, has no content but matters", i+1, line)
		}
	}
}

func stripLines(m *Manifest) Manifest {
	c := *m
	c.Models, c.SDKs = slices.Clone(m.Models), slices.Clone(m.SDKs)
	for i := range c.Models {
		c.Models[i].Line = 0
	}
	for i := range c.SDKs {
		c.SDKs[i].Line = 0
	}
	return c
}

func TestHostileFiles(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'z'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 8), c-1)
	}
	for name, c := range map[string]struct{ data, want string }{
		"empty":       {"", "models.yaml:1: the file is empty"},
		"comment":     {"# nothing\n", "models.yaml:1: the file is empty"},
		"scalar":      {"hello\n", `models.yaml:1: the manifest is "hello", want keys with values`},
		"list":        {"- a\n", "models.yaml:1: the manifest is a list"},
		"two":         {string(manifest(t)) + "---\nversion: 1\n", "there is a second document"},
		"tab":         {"version: 1\n\tdefault: x\n", "models.yaml:2: found a tab character that violates indentation"},
		"not UTF-8":   {"version: \xff\xfe\n", "models.yaml:1: "},
		"bomb":        {bomb, "is not allowed"},
		"no anchor":   {"version: *x\n", "unknown anchor 'x' referenced"},
		"merge":       {"version: 1\n<<: {default: x}\n", `models.yaml:2: unknown key "<<"`},
		"large":       {strings.Repeat("# comment\n", 200_000), "models.yaml:1: the file has 2000000 bytes, more than 1048576"},
		"deep":        {strings.Repeat("[", 300_000), "models.yaml:1: "},
		"many":        {strings.Repeat("x: 1\n", 1000), "and 955 more"},
		"complex key": {"? [a, b]\n: 1\n", "a key of the manifest is a list"},
		"long key":    {strings.Repeat("k", 1000) + ": 1\n", `kkk"... of the manifest`},
	} {
		_, err := Parse("models.yaml", []byte(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			got := fmt.Sprint(err)
			t.Errorf("%s: got %.500s, want %q", name, got, c.want)
		}
		if err != nil && len(err.Error()) > 20_000 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(string(manifest(f)))
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, data string) {
		m, err := Parse("models.yaml", []byte(data))
		if (m == nil) == (err == nil) {
			t.Fatalf("manifest %v beside error %v", m, err)
		}
		if err != nil {
			var all Errors
			if !errors.As(err, &all) || len(all) == 0 {
				t.Fatalf("%T is not Errors", err)
			}
			for _, e := range all {
				if e.Line < 1 || e.Line > strings.Count(data, "\n")+strings.Count(data, "\r")+2 {
					t.Errorf("line %d is not in the file: %v", e.Line, e)
				}
			}
			return
		}
		m.Default()
		for i := range m.Models {
			for _, u := range m.Models[i].URLs() {
				if !fileURL(u) {
					t.Errorf("URL %q", u)
				}
			}
		}
	})
}
