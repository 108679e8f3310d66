package treehash

import (
	"context"
	"errors"

	"litmus/internal/digest"
)

// Walk visits the directory that c is at, as the root, and everything in it, in
// canonical order. It stops at the first error. What visit gets fits Lister.Add:
// the depth of the directory that name is in, and for the root 0 and "". The
// Node is closed after the visit.
func Walk(ctx context.Context, c *Cursor, visit func(depth int, name string, n *Node) error) error {
	root, err := c.Here()
	if err != nil {
		return err
	}
	if err := visit(0, "", root); err != nil {
		return err
	}
	names, err := c.Names()
	if err != nil {
		return err
	}
	// What is left to visit in each directory on the way: a stack of our own,
	// because a tree can be deeper than is good for recursion.
	left := [][]string{names}
	for len(left) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		depth := len(left) - 1
		if len(left[depth]) == 0 {
			left = left[:depth]
			if depth == 0 {
				break
			}
			if err := c.Leave(); err != nil {
				return err
			}
			continue
		}
		name := left[depth][0]
		left[depth] = left[depth][1:]
		below, err := visitNode(c, depth, name, visit)
		if err != nil {
			return err
		}
		if below != nil {
			left = append(left, below)
		}
	}
	return nil
}

// visitNode visits one name. If it is a directory, the cursor is in it
// afterwards, and the names there are returned, not nil.
func visitNode(c *Cursor, depth int, name string, visit func(int, string, *Node) error) (below []string, err error) {
	n, err := c.Node(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if err := visit(depth, name, n); err != nil {
		return nil, err
	}
	if n.Type != Dir {
		return nil, nil
	}
	if err := c.Enter(n); err != nil {
		return nil, err
	}
	below, err = c.Names()
	if below == nil {
		below = []string{}
	}
	return below, err
}

// Hash returns the hash of the tree that c is at the root of: that of the
// listing of the root and everything in it.
func Hash(ctx context.Context, c *Cursor) (digest.Hash, error) {
	l := NewLister()
	err := Walk(ctx, c, func(depth int, name string, n *Node) error {
		if err := c.ReadContent(n); err != nil {
			return err
		}
		return l.Add(depth, name, n.Entry)
	})
	if err != nil {
		return digest.Hash{}, err
	}
	return l.Sum(), nil
}

// HashDir is Hash of the directory with this name; see OpenCursor.
func HashDir(ctx context.Context, path string) (_ digest.Hash, err error) {
	c, err := OpenCursor(path)
	if err != nil {
		return digest.Hash{}, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return Hash(ctx, c)
}
