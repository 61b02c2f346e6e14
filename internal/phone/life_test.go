package phone

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// marked lists the processes that carry a guard's mark.
func marked(mark string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && carriesMark(pid, mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// eventually waits for a condition, with a limit that only a defect reaches.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for range 1000 {
		if condition() {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("not within 10 s: %s", what)
}

// background starts a client that runs on, and returns when the command has
// printed a first line.
func (r *rig) background(p *Phone, command string) *exec.Cmd {
	r.t.Helper()
	cmd := r.server.Command(r.t.Context(), "-s", p.Serial(), "shell", command)
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // has been done where the test is about it
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		r.t.Fatalf("%s: %v", command, err)
	}
	return cmd
}

func TestInterruptedClientEndsTheCommand(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool")
	// One process that heeds SIGHUP, one that does not.
	cmd := r.background(p, "sleep 1000 & (trap '' HUP; sleep 1001; sleep 1002) & echo go; wait")
	if n := len(p.processes()); n < 3 {
		t.Fatalf("%d processes on the phone", n)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "no process on the phone", func() bool { return len(p.processes()) == 0 })
}

func TestCloseLeavesNothing(t *testing.T) {
	r := newRig(t)
	p := r.connect("cool")
	r.background(p, "echo go; sleep 1000")
	// A daemon in the background, and one that has left its session.
	if got := r.shell(p, "nohup sleep 1000 >/dev/null 2>&1 & setsid sleep 1001 >/dev/null 2>&1 & exit 0"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if n := len(marked(p.guard.mark)); n < 3 {
		t.Fatalf("%d processes, want 3", n)
	}
	link := p.paths.link
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if left := marked(p.guard.mark); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := os.Lstat(filepath.Dir(link)); !os.IsNotExist(err) {
		t.Errorf("link's folder: %v", err)
	}
}

func TestContextEndsThePhone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := p.Close(); err != nil { // waits for the end under way
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Config{Dir: p.Dir(), Profile: "cold"}); err == nil || !strings.Contains(err.Error(), "cool, hot, old") {
		t.Errorf("unknown profile: %v", err)
	}
}

func TestFolderIsLocked(t *testing.T) {
	p := startPhone(t, "cool")
	_, err := Start(t.Context(), Config{Dir: p.Dir()})
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("second phone in one folder: %v", err)
	}
}

func TestFilesStayAndNamesNeedNoCare(t *testing.T) {
	r := newRig(t)
	dir := filepath.Join(t.TempDir(), `it's a "phone" $HOME`)
	for i := range 2 {
		p, err := Start(t.Context(), Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.server.Connect(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		got := r.shell(p, "cd /data/local/tmp; echo run >> /data/local/tmp/log; cat log; pwd -P")
		if want := strings.Repeat("run\n", i+1) + "/data/local/tmp\n"; got.stdout != want {
			t.Errorf("run %d: %+v, want %q", i, got, want)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killedHelper makes the test program the harness that is killed; its value
// is a folder.
const killedHelper = "HEXAB_TEST_KILLED_HELPER"

func runKilledHelper(dir string) {
	unmarked := fmt.Sprintf("sleep %d", 100_000+os.Getpid())
	ctx := context.Background()
	server, err := StartServer(ctx, ServerConfig{Home: filepath.Join(dir, "home")})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	p, err := Start(ctx, Config{Dir: filepath.Join(dir, "phone")})
	if err == nil {
		err = server.Connect(ctx, p)
	}
	if err == nil {
		err = server.Command(ctx, "-s", p.Serial(), "shell",
			"nohup sleep 1000 >/dev/null 2>&1 & setsid sleep 1001 >/dev/null 2>&1 & exit 0").Run()
	}
	if err == nil {
		err = server.Command(ctx, "-s", p.Serial(), "shell", "env -i "+unmarked).Start()
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	for len(p.processes()) < 3 { // both in the background here: one left its session
		<-time.After(10 * time.Millisecond)
	}
	fmt.Println(p.guard.mark, server.guard.mark, p.paths.link, server.cmd.Process.Pid)
	select {}
}

func TestKilledHarnessLeavesNothing(t *testing.T) {
	needADB(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), killedHelper+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	fields := strings.Fields(line)
	if len(fields) != 4 || fields[0] == "error" {
		_ = cmd.Process.Kill()
		t.Fatalf("helper said %q", line)
	}
	if n := len(marked(fields[0])); n < 2 {
		t.Errorf("%d processes on the phone before the kill", n)
	}
	if n := len(marked(fields[1])); n < 1 {
		t.Errorf("no adb server before the kill")
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil { // with its whole group
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "no process of the phone or the server", func() bool {
		return len(marked(fields[0])) == 0 && len(marked(fields[1])) == 0
	})
	eventually(t, "no process with an empty environment", func() bool {
		return exec.Command("pgrep", "-fx", fmt.Sprintf("sleep %d", 100_000+cmd.Process.Pid)).Run() != nil
	})
	eventually(t, "no link", func() bool {
		_, err := os.Lstat(fields[2])
		return os.IsNotExist(err)
	})
}
