package sandbox

import (
	"context"
	"errors"
	"strings"

	"litmus/internal/canon"
	"litmus/internal/digest"
	"litmus/internal/treehash"
)

// changes is the difference between what was staged and what is there now.
type changes struct {
	list      []Change // the first ones
	total     int
	truncated bool
	root      digest.Hash // of the listing of all
}

// findChanges compares the upper directory of an overlay with its merged lower
// layers: docs/box.md says what counts. Both cursors are at the roots, and are
// left there.
func findChanges(ctx context.Context, upper, lower *treehash.Cursor) (changes, error) {
	d := &differ{upper: upper, lower: lower, lister: treehash.NewLister()}
	if err := d.root(); err != nil {
		return changes{}, err
	}
	for len(d.frames) > 0 {
		if err := ctx.Err(); err != nil {
			return changes{}, err
		}
		if err := d.step(); err != nil {
			return changes{}, err
		}
	}
	d.found.root = d.lister.Sum()
	return d.found, nil
}

// differ walks both trees in step. The stack is its own, because a tree can be
// deeper than is good for recursion.
type differ struct {
	upper, lower *treehash.Cursor
	frames       []frame
	path         []string // the names of the directories that frames are in
	pathBytes    int      // of path, with slashes

	lister    *treehash.Lister
	shared    int // components that path has in common with the last change listed
	textBytes int // of what is in the list
	found     changes
}

// frame is a directory that is in one of the trees or in both. What is only in
// the lower one was deleted.
type frame struct {
	inUpper, inLower bool
	names            []string // still to be looked at
}

func (d *differ) root() (err error) {
	upper, err := d.upper.Here()
	if err != nil {
		return err
	}
	lower, err := d.lower.Here()
	if err != nil {
		return err
	}
	if err := d.compare("", upper, lower); err != nil {
		return err
	}
	opaque, err := isOpaque(upper)
	if err != nil {
		return err
	}
	names, err := d.namesIn(true, opaque)
	d.frames = []frame{{true, true, names}}
	return err
}

// step looks at one name, or leaves a directory that is done.
func (d *differ) step() error {
	top := &d.frames[len(d.frames)-1]
	if len(top.names) == 0 {
		return d.leave()
	}
	name := top.names[0]
	top.names = top.names[1:]
	return d.look(name, top.inUpper, top.inLower)
}

func (d *differ) look(name string, inUpper, inLower bool) (err error) {
	d.shared = min(d.shared, len(d.path))
	upper, err := nodeIn(d.upper, inUpper, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeNode(upper)) }()
	lower, err := nodeIn(d.lower, inLower, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeNode(lower)) }()
	present := upper
	if isWhiteout(upper) {
		present = nil
	}
	if err := d.compare(name, present, lower); err != nil {
		return err
	}
	return d.enter(name, present, lower)
}

// compare notes the change from lower to upper, if there is one; nil stands for
// nothing being there.
func (d *differ) compare(name string, upper, lower *treehash.Node) error {
	switch {
	case upper == nil && lower == nil: // a whiteout of something made and deleted again
		return nil
	case upper == nil:
		return d.note(name, Removed, treehash.Entry{Type: treehash.Deleted})
	case lower == nil:
		if err := d.upper.ReadContent(upper); err != nil {
			return err
		}
		return d.note(name, Added, upper.Entry)
	}
	same, err := d.same(upper, lower)
	if err != nil || same {
		return err
	}
	return d.note(name, Changed, upper.Entry)
}

// same reads the content of upper in any case, that of lower only if it can matter.
func (d *differ) same(upper, lower *treehash.Node) (bool, error) {
	if err := d.upper.ReadContent(upper); err != nil {
		return false, err
	}
	if upper.Type == lower.Type && upper.Size == lower.Size {
		if err := d.lower.ReadContent(lower); err != nil {
			return false, err
		}
	}
	return upper.Entry.Equal(lower.Entry), nil
}

// note lists one change.
func (d *differ) note(name string, kind Kind, e treehash.Entry) error {
	rest := strings.Join(append(d.path[d.shared:len(d.path):len(d.path)], name), "/")
	if err := d.lister.Add(d.shared, rest, e); err != nil {
		return err
	}
	d.shared = len(d.path) + 1
	d.found.total++
	if !d.keep(name, kind, e) {
		d.found.truncated = true
	}
	return nil
}

// keep adds a change to the list unless that is full or the path is one that no
// program could name.
func (d *differ) keep(name string, kind Kind, e treehash.Entry) bool {
	if len(d.found.list) == MaxChanges || d.pathBytes+1+len(name) > maxPath {
		return false
	}
	path := "/" + strings.Join(append(d.path[:len(d.path):len(d.path)], name), "/")
	c := Change{Path: canon.Text([]byte(path)), Kind: kind}
	if kind != Removed {
		c.Type, c.Mode, c.Size, c.Hash, c.Target = e.Type, e.Mode, e.Size, e.Content, canon.Text([]byte(e.Target))
	}
	if d.textBytes += len(c.Path) + len(c.Target); d.textBytes > MaxChangeBytes {
		return false
	}
	d.found.list = append(d.found.list, c)
	return true
}

// enter goes into what is a directory in one tree or both.
func (d *differ) enter(name string, upper, lower *treehash.Node) error {
	f := frame{inUpper: isDir(upper), inLower: isDir(lower)}
	if !f.inUpper && !f.inLower {
		return nil
	}
	opaque := !f.inUpper
	if f.inUpper {
		hides, err := isOpaque(upper)
		if err != nil {
			return err
		}
		opaque = hides
		if err := d.upper.Enter(upper); err != nil {
			return err
		}
	}
	if f.inLower {
		if err := d.lower.Enter(lower); err != nil {
			return err
		}
	}
	names, err := d.namesIn(f.inUpper, f.inLower && opaque)
	if err != nil {
		return err
	}
	f.names = names
	d.frames = append(d.frames, f)
	d.path = append(d.path, name)
	d.pathBytes += 1 + len(name)
	return nil
}

func (d *differ) leave() error {
	f := d.frames[len(d.frames)-1]
	d.frames = d.frames[:len(d.frames)-1]
	if len(d.frames) == 0 {
		return nil
	}
	d.pathBytes -= 1 + len(d.path[len(d.path)-1])
	d.path = d.path[:len(d.path)-1]
	if f.inUpper {
		if err := d.upper.Leave(); err != nil {
			return err
		}
	}
	if f.inLower {
		return d.lower.Leave()
	}
	return nil
}

// namesIn returns the names to look at in the directories that the cursors are
// in. Those of the lower one count only where the upper one hides them.
func (d *differ) namesIn(upper, hiddenLower bool) (names []string, err error) {
	if upper {
		if names, err = d.upper.Names(); err != nil {
			return nil, err
		}
	}
	if hiddenLower {
		lower, err := d.lower.Names()
		if err != nil {
			return nil, err
		}
		names = mergeSorted(names, lower)
	}
	return names, nil
}
