package fetch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

type entry struct {
	name, body string
	kind       byte // tar.Type*; zero is a file
	link       string
	mode       int64
}

func tarOf(t testing.TB, entries []entry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Mode: e.mode, Size: int64(len(e.body))}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(e.body))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(t testing.TB, entries []entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		mode, body := fs.FileMode(e.mode), e.body
		switch e.kind {
		case tar.TypeSymlink:
			mode, body = fs.ModeSymlink|0o777, e.link
		case tar.TypeDir:
			mode = fs.ModeDir | 0o755
		case tar.TypeChar:
			mode = fs.ModeDevice | fs.ModeCharDevice
		}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(body))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gz(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func xzOf(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(data)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t testing.TB, data []byte, opt UnpackOptions) (dest string, err error) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "archive")
	if err := os.WriteFile(archive, data, 0o644); err != nil {
		t.Fatal(err)
	}
	dest = filepath.Join(dir, "in", "out")
	err = Unpack(t.Context(), archive, dest, opt)
	left, _ := os.ReadDir(filepath.Join(dir, "in"))
	for _, l := range left {
		if l.Name() != "out" {
			t.Errorf("%s is left", l.Name())
		}
	}
	return dest, err
}

func TestUnpackEveryFormat(t *testing.T) {
	entries := []entry{
		{name: "sdk/", kind: tar.TypeDir},
		{name: "sdk/bin/tool", body: "#!/bin/sh\n", mode: 0o4755},
		{name: "sdk/bin/alias", kind: tar.TypeSymlink, link: "tool"},
		{name: "sdk/up", kind: tar.TypeSymlink, link: "../sdk/readme"},
		{name: "./sdk/readme", body: "text", mode: 0o600},
	}
	for name, data := range map[string][]byte{
		"tar": tarOf(t, entries), "tar.gz": gz(t, tarOf(t, entries)),
		"tar.xz": xzOf(t, tarOf(t, entries)), "zip": zipOf(t, entries),
	} {
		t.Run(name, func(t *testing.T) {
			dest, err := unpack(t, data, UnpackOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for file, want := range map[string]string{"sdk/bin/tool": "#!/bin/sh\n", "sdk/bin/alias": "#!/bin/sh\n", "sdk/up": "text"} {
				if got, err := os.ReadFile(filepath.Join(dest, file)); err != nil || string(got) != want {
					t.Errorf("%s: %q, %v", file, got, err)
				}
			}
			if info, err := os.Stat(filepath.Join(dest, "sdk/bin/tool")); err != nil || info.Mode() != 0o755 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestUnpackRefuses(t *testing.T) {
	link := func(name, to string) entry { return entry{name: name, kind: tar.TypeSymlink, link: to} }
	for name, entries := range map[string][]entry{
		"dots":                {{name: "../evil", body: "x"}},
		"dots inside":         {{name: "a/../../evil", body: "x"}},
		"absolute":            {{name: "/evil", body: "x"}},
		"backslash":           {{name: `a\..\evil`, body: "x"}},
		"twice":               {{name: "a", body: "1"}, {name: "a", body: "2"}},
		"file below a file":   {{name: "a", body: "1"}, {name: "a/b", body: "2"}},
		"link out":            {link("l", "../x")},
		"link out, absolute":  {link("l", "/etc/passwd")},
		"link out by a chain": {{name: "p/q/f", body: "x"}, link("p/q/d", "../.."), link("e", "p/q/d/../x")},
		"link, then through":  {link("d", "sub"), {name: "d/f", body: "x"}},
		"device":              {{name: "null", kind: tar.TypeChar}},
		"too big":             {{name: "a", body: strings.Repeat("x", 600)}, {name: "b", body: strings.Repeat("x", 600)}},
		"too many":            {{name: "1"}, {name: "2"}, {name: "3"}, {name: "4"}, {name: "5"}},
	} {
		t.Run(name, func(t *testing.T) {
			for format, data := range map[string][]byte{"tar": tarOf(t, entries), "zip": zipOf(t, entries)} {
				dest, err := unpack(t, data, UnpackOptions{MaxBytes: 1000, MaxFiles: 4})
				var refused *ArchiveError
				if !errors.As(err, &refused) {
					t.Errorf("%s: error %v", format, err)
				}
				if _, err := os.Lstat(dest); err == nil {
					t.Errorf("%s: the folder was made", format)
				}
			}
		})
	}
	hard := tarOf(t, []entry{{name: "l", kind: tar.TypeLink, link: "../../archive"}})
	if _, err := unpack(t, hard, UnpackOptions{}); err == nil {
		t.Error("a hard link out was made")
	}
	whole := gz(t, tarOf(t, []entry{{name: "a", body: strings.Repeat("abc", 5000)}}))
	if _, err := unpack(t, whole[:len(whole)/2], UnpackOptions{}); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("cut archive: %v", err)
	}
	if _, err := unpack(t, []byte("hello, this is no archive at all, whatever its name says"), UnpackOptions{}); err == nil {
		t.Error("text was unpacked")
	}
}

func TestUnpackKeep(t *testing.T) {
	data := tarOf(t, []entry{{name: "package/a", body: "1"}, {name: "package/b", body: strings.Repeat("x", 100)}})
	dest, err := unpack(t, data, UnpackOptions{MaxBytes: 10, Keep: func(n string) bool { return n == "package/a" }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dest, "package/b")); err == nil {
		t.Error("b was kept")
	}
}

func FuzzEntryPath(f *testing.F) {
	for _, s := range []string{"a/b", "../a", "/a", "a/../../b", ".", "a//b", `a\b`, "a\x00b", "...", "./a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		name, err := EntryPath(raw)
		if err == nil && !filepath.IsLocal(name) {
			t.Fatalf("%q became %q", raw, name)
		}
	})
}

// FuzzUnpack feeds damaged archives; nothing may appear beside the folder.
func FuzzUnpack(f *testing.F) {
	entries := []entry{{name: "a/b", body: "text"}, {name: "a/l", kind: tar.TypeSymlink, link: "b"}}
	f.Add(tarOf(f, entries))
	f.Add(zipOf(f, entries))
	f.Add(gz(f, tarOf(f, entries)))
	f.Fuzz(func(t *testing.T, data []byte) {
		dest, err := unpack(t, data, UnpackOptions{MaxBytes: 1 << 20, MaxFiles: 100})
		if _, statErr := os.Lstat(dest); (err == nil) != (statErr == nil) {
			t.Fatalf("unpack: %v, folder: %v", err, statErr)
		}
		up, _ := os.ReadDir(filepath.Dir(filepath.Dir(dest)))
		for _, e := range up {
			if e.Name() != "archive" && e.Name() != "in" {
				t.Fatalf("%s was written outside", e.Name())
			}
		}
	})
}
