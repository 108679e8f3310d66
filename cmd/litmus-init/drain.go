package main

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// drain copies into sink the bytes that have arrived at conn, a pipe or a
// socket, and does not wait for more. No other read may be going on.
func drain(conn syscall.Conn, sink io.Writer) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = drainFD(int(fd), sink) }); err != nil {
		return err
	}
	return failed
}

// drainFD is drain for a bare, non-blocking descriptor. It takes as many bytes
// as have arrived when it is called: a writer that goes on for ever must not
// keep it.
func drainFD(fd int, sink io.Writer) error {
	waiting, err := unix.IoctlGetInt(fd, unix.TIOCINQ) // FIONREAD by its other name
	if err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for waiting > 0 {
		n, err := unix.Read(fd, buf[:min(len(buf), waiting)])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN, err == nil && n == 0:
			return nil
		case err != nil:
			return err
		}
		if _, err := sink.Write(buf[:n]); err != nil {
			return err
		}
		waiting -= n
	}
	return nil
}
