package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// slotCgroups returns the cgroups of the slot in every hierarchy (one on a
// machine with cgroup v2, one for each controller with v1, both in hybrid
// mode), the slot's own last after those in it.
func slotCgroups(slot *slot) ([]string, error) {
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	if err != nil {
		return nil, fmt.Errorf("listing cgroup hierarchies: %w", err)
	}
	var dirs []string
	for _, m := range mounts {
		root := filepath.Join(m.Mountpoint, slot.cgroup())
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("listing cgroups: %w", err)
		}
	}
	slices.Reverse(dirs) // a walk visits the parent first
	return dirs, nil
}

// killCgroups kills every process in the slot's cgroups, again until none is
// left: one may be forking.
func killCgroups(ctx context.Context, slot *slot) (killed int, err error) {
	dirs, err := slotCgroups(slot)
	if err != nil {
		return 0, err
	}
	seen := map[int]bool{}
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		alive, err := killOnce(dirs, seen)
		if err != nil {
			return len(seen), err
		}
		if alive == 0 {
			return len(seen), nil
		}
		select {
		case <-ctx.Done():
			return len(seen), fmt.Errorf("killing processes of boxes: %d are still there: %w", alive, ctx.Err())
		case <-time.After(wait):
		}
	}
}

// killOnce thaws the cgroups, because a frozen process does not die, and kills
// what is in them. It returns how many processes it found.
func killOnce(dirs []string, seen map[int]bool) (alive int, err error) {
	for _, dir := range dirs {
		thaw(dir)
	}
	for _, dir := range dirs {
		pids, err := cgroupProcesses(dir)
		if err != nil {
			return 0, err
		}
		for _, pid := range pids {
			seen[pid] = true
			alive++
			if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
				return 0, fmt.Errorf("killing process %d of %s: %w", pid, dir, err)
			}
		}
	}
	return alive, nil
}

// thaw lets a cgroup run in whichever form of freezer it has; most have none.
func thaw(dir string) {
	for file, value := range map[string]string{"freezer.state": "THAWED", "cgroup.freeze": "0"} {
		// Not created where it does not exist; what stays frozen is found by its processes.
		if f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0); err == nil {
			f.WriteString(value)
			f.Close()
		}
	}
}

func cgroupProcesses(dir string) ([]int, error) {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) { // removed meanwhile
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading processes of cgroup: %w", err)
	}
	var pids []int
	for field := range strings.FieldsSeq(string(b)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, fmt.Errorf("reading processes of %s: %w", dir, err)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// removeCgroups removes the slot's empty cgroups. A cgroup is busy for a
// moment after its last process has died.
func removeCgroups(ctx context.Context, slot *slot) (n int, err error) {
	dirs, err := slotCgroups(slot)
	if err != nil {
		return 0, err
	}
	for _, dir := range dirs {
		if err := removeCgroup(ctx, dir); err != nil {
			return n, fmt.Errorf("removing cgroup: %w", err)
		}
		n++
	}
	return n, nil
}

func removeCgroup(ctx context.Context, dir string) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}
