package treehash

import (
	"encoding/binary"
	"fmt"
	"strings"

	"litmus/internal/digest"
)

// Lister hashes a list of entries. They must come in canonical order, which is
// by path, component by component, each compared as bytes: a directory comes
// right before what is in it. The list may leave out directories on the way.
type Lister struct {
	hash   *digest.Writer
	last   []string // the components of the last path
	begun  bool
	record []byte
}

// NewLister returns a Lister that has seen no entry.
func NewLister() *Lister {
	l := &Lister{hash: digest.NewWriter()}
	l.hash.Write([]byte(Version + "\n"))
	return l
}

// Add takes the next entry. Its path is the first depth components of the last
// path, followed by rest, components of its own separated by slashes; with
// depth 0 and an empty rest it is the root, which comes first. That a path is
// given as what differs from the last one keeps the cost of deep trees linear.
func (l *Lister) Add(depth int, rest string, e Entry) error {
	if err := l.advance(depth, rest); err != nil {
		return err
	}
	l.record = appendEntry(l.record[:0], depth, rest, e)
	l.hash.Write(l.record)
	return nil
}

// AddPath takes the next entry by its whole path, absolute or not.
func (l *Lister) AddPath(path string, e Entry) error {
	path = strings.TrimPrefix(path, "/")
	depth, rest := 0, path
	for depth < len(l.last) && rest != "" {
		first, after, _ := strings.Cut(rest, "/")
		if first != l.last[depth] {
			break
		}
		depth, rest = depth+1, after
	}
	return l.Add(depth, rest, e)
}

// Sum returns the hash of the entries so far.
func (l *Lister) Sum() digest.Hash { return l.hash.Sum() }

// advance checks that the path is a valid one and comes after the last.
func (l *Lister) advance(depth int, rest string) error {
	if rest == "" {
		if depth == 0 && !l.begun {
			l.begun = true
			return nil
		}
		return fmt.Errorf("entry is listed twice, or the root is not listed first")
	}
	if depth < 0 || depth > len(l.last) {
		return fmt.Errorf("entry %q: depth %d below a path of %d components", rest, depth, len(l.last))
	}
	components := strings.Split(rest, "/")
	for _, c := range components {
		if c == "" || c == "." || c == ".." || strings.ContainsRune(c, 0) {
			return fmt.Errorf("entry %q: %q names nothing", rest, c)
		}
	}
	if depth < len(l.last) && components[0] <= l.last[depth] {
		return fmt.Errorf("entry %q comes after %q, out of order", rest, l.last[depth])
	}
	l.begun = true
	l.last = append(l.last[:depth], components...)
	return nil
}

// appendEntry writes one record: numbers as 8 bytes, big-endian; byte strings
// after their length.
func appendEntry(b []byte, depth int, rest string, e Entry) []byte {
	b = appendNumber(b, uint64(depth))
	b = appendString(b, rest)
	b = appendString(b, string(e.Type))
	b = appendNumber(b, uint64(e.Mode))
	b = appendNumber(b, uint64(e.UID))
	b = appendNumber(b, uint64(e.GID))
	b = appendNumber(b, uint64(e.Size))
	b = append(b, e.Content[:]...)
	b = appendString(b, e.Target)
	b = appendNumber(b, uint64(e.Major))
	b = appendNumber(b, uint64(e.Minor))
	b = appendNumber(b, uint64(len(e.Xattrs)))
	for _, x := range e.Xattrs {
		b = appendString(b, x.Name)
		b = appendString(b, x.Value)
	}
	return b
}

func appendNumber(b []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(b, n) }

func appendString(b []byte, s string) []byte { return append(appendNumber(b, uint64(len(s))), s...) }

// Compare orders paths as a Lister wants them: component by component, so that
// "a/b" comes before "a-b", which it would not as plain bytes.
func Compare(a, b string) int {
	for {
		a1, aRest, aMore := strings.Cut(a, "/")
		b1, bRest, bMore := strings.Cut(b, "/")
		switch {
		case a1 != b1:
			return strings.Compare(a1, b1)
		case !aMore && !bMore:
			return 0
		case !aMore:
			return -1
		case !bMore:
			return 1
		}
		a, b = aRest, bRest
	}
}
