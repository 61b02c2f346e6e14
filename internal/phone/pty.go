package phone

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// terminal is a pseudo-terminal for an interactive shell.
type terminal struct {
	master, slave *os.File
}

// openTerminal opens a pseudo-terminal, see pts(4).
func openTerminal() (*terminal, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	var unlock, number uint32
	err = ioctl(master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	if err == nil {
		err = ioctl(master, syscall.TIOCGPTN, unsafe.Pointer(&number))
	}
	var slave *os.File
	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	return &terminal{master, slave}, nil
}

func ioctl(f *os.File, request uintptr, argument unsafe.Pointer) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var errno syscall.Errno
	if err := raw.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(argument))
	}); err != nil {
		return err
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// resize sets the window's size from a packet such as "24x80,0x0", rows first.
func (t *terminal) resize(text string) {
	var size [4]uint16 // struct winsize
	if n, err := fmt.Sscanf(text, "%dx%d,%dx%d", &size[0], &size[1], &size[2], &size[3]); n != 4 || err != nil {
		return
	}
	_ = ioctl(t.master, syscall.TIOCSWINSZ, unsafe.Pointer(&size)) // the shell can do without
}

// readWindowSize applies a window size packet's body.
func (t *terminal) readWindowSize(frame io.Reader) {
	body, err := io.ReadAll(io.LimitReader(frame, 64))
	if err == nil {
		t.resize(string(body))
	}
}
