package phone

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// program puts a shell script on the phone under the name of a benchmark.
func (r *rig) program(p *Phone, script string) {
	r.t.Helper()
	name := filepath.Join(r.t.TempDir(), "llama-bench")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if got := r.adb(p, "", "push", name, "/data/local/tmp/llama-bench"); got.code != 0 {
		r.t.Fatalf("push: %+v", got)
	}
}

const launchBench = "cd /data/local/tmp && ./llama-bench; echo status=$?"

func TestUnauthorized(t *testing.T) {
	r := newRig(t)
	p := startPhone(t, "cool+unauthorized")
	err := r.server.Connect(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "unauthorized") {
		t.Errorf("connect: %v", err)
	}
	if got := r.shell(p, "true"); got.code == 0 || !strings.Contains(got.stderr, "unauthorized") {
		t.Errorf("shell: %+v", got)
	}
	later := startPhone(t, "unauthorized:for=300ms")
	_ = r.server.Connect(t.Context(), later) // may still find it unauthorized
	eventually(t, "the key is accepted", func() bool {
		state, _ := r.server.State(t.Context(), later.Serial())
		return state == "device"
	})
}

func TestOffline(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool")
	p.Offline(700 * time.Millisecond)
	// adb connects again by itself only after seconds.
	_ = r.server.Disconnect(t.Context(), p.Serial())
	if err := r.server.Connect(t.Context(), p); err != nil {
		t.Errorf("after the time: %v", err)
	}
	if got := r.shell(p, "echo back"); got.stdout != "back\n" {
		t.Errorf("%+v", got)
	}
}

func TestDropDuringPush(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool+drop:after=push,bytes=1000000")
	name, sum := randomFile(t, 4<<20, 5)
	got := r.adb(p, "", "push", name, "/data/local/tmp/x")
	if got.code == 0 {
		t.Errorf("push: %+v", got)
	}
	if s := p.Stats(); s.FilesPushed != 0 || s.FaultsHappened != 1 {
		t.Errorf("stats %+v", s)
	}
	r.reconnect(p)
	eventually(t, "nothing of it left on the phone", func() bool {
		return r.shell(p, "ls /data/local/tmp") == result{}
	})
	r.adb(p, "", "push", name, "/data/local/tmp/x")
	if got := r.shell(p, "sha256sum < /data/local/tmp/x"); got.stdout != sum+"  -\n" {
		t.Errorf("the second push: %+v", got)
	}
}

func (r *rig) reconnect(p *Phone) {
	r.t.Helper()
	_ = r.server.Disconnect(r.t.Context(), p.Serial()) // it may have noticed by itself
	if err := r.server.Connect(r.t.Context(), p); err != nil {
		r.t.Fatal(err)
	}
}

func TestDropDuringOutput(t *testing.T) {
	r := newRig(t)
	p := r.connect("drop:after=output,lines=3,nth=2")
	r.program(p, "for i in 1 2 3 4 5; do echo line $i; done")
	whole := "line 1\nline 2\nline 3\nline 4\nline 5\nstatus=0\n"
	if got := r.shell(p, launchBench); got.stdout != whole {
		t.Errorf("first launch: %+v", got)
	}
	got := r.shell(p, launchBench)
	if !strings.HasPrefix(whole, got.stdout) || len(got.stdout) > len("line 1\nline 2\nline 3\n") {
		t.Errorf("second launch: %+v", got)
	}
	r.reconnect(p)
	if got := r.shell(p, launchBench); got.stdout != whole {
		t.Errorf("third launch: %+v", got)
	}
}

func TestCRAndNoise(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool+cr+noise:share=1")
	r.program(p, "echo '{\"a\": 1}'; echo '{\"b\": 2}'; echo err >&2")
	got := r.shell(p, launchBench)
	noise := `[^\r\n]+\r\n`
	want := regexp.MustCompile(`^` + noise + `\{"a": 1\}\r\n` + noise + `\{"b": 2\}\r\n` + noise + `status=0\r\n$`)
	if !want.MatchString(got.stdout) || got.stderr != "err\r\n" {
		t.Errorf("launch: %+v", got)
	}
	if quiet := r.shell(p, "echo quiet"); quiet.stdout != "quiet\r\n" {
		t.Errorf("another command: %+v", quiet)
	}
	if raw := r.adb(p, "", "exec-out", "printf 'a\\nb'"); raw.stdout != "a\nb" {
		t.Errorf("exec-out: %+v", raw)
	}
	// The same seed, the same noise.
	again := r.connect("cool+cr+noise:share=1")
	r.program(again, "echo '{\"a\": 1}'; echo '{\"b\": 2}'; echo err >&2")
	if same := r.shell(again, launchBench); same != got {
		t.Errorf("first %q, again %q", got.stdout, same.stdout)
	}
}

