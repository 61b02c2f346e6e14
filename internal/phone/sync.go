package phone

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	maxSyncPath = 1024      // the longest path a phone takes
	maxSyncData = 64 << 10  // SYNC_DATA_MAX
	syncBuffer  = 256 << 10 // several DATA blocks travel in one packet
)

// syncRequest is one request of the sync service (AOSP, adb SYNC.TXT).
type syncRequest struct {
	id   string // four letters
	path string
}

// readSyncRequest reads a request: id, length, path.
func readSyncRequest(r io.Reader) (syncRequest, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return syncRequest{}, err
	}
	q := syncRequest{id: string(head[:4])}
	if q.id == "QUIT" {
		return q, nil
	}
	n := binary.LittleEndian.Uint32(head[4:])
	if n > maxSyncPath {
		return q, fmt.Errorf("sync %q: path of %d bytes, at most %d are allowed", q.id, n, maxSyncPath)
	}
	name := make([]byte, n)
	if _, err := io.ReadFull(r, name); err != nil {
		return q, err
	}
	if bytes.IndexByte(name, 0) >= 0 {
		return q, fmt.Errorf("sync %q: path %q holds a NUL", q.id, name)
	}
	q.path = string(name)
	return q, nil
}

// splitSend splits the argument of SEND, "path,mode", at the last comma.
func splitSend(argument string) (name string, mode uint32, err error) {
	i := strings.LastIndexByte(argument, ',')
	if i < 0 {
		return "", 0, fmt.Errorf("SEND %q: no mode", argument)
	}
	m, err := strconv.ParseUint(argument[i+1:], 0, 32)
	if err != nil {
		return "", 0, fmt.Errorf("SEND %q: bad mode %q", argument, argument[i+1:])
	}
	return argument[:i], uint32(m), nil
}

// syncSession serves one sync stream.
type syncSession struct {
	phone *Phone
	r     *bufio.Reader
	w     *bufio.Writer
}

func (p *Phone) runSync(s *stream) {
	session := &syncSession{p, bufio.NewReaderSize(s, syncBuffer), bufio.NewWriterSize(s, syncBuffer)}
	for {
		q, err := readSyncRequest(session.r)
		if err == nil {
			if q.id == "QUIT" {
				return
			}
			err = session.serve(q)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, io.ErrUnexpectedEOF) {
				p.log.Info("sync stream closed", "reason", err)
				session.fail(err.Error())
				_ = session.w.Flush()
			}
			return
		}
		if err := session.w.Flush(); err != nil {
			return
		}
	}
}

// serve answers one request. An error ends the stream.
func (s *syncSession) serve(q syncRequest) error {
	switch q.id {
	case "STAT":
		s.statV1(s.phone.files.root.Lstat(local(q.path)))
	case "STA2":
		s.statV2("STA2", s.phone.files.root.Stat, q.path)
	case "LST2":
		s.statV2("LST2", s.phone.files.root.Lstat, q.path)
	case "LIST":
		s.list(q.path, false)
	case "LIS2":
		s.list(q.path, true)
	case "SEND":
		return s.receive(q.path)
	case "RECV":
		return s.send(q.path)
	default:
		return fmt.Errorf("unknown sync request %q", q.id)
	}
	return nil
}

func (s *syncSession) words(id string, words ...uint32) {
	s.w.WriteString(id)
	for _, v := range words {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], v)
		s.w.Write(b[:])
	}
}

func (s *syncSession) fail(message string) {
	s.words("FAIL", uint32(len(message)))
	s.w.WriteString(message)
}

func (s *syncSession) failErrno(what string, err error) {
	s.fail(what + ": " + errnoText(err))
}

func (s *syncSession) statV1(info fs.FileInfo, err error) {
	if err != nil {
		s.words("STAT", 0, 0, 0)
		return
	}
	s.words("STAT", rawMode(info), uint32(info.Size()), uint32(info.ModTime().Unix()))
}

