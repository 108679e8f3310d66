package mutation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"litmus/internal/canon"
	"litmus/internal/inputerror"
)

// A fixture tree may hold links to anywhere and may be changed while it is read.
// So nothing here resolves a path: each name is opened by itself, relative to the
// descriptor of its directory, and never through a link. A link is read as a link,
// and what is neither file, directory nor link is refused before it is opened.

const (
	// maxTreeBytes bounds the content of all trees of a suite together. They stand
	// in the header of each manifest.
	maxTreeBytes = 64 << 20
	maxPath      = 4095 // PATH_MAX without its NUL
)

// treeReader reads all trees of one suite.
type treeReader struct {
	dir   string // of the trees, for errors
	bytes int64  // read so far
}

// readTrees returns every directory in the directory name of the suite as a tree.
func readTrees(suiteDir, name string) (map[string]Tree, error) {
	r := treeReader{dir: filepath.Join(suiteDir, name)}
	// Outside of the tree itself links are the user's own affair, but the trees
	// have to be part of the suite.
	root, err := os.OpenRoot(suiteDir)
	if err != nil {
		return nil, fmt.Errorf("open suite: %w", err)
	}
	defer root.Close()
	dir, err := root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil, &inputerror.Error{File: r.dir, Msg: "there is no such directory", Fix: "create it, or leave fixtures out of suite.yaml"}
	}
	if err != nil {
		return nil, fmt.Errorf("open fixtures: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list fixtures: %w", err)
	}
	slices.Sort(names)
	trees := map[string]Tree{}
	for _, name := range names {
		if trees[name], err = r.readTree(dir, name); err != nil {
			return nil, err
		}
	}
	return trees, nil
}

func (r *treeReader) readTree(dir *os.File, name string) (Tree, error) {
	if err := checkPlain(name); err != nil {
		return Tree{}, r.fault(name, "rename it", "%q can't be the name of a tree: %v", name, err)
	}
	var stat unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Tree{}, r.doing("look at", name, err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return Tree{}, r.fault(name, "each entry of the fixtures directory is a tree", "it is not a directory")
	}
	top, err := openEntry(dir, name, unix.O_DIRECTORY)
	if err != nil {
		return Tree{}, r.doing("open", name, err)
	}
	defer top.Close()
	entries, err := r.readDir(top, name, "")
	if err != nil {
		return Tree{}, err
	}
	return newTree(entries)
}

// readDir returns everything below dir. tree and prefix say where it is: prefix is
// the path inside the tree, with a slash at the end unless it is the top.
func (r *treeReader) readDir(dir *os.File, tree, prefix string) ([]FixtureEntry, error) {
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, r.doing("list", tree+"/"+prefix, err)
	}
	var entries []FixtureEntry
	for _, name := range names {
		below, err := r.readEntry(dir, name, tree, prefix+name)
		if err != nil {
			return nil, err
		}
		entries = append(entries, below...)
	}
	return entries, nil
}

// readEntry returns what a name in dir stands for: one entry, or all that lies in
// a directory.
func (r *treeReader) readEntry(dir *os.File, name, tree, inTree string) ([]FixtureEntry, error) {
	where := tree + "/" + inTree
	if len(inTree) > maxPath {
		return nil, r.fault(tree, "", "a path in it is longer than %d bytes", maxPath)
	}
	if err := checkOwned("/" + inTree); err != nil {
		return nil, r.fault(where, "move it elsewhere", "%v", err)
	}
	var stat unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, r.doing("look at", where, err)
	}
	entry := FixtureEntry{Path: canon.Text([]byte(inTree))}
	var err error
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		entry.Type = FileEntry
		entry.Content, entry.Mode, err = r.readFile(dir, name, where)
	case unix.S_IFLNK:
		entry.Type = SymlinkEntry
		entry.Target, err = r.readLink(dir, name, where)
	case unix.S_IFDIR:
		inner, err := openEntry(dir, name, unix.O_DIRECTORY)
		if err != nil {
			return nil, r.doing("open", where, err)
		}
		defer inner.Close()
		entries, err := r.readDir(inner, tree, inTree+"/")
		if err != nil || len(entries) > 0 {
			return entries, err
		}
		entry.Type, entry.Mode = DirEntry, executableMode
	default:
		return nil, r.fault(where, "remove it; a tree has files, directories and links", "it is a device, a FIFO or a socket")
	}
	if err != nil {
		return nil, err
	}
	return []FixtureEntry{entry}, nil
}

// openEntry opens a single name in a directory, never through a link. O_NONBLOCK
// is for a FIFO that has taken the place of a file since it was looked at.
func openEntry(dir *os.File, name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// readFile returns the content and the mode of a regular file.
func (r *treeReader) readFile(dir *os.File, name, where string) ([]byte, string, error) {
	f, err := openEntry(dir, name, 0)
	if err != nil {
		return nil, "", r.doing("open", where, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "", r.doing("look at", where, err)
	}
	if !info.Mode().IsRegular() {
		return nil, "", r.fault(where, "leave the suite alone while it is read", "it stopped being a file")
	}
	content, err := io.ReadAll(io.LimitReader(f, maxTreeBytes-r.bytes+1))
	if err != nil {
		return nil, "", r.doing("read", where, err)
	}
	if r.bytes += int64(len(content)); r.bytes > maxTreeBytes {
		return nil, "", r.fault(where, "stage less, or put it into the image", "the fixtures of a suite hold more than %d bytes", maxTreeBytes)
	}
	if info.Mode()&0o100 != 0 {
		return content, executableMode, nil
	}
	return content, plainMode, nil
}

func (r *treeReader) readLink(dir *os.File, name, where string) (string, error) {
	target := make([]byte, maxPath+1)
	n, err := unix.Readlinkat(int(dir.Fd()), name, target)
	if err != nil {
		return "", r.doing("read the link", where, err)
	}
	return canon.Text(bytes.Clone(target[:n])), nil
}

func (r *treeReader) fault(where, fix, format string, args ...any) error {
	return &inputerror.Error{File: canon.Text([]byte(filepath.Join(r.dir, where))), Msg: fmt.Sprintf(format, args...), Fix: fix}
}

func (r *treeReader) doing(what, where string, err error) error {
	name := canon.Text([]byte(filepath.Join(r.dir, where)))
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		return &inputerror.Error{File: name, Msg: "it changed while it was read", Fix: "leave the suite alone while it is read"}
	}
	return fmt.Errorf("%s %s: %w", what, name, err)
}
