package mutation

import (
	"io/fs"
	"slices"
	"strings"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// Tree is a fixture tree: what a case finds in its box beyond the image.
type Tree struct {
	// Hash is BLAKE3 of Entries in canonical JSON.
	Hash digest.Hash `json:"hash"`
	// Entries are sorted by Path. Directories stand there only if they are empty;
	// the others follow from what lies in them.
	Entries []FixtureEntry `json:"entries"`
}

// The types of an entry.
const (
	FileEntry    = "file"
	DirEntry     = "dir"
	SymlinkEntry = "symlink"
)

// FixtureEntry is one file, directory or link of a tree.
type FixtureEntry struct {
	// Path is relative to the root of the box, slash-separated, in the text form of
	// canon.Text; Target, of a link, is in that form as well.
	Path string `json:"path"`
	Type string `json:"type"`
	// Mode is four octal digits: 0755 for directories and executable files, 0644
	// for other files. A link has none. These are the modes that version control
	// keeps, so a checkout under another umask is the same suite.
	Mode    string `json:"mode,omitempty"`
	Content []byte `json:"content,omitempty"`
	Target  string `json:"target,omitempty"`
}

const (
	plainMode      = "0644"
	executableMode = "0755"
)

// FileMode returns the permission bits; 0777 for a link.
func (e FixtureEntry) FileMode() fs.FileMode {
	switch e.Mode {
	case plainMode:
		return 0o644
	case executableMode:
		return 0o755
	default:
		return 0o777
	}
}

// newTree sorts entries and hashes them.
func newTree(entries []FixtureEntry) (Tree, error) {
	slices.SortFunc(entries, func(a, b FixtureEntry) int { return strings.Compare(a.Path, b.Path) })
	hash, err := hashEntries(entries)
	return Tree{hash, entries}, err
}

func hashEntries(entries []FixtureEntry) (digest.Hash, error) {
	b, err := canon.Marshal(entries)
	return digest.Sum(b), err
}

// find returns the entry with a path in the form of FixtureEntry.Path.
func (t Tree) find(name string) (FixtureEntry, bool) {
	i, found := t.search(name)
	if !found {
		return FixtureEntry{}, false
	}
	return t.Entries[i], true
}

// hasBelow reports whether anything lies in a directory.
func (t Tree) hasBelow(dir string) bool {
	i, _ := t.search(dir + "/")
	return i < len(t.Entries) && strings.HasPrefix(t.Entries[i].Path, dir+"/")
}

func (t Tree) search(name string) (int, bool) {
	return slices.BinarySearchFunc(t.Entries, name, func(e FixtureEntry, name string) int { return strings.Compare(e.Path, name) })
}

// treePath turns an absolute path into the form of FixtureEntry.Path.
func treePath(absolute string) string {
	return canon.Text([]byte(strings.TrimPrefix(absolute, "/")))
}