func (s *syncSession) statV2(id string, stat func(string) (fs.FileInfo, error), name string) {
	info, err := stat(local(name))
	s.w.WriteString(id)
	s.w.Write(encodeStat(info, err))
}

// encodeStat is the 68-byte body of a version 2 stat.
func encodeStat(info fs.FileInfo, err error) []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, 68)
	if err != nil {
		b = le.AppendUint32(b, uint32(errnoOf(err)))
		return append(b, make([]byte, 64)...)
	}
	st := info.Sys().(*syscall.Stat_t)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint64(b, st.Dev)
	b = le.AppendUint64(b, st.Ino)
	b = le.AppendUint32(b, st.Mode)
	b = le.AppendUint32(b, uint32(st.Nlink))
	b = le.AppendUint32(b, st.Uid)
	b = le.AppendUint32(b, st.Gid)
	b = le.AppendUint64(b, uint64(st.Size))
	for _, t := range []syscall.Timespec{st.Atim, st.Mtim, st.Ctim} {
		b = le.AppendUint64(b, uint64(t.Sec))
	}
	return b
}

func rawMode(info fs.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Mode }

func (s *syncSession) list(name string, v2 bool) {
	dir, err := s.phone.files.root.Open(local(name))
	if err == nil {
		entries, _ := dir.ReadDir(-1) // a phone, too, lists what it can read
		dir.Close()
		for _, e := range entries {
			info, err := s.phone.files.root.Lstat(local(path.Join(name, e.Name())))
			switch {
			case v2:
				s.w.WriteString("DNT2")
				s.w.Write(encodeStat(info, err))
			case err == nil:
				s.words("DENT", rawMode(info), uint32(info.Size()), uint32(info.ModTime().Unix()))
			default:
				continue
			}
			var n [4]byte
			binary.LittleEndian.PutUint32(n[:], uint32(len(e.Name())))
			s.w.Write(n[:])
			s.w.WriteString(e.Name())
		}
	}
	s.w.WriteString("DONE")
	s.w.Write(make([]byte, map[bool]int{false: 16, true: 72}[v2]))
}

// send answers RECV.
func (s *syncSession) send(name string) error {
	f, err := s.phone.files.root.Open(local(name))
	if err == nil && private(name) {
		err = syscall.EACCES
		_ = f.Close()
	}
	if err == nil {
		defer f.Close()
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil && info.IsDir() {
			err = syscall.EISDIR
		}
	}
	if err != nil {
		s.failErrno("open failed", err)
		return nil
	}
	var total int64
	buffer := make([]byte, maxSyncData)
	for {
		n, err := f.Read(buffer)
		if n > 0 {
			s.words("DATA", uint32(n))
			if _, err := s.w.Write(buffer[:n]); err != nil {
				return err
			}
			total += int64(n)
			s.phone.faults.pullBytes(s.phone, int64(n))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			s.failErrno("read failed", err)
			return nil
		}
	}
	s.words("DONE", 0)
	s.phone.stats.FilesPulled.Add(1)
	s.phone.stats.BytesPulled.Add(total)
	return nil
}

// receive answers SEND. After a local error the rest of the file is still
// read: the stream would lose its framing otherwise.
func (s *syncSession) receive(argument string) error {
	name, mode, err := splitSend(argument)
	if err != nil {
		return err
	}
	sink := s.openSink(name, mode)
	defer sink.discard()
	failed := false
	for {
		var head [8]byte
		if _, err := io.ReadFull(s.r, head[:]); err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(head[4:])
		switch id := string(head[:4]); id {
		case "DATA":
			if n > maxSyncData {
				return fmt.Errorf("DATA of %d bytes, at most %d are allowed", n, maxSyncData)
			}
			if _, err := io.CopyN(sink, s.r, int64(n)); err != nil {
				return err
			}
			s.phone.faults.pushBytes(s.phone, int64(n))
			if sink.err != nil && !failed { // tell at once, the client then stops early
				failed = true
				s.failErrno(sink.failing, sink.err)
				if err := s.w.Flush(); err != nil {
					return err
				}
			}
		case "DONE":
			if failed {
				return nil
			}
			if err := sink.commit(time.Unix(int64(n), 0)); err != nil {
				s.failErrno(sink.failing, err)
				return nil
			}
			s.phone.stats.FilesPushed.Add(1)
			s.phone.stats.BytesPushed.Add(sink.written)
			s.words("OKAY", 0)
			return nil
		default:
			return fmt.Errorf("%q instead of DATA or DONE", id)
		}
	}
}

