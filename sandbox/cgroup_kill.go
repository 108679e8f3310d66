package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// processes returns the ids, on the host, of all processes in any of the cgroups.
func (cs cgroupSet) processes() ([]int, error) {
	var all []int
	for _, c := range cs {
		pids, err := c.processes()
		if err != nil {
			return nil, err
		}
		all = append(all, pids...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// processes are those in the cgroup and in all below it, if a box came to make
// some. A cgroup that is gone has none.
func (c cgroup) processes() ([]int, error) {
	var all []int
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.IsDir() {
			return err
		}
		pids, err := cgroupProcesses(path)
		all = append(all, pids...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing processes of %s: %w", c.dir, err)
	}
	return all, nil
}

// kill ends every process and returns when no hierarchy has one any more. The
// box may be frozen: the signals are waiting when it is thawed, and nothing in
// it gets to run in between.
func (cs cgroupSet) kill(ctx context.Context) error {
	thawed := false
	return waitUntil(ctx, "killing every process of the box", func() (bool, error) {
		pids, err := cs.processes()
		if err != nil {
			return false, err
		}
		for _, pid := range pids {
			if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
				return false, err
			}
		}
		if !thawed {
			thawed = true
			// A cgroup that is gone has nobody to thaw.
			if err := cs.freezer().thaw(); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return false, err
			}
		}
		return len(pids) == 0, nil
	})
}

// remove removes the cgroups that the runtime has left.
func (cs cgroupSet) remove(ctx context.Context) error {
	var errs []error
	for _, c := range cs {
		if err := removeCgroup(ctx, c.dir); err != nil {
			errs = append(errs, fmt.Errorf("removing cgroup: %w", err))
		}
	}
	return errors.Join(errs...)
}
