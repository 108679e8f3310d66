package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"litmus/internal/digest"
)

const (
	// runRoot holds one short-named directory per slot: a Unix socket's path may
	// have no more than 107 bytes, and a state directory can be nested deeply.
	runRoot = "/run/litmus"
	// maxSlots is how many litmus processes can share one state directory.
	maxSlots = 256
	// privateDaemon stands for the slot's own daemon in owner.lock.
	privateDaemon = "private"
)

// errSlotTaken: a living process owns the slot.
var errSlotTaken = errors.New("slot is in use")

// slot is a numbered directory of a state directory. It belongs to the process
// that holds the lock on its owner.lock; the kernel drops that lock when the
// process ends, however it ends. A slot outlives its owners: its images are a
// cache.
//
// owner.lock names, one a line, the daemons in which an owner may have left
// something: "private", or the address of an existing one. Each owner adds its
// own before it makes anything, and empties the file when everything is gone.
type slot struct {
	dir     string // STATE/N
	runDir  string // /run/litmus/HASH
	lock    *os.File
	unclean []string // addresses out of owner.lock at the time of locking, "" for private
}

// slotAt is the slot that lies in dir, not locked.
func slotAt(dir string) *slot {
	hash := digest.Sum([]byte(dir)).String()
	return &slot{dir: dir, runDir: filepath.Join(runRoot, hash[:16])}
}

// name tells the slot apart from all others of the machine.
func (s *slot) name() string { return filepath.Base(s.runDir) }

// cgroup is the parent of the cgroups of the slot's boxes, in every hierarchy.
// It is at the top so that no two processes create and remove one cgroup.
func (s *slot) cgroup() string { return "/litmus-" + s.name() }

func (s *slot) boxesDir() string   { return filepath.Join(s.dir, "boxes") }
func (s *slot) socketsDir() string { return filepath.Join(s.runDir, "boxes") }
func (s *slot) ociDir() string     { return filepath.Join(s.runDir, "oci") }

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
func lockSlot(dir string) (_ *slot, err error) {
	s := slotAt(dir)
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating slot: %w", err)
	}
	s.lock, err = os.OpenFile(filepath.Join(dir, "owner.lock"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking slot: %w", err)
	}
	if err := unix.Flock(int(s.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		s.lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errSlotTaken
		}
		return nil, fmt.Errorf("locking slot %s: %w", dir, err)
	}
	for _, d := range []string{s.boxesDir(), s.socketsDir()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("creating slot: %w", err), s.lock.Close())
		}
	}
	text, err := io.ReadAll(s.lock)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading slot's owners: %w", err), s.lock.Close())
	}
	s.unclean = parseOwners(string(text))
	return s, nil
}

// parseOwners reads owner.lock.
func parseOwners(text string) []string {
	var addresses []string
	for line := range strings.Lines(text) {
		address := strings.TrimSuffix(line, "\n")
		if address == privateDaemon {
			address = ""
		}
		if !slices.Contains(addresses, address) {
			addresses = append(addresses, address)
		}
	}
	return addresses
}

// use notes that something may be left in the daemon at address from now on.
func (s *slot) use(address string) error {
	if address == "" {
		address = privateDaemon
	}
	if _, err := s.lock.WriteString(address + "\n"); err != nil {
		return fmt.Errorf("noting the slot's owner: %w", err)
	}
	if err := s.lock.Sync(); err != nil {
		return fmt.Errorf("noting the slot's owner: %w", err)
	}
	return nil
}

// release gives the slot back. If it is clean, nothing is left in it but the
// cache and what lies in daemons that are still noted as unclean; else the
// next owner will reclaim all of it.
func (s *slot) release(ctx context.Context, clean bool) (err error) {
	defer func() { err = errors.Join(err, s.lock.Close()) }()
	if !clean {
		return nil
	}
	if _, err := removeCgroups(ctx, s); err != nil {
		return err
	}
	if err := os.RemoveAll(s.runDir); err != nil {
		return fmt.Errorf("removing sockets: %w", err)
	}
	if err := s.lock.Truncate(0); err != nil {
		return fmt.Errorf("noting that the slot is clean: %w", err)
	}
	for _, address := range s.unclean {
		if err := s.use(address); err != nil {
			return err
		}
	}
	return nil
}
