package runfile

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lock is the right to write one run file, held by at most one process: flock
// on a file beside it, PATH-lock, that is there only while somebody writes (or
// was killed writing).
//
// It is not the run file itself that is locked, because SQLite's own locks on
// it are POSIX record locks, and a process loses all of those when it closes
// any descriptor of the file (fcntl(2)).
type lock struct{ file *os.File }

func lockPath(path string) string { return path + "-lock" }

// acquire takes the lock for path or returns ErrLocked at once.
func acquire(path string) (*lock, error) {
	for {
		file, err := os.OpenFile(lockPath(path), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
		if err != nil {
			return nil, fmt.Errorf("lock run file: %w", err)
		}
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			file.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, ErrLocked
			}
			return nil, fmt.Errorf("lock run file: %w", err)
		}
		// The holder before us removes the file as it lets go; then we hold
		// a lock on a name that is gone, and the next one would not see it.
		if stillThere(file) {
			return &lock{file}, nil
		}
		file.Close()
	}
}

func stillThere(file *os.File) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(file.Name())
	return err == nil && os.SameFile(held, named)
}

// release removes the lock file and lets go of it, in that order.
func (l *lock) release() error {
	err := os.Remove(l.file.Name())
	return errors.Join(err, l.file.Close())
}
