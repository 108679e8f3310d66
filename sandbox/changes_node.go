package sandbox

import (
	"errors"
	"io/fs"
	"slices"

	"litmus/internal/treehash"
)

// How overlayfs writes down in its upper directory what is gone from the lower
// ones: a character device 0:0 in place of a file, and an attribute on a
// directory that hides the one below it. Neither can be made in a box. See the
// kernel's Documentation/filesystems/overlayfs.rst, "whiteouts and opaque
// directories".
const opaqueAttribute = "trusted.overlay.opaque"

func isWhiteout(n *treehash.Node) bool {
	return n != nil && n.Type == treehash.Char && n.Major == 0 && n.Minor == 0
}

func isOpaque(n *treehash.Node) (bool, error) {
	value, _, err := n.Xattr(opaqueAttribute)
	return value == "y", err
}

func isDir(n *treehash.Node) bool { return n != nil && n.Type == treehash.Dir }

// nodeIn looks a name up where the cursor is, and returns nil if there is
// nothing or if the tree has no such directory.
func nodeIn(c *treehash.Cursor, present bool, name string) (*treehash.Node, error) {
	if !present {
		return nil, nil
	}
	n, err := c.Node(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return n, err
}

func closeNode(n *treehash.Node) error {
	if n == nil {
		return nil
	}
	return n.Close()
}

// mergeSorted merges two sorted lists without repetition.
func mergeSorted(a, b []string) []string {
	merged := slices.Concat(a, b)
	slices.Sort(merged)
	return slices.Compact(merged)
}
