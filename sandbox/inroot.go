package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"litmus/internal/treehash"
)

// openInRoot opens a path as a process with that root would: links on the way
// are followed and can't lead out, not even through /proc. flags may contain
// O_NOFOLLOW, for the last component.
func openInRoot(root *os.File, name string, flags uint64) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   flags | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	}
	if name == "" {
		name = "."
	}
	for {
		fd, err := unix.Openat2(int(root.Fd()), name, &how)
		if err == nil {
			return os.NewFile(uintptr(fd), name), nil
		}
		// EAGAIN: the kernel could not rule out a race; see openat2(2).
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			return nil, &os.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

// openDirInRoot opens a directory for reading.
func openDirInRoot(root *os.File, name string) (*os.File, error) {
	return openInRoot(root, name, unix.O_RDONLY|unix.O_DIRECTORY)
}

// isAbsent reports whether the error of an open says that nothing is there, be
// it for the path itself or for something on the way.
func isAbsent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// lookInRoot describes what a path names, a link at the path itself not
// followed, and calls look with it. It calls nothing, and returns false, where
// there is nothing.
func lookInRoot(root *os.File, name string, look func(*treehash.Cursor, *treehash.Node) error) (found bool, err error) {
	dir, err := openDirInRoot(root, path.Dir(name))
	if isAbsent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	cursor, err := treehash.NewCursor(dir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, cursor.Close()) }()
	node, err := cursor.Node(path.Base(name))
	if isAbsent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	return true, look(cursor, node)
}

// maxPath is the longest path that a system call takes.
const maxPath = unix.PathMax - 1

// checkPath refuses what is not a plain absolute path to something that a box
// can have of its own.
func checkPath(name string) error {
	switch {
	case !strings.HasPrefix(name, "/"):
		return fmt.Errorf("%q is not an absolute path", name)
	case path.Clean(name) != name:
		return fmt.Errorf("%q is not a plain path: write %q", name, path.Clean(name))
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("%q contains a zero byte", name)
	case len(name) > maxPath:
		return fmt.Errorf("a path of %d bytes: the longest is %d", len(name), maxPath)
	}
	return nil
}
