package phone

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedHelper); dir != "" {
		runKilledHelper(dir)
	}
	os.Setenv("CALLERS_CANARY", "1") // must not reach a phone
	goleak.VerifyTestMain(m)
}

// rig is an adb server and phones for a test.
type rig struct {
	t      *testing.T
	server *Server
}

func needADB(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("adb"); err != nil {
		t.Skip("adb is not installed")
	}
}

func newRig(t *testing.T) *rig {
	t.Helper()
	needADB(t)
	t.Parallel()
	server, err := StartServer(t.Context(), ServerConfig{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return &rig{t, server}
}

// startPhone starts a phone; it is not connected yet.
func startPhone(t *testing.T, profile string) *Phone {
	t.Helper()
	p, err := Start(t.Context(), Config{Dir: t.TempDir(), Profile: profile, Name: "test-phone", Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (r *rig) connect(profile string) *Phone {
	r.t.Helper()
	p := startPhone(r.t, profile)
	if err := r.server.Connect(r.t.Context(), p); err != nil {
		r.t.Fatal(err)
	}
	return p
}

// result is what one adb client gave.
type result struct {
	stdout, stderr string
	code           int
}

// adb runs a client against a phone, with a limit that no test should reach.
func (r *rig) adb(p *Phone, stdin string, args ...string) result {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	cmd := r.server.Command(ctx, append([]string{"-s", p.Serial()}, args...)...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		r.t.Fatalf("adb %q: %v", args, errors.Join(err, ctx.Err()))
	}
	return result{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

func (r *rig) shell(p *Phone, command string) result {
	r.t.Helper()
	return r.adb(p, "", "shell", command)
}

func TestShell(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool")
	for _, c := range []struct {
		command string
		want    result
	}{
		{"true", result{"", "", 0}},
		{"exit 7", result{"", "", 7}},
		{"exit 255", result{"", "", 255}},
		{"kill -9 $$", result{"", "", 137}},
		{"echo out; echo err >&2; exit 3", result{"out\n", "err\n", 3}},
		{"pwd; cd /data/local/tmp && pwd", result{"/\n/data/local/tmp\n", "", 0}},
		{"echo hi > '/data/local/tmp/a b'; cat \"/data/local/tmp/a b\"", result{"hi\n", "", 0}},
		{"X=/data/local/tmp sh -c 'cd $X; ls -d \"$PWD\"'", result{"/data/local/tmp\n", "", 0}},
		{"cat /data/nothing", result{"", "cat: /data/nothing: No such file or directory\n", 1}},
		{"getprop ro.product.model", result{"Embedded Phone\n", "", 0}},
		{"id -u; id -un", result{"2000\nshell\n", "", 0}},
		{"cd /sdcard; readlink -f .", result{"/sdcard\n", "", 0}},
		{"echo $HOME $TMPDIR", result{"/ /data/local/tmp\n", "", 0}},
		{"dumpsys nosuch", result{"", "Can't find service: nosuch\n", 0}},
		{"settings put global a 5; settings get global a; settings get global b", result{"5\nnull\n", "", 0}},
	} {
		if got := r.shell(p, c.command); got != c.want {
			t.Errorf("adb shell %q:\n got %+v\nwant %+v", c.command, got, c.want)
		}
	}
}
