package simtest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hexab/internal/bench"
	"hexab/internal/diagnose"
)

// deadline bounds a run that should end by itself, on a busy machine.
const deadline = 4 * time.Minute

// TestDeaths lets the DSP fail under the unmodified backend in every way that a
// phone knows. The application must end by itself with a log from which the
// cause is diagnosed; a DSP that hangs is the one case that it waits out.
func TestDeaths(t *testing.T) {
	n := buildNPU(t)
	empty := t.TempDir()
	for _, c := range []struct {
		name, setting, log string
		// cause is part of the diagnosis; empty when the application is to be found waiting.
		cause string
	}{
		{"crash", "HEXSIM_FAULT=crash:5", "FATAL: Segmentation fault (write) at 0x40: null pointer +0x40; thread htp-main", "the DSP process died"},
		{"ended", "HEXSIM_FAULT=exit:5", "dspqueue_read failed: 0x0000002e", "the DSP process died"},
		{"killed", "", "killed by signal 9", "the DSP process died"},
		{"hangs", "HEXSIM_FAULT=hang:5", "planned fault: hang", ""},
		{"no library", "ADSP_LIBRARY_PATH=" + empty, "is in no folder of ADSP_LIBRARY_PATH", "AEE_EUNABLETOLOAD"},
		{"no path", "ADSP_LIBRARY_PATH=", "ADSP_LIBRARY_PATH is not set", "AEE_EUNABLETOLOAD"},
		{"no shell", "HEXSIM_DSP=/nonexistent", "the DSP program /nonexistent", "FastRPC shell is missing"},
		{"shell fails", "HEXSIM_DSP=/bin/false", "0x80000414", "the DSP session can not be opened"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			op := "SCALE"
			if c.name == "killed" {
				op = "RMS_NORM" // long enough to be hit
			}
			command := n.command(ctx, 79, "test-backend-ops", "test", "-b", "HTP0", "-o", op)
			command.Env = append(command.Env, c.setting, "GGML_NO_BACKTRACE=1")
			var log bytes.Buffer
			command.Stdout, command.Stderr = &log, &log
			farf := filepath.Join(t.TempDir(), "farf")
			if c.name == "killed" {
				command.Env = append(command.Env, "HEXSIM_FARF="+farf)
			}
			if c.cause == "" {
				waits(t, command, &log, c.log)
				return
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			if c.name == "killed" {
				killDSP(t, ctx, command.Process.Pid, farf)
			}
			err := command.Wait()
			if ctx.Err() != nil {
				t.Fatalf("the application does not end\n%s", log.String())
			}
			status := exitStatus(err)
			if !strings.Contains(log.String(), c.log) {
				t.Errorf("no %q in\n%s", c.log, log.String())
			}
			// test-backend-ops without its device ends with success: it tested nothing.
			found := diagnose.Launch(max(status, 1), log.String(), nil)
			if found.Outcome != bench.OutcomeSessionError || !strings.Contains(found.Reason, c.cause) {
				t.Errorf("status %d is diagnosed as %v: %s\n%s", status, found.Outcome, found.Reason, log.String())
			}
		})
	}
}

// waits shows that the application waits for a DSP that hangs, until it is told
// to end, and that the DSP process ends with it.
func waits(t *testing.T, command *exec.Cmd, log *bytes.Buffer, want string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	command.Stdout, command.Stderr = out, out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	text := func() string {
		data, _ := os.ReadFile(out.Name())
		return string(data)
	}
	for limit := time.Now().Add(deadline); !strings.Contains(text(), want); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("no %q in\n%s", want, text())
		}
	}
	dsp := children(command.Process.Pid)
	command.Process.Signal(syscall.SIGTERM)
	command.Wait()
	for limit := time.Now().Add(deadline); len(dsp) > 0 && alive(dsp[0]); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("process %d of the DSP outlives the application", dsp[0])
		}
	}
	log.WriteString(text())
}

// killDSP sends SIGKILL to the DSP process of an application, once the log of
// the DSP shows that a batch has come.
func killDSP(t *testing.T, ctx context.Context, application int, farf string) {
	t.Helper()
	for ctx.Err() == nil {
		data, _ := os.ReadFile(farf)
		if dsp := children(application); len(dsp) > 0 && bytes.Contains(data, []byte("mmap : fd")) {
			if err := syscall.Kill(dsp[0], syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// children are the processes hexsim-dsp of an application.
func children(parent int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		data, err := os.ReadFile(stat)
		if err != nil {
			continue
		}
		_, rest, ok := strings.Cut(string(data), "(hexsim-dsp) ")
		fields := strings.Fields(rest)
		if !ok || len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// alive tells whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, rest, ok := strings.Cut(string(data), ") ")
	return err == nil && ok && !strings.HasPrefix(rest, "Z")
}

// exitStatus is a program's status as a shell has it.
func exitStatus(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	case errors.As(err, &exit):
		return 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
	}
	return -1
}
