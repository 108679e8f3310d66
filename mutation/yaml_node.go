package mutation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// yamlFile is one YAML document that is being read. Its nodes note the first
// fault here and go on with zero values, so that the code that reads a document
// looks like the document; who reads checks err at the end.
type yamlFile struct {
	name string
	err  *InputError
}

// yamlNode is a value in a YAML document, with its place. A node without value is
// a field that is not there: each reading of it is the zero value, and no fault.
type yamlNode struct {
	file  *yamlFile
	field string
	line  int
	value ast.Node
}

// parseYAML returns the only document in text.
func parseYAML(name string, text []byte) yamlNode {
	root := yamlNode{file: &yamlFile{name: name}, line: 1}
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			root.line = syntax.GetToken().Position.Line
			root.fault("look at the indentation, quotes and colons of the line", "%s", syntax.GetMessage())
			return root
		}
		root.fault("", "%v", err)
		return root
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		root.fault("write one YAML document, without --- in it", "there must be exactly one YAML document, and it must not be empty")
		return root
	}
	return root.at("", parsed.Docs[0].Body)
}

// at returns a node for value, which is inside of n.
func (n yamlNode) at(field string, value ast.Node) yamlNode {
	inner := yamlNode{file: n.file, field: field, line: n.line, value: value}
	if value != nil && value.GetToken() != nil && value.GetToken().Position != nil {
		inner.line = value.GetToken().Position.Line
	}
	return inner
}

// fault notes what is wrong with n, unless something is noted already.
func (n yamlNode) fault(fix, format string, args ...any) {
	if n.file.err == nil {
		n.file.err = &InputError{File: n.file.name, Line: n.line, Field: n.field, Msg: fmt.Sprintf(format, args...), Fix: fix}
	}
}

func (n yamlNode) absent() bool { return n.value == nil }

// yamlMember is a name in a mapping with its value.
type yamlMember struct {
	name  string
	value yamlNode
}

// members returns the names of a mapping with their values, in the order of the
// text.
func (n yamlNode) members() []yamlMember {
	var pairs []*ast.MappingValueNode
	switch v := n.value.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		pairs = v.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{v}
	default:
		n.fault("", "this must be a mapping of names to values")
		return nil
	}
	lines := map[string]int{}
	members := make([]yamlMember, 0, len(pairs))
	for _, pair := range pairs {
		key := n.at(n.field, pair.Key)
		name := key.text()
		if first, twice := lines[name]; twice {
			key.fault("keep one of the two", "%q is here twice; first on line %d", name, first)
		}
		lines[name] = key.line
		value := key.at(strings.TrimPrefix(n.field+"."+name, "."), pair.Value)
		members = append(members, yamlMember{name, value})
	}
	return members
}

// yamlMapping is a mapping whose names are fixed.
type yamlMapping struct {
	node   yamlNode
	fields map[string]yamlNode
}

// mapping reads a mapping that has all of the required names, perhaps some of the
// optional ones, and no other.
func (n yamlNode) mapping(required, optional []string) yamlMapping {
	m := yamlMapping{n, map[string]yamlNode{}}
	known := slices.Concat(required, optional)
	for _, member := range n.members() {
		if !slices.Contains(known, member.name) {
			member.value.fault("known fields: "+strings.Join(known, ", "), "unknown field")
		}
		m.fields[member.name] = member.value
	}
	for _, name := range required {
		if _, there := m.fields[name]; !there && !n.absent() {
			n.fault("add "+strings.TrimPrefix(n.field+"."+name, "."), "the field %q is missing", name)
		}
	}
	return m
}

// get returns the value of a name that the mapping declared.
func (m yamlMapping) get(name string) yamlNode {
	if value, there := m.fields[name]; there {
		return value
	}
	return yamlNode{file: m.node.file, field: strings.TrimPrefix(m.node.field+"."+name, "."), line: m.node.line}
}

// list returns the entries of a sequence.
func (n yamlNode) list() []yamlNode {
	if n.absent() {
		return nil
	}
	sequence, ok := n.value.(*ast.SequenceNode)
	if !ok {
		n.fault("write it as [a, b] or as lines that start with -", "this must be a list")
		return nil
	}
	entries := make([]yamlNode, 0, len(sequence.Values))
	for i, value := range sequence.Values {
		entries = append(entries, n.at(fmt.Sprintf("%s[%d]", n.field, i), value))
	}
	return entries
}

// texts returns the entries of a sequence of texts.
func (n yamlNode) texts() []string {
	var texts []string
	for _, entry := range n.list() {
		texts = append(texts, entry.text())
	}
	return texts
}

// distinct faults the entry that has the same name as an earlier one.
func distinct[K comparable](entries []yamlNode, names []K) {
	first := map[K]yamlNode{}
	for i, name := range names {
		if earlier, twice := first[name]; twice {
			entries[i].fault("keep one of the two", "%v is here twice; first as %s on line %d", name, earlier.field, earlier.line)
		}
		first[name] = entries[i]
	}
}

// orderedNames lists the names of a set for a message.
func orderedNames[V any](set map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}
