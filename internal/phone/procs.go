package phone

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// clockTick is the unit of utime and stime in /proc/PID/stat (USER_HZ, 100 on
// every Linux that Go runs on).
const clockTick = 10 * time.Millisecond

// process is what the phone reads of one of its processes.
type process struct {
	pid, group, session int
	name                string // at most 15 bytes
	state               byte
	cpu                 time.Duration // user and system time so far
	children            time.Duration // the same of its children that were waited for
	residentBytes       int64
}

// processes lists the live processes whose session is in the set.
func processes(sessions map[int]bool) []process {
	if len(sessions) == 0 {
		return nil
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var list []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has just ended
		}
		p, ok := parseStat(stat)
		if ok && p.pid == pid && sessions[p.session] {
			list = append(list, p)
		}
	}
	return list
}

// parseStat parses /proc/PID/stat, see proc(5). The name stands in
// parentheses and may hold anything, parentheses included.
func parseStat(stat []byte) (process, bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 1 || end < open {
		return process{}, false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(stat[:open])))
	fields := bytes.Fields(stat[end+1:])
	if err != nil || len(fields) < 22 || len(fields[0]) != 1 {
		return process{}, false
	}
	number := func(field int) int64 { // numbered as in proc(5)
		n, e := strconv.ParseInt(string(fields[field-3]), 10, 64)
		if e != nil {
			err = e
		}
		return n
	}
	p := process{
		pid: pid, name: string(stat[open+1 : end]), state: fields[0][0],
		group: int(number(5)), session: int(number(6)),
		cpu:           time.Duration(number(14)+number(15)) * clockTick,
		children:      time.Duration(number(16)+number(17)) * clockTick,
		residentBytes: number(24) * int64(os.Getpagesize()),
	}
	return p, err == nil
}

// signalGroup signals a process group that a caller knows to be the phone's.
func signalGroup(pgid int, sig syscall.Signal) {
	if pgid > 1 {
		_ = syscall.Kill(-pgid, sig) // ESRCH: it has ended
	}
}

// carriesMark reports whether a process has the mark in its environment.
func carriesMark(pid int, mark string) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for _, v := range bytes.Split(environ, []byte{0}) {
		if string(v) == mark {
			return true
		}
	}
	return false
}
