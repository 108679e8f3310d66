package treehash

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"litmus/internal/digest"
)

// Node is one thing in a tree, held so that it stays the same thing whatever
// happens to its name. All of its Entry is known but the content hash of a
// file, which Cursor.ReadContent adds.
type Node struct {
	Entry
	name   string
	handle *os.File // opened with O_PATH, or a directory open for reading
	inode  inode
	links  uint64
}

// Close lets go of the thing.
func (n *Node) Close() error { return n.handle.Close() }

// newNode describes what handle holds. It leaves closing it to the caller.
func newNode(handle *os.File) (*Node, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(handle.Fd()), &stat); err != nil {
		return nil, err
	}
	kind, err := typeOf(stat.Mode)
	if err != nil {
		return nil, err
	}
	n := &Node{handle: handle, inode: inode{stat.Dev, stat.Ino}, links: uint64(stat.Nlink)}
	n.Entry = Entry{Type: kind, Mode: stat.Mode & 0o7777, UID: stat.Uid, GID: stat.Gid}
	switch kind {
	case File:
		n.Size = stat.Size
		n.Xattrs, err = n.readXattrs()
	case Dir:
		n.Xattrs, err = n.readXattrs()
	case Symlink:
		n.Mode = 0
		n.Target, err = readLink(handle)
		n.Size = int64(len(n.Target))
	case Char, Block:
		n.Major, n.Minor = unix.Major(stat.Rdev), unix.Minor(stat.Rdev)
	}
	return n, err
}

// ProcPath is a name for exactly what the handle holds. The kernel resolves it
// without looking at any path.
func (n *Node) ProcPath() string { return fmt.Sprintf("/proc/self/fd/%d", n.handle.Fd()) }

// Open opens a regular file for reading.
func (n *Node) Open() (*os.File, error) {
	if n.Type != File {
		return nil, fmt.Errorf("a %s is not opened", n.Type)
	}
	return os.OpenFile(n.ProcPath(), unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOATIME, 0)
}

// ReadContent fills in the content hash if n is a file.
func (c *Cursor) ReadContent(n *Node) error {
	if n.Type != File {
		return nil
	}
	if known, ok := c.linked[n.inode]; ok && n.links > 1 {
		n.Content = known
		return nil
	}
	h, err := n.hashContent()
	if err != nil {
		return c.failed(n.name, err)
	}
	n.Content = h
	if n.links > 1 {
		c.linked[n.inode] = h
	}
	return nil
}

func (n *Node) hashContent() (_ digest.Hash, err error) {
	f, err := n.Open()
	if err != nil {
		return digest.Hash{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return fileContent(f, n.Size).hash()
}

// Head returns the content hash of a file and its first bytes, limit at most.
func (n *Node) Head(limit int64) (_ digest.Hash, head []byte, err error) {
	f, err := n.Open()
	if err != nil {
		return digest.Hash{}, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h, err := fileContent(f, n.Size).hash()
	if err != nil {
		return digest.Hash{}, nil, err
	}
	head, err = io.ReadAll(io.NewSectionReader(f, 0, min(limit, n.Size)))
	return h, head, err
}

func readLink(handle *os.File) (string, error) {
	// A link's target may have no more bytes than this; see symlink(7).
	buffer := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(handle.Fd()), "", buffer)
	if err != nil {
		return "", err
	}
	return string(buffer[:n]), nil
}

// counts reports whether an extended attribute is part of an Entry. Those of
// the file system itself (trusted.*) and access control labels are not.
func counts(name string) bool {
	return strings.HasPrefix(name, "user.") || name == "security.capability"
}

func (n *Node) readXattrs() ([]Xattr, error) {
	names, err := readGrowing(func(b []byte) (int, error) { return unix.Listxattr(n.ProcPath(), b) })
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var xattrs []Xattr
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if !counts(name) {
			continue
		}
		value, _, err := n.Xattr(name)
		if err != nil {
			return nil, err
		}
		xattrs = append(xattrs, Xattr{name, value})
	}
	slices.SortFunc(xattrs, func(a, b Xattr) int { return strings.Compare(a.Name, b.Name) })
	return xattrs, nil
}

// Xattr returns one extended attribute of a file or directory, and whether there is one.
func (n *Node) Xattr(name string) (value string, ok bool, err error) {
	b, err := readGrowing(func(b []byte) (int, error) { return unix.Getxattr(n.ProcPath(), name, b) })
	if errors.Is(err, unix.ENODATA) {
		return "", false, nil
	}
	return string(b), err == nil && b != nil, err
}

// readGrowing calls get with larger buffers until one suffices. A file system
// that knows no extended attributes gives nil.
func readGrowing(get func([]byte) (int, error)) ([]byte, error) {
	// Linux bounds names and values at 64 KiB each; see xattr(7).
	for size := 256; ; size *= 4 {
		buffer := make([]byte, size)
		n, err := get(buffer)
		switch {
		case err == nil:
			return buffer[:n], nil
		case errors.Is(err, unix.ENOTSUP):
			return nil, nil
		case !errors.Is(err, unix.ERANGE) || size > 1<<20:
			return nil, err
		}
	}
}
