package treehash

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// inode identifies a file while it exists.
type inode struct{ device, number uint64 }

// level is one directory on the way from the root to where a Cursor is.
type level struct {
	name  string
	inode inode
}

// Cursor is at one directory of a tree and moves by one step at a time, down
// into a Node or up again. It has one directory open, however deep it is.
type Cursor struct {
	dir    *os.File
	levels []level
	// linked has the content hashes of files with several names: with none, a
	// large file that is linked often would be read as often.
	linked map[inode]digest.Hash
}

// ReadError says which path of a tree could not be read.
type ReadError struct {
	Path string // below the root, in canon.Text form, the end of it if it is very long
	Err  error
}

func (e *ReadError) Error() string { return fmt.Sprintf("reading %s: %v", e.Path, e.Err) }
func (e *ReadError) Unwrap() error { return e.Err }

// ErrMoved says that a directory was moved while it was being read.
var ErrMoved = errors.New("directory was moved meanwhile")

// NewCursor returns a Cursor at the directory dir, which is the root and is
// the Cursor's to close from now on.
func NewCursor(dir *os.File) (*Cursor, error) {
	c := &Cursor{dir: dir, linked: map[inode]digest.Hash{}}
	id, err := inodeOf(dir)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	c.levels = []level{{"", id}}
	return c, nil
}

// OpenCursor returns a Cursor at the directory with this name, which is
// trusted but for its last component: that is not followed if it is a link.
func OpenCursor(path string) (*Cursor, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return NewCursor(os.NewFile(uintptr(fd), path))
}

// Close closes the directory that the Cursor is at.
func (c *Cursor) Close() error { return c.dir.Close() }

// Names returns the names in the current directory, sorted as bytes.
func (c *Cursor) Names() ([]string, error) {
	if _, err := c.dir.Seek(0, 0); err != nil {
		return nil, c.failed("", err)
	}
	names, err := c.dir.Readdirnames(-1)
	if err != nil {
		return nil, c.failed("", err)
	}
	slices.Sort(names)
	return names, nil
}

// Here describes the current directory.
func (c *Cursor) Here() (*Node, error) {
	n, err := newNode(c.dir)
	if err != nil {
		return nil, c.failed("", err)
	}
	return n, nil
}

// Node looks up a name in the current directory. The error is fs.ErrNotExist
// where there is none. The Node is the caller's to close.
func (c *Cursor) Node(name string) (*Node, error) {
	fd, err := openBeneath(c.dir, name)
	if err != nil {
		return nil, c.failed(name, err)
	}
	handle := os.NewFile(uintptr(fd), name)
	n, err := newNode(handle)
	if err != nil {
		return nil, errors.Join(c.failed(name, err), handle.Close())
	}
	n.handle, n.name = handle, name
	return n, nil
}

// openBeneath opens one name of a directory without following a link or
// touching what it names, be it a device or a FIFO.
func openBeneath(dir *os.File, name string) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	}
	for {
		fd, err := unix.Openat2(int(dir.Fd()), name, &how)
		// EAGAIN: the kernel could not rule out a race; see openat2(2).
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// Enter moves down into n, which is a directory of the current one.
func (c *Cursor) Enter(n *Node) error {
	// The link in /proc names the directory that the handle holds, no other.
	dir, err := os.OpenFile(n.ProcPath(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return c.failed(n.name, err)
	}
	if err := c.dir.Close(); err != nil {
		return errors.Join(c.failed(n.name, err), dir.Close())
	}
	c.dir = dir
	c.levels = append(c.levels, level{n.name, n.inode})
	return nil
}

// Leave moves up again. The directory above must be the one that Enter came
// from, so that a directory that was moved away does not lead out of the root.
func (c *Cursor) Leave() error {
	if len(c.levels) == 1 {
		return errors.New("leaving the root of a tree")
	}
	fd, err := unix.Openat(int(c.dir.Fd()), "..", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return c.failed("", err)
	}
	up := os.NewFile(uintptr(fd), "..")
	id, err := inodeOf(up)
	if err == nil && id != c.levels[len(c.levels)-2].inode {
		err = ErrMoved
	}
	if err == nil {
		err = c.dir.Close()
	}
	if err != nil {
		return errors.Join(c.failed("", err), up.Close())
	}
	c.dir = up
	c.levels = c.levels[:len(c.levels)-1]
	return nil
}

// failed names the path at which something went wrong.
func (c *Cursor) failed(name string, err error) error {
	const enough = 4096 // a path may be megabytes long
	length := len(name)
	from := len(c.levels)
	for from > 1 && length < enough {
		from--
		length += 1 + len(c.levels[from].name)
	}
	path := ""
	for _, l := range c.levels[from:] {
		path += "/" + l.name
	}
	if name != "" || path == "" {
		path += "/" + name
	}
	return &ReadError{canon.Text([]byte(path)), err}
}

func inodeOf(f *os.File) (inode, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return inode{}, fmt.Errorf("describing %s: %w", f.Name(), err)
	}
	return inode{stat.Dev, stat.Ino}, nil
}
