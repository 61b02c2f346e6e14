package fetch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrustOnFirstUse(t *testing.T) {
	first, second := content(20, 1000), content(21, 1000)
	h := newHost(t, first)
	r := request(t, h)
	r.Size, r.SHA256 = 0, ""
	c := quick()
	c.Lock = &LockFile{Path: filepath.Join(t.TempDir(), "hexab.lock")}
	if _, err := c.Get(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(c.Lock.Path)
	if want := lockHeader + sum(first) + " 1000 - " + r.Key + "\n"; err != nil || string(text) != want {
		t.Fatalf("lock file %q, %v", text, err)
	}
	// Another copy, elsewhere, of what has changed meanwhile.
	h.data = second
	r.Dest = filepath.Join(t.TempDir(), "again.gguf")
	_, err = c.Get(t.Context(), r)
	var mismatch *MismatchError
	if !errors.As(err, &mismatch) || mismatch.From != c.Lock.Path {
		t.Fatalf("error %v", err)
	}
	wantNothing(t, r)
	// A hash in the manifest decides over the lock file.
	r.SHA256 = sum(second)
	if _, err := c.Get(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if l, _, err := c.Lock.Find(r.Key); err != nil || l.SHA256 != sum(second) {
		t.Errorf("lock file has %v, %v", l, err)
	}
}

func TestParseLockRefuses(t *testing.T) {
	good := strings.Repeat("a", 64) + " 5 - owner/file"
	for text, want := range map[string]string{
		"x":                "lock:1: has 1 fields",
		good + "\n" + good: "lock:2: owner/file is listed twice",
		"# c\n\n" + strings.ToUpper(good[:64]) + good[64:]: "lock:3:",
		strings.Replace(good, " 5 ", " 05 ", 1):            "is not a size",
		strings.Replace(good, " 5 ", " -5 ", 1):            "is not a size",
		strings.Replace(good, " - ", " main ", 1):          "neither a git commit",
		strings.Replace(good, "owner", "../own", 1):        "not a file's key",
	} {
		if _, err := ParseLock("lock", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, expected %q", text, err, want)
		}
	}
}

func FuzzParseLock(f *testing.F) {
	f.Add([]byte(lockHeader + strings.Repeat("a", 64) + " 5 - owner/file\n"))
	f.Add([]byte(strings.Repeat("0", 64) + " 1 067b946cf014b7c697f3654f621d577a3e3afd1c k\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := ParseLock("lock", data)
		if err != nil {
			return
		}
		again, err := ParseLock("lock", FormatLock(all))
		if err != nil || len(again) != len(all) {
			t.Fatalf("what was parsed can not be written and read: %v", err)
		}
		for key, l := range all {
			if again[key] != l {
				t.Fatalf("%s: %v became %v", key, l, again[key])
			}
		}
	})
}
