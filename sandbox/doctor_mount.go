package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// checkTmpfs mounts a tmpfs with both caps that a box has.
func checkTmpfs(stateDir string) (string, error) {
	err := withTmpfs(stateDir, func(string) error { return nil })
	return "can be capped in bytes and inodes", err
}

// checkOverlay mounts an overlay as a box has it: a layer in the state
// directory below, the writable part on a tmpfs.
func checkOverlay(stateDir string) (string, error) {
	err := withTmpfs(stateDir, func(dir string) error {
		var paths []any
		for _, name := range []string{"upper", "work", "merged"} {
			path := filepath.Join(dir, name)
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			paths = append(paths, path)
		}
		merged := filepath.Join(dir, "merged")
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", stateDir, paths[0], paths[1])
		if err := unix.Mount("overlay", merged, "overlay", 0, options); err != nil {
			return fmt.Errorf("mounting an overlay on %s: %w", stateDir, err)
		}
		return unix.Unmount(merged, 0)
	})
	return "takes the state directory as a layer", err
}

// withTmpfs calls do with a small tmpfs in the state directory.
func withTmpfs(stateDir string, do func(dir string) error) (err error) {
	dir, err := os.MkdirTemp(stateDir, "doctor-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(dir)) }()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,nr_inodes=100"); err != nil {
		return fmt.Errorf("mounting a tmpfs: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Unmount(dir, unix.MNT_DETACH)) }()
	return do(dir)
}
