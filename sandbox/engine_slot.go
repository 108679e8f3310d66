package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"litmus/internal/digest"
)

// runRoot holds one short-named directory per slot: a Unix socket's path may
// have no more than 107 bytes, and a state directory can be nested deeply.
const runRoot = "/run/litmus"

// maxSlots is how many litmus processes can share one state directory.
const maxSlots = 256

// slot is a numbered directory of a state directory. It belongs to the process
// that holds the lock on its owner.lock; the kernel drops that lock when the
// process ends, however it ends. A slot outlives its owners: its images are a cache.
type slot struct {
	dir    string // STATE/N
	runDir string // /run/litmus/HASH
	lock   *os.File
}

// errSlotTaken: a living process owns the slot.
var errSlotTaken = errors.New("slot is in use")

// takeSlot takes the first slot of the state directory that nobody owns.
func takeSlot(stateDir string) (*slot, error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, fmt.Errorf("creating state directory: %w", err)
	}
	for n := range maxSlots {
		s, err := lockSlot(filepath.Join(stateDir, strconv.Itoa(n)))
		if errors.Is(err, errSlotTaken) {
			continue
		}
		return s, err
	}
	return nil, fmt.Errorf("state directory %s: all %d slots are in use", stateDir, maxSlots)
}

// lockSlot creates the slot's directories and takes its lock, or returns
// errSlotTaken at once.
func lockSlot(dir string) (*slot, error) {
	s := slotAt(dir)
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating slot: %w", err)
	}
	lock, err := lockOwner(dir)
	if err != nil {
		return nil, err
	}
	s.lock = lock
	for _, d := range []string{runRoot, s.runDir, filepath.Join(s.runDir, "boxes"), filepath.Join(s.dir, "boxes")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("creating slot: %w", err), lock.Close())
		}
	}
	return s, nil
}

func lockOwner(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "owner.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking slot: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errSlotTaken
		}
		return nil, fmt.Errorf("locking slot %s: %w", dir, err)
	}
	return lock, nil
}

// slotAt is the slot that lies in dir, not locked.
func slotAt(dir string) *slot {
	hash := digest.Sum([]byte(dir)).String()
	return &slot{dir: dir, runDir: filepath.Join(runRoot, hash[:16])}
}

// name tells the slot apart from all others of the machine.
func (s *slot) name() string { return filepath.Base(s.runDir) }

// release gives the slot back, and with it all sockets that were in use.
func (s *slot) release() error {
	return errors.Join(os.RemoveAll(s.runDir), s.lock.Close())
}
