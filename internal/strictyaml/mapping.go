package strictyaml

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Member is a name in a mapping with its value.
type Member struct {
	Name  string
	Value Node
	line  int // of the name
}

// Members returns the names of a mapping with their values, in the order of the
// text. A name that is there twice is a fault.
func (n Node) Members() []Member {
	var pairs []*ast.MappingValueNode
	switch v := n.value.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		pairs = v.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{v}
	default:
		n.Fault("", "this must be a mapping of names to values")
		return nil
	}
	lines := map[string]int{}
	members := make([]Member, 0, len(pairs))
	for _, pair := range pairs {
		key := n.inner(n.Field, pair.Key)
		name, ok := textOf(key.value)
		if !ok || name == "" {
			key.Fault("put it in quotes", "a name must be plain text")
			continue
		}
		if first, twice := lines[name]; twice {
			key.Fault("keep one of the two", "%q is here twice; first on line %d", name, first)
		}
		lines[name] = key.Line
		members = append(members, Member{name, key.inner(n.path(name), pair.Value), key.Line})
	}
	return members
}

// Mapping is a mapping whose names are fixed.
type Mapping struct {
	node   Node
	fields map[string]Node
}

// Mapping reads a mapping that has all of the required names, perhaps some of the
// optional ones, and no other.
func (n Node) Mapping(required, optional []string) Mapping {
	m := Mapping{n, map[string]Node{}}
	known := slices.Concat(required, optional)
	for _, member := range n.Members() {
		if !slices.Contains(known, member.Name) {
			member.Value.Line = member.line
			member.Value.Fault(hintAt(member.Name, known), "unknown field")
		}
		m.fields[member.Name] = member.Value
	}
	for _, name := range required {
		if _, there := m.fields[name]; !there && !n.Absent() {
			n.Fault("add "+n.path(name), "the field %q is missing", name)
		}
	}
	return m
}

// Get returns the value of a name that the mapping declared; it may be absent.
func (m Mapping) Get(name string) Node {
	if value, there := m.fields[name]; there {
		return value
	}
	return m.node.without(name)
}

// Lookup returns the value of one name in a mapping, whatever else is in it. It
// is absent where the mapping does not have the name.
func (n Node) Lookup(name string) Node {
	for _, member := range n.Members() {
		if member.Name == name {
			return member.Value
		}
	}
	return n.without(name)
}

// hintAt lists the known names, first the one that was probably meant.
func hintAt(name string, known []string) string {
	hint := "known fields: " + strings.Join(known, ", ")
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %s? %s", near, hint)
	}
	return hint
}
