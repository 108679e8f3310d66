package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// lastSignal is the highest signal number of Linux.
const lastSignal = 64

// reaper collects every process that ends in the box: children of PID 1 and the
// orphans that the kernel hands to it. It alone calls wait.
type reaper struct {
	mu      sync.Mutex
	waiting map[int]chan<- unix.WaitStatus
}

// newReaper starts a reaper, which goes on for the life of the process.
func newReaper() *reaper {
	r := &reaper{waiting: map[int]chan<- unix.WaitStatus{}}
	// One place is enough: a SIGCHLD that comes while one is pending tells
	// nothing new, since collect takes all that have ended.
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	go func() {
		for range ended {
			r.collect()
		}
	}()
	return r
}

// start calls fork and returns the child's id and the channel that gets its
// status. Nothing is collected in between, so that a child that ends at once
// is not lost.
func (r *reaper) start(fork func() (int, error)) (int, <-chan unix.WaitStatus, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := fork()
	if err != nil {
		return 0, nil, err
	}
	done := make(chan unix.WaitStatus, 1)
	r.waiting[pid] = done
	return pid, done, nil
}

// collect takes the status of every process that has ended.
func (r *reaper) collect() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if done, ok := r.waiting[pid]; ok {
			done <- status
			delete(r.waiting, pid)
		}
	}
}

// ignoreSignals makes PID 1 deaf. The kernel drops signals from inside the box
// for which the first process has no handler (pid_namespaces(7)), but Go
// installs handlers for all of them, and for most its answer is to exit.
func ignoreSignals() {
	for number := 1; number <= lastSignal; number++ {
		switch s := syscall.Signal(number); s {
		case unix.SIGCHLD: // the reaper's
		case unix.SIGURG: // the Go scheduler's
		case unix.SIGKILL, unix.SIGSTOP: // cannot be ignored; the kernel drops them
		default:
			signal.Ignore(s)
		}
	}
}

// killEverything kills every other process of the box. Its pid namespace is
// what bounds it, so outside of one it does nothing.
func killEverything() {
	if os.Getpid() == 1 {
		_ = unix.Kill(-1, unix.SIGKILL)
	}
}