func TestFull(t *testing.T) {
	r := newRig(t)
	p := r.connect("full:free=100000")
	small, _ := randomFile(t, 60_000, 6)
	if got := r.adb(p, "", "push", small, "/data/local/tmp/a"); got.code != 0 {
		t.Errorf("what fits: %+v", got)
	}
	got := r.adb(p, "", "push", small, "/data/local/tmp/b")
	if got.code == 0 || !strings.Contains(got.stdout+got.stderr, "No space left on device") {
		t.Errorf("what does not fit: %+v", got)
	}

	p = r.connect("full")
	got = r.adb(p, "", "push", small, "/data/local/tmp/c")
	if got.code == 0 || !strings.Contains(got.stdout+got.stderr, "No space left on device") {
		t.Errorf("push: %+v", got)
	}
	for command, want := range map[string]string{
		"mkdir -p /data/local/tmp/new":             "No space left on device",
		"echo x > /data/local/tmp/y":               "",
		"printf x >> \"/data/local/tmp/z\"":        "",
		"cp /proc/meminfo /sdcard/m":               "No space left on device",
		"mkdir -p /data/local/tmp && ls /sdcard/m": "No such file",
	} {
		if got := r.shell(p, command); got.code == 0 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", command, got)
		}
	}
	if got := r.shell(p, "ls -A /data/local/tmp; df /data | tail -n 1"); !strings.Contains(got.stdout, " 0 100% /data\n") {
		t.Errorf("df: %+v", got)
	}
}

func TestExitHangLowMemory(t *testing.T) {
	r := newRig(t)
	p := r.connect("exit:code=0,nth=1+exit:code=139,nth=2+lowmem:nth=3,delay=50ms")
	r.program(p, "echo one; [ $# = 0 ] || exec sleep $1; exit 5")
	if got := r.shell(p, "/data/local/tmp/llama-bench"); got.code != 0 || got.stdout != "one\n" {
		t.Errorf("first launch: %+v", got)
	}
	if got := r.shell(p, "/data/local/tmp/llama-bench"); got.code != 139 {
		t.Errorf("second launch: %+v", got)
	}
	if got := r.shell(p, "/data/local/tmp/llama-bench 20"); got.code != 137 {
		t.Errorf("third launch: %+v", got)
	}
	if got := r.shell(p, "/data/local/tmp/llama-bench"); got.code != 5 {
		t.Errorf("fourth launch: %+v", got)
	}

	p = r.connect("hang:for=300ms+hang:nth=2")
	r.program(p, "sleep 0.05; echo done")
	if got := r.shell(p, launchBench); got.stdout != "done\nstatus=0\n" {
		t.Errorf("a hang that ends: %+v", got)
	}
	r.program(p, "sleep 60") // not over before it is stopped, however busy the machine is
	cmd := r.server.Command(t.Context(), "-s", p.Serial(), "shell", launchBench)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program is stopped", func() bool {
		for _, q := range p.processes() {
			if q.state == 'T' { // its parent may still wait for its exec
				return true
			}
		}
		return false
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	eventually(t, "no process on the phone", func() bool { return len(p.processes()) == 0 })
}

func TestReboot(t *testing.T) {
	r := newRig(t)
	p := r.connect("reboot:for=200ms,delay=50ms")
	r.program(p, "sleep 1000")
	const bootID = "cat /proc/sys/kernel/random/boot_id"
	before := r.shell(p, bootID).stdout
	if got := r.shell(p, "nohup sleep 1000 >/dev/null 2>&1 & exit 0"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if got := r.shell(p, launchBench); strings.Contains(got.stdout, "status") {
		t.Errorf("launch: %+v", got)
	}
	eventually(t, "no process on the phone", func() bool { return len(p.processes()) == 0 })
	eventually(t, "the phone is back", func() bool { return !p.rebooting() })
	r.reconnect(p)
	after := r.shell(p, bootID).stdout
	if len(before) != 37 || len(after) != 37 || before == after {
		t.Errorf("boot ids %q and %q", before, after)
	}
	if got := r.shell(p, "ls /data/local/tmp"); got.stdout != "llama-bench\n" {
		t.Errorf("files: %+v", got)
	}
	if s := p.Stats(); s.Reboots != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestClockAndSlow(t *testing.T) {
	r := newRig(t)
	p := r.connect("clock:by=-240h+slow:rate=1000000,latency=1ms")
	got := r.shell(p, "[ $(/bin/date +%s) -gt $(($(date +%s) + 800000)) ] && echo behind")
	if got.stdout != "behind\n" {
		t.Errorf("%+v", got)
	}
	begin := time.Now()
	name, _ := randomFile(t, 300_000, 7)
	if got := r.adb(p, "", "push", name, "/data/local/tmp/x"); got.code != 0 {
		t.Errorf("%+v", got)
	}
	// Not an expectation of speed: the pauses themselves take this long.
	if d := time.Since(begin); d < 250*time.Millisecond {
		t.Errorf("300 kB at 1 MB/s took %v", d)
	}
}

// TestFaultsDependOnTheSeedAlone: what a fault with a probability does to each
// launch is the same for the same seed, and differs for another.
func TestFaultsDependOnTheSeedAlone(t *testing.T) {
	hits := func(seed uint64) string {
		f, err := ParseFault("exit:p=0.3,times=0")
		if err != nil {
			t.Fatal(err)
		}
		in := newInjector([]Fault{f}, seed)
		var b strings.Builder
		for i := range 200 {
			if i%7 == 0 {
				in.launch("ls /data") // other commands do not count
			}
			l := in.launch("./llama-bench -m x")
			b.WriteByte("01"[len(l.hits)])
		}
		return b.String()
	}
	first := hits(1)
	if again := hits(1); again != first {
		t.Errorf("seed 1 gives %s, then %s", first, again)
	}
	if first == hits(2) {
		t.Error("seeds 1 and 2 do the same")
	}
	if n := strings.Count(hits(1), "1"); n < 40 || n > 80 {
		t.Errorf("%d of 200 launches hit, expected about 60", n)
	}
}
