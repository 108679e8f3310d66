package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// killShims ends shims of the slot that no daemon knows any more. A shim's
// working directory is its container's bundle, in the slot's state directory.
func killShims(ctx context.Context, slot *slot) (int, error) {
	state := filepath.Join(slot.dir, "state") + "/"
	killed, err := killProcesses(ctx, func(proc string) bool {
		cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
		return err == nil && strings.HasPrefix(cwd, state)
	})
	if err != nil {
		return killed, fmt.Errorf("killing shims: %w", err)
	}
	return killed, nil
}

// killDaemon ends a private daemon of the slot that has survived its litmus.
// It would do so by itself, unless it hangs.
func killDaemon(ctx context.Context, slot *slot) error {
	_, err := killProcesses(ctx, func(proc string) bool {
		line, err := os.ReadFile(filepath.Join(proc, "cmdline"))
		args := strings.Split(string(line), "\x00")
		return err == nil && len(args) > 1 && args[1] == daemonVerb && slices.Contains(args, daemonRoot(slot))
	})
	if err != nil {
		return fmt.Errorf("killing private containerd: %w", err)
	}
	return nil
}

// killProcesses kills every process that match picks by its directory in
// /proc, and waits until they have ended.
func killProcesses(ctx context.Context, match func(proc string) bool) (killed int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		proc := filepath.Join("/proc", entry.Name())
		if err != nil || pid == os.Getpid() || !match(proc) {
			continue
		}
		done, err := killProcess(ctx, pid, func() bool { return match(proc) })
		if err != nil {
			return killed, fmt.Errorf("process %d: %w", pid, err)
		}
		if done {
			killed++
		}
	}
	return killed, nil
}

// killProcess holds on to the process by a pidfd before it asks still, so that
// a number that was given to another process in between is not killed.
func killProcess(ctx context.Context, pid int, still func() bool) (killed bool, err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	if !still() {
		return false, nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		if errors.Is(err, unix.ESRCH) {
			return false, nil
		}
		return false, err
	}
	return true, awaitEnd(ctx, fd)
}

// awaitEnd returns when the process behind the pidfd has ended.
func awaitEnd(ctx context.Context, pidfd int) error {
	const patience = 100 * time.Millisecond
	for {
		fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(patience.Milliseconds()))
		switch {
		case err != nil && !errors.Is(err, unix.EINTR):
			return err
		case n > 0:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("waiting for its end: %w", ctx.Err())
		}
	}
}
