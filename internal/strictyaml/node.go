package strictyaml

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Node is a value with its place. A node may be absent, which is a field that is
// not there: each reading of it is the zero value, and no fault.
type Node struct {
	// Field is the path of the value in the document, as in limits.memory or
	// chains[0].name; that of the root is empty.
	Field string
	// Line counts from 1.
	Line  int
	doc   *document
	value ast.Node
}

// Absent reports whether the field of n is not there.
func (n Node) Absent() bool { return n.value == nil }

// inner returns a node for value, which is inside of n.
func (n Node) inner(field string, value ast.Node) Node {
	inner := Node{field, n.Line, n.doc, value}
	if value != nil && value.GetToken() != nil && value.GetToken().Position != nil {
		inner.Line = value.GetToken().Position.Line
	}
	return inner
}

// path returns the path of a name in the mapping n.
func (n Node) path(name string) string {
	return strings.TrimPrefix(n.Field+"."+name, ".")
}

// without returns the absent value of a name that the mapping n does not have.
func (n Node) without(name string) Node {
	return Node{n.path(name), n.Line, n.doc, nil}
}

// List returns the entries of a list.
func (n Node) List() []Node {
	if n.Absent() {
		return nil
	}
	sequence, ok := n.value.(*ast.SequenceNode)
	if !ok {
		n.Fault("write it as [a, b] or as lines that start with -", "this must be a list")
		return nil
	}
	entries := make([]Node, 0, len(sequence.Values))
	for i, value := range sequence.Values {
		entries = append(entries, n.inner(fmt.Sprintf("%s[%d]", n.Field, i), value))
	}
	return entries
}

// Distinct notes the entry that has the same name as an earlier one.
func Distinct[K comparable](entries []Node, names []K) {
	first := map[K]Node{}
	for i, name := range names {
		if earlier, twice := first[name]; twice {
			entries[i].Fault("keep one of the two", "%v is here twice; first as %s on line %d", name, earlier.Field, earlier.Line)
		}
		first[name] = entries[i]
	}
}
