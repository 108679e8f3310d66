package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"litmus/internal/digest"
	"litmus/internal/treehash"
)

// layout is the directory of a box and what is mounted in it:
//
//	fs/        a tmpfs that holds all that is written, under one cap:
//	  staged/    skeleton and fixtures; the topmost of the layers below the agent
//	  upper/     what the agent changes
//	  shm/       its /dev/shm
//	  pinned/    the fixed files that stand in for some of /proc
//	  run/       the sockets that litmus-init connects to
//	  work/      for overlayfs
//	0, 1, …    links to the layers below: that of litmus-init, those of the image
//	io/        the FIFOs of stdout and stderr
//	rootfs/    the root file system
//	before/    the same as it was staged, read-only, while changes are looked for
type layout struct {
	dir    string
	layers []string // below what is staged, topmost first, by their links
	mounts []string // names of what is mounted, in order
}

// newLayout makes the directories of a box in dir, which exists. The caller
// calls remove also after an error. Layers are given topmost first; the root
// directory looks as in the lowest.
func newLayout(dir string, layers []string) (*layout, error) {
	l := &layout{dir: dir}
	for i, layer := range layers {
		link := strconv.Itoa(i)
		if err := os.Symlink(layer, l.path(link)); err != nil {
			return l, fmt.Errorf("linking layers: %w", err)
		}
		l.layers = append(l.layers, link)
	}
	for _, name := range []string{"fs", "io", "rootfs", "before"} {
		if err := os.Mkdir(l.path(name), 0o700); err != nil {
			return l, fmt.Errorf("making box: %w", err)
		}
	}
	if err := mountTmpfs(l.path("fs")); err != nil {
		return l, err
	}
	l.mounts = append(l.mounts, "fs")
	return l, l.fill(layers[len(layers)-1])
}

// fill makes the directories in the tmpfs. The roots of both layers look like
// that of the image, which they stand in for.
func (l *layout) fill(image string) error {
	var root unix.Stat_t
	if err := unix.Stat(image, &root); err != nil {
		return fmt.Errorf("reading image: %w", err)
	}
	for name, mode := range map[string]uint32{
		"staged": root.Mode & 0o7777, "upper": root.Mode & 0o7777,
		"shm": 0o1777, "pinned": 0o755, "run": 0o755, "work": 0o700, "work/stage": 0o700, "work/run": 0o700,
	} {
		dir := l.fs(name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making box: %w", err)
		}
		if err := unix.Chmod(dir, mode); err != nil {
			return fmt.Errorf("making box: %w", err)
		}
	}
	return errors.Join(
		os.Chown(l.fs("staged"), int(root.Uid), int(root.Gid)),
		os.Chown(l.fs("upper"), int(root.Uid), int(root.Gid)))
}

func (l *layout) path(name string) string { return filepath.Join(l.dir, name) }
func (l *layout) fs(name string) string   { return filepath.Join(l.dir, "fs", name) }
func (l *layout) rootfs() string          { return l.path("rootfs") }

// mountStaging mounts the image so that what is written to rootfs ends up in staged.
func (l *layout) mountStaging() error {
	return l.mount("rootfs", overlay{lowers: l.layers, upper: "fs/staged", work: "fs/work/stage"})
}

// finishStaging turns what was staged into a layer that the agent's changes lie
// over, and caps what can be written from now on.
func (l *layout) finishStaging(ctx context.Context, limits Limits) error {
	if err := l.unmountLast(ctx); err != nil {
		return err
	}
	for _, name := range []string{"staged", "upper", "shm"} {
		if err := pinTimes(ctx, l.fs(name)); err != nil {
			return err
		}
	}
	if err := l.mount("rootfs", overlay{lowers: l.stagedLayers(), upper: "fs/upper", work: "fs/work/run"}); err != nil {
		return err
	}
	return capTmpfs(l.path("fs"), limits.Writable, limits.Inodes)
}

func (l *layout) stagedLayers() []string { return slices.Concat([]string{"fs/staged"}, l.layers) }

// mountBefore mounts the root file system as it was staged.
func (l *layout) mountBefore() error { return l.mount("before", overlay{lowers: l.stagedLayers()}) }

func (l *layout) mount(name string, o overlay) error {
	if err := mountOverlay(l.dir, name, o); err != nil {
		return err
	}
	l.mounts = append(l.mounts, name)
	return nil
}

func (l *layout) unmountLast(ctx context.Context) error {
	last := len(l.mounts) - 1
	if err := unmount(ctx, l.path(l.mounts[last])); err != nil {
		return err
	}
	l.mounts = l.mounts[:last]
	return nil
}

// entries counts what is in a directory of the tmpfs.
func (l *layout) entries(name string) (int, error) {
	entries, err := os.ReadDir(l.fs(name))
	if err != nil {
		return 0, fmt.Errorf("listing %s: %w", name, err)
	}
	return len(entries), nil
}

// changes compares the root file system with how it was staged, which must be
// mounted. Nothing may be alive in the box.
func (l *layout) changes(ctx context.Context) (_ changes, err error) {
	upper, err := treehash.OpenCursor(l.fs("upper"))
	if err != nil {
		return changes{}, err
	}
	defer func() { err = errors.Join(err, upper.Close()) }()
	lower, err := treehash.OpenCursor(l.path("before"))
	if err != nil {
		return changes{}, err
	}
	defer func() { err = errors.Join(err, lower.Close()) }()
	return findChanges(ctx, upper, lower)
}

// hashOf is the tree hash of what a path in the root file system names; that of
// an empty listing where there is nothing.
func (l *layout) hashOf(ctx context.Context, name string) (hash digest.Hash, err error) {
	root, err := os.Open(l.rootfs())
	if err != nil {
		return digest.Hash{}, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	hash = treehash.NewLister().Sum()
	_, err = lookInRoot(root, name, func(c *treehash.Cursor, n *treehash.Node) error {
		if n.Type == treehash.Dir {
			if err := c.Enter(n); err != nil {
				return err
			}
			hash, err = treehash.Hash(ctx, c)
			return err
		}
		if err := c.ReadContent(n); err != nil {
			return err
		}
		lister := treehash.NewLister()
		if err := lister.Add(0, "", n.Entry); err != nil {
			return err
		}
		hash = lister.Sum()
		return nil
	})
	return hash, err
}

// remove unmounts everything and removes the directory.
func (l *layout) remove(ctx context.Context) error {
	for len(l.mounts) > 0 {
		if err := l.unmountLast(ctx); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(l.dir); err != nil {
		return fmt.Errorf("removing box: %w", err)
	}
	return nil
}
