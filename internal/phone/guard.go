package phone

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// guardMark is the environment variable by which everything that the phone
// starts, directly or not, is recognised.
const guardMark = "HEXAB_PHONE"

// guardScript reads "+PGID" and "-PGID" lines until its input ends, which
// happens however the owner ends, SIGKILL included. It then kills the process
// groups still listed and, until none is left, every process whose environment
// carries the mark; last it removes the folder $2 that holds links only.
//
// PR_SET_PDEATHSIG would not do: it reaches direct children only, and fires
// when the forking thread ends, not when the process does. A PID namespace
// needs privileges that some distributions take away.
const guardScript = `
mark=$1 links=$2 groups=' '
while read -r line; do
	g=${line#?}
	case $line in
	+*) groups="$groups$g " ;;
	-*) case $groups in *" $g "*) groups="${groups%%" $g "*} ${groups#*" $g "}" ;; esac ;;
	esac
done
for g in $groups; do kill -9 "-$g"; done 2>/dev/null
round=0
while [ $round -lt 100 ]; do
	found=$(grep -lszxF -- "$mark" /proc/[0-9]*/environ 2>/dev/null)
	[ -n "$found" ] || break
	for f in $found; do
		f=${f#/proc/}
		kill -9 "${f%/environ}" 2>/dev/null
	done
	round=$((round + 1))
	[ $round -lt 5 ] || sleep 0.02
done
if [ -n "$links" ]; then
	for f in "$links"/*; do [ ! -L "$f" ] || rm -f "$f"; done
	rmdir "$links" 2>/dev/null
fi
[ $round -lt 100 ]
`

// guard is a process in a session of its own that outlives a killed owner just
// long enough to end what the owner started.
type guard struct {
	mark  string
	cmd   *exec.Cmd
	mu    sync.Mutex // guards lines
	lines io.WriteCloser
}

// startGuard starts a guard; links is a folder of symbolic links to remove at
// the end, or empty.
func startGuard(links string) (*guard, error) {
	g := &guard{mark: guardMark + "=" + rand.Text()}
	g.cmd = exec.Command("/bin/sh", "-c", guardScript, "hexab-phone-guard", g.mark, links)
	g.cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	g.cmd.Dir = "/"
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	lines, err := g.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	g.lines = lines
	if err := g.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the guard process: %w", err)
	}
	return g, nil
}

// add and remove tell the guard of a living process group.
func (g *guard) add(pgid int)    { g.tell('+', pgid) }
func (g *guard) remove(pgid int) { g.tell('-', pgid) }

func (g *guard) tell(sign byte, pgid int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	fmt.Fprintf(g.lines, "%c%d\n", sign, pgid) // a dead guard shows at close
}

// close ends every process that carries the mark and waits for the guard.
func (g *guard) close() error {
	g.mu.Lock()
	_ = g.lines.Close()
	g.mu.Unlock()
	late := time.AfterFunc(10*time.Second, func() { _ = g.cmd.Process.Kill() })
	defer late.Stop()
	if err := g.cmd.Wait(); err != nil {
		return errors.Join(errors.New("the guard could not end every process of the phone"), err)
	}
	return nil
}
