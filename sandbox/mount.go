package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// overlay is one overlay mount. All directories are relative to the box's.
type overlay struct {
	lowers      []string // topmost first
	upper, work string   // empty for a read-only mount
}

// options are the mount's options. Nothing in them differs from box to box or
// machine to machine: an agent can read them in /proc/mounts.
//
// Features that leave something else than plain files and whiteouts in the
// upper directory are off; see the kernel's Documentation/filesystems/overlayfs.rst.
func (o overlay) options() string {
	options := []string{"lowerdir=" + strings.Join(o.lowers, ":")}
	if o.upper != "" {
		options = append(options, "upperdir="+o.upper, "workdir="+o.work)
	}
	return strings.Join(append(options, "redirect_dir=off", "metacopy=off", "index=off", "xino=off"), ",")
}

// mountOverlay mounts o at target, a path relative to dir like those of o.
// Relative paths keep the options short, whatever the length of dir, and the
// host's paths out of the box.
func mountOverlay(dir, target string, o overlay) error {
	data := o.options()
	if len(data) >= os.Getpagesize() { // see mount(2)
		return fmt.Errorf("an image with %d layers can't be mounted: the options take %d bytes", len(o.lowers), len(data))
	}
	flags := uintptr(unix.MS_NODEV | unix.MS_NOATIME)
	if o.upper == "" {
		flags |= unix.MS_RDONLY
	}
	return inDirectory(dir, func() error {
		if err := unix.Mount("overlay", target, "overlay", flags, data); err != nil {
			return fmt.Errorf("mounting overlay: %w", err)
		}
		return nil
	})
}

// inDirectory calls f on a thread whose working directory, unlike that of all
// others, is dir.
func inDirectory(dir string, f func() error) error {
	result := make(chan error, 1)
	go func() {
		// Never unlocked: the thread ends with the goroutine.
		runtime.LockOSThread()
		err := unix.Unshare(unix.CLONE_FS)
		if err == nil {
			err = unix.Chdir(dir)
		}
		if err == nil {
			err = f()
		}
		result <- err
	}()
	return <-result
}

const (
	// roomForStaging is the cap of a box's file system while it is made, in
	// bytes and in inodes. It only must be larger than any tree.
	roomForStaging = 1 << 40
	pageSize       = 4096
)

// mountTmpfs mounts the file system that everything written in a box lies in.
func mountTmpfs(dir string) error {
	options := fmt.Sprintf("mode=0755,size=%d,nr_inodes=%d", int64(roomForStaging), int64(roomForStaging))
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NODEV|unix.MS_NOATIME, options); err != nil {
		return fmt.Errorf("mounting tmpfs: %w", err)
	}
	// Boxes must not see one another's mounts come and go.
	if err := unix.Mount("", dir, "", unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making tmpfs private: %w", err)
	}
	return nil
}

// capTmpfs leaves so much room beyond what is used now.
func capTmpfs(dir string, bytes int64, inodes int) error {
	used, err := statTmpfs(dir)
	if err != nil {
		return err
	}
	options := fmt.Sprintf("size=%d,nr_inodes=%d", used.bytes+(bytes+pageSize-1)/pageSize*pageSize, used.inodes+int64(inodes))
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_NODEV|unix.MS_NOATIME, options); err != nil {
		return fmt.Errorf("limiting tmpfs to %s: %w", options, err)
	}
	return nil
}

// space is what is used and what is free on a file system.
type space struct{ bytes, inodes, freeBytes, freeInodes int64 }

func statTmpfs(dir string) (space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return space{}, fmt.Errorf("measuring tmpfs: %w", err)
	}
	return space{
		bytes:      int64(s.Blocks-s.Bfree) * s.Bsize,
		inodes:     int64(s.Files - s.Ffree),
		freeBytes:  int64(s.Bfree) * s.Bsize,
		freeInodes: int64(s.Ffree),
	}, nil
}

// unmount unmounts what is mounted at path. It may be busy for a moment: a
// process that is being started elsewhere holds a copy of every mount.
func unmount(ctx context.Context, path string) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := unix.Unmount(path, unix.UMOUNT_NOFOLLOW)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("unmounting %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("unmounting %s: %w", path, err)
		case <-time.After(wait):
		}
	}
}
