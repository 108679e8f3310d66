package treehash

import (
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"litmus/internal/digest"
)

// Type is what kind of thing a path names.
type Type string

// The types of an Entry. Deleted stands in listings of changes only: there was
// something, and there is nothing.
const (
	File    Type = "file"
	Dir     Type = "dir"
	Symlink Type = "symlink"
	FIFO    Type = "fifo"
	Socket  Type = "socket"
	Char    Type = "char"
	Block   Type = "block"
	Deleted Type = "deleted"
)

// Entry is everything about one path that counts. A field that has no meaning
// for the type is zero.
type Entry struct {
	Type Type
	// Mode is the permission bits with setuid, setgid and sticky, as in stat(2).
	// Zero for links, whose mode means nothing.
	Mode     uint32
	UID, GID uint32
	// Size is the length of a file, or of a link's target, in bytes.
	Size int64
	// Content is a file's content hash; see ContentHash.
	Content digest.Hash
	// Target is where a link points to, as bytes.
	Target string
	// Major and Minor are the numbers of a device.
	Major, Minor uint32
	// Xattrs of files and directories that count, sorted by name.
	Xattrs []Xattr
}

// Xattr is one extended attribute. Those named user.* and security.capability count.
type Xattr struct{ Name, Value string }

// Equal reports whether two entries are the same in everything that counts.
func (e Entry) Equal(other Entry) bool {
	return e.Type == other.Type && e.Mode == other.Mode && e.UID == other.UID && e.GID == other.GID &&
		e.Size == other.Size && e.Content == other.Content && e.Target == other.Target &&
		e.Major == other.Major && e.Minor == other.Minor && slices.Equal(e.Xattrs, other.Xattrs)
}

// typeOf maps the type bits of a mode.
func typeOf(mode uint32) (Type, error) {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return File, nil
	case unix.S_IFDIR:
		return Dir, nil
	case unix.S_IFLNK:
		return Symlink, nil
	case unix.S_IFIFO:
		return FIFO, nil
	case unix.S_IFSOCK:
		return Socket, nil
	case unix.S_IFCHR:
		return Char, nil
	case unix.S_IFBLK:
		return Block, nil
	}
	return "", fmt.Errorf("type bits %#o are unknown", mode&unix.S_IFMT)
}

// Mode turns Go's form of permission bits into that of stat(2).
func Mode(m fs.FileMode) uint32 {
	mode := uint32(m.Perm())
	for bit, value := range map[fs.FileMode]uint32{
		fs.ModeSetuid: unix.S_ISUID,
		fs.ModeSetgid: unix.S_ISGID,
		fs.ModeSticky: unix.S_ISVTX,
	} {
		if m&bit != 0 {
			mode |= value
		}
	}
	return mode
}
