package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// unmountBoxes unmounts everything below the slot's directories, the latest
// first. Lazily: the boxes are dead, and another process's namespace that
// copied the mount must not hold it.
func unmountBoxes(slot *slot) (n int, err error) {
	mounts, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		return !below(m.Mountpoint, slot.dir) && !below(m.Mountpoint, slot.runDir), false
	})
	if err != nil {
		return 0, fmt.Errorf("listing mounts: %w", err)
	}
	for _, m := range slices.Backward(mounts) {
		if err := unix.Unmount(m.Mountpoint, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil {
			return n, fmt.Errorf("unmounting %s: %w", m.Mountpoint, err)
		}
		n++
	}
	return n, nil
}

func below(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }

// removeBoxDirs removes the directories of boxes, with which what they wrote
// goes, and the sockets and runtime state beside the slot. It comes after
// unmounting: nothing but litmus' own files may be deleted.
func removeBoxDirs(slot *slot) (n int, err error) {
	boxes, err := os.ReadDir(slot.boxesDir())
	if err != nil {
		return 0, fmt.Errorf("listing boxes: %w", err)
	}
	for _, box := range boxes {
		if err := os.RemoveAll(filepath.Join(slot.boxesDir(), box.Name())); err != nil {
			return n, fmt.Errorf("removing box: %w", err)
		}
		n++
	}
	for _, dir := range []string{slot.socketsDir(), slot.ociDir()} {
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			return n, fmt.Errorf("listing sockets: %w", err)
		}
		for _, entry := range entries {
			if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
				return n, fmt.Errorf("removing sockets: %w", err)
			}
		}
	}
	return n, nil
}
