package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// drain copies into sink what the pipe's buffer holds, and does not wait for
// more. It takes as many bytes as are there when it is called: a writer that
// goes on for ever must not keep it. No other read may be going on.
func drain(pipe *os.File, sink io.Writer) error {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		var waiting int
		// FIONREAD by its other name.
		if waiting, failed = unix.IoctlGetInt(int(fd), unix.TIOCINQ); failed == nil {
			_, _, failed = readAvailable(int(fd), sink, int64(waiting))
		}
	}); err != nil {
		return err
	}
	return failed
}
