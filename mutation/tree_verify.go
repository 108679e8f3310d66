package mutation

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"litmus/internal/canon"
)

// verify looks at everything in a tree that staging it relies on.
func (t Tree) verify() error {
	if hash, err := hashEntries(t.Entries); err != nil || hash != t.Hash {
		return errors.New("the hash is not that of the entries")
	}
	for i, e := range t.Entries {
		if err := e.verify(); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if i > 0 && t.Entries[i-1].Path >= e.Path {
			return fmt.Errorf("entry %d: the entries are not sorted by path", i)
		}
		if t.hasBelow(e.Path) {
			return fmt.Errorf("entry %d: something lies below it", i)
		}
	}
	return nil
}

// verify refuses an entry that readTrees would not make.
func (e FixtureEntry) verify() error {
	name, err := canon.Bytes(e.Path)
	if err != nil {
		return fmt.Errorf("path: %w", err)
	}
	absolute := "/" + string(name)
	if path.Clean(absolute) != absolute || absolute == "/" || strings.Contains(absolute, "\x00") || len(name) > maxPath {
		return fmt.Errorf("%q is not a relative path without . and .. in it", e.Path)
	}
	if err := checkOwned(absolute); err != nil {
		return err
	}
	valid := false
	switch e.Type {
	case FileEntry:
		valid = (e.Mode == plainMode || e.Mode == executableMode) && e.Target == ""
	case DirEntry:
		valid = e.Mode == executableMode && e.Content == nil && e.Target == ""
	case SymlinkEntry:
		_, err := canon.Bytes(e.Target)
		valid = err == nil && e.Target != "" && e.Mode == "" && e.Content == nil
	}
	if !valid {
		return fmt.Errorf("%q is neither a file, a directory nor a link as this format has them", e.Path)
	}
	return nil
}
