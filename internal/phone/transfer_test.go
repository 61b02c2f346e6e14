package phone

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// randomFile writes n bytes that depend on the seed.
func randomFile(t *testing.T, n int, seed byte) (name string, sum string) {
	t.Helper()
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(data)
	name = filepath.Join(t.TempDir(), "random.bin")
	if err := os.WriteFile(name, data, 0o640); err != nil {
		t.Fatal(err)
	}
	return name, fmt.Sprintf("%x", sha256.Sum256(data))
}

func TestPushPull(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool")
	name, sum := randomFile(t, 20<<20, 1)
	mtime := time.Unix(1_700_000_000, 0)
	if err := os.Chtimes(name, mtime, mtime); err != nil {
		t.Fatal(err)
	}
	if got := r.adb(p, "", "push", name, "/data/local/tmp/new/x.bin"); got.code != 0 {
		t.Fatalf("push: %+v", got)
	}
	if got := r.shell(p, "sha256sum /data/local/tmp/new/x.bin; stat -c '%a %Y %s' /data/local/tmp/new/x.bin"); got.stdout !=
		sum+"  /data/local/tmp/new/x.bin\n640 1700000000 20971520\n" {
		t.Errorf("on the phone: %+v", got)
	}
	back := filepath.Join(t.TempDir(), "back.bin")
	if got := r.adb(p, "", "pull", "-a", "/data/local/tmp/new/x.bin", back); got.code != 0 {
		t.Fatalf("pull: %+v", got)
	}
	data, err := os.ReadFile(back)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != sum {
		t.Errorf("pulled file has hash %s, want %s", got, sum)
	}
	out := r.adb(p, "", "exec-out", "cat /data/local/tmp/new/x.bin")
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(out.stdout))); got != sum {
		t.Errorf("exec-out of the file has hash %s, want %s", got, sum)
	}
	want := Stats{FilesPushed: 1, BytesPushed: 20 << 20, FilesPulled: 1, BytesPulled: 20 << 20, ShellCommands: 2, Transports: 1}
	if got := p.Stats(); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func TestPushManyFiles(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool")
	dir := filepath.Join(t.TempDir(), "many")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		name := filepath.Join(dir, "sub", fmt.Sprintf("f%03d", i))
		if err := os.WriteFile(name, bytes.Repeat([]byte{byte(i)}, i*7), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.adb(p, "", "push", dir, "/sdcard/"); got.code != 0 {
		t.Fatalf("push: %+v", got)
	}
	got := r.shell(p, "cd /sdcard/many/sub && ls | wc -l && cat * | wc -c")
	if got.stdout != "200\n139300\n" {
		t.Errorf("on the phone: %+v", got)
	}
	if n := p.Stats().FilesPushed; n != 200 {
		t.Errorf("%d files counted, want 200", n)
	}
}

func TestPushRefused(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool")
	name, _ := randomFile(t, 1000, 2)
	outside := t.TempDir()
	if got := r.shell(p, "ln -s "+outside+" /data/local/tmp/out && mkdir /data/local/tmp/dir"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	for _, target := range []string{"/data/local/tmp/out/x", "/data/local/tmp/dir/../out/y"} {
		if got := r.adb(p, "", "push", name, target); got.code == 0 {
			t.Errorf("push to %s, out of the phone: %+v", target, got)
		}
	}
	if got := r.adb(p, "", "push", name, "/../../sdcard/up"); got.code != 0 {
		t.Errorf("push to /../../sdcard/up, which is /sdcard/up: %+v", got)
	}
	left, err := os.ReadDir(outside)
	if err != nil || len(left) > 0 {
		t.Errorf("out of the phone: %v, %v", left, err)
	}
	got := r.adb(p, "", "pull", "/data/local/tmp/none", filepath.Join(outside, "z"))
	if got.code != 1 || !strings.Contains(got.stdout+got.stderr, "No such file or directory") {
		t.Errorf("pull of a missing file: %+v", got)
	}
}

func TestStdin(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool")
	big := strings.Repeat("0123456789abcde\n", 100_000)
	if got := r.adb(p, big, "shell", "cat | wc -c"); got.stdout != "1600000\n" {
		t.Errorf("bytes of stdin: %+v", got)
	}
	if got := r.adb(p, big, "shell", "exit 4"); got.code != 4 {
		t.Errorf("a command that does not read its stdin: %+v", got)
	}
	if got := r.adb(p, "cd /data/local/tmp\npwd\nexit 9", "shell"); got.stdout != "/data/local/tmp\n" || got.code != 9 {
		t.Errorf("a script on stdin: %+v", got)
	}
}

func TestTwoPhones(t *testing.T) {
	r := newRig(t)
	phones := []*Phone{r.connect("cool"), r.connect("cool")}
	name, sum := randomFile(t, 1<<20, 3)
	var both sync.WaitGroup
	for i, p := range phones {
		both.Go(func() {
			text := fmt.Sprintf("phone %d", i)
			for range 5 {
				if got := r.shell(p, "echo "+text); got.stdout != text+"\n" {
					t.Errorf("phone %d: %+v", i, got)
				}
				r.adb(p, "", "push", name, "/data/local/tmp/x")
			}
			if got := r.shell(p, "sha256sum < /data/local/tmp/x"); got.stdout != sum+"  -\n" {
				t.Errorf("phone %d: %+v", i, got)
			}
		})
	}
	both.Wait()
}

func TestOldProfile(t *testing.T) {
	r := newRig(t)
	p := r.connect("old")
	if got, want := r.shell(p, "echo out; echo err >&2; exit 3"), (result{"out\nerr\n", "", 0}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	name, sum := randomFile(t, 100_000, 4)
	if got := r.adb(p, "", "push", name, "/data/local/tmp/x"); got.code != 0 {
		t.Fatalf("push: %+v", got)
	}
	if got := r.shell(p, "sha256sum < /data/local/tmp/x"); got.stdout != sum+"  -\n" {
		t.Errorf("on the phone: %+v", got)
	}
	if got := r.shell(p, "getprop ro.build.version.sdk"); got.stdout != "23\n" {
		t.Errorf("getprop: %+v", got)
	}
}
