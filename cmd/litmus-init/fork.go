package main

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A forked child of a Go program has one thread and no working runtime: it may
// not allocate, grow its stack or be interrupted. So all that a child does is
// a list of system calls whose arguments the parent has prepared.

// call is one system call of a child.
type call struct {
	name string // for the error
	nr   uintptr
	args [6]uintptr
	// optional calls may fail without an end to the script.
	optional bool
}

// script is all that a child does. Where a call fails the child writes its
// index and the error, as two int32, to the descriptor report, and exits. A
// script that runs to its end exits as well, so the last call should be exec.
type script struct {
	calls  []call
	report uintptr
	failed [2]int32
}

// cloneArgs is struct clone_args of clone3(2), as of Linux 5.5.
type cloneArgs struct {
	flags, pidFD, childTID, parentTID, exitSignal uint64
	stack, stackSize, tls                         uint64
	setTID, setTIDSize                            uint64
}

// fork starts a process that plays s. It gets the process id pid, or where that
// is 0 the next free one. The caller keeps alive what the calls point to.
func fork(s *script, pid int) (int, error) {
	args := &cloneArgs{exitSignal: uint64(unix.SIGCHLD)}
	ids := &[1]int32{int32(pid)}
	if pid == 0 {
		ids = nil
	}
	// No descriptor may be between its opening and its close-on-exec mark.
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	// No signal may reach the child while it has the parent's handlers. The mask
	// belongs to the thread, hence the lock.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := blockSignals()
	child, errno := forkAndPlay(args, ids, s)
	restoreSignals(&before)
	runtime.KeepAlive(s)
	if errno != 0 {
		return 0, errno
	}
	return int(child), nil
}

// forkAndPlay forks; the child never returns from it. Without chosen ids it uses
// clone, which every kernel and profile has.
//
//go:noinline
//go:nosplit
//go:norace
//go:nocheckptr
func forkAndPlay(args *cloneArgs, ids *[1]int32, s *script) (uintptr, syscall.Errno) {
	var pid uintptr
	var errno syscall.Errno
	if ids != nil {
		args.setTID, args.setTIDSize = uint64(uintptr(unsafe.Pointer(ids))), uint64(len(ids))
		pid, _, errno = syscall.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(args)), unsafe.Sizeof(*args), 0)
	} else {
		pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	}
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	for i := range s.calls {
		c := &s.calls[i]
		_, _, errno = syscall.RawSyscall6(c.nr, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], c.args[5])
		if errno != 0 && !c.optional {
			s.failed[0], s.failed[1] = int32(i), int32(errno)
			syscall.RawSyscall(unix.SYS_WRITE, s.report, uintptr(unsafe.Pointer(&s.failed)), unsafe.Sizeof(s.failed))
			break
		}
	}
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, exitChildFailed, 0, 0)
	}
}

// exitChildFailed is the exit code of a child that did not get to exec, which
// nobody but the reaper sees.
const exitChildFailed = 127

// blockSignals blocks every signal for this thread and returns the mask before.
func blockSignals() (before unix.Sigset_t) {
	var all unix.Sigset_t
	for i := range all.Val {
		all.Val[i]--
	}
	// Fails only for an invalid first argument.
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before)
	return before
}

func restoreSignals(mask *unix.Sigset_t) {
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, mask, nil)
}
