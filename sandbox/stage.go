package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"litmus/internal/digest"
	"litmus/internal/treehash"
)

// StageError is an entry of a tree that can't be staged in this image.
type StageError struct {
	Path string
	Err  error
}

func (e *StageError) Error() string { return fmt.Sprintf("staging %s: %v", e.Path, e.Err) }
func (e *StageError) Unwrap() error { return e.Err }

// StagedHash is the hash that a staged tree must have: that of the listing of
// its entries, each by the path it was given with, without directories that are
// named nowhere.
func StagedHash(tree []File) (digest.Hash, error) {
	lister := treehash.NewLister()
	for _, f := range inOrder(tree) {
		if err := lister.AddPath(f.Path, f.entry()); err != nil {
			return digest.Hash{}, err
		}
	}
	return lister.Sum(), nil
}

// entry is what f must look like once it is staged.
func (f File) entry() treehash.Entry {
	e := treehash.Entry{Type: f.Type}
	switch f.Type {
	case treehash.File:
		e.Mode, e.Size, e.Content = treehash.Mode(f.Mode), int64(len(f.Content)), treehash.ContentHash(f.Content)
	case treehash.Dir:
		e.Mode = treehash.Mode(f.Mode)
	case treehash.Symlink:
		e.Target, e.Size = f.Target, int64(len(f.Target))
	}
	return e
}

func inOrder(tree []File) []File {
	return slices.SortedFunc(slices.Values(tree), func(a, b File) int { return treehash.Compare(a.Path, b.Path) })
}

// readStaged hashes what a box has at the paths of the tree.
func readStaged(ctx context.Context, root *os.File, tree []File) (digest.Hash, error) {
	lister := treehash.NewLister()
	for _, f := range inOrder(tree) {
		if err := ctx.Err(); err != nil {
			return digest.Hash{}, err
		}
		found, err := lookInRoot(root, f.Path, func(c *treehash.Cursor, n *treehash.Node) error {
			if err := c.ReadContent(n); err != nil {
				return err
			}
			return lister.AddPath(f.Path, n.Entry)
		})
		if err == nil && !found {
			err = errors.New("it is not there")
		}
		if err != nil {
			return digest.Hash{}, &StageError{f.Path, err}
		}
	}
	return lister.Sum(), nil
}

// stage writes a tree below root, in canonical order.
func stage(ctx context.Context, root *os.File, tree []File) error {
	for _, f := range inOrder(tree) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := place(root, f); err != nil {
			return &StageError{f.Path, err}
		}
	}
	return nil
}

// place writes one entry, in place of what is there.
func place(root *os.File, f File) (err error) {
	dir, err := makeDirs(root, path.Dir(f.Path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	at, name := int(dir.Fd()), path.Base(f.Path)
	if f.Type == treehash.Dir {
		return placeDir(at, name, treehash.Mode(f.Mode))
	}
	if err := unix.Unlinkat(at, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("removing what is there: %w", err)
	}
	if f.Type == treehash.Symlink {
		return unix.Symlinkat(f.Target, at, name)
	}
	return placeFile(at, name, f)
}

func placeFile(at int, name string, f File) (err error) {
	fd, err := unix.Openat(at, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Write(f.Content); err != nil {
		return err
	}
	return unix.Fchmod(fd, treehash.Mode(f.Mode))
}

// placeDir makes a directory, or gives the one that is there its mode.
func placeDir(at int, name string, mode uint32) error {
	err := unix.Mkdirat(at, name, 0o700)
	if errors.Is(err, unix.EEXIST) {
		if err := unix.Unlinkat(at, name, 0); err == nil { // something else than a directory
			return placeDir(at, name, mode)
		}
	} else if err != nil {
		return err
	}
	// By its descriptor: chmod by name would set neither the setuid nor the
	// sticky bit past the umask, and would follow a link.
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fchmod(fd, mode), unix.Close(fd))
}

// makeDirs opens a directory and makes it, and those on the way, where they
// are missing.
func makeDirs(root *os.File, name string) (*os.File, error) {
	dir, err := openDirInRoot(root, name)
	if !errors.Is(err, unix.ENOENT) || name == "/" {
		return dir, err
	}
	parent, err := makeDirs(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	if err := unix.Mkdirat(int(parent.Fd()), path.Base(name), 0o700); errors.Is(err, unix.EEXIST) {
		return nil, fmt.Errorf("%s is a link to nowhere", name)
	} else if err != nil {
		return nil, err
	}
	if err := placeDir(int(parent.Fd()), path.Base(name), 0o755); err != nil {
		return nil, err
	}
	return openDirInRoot(root, name)
}

// hidden are directories of the box that are mounted over: what is staged
// there would not be seen.
var hidden = []string{"/proc", "/dev", "/sys", "/.litmus"}

// checkTree refuses what can't be staged in any image.
func checkTree(tree []File) error {
	seen := make(map[string]bool, len(tree))
	for _, f := range tree {
		if err := checkFile(f); err != nil {
			return &SpecError{Field: "tree", Err: err}
		}
		if seen[f.Path] {
			return &SpecError{Field: "tree", Err: fmt.Errorf("%q is there twice", f.Path)}
		}
		seen[f.Path] = true
	}
	return nil
}

func checkFile(f File) error {
	if err := checkPath(f.Path); err != nil {
		return err
	}
	if f.Path == "/" {
		return errors.New("the root can't be staged")
	}
	for _, dir := range hidden {
		if f.Path == dir || strings.HasPrefix(f.Path, dir+"/") {
			return fmt.Errorf("%q would be hidden by what is mounted at %s", f.Path, dir)
		}
	}
	switch f.Type {
	case treehash.File, treehash.Dir:
		return nil
	case treehash.Symlink:
		if f.Target == "" || len(f.Target) > maxPath || strings.ContainsRune(f.Target, 0) {
			return fmt.Errorf("%q links to %q", f.Path, f.Target)
		}
		return nil
	}
	return fmt.Errorf("%q is a %q: only files, directories and links are staged", f.Path, f.Type)
}
