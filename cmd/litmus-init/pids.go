package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"litmus/internal/wire"
)

// Process ids are handed out in order. For a transcript that prints one to be
// the same each time, the order must not depend on how many threads, which have
// ids too, a Go runtime happened to make. So init and the reference agent settle
// on a fixed next id before they start anything. Decoys and the agent stand
// apart, at ids of their own.
const (
	// initFloor is the last id that is used up before the agent starts, unless
	// the container runtime and Go need more.
	initFloor = 32
	// agentFloor is the same for what the reference agent starts.
	agentFloor = 64
	// idleThreads is how many threads are made ahead. Go keeps and reuses idle
	// threads, so that none is made later.
	idleThreads = 8
)

// spawner starts confined processes, at chosen process ids where the kernel
// allows it.
type spawner struct {
	reaper      *reaper
	confinement *confinement
	// pinned says that ids can be chosen: the kernel has clone3 with set_tid
	// (Linux 5.5), the profile allows it, and this process has
	// CAP_CHECKPOINT_RESTORE (Linux 5.9).
	pinned bool
}

// child is a started process.
type child struct {
	pid  int
	done <-chan unix.WaitStatus
}

// newSpawner finds out whether process ids can be chosen, by choosing one.
func newSpawner(r *reaper, c *confinement) *spawner {
	_, ended, err := r.start(func() (int, error) { return fork(&script{}, wire.AgentPID) })
	if err == nil {
		<-ended
	}
	return &spawner{reaper: r, confinement: c, pinned: err == nil}
}

// start executes p, as process pid where ids can be chosen. It returns when the
// program runs, or with an *execError when it cannot be executed.
func (s *spawner) start(p program, pid int) (child, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return child{}, fmt.Errorf("opening the null device: %w", err)
	}
	defer null.Close()
	report, reportEnd, err := os.Pipe()
	if err != nil {
		return child{}, fmt.Errorf("opening a pipe: %w", err)
	}
	defer report.Close()
	script, keep, err := p.script(s.confinement, null, reportEnd)
	if err != nil {
		reportEnd.Close()
		return child{}, err
	}
	if !s.pinned {
		pid = 0
	}
	id, done, err := s.reaper.start(func() (int, error) { return fork(script, pid) })
	runtime.KeepAlive(keep)
	// The child's copy is the only one now, so that its end is seen.
	reportEnd.Close()
	if err != nil {
		return child{}, fmt.Errorf("starting %q as process %d: %w", p.args[0], pid, err)
	}
	return child{id, done}, awaitExec(report, script, p.args[0])
}

// settlePIDs makes all the threads that this process will need and uses up
// process ids up to floor, or where that is past up to the next multiple of it.
// It must run before anything else forks or waits.
func settlePIDs(floor int) error {
	makeThreads(idleThreads)
	// With one processor no more than one goroutine runs, so threads are needed
	// for blocking system calls alone; and the change of it stops the world,
	// which waits for threads that are just being made.
	runtime.GOMAXPROCS(2)
	runtime.GOMAXPROCS(1)
	for {
		pid := passPID()
		if pid < 0 {
			return fmt.Errorf("using up process ids: %w", unix.Errno(-pid))
		}
		if _, err := unix.Wait4(pid, nil, 0, nil); err != nil {
			return fmt.Errorf("using up process ids: %w", err)
		}
		if pid%floor == 0 {
			return nil
		}
	}
}

// makeThreads makes the runtime have n threads and leaves them idle.
func makeThreads(n int) {
	var ready, finished sync.WaitGroup
	leave := make(chan struct{})
	ready.Add(n)
	for range n {
		finished.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			<-leave
		})
	}
	ready.Wait()
	close(leave)
	finished.Wait()
}
