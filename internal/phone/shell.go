package phone

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// hangupGrace is how long a child may live on after the SIGHUP that the end of
// its stream brings.
const hangupGrace = 500 * time.Millisecond

// maxStdinFrame caps a stdin packet of the shell protocol.
const maxStdinFrame = maxPayloadBytes

// session is one shell command: a process in a session of its own, so that a
// signal of the caller's terminal does not reach it, as on a phone.
type session struct {
	phone  *Phone
	stream *stream
	svc    service
	cmd    *exec.Cmd
	pgid   int
	launch launch          // what the faults do to it
	down   <-chan struct{} // the phone's system goes down
	ended  chan struct{}

	mu   sync.Mutex // guards hung
	hung bool       // stopped by a fault, not to be continued
}

func (p *Phone) runShell(s *stream, svc service) {
	p.stats.ShellCommands.Add(1)
	p.sensors.refresh()
	x := &session{
		phone: p, stream: s, svc: svc,
		launch: p.faults.launch(svc.command),
		down:   p.goingDown(),
		ended:  make(chan struct{}),
	}
	code, err := x.run()
	if err != nil {
		p.log.Warn("shell command not started", "error", err)
		message := fmt.Sprintf("/system/bin/sh: %s\n", errnoText(err))
		if svc.v2 {
			f := x.frames()
			_ = f.write(shellStderr, []byte(message))
			_ = f.write(shellExit, []byte{126})
			return
		}
		_, _ = io.WriteString(s, message)
		return
	}
	if svc.v2 {
		_ = x.frames().write(shellExit, []byte{byte(x.launch.exitStatus(code))})
	}
}

func (x *session) frames() *frames {
	return &frames{w: x.stream, limit: int(x.stream.t.maxPayload.Load()) - shellHeaderBytes}
}

// run starts the command, moves its input and output and returns its status,
// 128+n for signal n. When it returns no goroutine of the session is left.
func (x *session) run() (code int, err error) {
	x.cmd = x.phone.command(x.svc)
	pipes, err := x.openPipes()
	if err != nil {
		return 0, err
	}
	defer pipes.close()
	if err := x.cmd.Start(); err != nil {
		return 0, err
	}
	pipes.closeChildEnds()
	x.pgid = x.cmd.Process.Pid // Setsid made it so
	x.phone.guard.add(x.pgid)
	x.phone.addSession(x)

	var others sync.WaitGroup
	others.Go(func() { x.killWhenClosed(pipes) })
	others.Go(func() { x.copyInput(pipes.stdin, pipes.terminal) })
	others.Go(func() { x.launch.afterStart(x) })
	x.copyOutputs(pipes)
	state := x.wait()

	close(x.ended)
	x.phone.removeSession(x)
	x.phone.guard.remove(x.pgid)
	pipes.close()
	x.stream.stopReading()
	others.Wait()
	return exitCode(state), nil
}

// wait returns once the process has ended. Until then its process id, and so
// its group's, can not be anybody else's.
func (x *session) wait() *os.ProcessState {
	_ = x.cmd.Wait() // the state tells everything
	return x.cmd.ProcessState
}