// fileSink receives one pushed file or symbolic link. Its Write never fails:
// the first error is kept in err, what failed in failing.
type fileSink struct {
	phone    *Phone
	name     string
	mode     uint32
	link     *bytes.Buffer // set for a symbolic link
	file     *os.File
	written  int64
	err      error
	failing  string
	complete bool
}

func (s *syncSession) openSink(name string, mode uint32) *fileSink {
	k := &fileSink{phone: s.phone, name: local(name), mode: mode, failing: "couldn't create file"}
	root := s.phone.files.root
	if private(name) {
		k.err = syscall.EACCES
		return k
	}
	if free, limited := s.phone.faults.freeBytes(); limited && free == 0 {
		k.err = syscall.ENOSPC
		return k
	}
	if err := root.MkdirAll(path.Dir(k.name), 0o755); err != nil {
		k.err, k.failing = err, "secure_mkdirs failed"
		return k
	}
	if info, err := root.Lstat(k.name); err == nil && info.IsDir() {
		k.err = syscall.EISDIR
		return k
	}
	switch mode & syscall.S_IFMT {
	case syscall.S_IFLNK:
		k.link = new(bytes.Buffer)
		return k
	case 0, syscall.S_IFREG:
	default:
		k.err = syscall.EINVAL
		return k
	}
	_ = root.Remove(k.name) // a running program's file is replaced, not written to
	k.file, k.err = root.OpenFile(k.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return k
}

func (k *fileSink) Write(p []byte) (int, error) {
	if k.err != nil {
		return len(p), nil
	}
	if k.link != nil {
		if k.link.Len()+len(p) > maxSyncPath {
			k.err, k.failing = syscall.ENAMETOOLONG, "readlink failed"
			return len(p), nil
		}
		k.link.Write(p)
		return len(p), nil
	}
	if k.err = k.phone.faults.takeSpace(int64(len(p))); k.err == nil {
		var n int
		n, k.err = k.file.Write(p)
		k.written += int64(n)
	}
	if k.err != nil {
		k.failing = "write failed"
	}
	return len(p), nil
}

// commit gives the file its mode and time. A link that leads out of the phone
// can be made, as on a phone, but not followed.
func (k *fileSink) commit(mtime time.Time) error {
	if k.err != nil {
		return k.err
	}
	k.complete = true
	root := k.phone.files.root
	if k.link != nil {
		k.failing = "symlink failed"
		_ = root.Remove(k.name)
		return root.Symlink(strings.TrimRight(k.link.String(), "\x00"), k.name)
	}
	defer k.file.Close()
	k.failing = "fchmod failed"
	if err := k.file.Chmod(fs.FileMode(k.mode & 0o777)); err != nil {
		return err
	}
	k.failing = "close failed"
	if err := k.file.Close(); err != nil {
		return err
	}
	return root.Chtimes(k.name, mtime, mtime)
}

// discard ends a push that did not complete; like adbd it leaves no part of
// the file behind, unless the phone itself went down.
func (k *fileSink) discard() {
	if k.file == nil || k.complete {
		return
	}
	ours, err := k.file.Stat()
	_ = k.file.Close()
	if err != nil || k.phone.rebooting() {
		return
	}
	// The client may have connected again and sent the file anew by now.
	root := k.phone.files.root
	if present, err := root.Lstat(k.name); err == nil && os.SameFile(ours, present) {
		_ = root.Remove(k.name)
	}
}