func exitCode(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// killWhenClosed ends the process group when the client closes its stream:
// SIGHUP first, SIGKILL after a grace; at once when the phone goes down.
func (x *session) killWhenClosed(pipes *pipes) {
	select {
	case <-x.ended:
		return
	case <-x.stream.done:
	}
	signalGroup(x.pgid, syscall.SIGHUP)
	signalGroup(x.pgid, syscall.SIGCONT)
	grace := time.NewTimer(hangupGrace)
	defer grace.Stop()
	select {
	case <-x.ended:
	case <-grace.C:
	case <-x.down:
	case <-x.phone.ctx.Done():
	}
	for _, q := range processes(map[int]bool{x.pgid: true}) { // with the jobs of an interactive shell
		if carriesMark(q.pid, x.phone.guard.mark) {
			_ = syscall.Kill(q.pid, syscall.SIGKILL)
		}
	}
	select {
	case <-x.ended:
	default: // what cleared its environment; the group's number is still its own
		signalGroup(x.pgid, syscall.SIGKILL)
	}
	pipes.closeOutputs() // a process that left the session may hold them open
}

// copyInput feeds the child's stdin from the stream. terminal is nil where
// stdin is a pipe.
func (x *session) copyInput(stdin *os.File, terminal *terminal) {
	defer stdin.Close()
	var w io.Writer = stdin
	if x.svc.command == "" && !x.svc.pty { // a script on stdin
		m := &lineMapper{w: stdin, paths: x.phone.paths}
		defer m.flush()
		w = m
	}
	if !x.svc.v2 {
		_, _ = io.Copy(w, x.stream)
		return
	}
	var head [shellHeaderBytes]byte
	for {
		if _, err := io.ReadFull(x.stream, head[:]); err != nil {
			return
		}
		n := int64(binary.LittleEndian.Uint32(head[1:]))
		if n > maxStdinFrame {
			x.phone.log.Info("shell stream closed", "reason", fmt.Sprintf("packet of %d bytes, at most %d are allowed", n, maxStdinFrame))
			x.stream.end()
			return
		}
		frame := &io.LimitedReader{R: x.stream, N: n}
		switch head[0] {
		case shellWindowSize:
			if terminal != nil {
				terminal.readWindowSize(frame)
			}
		case shellStdin:
			if _, err := io.Copy(w, frame); err != nil {
				w = io.Discard // the child closed its stdin; go on reading the packets
				stdin.Close()
			}
		case shellCloseStdin:
			if m, ok := w.(*lineMapper); ok {
				m.flush()
			}
			if terminal != nil {
				_, _ = stdin.Write([]byte{4}) // Ctrl-D
				continue
			}
			stdin.Close()
			w = io.Discard
		}
		// The rest of a frame, and packets that later versions may send.
		if _, err := io.Copy(io.Discard, frame); err != nil || frame.N > 0 {
			return
		}
	}
}

// copyOutputs returns when the child's stdout and stderr have ended, which, as
// on a phone, is when the last process that holds them has.
func (x *session) copyOutputs(p *pipes) {
	if p.stderr == nil {
		wire := outputStage(rawStage{x.stream})
		if x.svc.v2 {
			wire = frameStage{x.frames(), shellStdout}
		}
		copyOutput(x.stage(wire, shellStdout), p.stdout)
		return
	}
	f := x.frames()
	var both sync.WaitGroup
	both.Go(func() { copyOutput(x.stage(frameStage{f, shellStderr}, shellStderr), p.stderr) })
	copyOutput(x.stage(frameStage{f, shellStdout}, shellStdout), p.stdout)
	both.Wait()
}

// stage is what output passes before it reaches the wire.
func (x *session) stage(wire outputStage, id byte) outputStage {
	return x.phone.paths.out(x.launch.stages(x, wire, id))
}

// pipes are the three pipes of a child, or its terminal. Without v2 and on a
// terminal stdout and stderr are one.
type pipes struct {
	stdin          *os.File
	stdout, stderr *os.File // stderr is nil where it is merged
	child          []*os.File
	terminal       *terminal // nil without one; stdin and stdout are its master
}

func (x *session) openPipes() (_ *pipes, err error) {
	p := &pipes{}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if x.svc.pty && x.svc.v2 {
		if p.terminal, err = openTerminal(); err != nil {
			return nil, err
		}
		p.stdin, p.stdout = p.terminal.master, p.terminal.master
		slave := p.terminal.slave
		p.child = []*os.File{slave}
		x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = slave, slave, slave
		x.cmd.SysProcAttr.Setctty = true // of the child's descriptor 0
		return p, nil
	}
	open := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	in, stdin := open()
	stdout, out := open()
	p.stdin, p.stdout, p.child = stdin, stdout, []*os.File{in, out}
	errOut := out
	if x.svc.v2 {
		p.stderr, errOut = open()
		p.child = append(p.child, errOut)
	}
	if err != nil {
		return nil, err
	}
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = in, out, errOut
	return p, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

func (p *pipes) closeChildEnds() { closeAll(p.child...) }
func (p *pipes) closeOutputs()   { closeAll(p.stdout, p.stderr) }
func (p *pipes) close()          { closeAll(p.stdin, p.stdout, p.stderr); closeAll(p.child...) }

// command prepares the child: /bin/sh with the phone's paths mapped and an
// environment in which nothing of the caller's is left.
func (p *Phone) command(svc service) *exec.Cmd {
	args := []string{}
	if svc.command == "" && svc.pty {
		args = []string{"-i"}
	}
	if svc.command != "" {
		args = []string{"-c", p.faults.rewrite(p.findVendor(p.paths.in(svc.command)))}
	}
	cmd := exec.Command("/bin/sh", args...)
	cmd.Args[0] = "sh"
	cmd.Dir = p.paths.link
	cmd.Env = p.environ(svc.term)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

func (p *Phone) environ(term string) []string {
	link := p.paths.link
	env := []string{
		"PATH=" + p.faults.searchPath(link) + link + "/system/bin:/usr/bin:/bin",
		"HOME=" + link, "PWD=" + link, "TMPDIR=" + link + "/data/local/tmp",
		"ANDROID_ROOT=" + link + "/system", "ANDROID_DATA=" + link + "/data", "EXTERNAL_STORAGE=" + link + "/sdcard",
		"USER=shell", "LOGNAME=shell", "SHELL=/bin/sh", "HOSTNAME=" + p.deviceName(),
		"TIME_STYLE=long-iso", // toybox lists dates so
		p.guard.mark,
	}
	if len(p.config.Vendor) > 0 {
		env = append(env, libraryPath+link+vendorFolder)
	}
	if term != "" {
		env = append(env, "TERM="+term, "PS1="+p.deviceName()+":${PWD#"+link+"} $ ")
	}
	return append(env, p.config.Env...)
}

// lineMapper maps the phone's paths in a script that arrives on stdin.
type lineMapper struct {
	w     io.Writer
	paths pathMap
	held  strings.Builder
}

func (m *lineMapper) Write(p []byte) (int, error) {
	text := string(p)
	i := strings.LastIndexByte(text, '\n')
	if i < 0 && m.held.Len() < maxCommandBytes {
		m.held.WriteString(text)
		return len(p), nil
	}
	m.held.WriteString(text[:i+1])
	whole := m.held.String()
	m.held.Reset()
	m.held.WriteString(text[i+1:])
	if _, err := io.WriteString(m.w, m.paths.in(whole)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush passes on a last line that has no end.
func (m *lineMapper) flush() {
	_, _ = io.WriteString(m.w, m.paths.in(m.held.String())) // a closed stdin wants no more
	m.held.Reset()
}
